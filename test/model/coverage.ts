/** What the histories reached: every operation, in every state, with every outcome. */
import type { JobActionKey, JobTransitionKey } from '../../src/market/rules/lifecycle.js';
import { JOB_ACTION_KEYS, OPERATIONS_ON_JOBS, statesAllowing, TEXTS } from '../story/specified.js';
import { THE_CLOCK } from './deadlines.js';
import { THE_TOKENS } from './wallet.js';
import type { Coverage } from './world.js';

interface Cell {
  op: string;
  state: string;
  outcome: string;
  times: number;
}

function cells(coverage: Coverage): Cell[] {
  return [...coverage].map(([key, times]) => {
    const [op = '', state = '', outcome = ''] = key.split(' | ');
    return { op, state, outcome, times };
  });
}

/** One line per operation: each outcome, its count, and the states. */
export function report(coverage: Coverage): string {
  const all = cells(coverage);
  const ops = [...new Set(all.map(({ op }) => op))].sort();
  return ops
    .map((op) => {
      const own = all.filter((cell) => cell.op === op);
      const outcomes = [...new Set(own.map(({ outcome }) => outcome))].sort(
        (a, b) => Number(b === 'ok') - Number(a === 'ok') || (a < b ? -1 : 1),
      );
      const parts = outcomes.map((outcome) => {
        const states = own.filter((cell) => cell.outcome === outcome);
        const total = states.reduce((sum, { times }) => sum + times, 0);
        return `  ${outcome} ${total}: ${states
          .sort((a, b) => b.times - a.times)
          .map(({ state, times }) => `${state} ${times}`)
          .join(', ')}`;
      });
      return `${op}\n${parts.join('\n')}`;
    })
    .join('\n');
}

const FIRST = ['UNAUTHENTICATED', 'FORBIDDEN'];
const OF_A_JOB = [...FIRST, 'NOT_FOUND'];
const OF_A_TRANSITION = [...OF_A_JOB, 'STALE_VERSION', 'INVALID_TRANSITION'];

/** Every error code of each operation on a job. */
const CODES: Readonly<Record<JobActionKey, readonly string[]>> = {
  ...codesOfTransitions(),
  update: [
    ...OF_A_JOB,
    'STALE_VERSION',
    'VALIDATION_FAILED',
    'FIELD_NOT_EDITABLE',
    'BUDGET_DECREASE_TOO_LARGE',
    'URGENCY_LOCKED',
    'COMPLETION_DATE_SHIFT_TOO_LARGE',
    'INSUFFICIENT_TOKENS',
  ],
  delete: OF_A_TRANSITION,
  extendDeadline: [...OF_A_TRANSITION, 'VALIDATION_FAILED'],
  review: [...OF_A_TRANSITION, 'VALIDATION_FAILED'],
  acceptResolution: [...OF_A_TRANSITION, 'VALIDATION_FAILED'],
  award: [...OF_A_TRANSITION, 'VALIDATION_FAILED', 'UNKNOWN_BID'],
  approve: [...OF_A_TRANSITION, 'VALIDATION_FAILED'],
  publish: [...OF_A_TRANSITION, 'MISSING_FIELDS', 'INSUFFICIENT_TOKENS'],
  submitBid: [...OF_A_JOB, 'VALIDATION_FAILED', 'INVALID_TRANSITION', 'DUPLICATE_BID', 'INSUFFICIENT_TOKENS'],
};

/** A required text can be missing. */
function codesOfTransitions() {
  const codes = Object.entries(TEXTS).map(([key, { required = [] }]) => [
    key,
    required.length === 0 ? OF_A_TRANSITION : [...OF_A_TRANSITION, 'VALIDATION_FAILED'],
  ]);
  return Object.fromEntries(codes) as Record<JobTransitionKey, string[]>;
}

/** Every error code of each operation, and every state in which it succeeds. */
const EXPECTED: Readonly<Record<string, { codes: readonly string[]; from: readonly string[] }>> = {
  createJob: { codes: [...FIRST, 'VALIDATION_FAILED'], from: ['-'] },
  ...Object.fromEntries(
    JOB_ACTION_KEYS.map((key) => [
      OPERATIONS_ON_JOBS[key].operation,
      { codes: CODES[key], from: [...new Set([...statesAllowing(key), ...statesAllowing(key, 'after changes')])] },
    ]),
  ),
  viewBid: { codes: [...OF_A_JOB, 'INVALID_TRANSITION'], from: ['bid pending'] },
  shortlistBid: { codes: [...OF_A_JOB, 'INVALID_TRANSITION'], from: ['bid pending', 'bid viewed'] },
  rejectBid: { codes: [...OF_A_JOB, 'INVALID_TRANSITION'], from: ['bid pending', 'bid viewed', 'bid shortlisted'] },
  withdrawBid: { codes: [...OF_A_JOB, 'INVALID_TRANSITION'], from: ['bid pending', 'bid viewed', 'bid shortlisted'] },
  reviseBid: {
    codes: [...OF_A_JOB, 'STALE_VERSION', 'INVALID_TRANSITION', 'VALIDATION_FAILED'],
    from: ['bid pending', 'bid viewed', 'bid shortlisted'],
  },
  listRevisions: { codes: [...OF_A_JOB, 'VALIDATION_FAILED'], from: ['bid pending'] },
  adjustTokens: { codes: [...FIRST, 'VALIDATION_FAILED', 'INSUFFICIENT_TOKENS'], from: ['-'] },
  buyTokens: { codes: [...FIRST, 'VALIDATION_FAILED', 'RATE_LIMITED'], from: ['-'] },
  refundPurchase: {
    codes: [...OF_A_JOB, 'VALIDATION_FAILED', 'INVALID_TRANSITION', 'INSUFFICIENT_TOKENS'],
    from: ['paid'],
  },
  payPurchase: { codes: [], from: ['pending', 'paid', 'expired'] },
  expirePurchase: { codes: [], from: ['pending', 'paid'] },
  chargeBack: { codes: [], from: ['paid', 'refunded'] },
  suspendUser: { codes: [...OF_A_JOB, 'VALIDATION_FAILED'], from: ['-'] },
  restoreUser: { codes: OF_A_JOB, from: ['-'] },
  readJob: { codes: OF_A_JOB, from: [] },
  listJobs: { codes: [...FIRST, 'VALIDATION_FAILED'], from: ['-'] },
  listBids: { codes: [...OF_A_JOB, 'VALIDATION_FAILED'], from: ['open', 'awarded'] },
  ownBids: { codes: [...FIRST, 'VALIDATION_FAILED'], from: ['-'] },
  listEvents: { codes: [...OF_A_JOB, 'VALIDATION_FAILED'], from: [] },
  readDispute: { codes: OF_A_JOB, from: ['disputed'] },
  readUpcoming: { codes: OF_A_JOB, from: ['open', 'disputed'] },
  advanceClock: { codes: [...FIRST, 'VALIDATION_FAILED'], from: ['-'] },
  readTokens: { codes: ['UNAUTHENTICATED'], from: ['-'] },
  readPurchase: { codes: OF_A_JOB, from: ['pending', 'paid', 'charged_back'] },
  readContractor: { codes: ['UNAUTHENTICATED', 'NOT_FOUND'], from: ['-'] },
};

/** Everything that the clock does, by the state of the job in which it does that. */
const CLOCK: Readonly<Record<string, readonly string[]>> = {
  open: ['reminds owner', 'job.expired', 'reminds of a stake', 'bid.stake_released', 'stops', 'continues'],
  awarded: ['reminds awardee', 'stops', 'continues'],
  in_progress: ['reminds awardee', 'stops', 'continues'],
  in_review: ['reminds owner', 'job.auto_approved', 'stops', 'continues'],
  disputed: ['reminds parties', 'job.auto_escalated', 'stops', 'continues'],
  escalated: ['reminds admin'],
  decision_reached: ['reminds awardee', 'job.decision_stood', 'stops', 'continues'],
  appealed: ['reminds admin'],
};

/** What happens to tokens. The model says when. */
const TOKENS = [
  'granted and bought tokens are spent at once',
  'tokens of two purchases are spent at once',
  'the owner gives back bought tokens',
  'the clock gives back bought tokens',
  'both parts are given back',
  'a payment arrives',
  'a payment arrives after the expiry',
  'a checkout expires',
  'an expiry comes too late',
  'the sixth open purchase is refused',
  'a purchase is refunded',
  'a part of a purchase is refunded',
  'a purchase is refunded, some of which was spent',
  'a chargeback is lost',
  'a chargeback takes granted tokens',
  'a chargeback leaves staked tokens',
  'a chargeback leaves a debt',
  'a grant pays a debt',
  'a purchase pays a debt',
  'a refund of a publication pays a debt',
  'a released stake pays a debt',
];

function countsOfTokens(all: readonly Cell[]): (readonly [what: string, times: number])[] {
  return TOKENS.map((what) => {
    const cell = all.find((one) => one.op === THE_TOKENS && one.outcome === what);
    return [`${THE_TOKENS}: ${what}`, cell?.times ?? 0] as const;
  });
}

function countsOfClock(all: readonly Cell[]): (readonly [what: string, times: number])[] {
  return Object.entries(CLOCK).flatMap(([state, things]) =>
    things.map((did) => {
      const cell = all.find((one) => one.op === THE_CLOCK && one.state === state && one.outcome === did);
      return [`${THE_CLOCK} ${did} on ${state}`, cell?.times ?? 0] as const;
    }),
  );
}

/** The rarest outcomes. A test that depends on one must not rely on luck. */
export function rarest(coverage: Coverage, count: number): string {
  const all = cells(coverage);
  const times = Object.entries(EXPECTED).flatMap(([op, { codes, from }]) => {
    const sum = (fits: (cell: Cell) => boolean) =>
      all.filter((cell) => cell.op === op && fits(cell)).reduce((total, cell) => total + cell.times, 0);
    return [
      ...codes.map((code) => [`${op} ${code}`, sum(({ outcome }) => outcome === code)] as const),
      ...from.map(
        (state) => [`${op} ok on ${state}`, sum((cell) => cell.outcome === 'ok' && cell.state === state)] as const,
      ),
    ];
  });
  return [...times, ...countsOfClock(all), ...countsOfTokens(all)]
    .sort((a, b) => a[1] - b[1])
    .slice(0, count)
    .map(([what, often]) => `${what} ${often}`)
    .join(', ');
}

/** Expected outcomes that never occurred. */
export function uncovered(coverage: Coverage): string[] {
  const all = cells(coverage);
  const ofOthers = [...countsOfClock(all), ...countsOfTokens(all)].filter(([, times]) => times === 0);
  const ofCalls = Object.entries(EXPECTED).flatMap(([op, { codes, from }]) => {
    const own = all.filter((cell) => cell.op === op);
    return [
      ...codes
        .filter((code) => !own.some(({ outcome }) => outcome === code))
        .map((code) => `${op} was never refused with ${code}`),
      ...from
        .filter((state) => !own.some((cell) => cell.outcome === 'ok' && cell.state === state))
        .map((state) => `${op} never succeeded on ${state}`),
    ];
  });
  return [...ofCalls, ...ofOthers.map(([what]) => `${what}: never`)];
}
