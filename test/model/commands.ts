/**
 * Random calls. Each comes from a roll of dice, whose meaning depends on the market's state at the time of the call. A
 * history therefore remains valid when rolls are removed. Shrinking only removes whole rolls, because a reader wants
 * fewer calls.
 */
import fc from '../setup/random/property.js';
import { EDITABLE, EXTENDED_BY, isIn, statesIn, type Transition } from '../story/specified.js';
import { DAY, HOUR, lengthOf } from './deadlines.js';
import { JOB_FIELDS, TRANSITION } from './shapes.js';
import { PACKS } from './wallet.js';
import {
  APP_ORIGIN,
  REPORTS,
  type Bid,
  type Call,
  type Api,
  type Fields,
  type Job,
  type JobState,
  type Market,
  type Op,
  type Person,
  type Purchase,
  mayBeReviewed,
  TRANSITION_NAMES,
} from './market.js';

export type Roll = readonly number[];

const DICE_PER_ROLL = 28;

export const histories: fc.Arbitrary<Roll[]> = fc.noBias(
  fc.array(fc.noShrink(fc.array(fc.nat(9_999), { minLength: DICE_PER_ROLL, maxLength: DICE_PER_ROLL, size: 'max' })), {
    minLength: 1,
    maxLength: 60,
    size: 'max',
  }),
);

class Dice {
  private at = 0;
  constructor(private readonly rolled: Roll) {}

  below(count: number): number {
    const value = this.rolled[this.at] ?? 0;
    this.at += 1;
    return value % count;
  }

  /** Zero always means no. */
  percent(chance: number): boolean {
    return this.below(100) >= 100 - chance;
  }

  of<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!;
  }

  weighted<T>(choices: readonly (readonly [weight: number, choice: T])[]): T {
    let left = this.below(choices.reduce((sum, [weight]) => sum + weight, 0));
    for (const [weight, choice] of choices) {
      if (left < weight) return choice;
      left -= weight;
    }
    return choices[0]![1];
  }
}

/** Identifiers that match no object, some well formed and some not. */
export const NOBODYS = '2n5jQqj3TZ6KZrQmS8WzV1Xc0Ya';
const IDS_OF_NOTHING = {
  job: [`job_${NOBODYS}`, 'job_1', `bid_${NOBODYS}`],
  user: [`usr_${NOBODYS}`, 'usr_1', `job_${NOBODYS}`],
  bid: [`bid_${NOBODYS}`, 'bid_1', `job_${NOBODYS}`],
  purchase: [`pur_${NOBODYS}`, 'pur_1', `job_${NOBODYS}`],
};

export function callFrom(roll: Roll, market: Market): Call {
  const dice = new Dice(roll);
  const api: Api = dice.of(['rest', 'graphql']);
  const plan = dice.weighted<(market: Market, dice: Dice) => Plan>([
    [60, fitting],
    [13, reading],
    [27, wild],
    [4, supporting],
    [stakedPurchases(market).length > 0 ? 30 : usedPurchases(market).length > 0 ? 16 : 9, trading],
    // Often, time passes without any call in between, or while someone is suspended.
    [market.isAgeing ? 60 : market.suspended.size > 0 ? 20 : 5, ageing],
  ])(market, dice);
  return toCall(market, dice, plan, api);
}

interface Plan {
  readonly op: Op;
  readonly by: Person | null;
  readonly job?: Job | undefined;
  readonly bid?: Bid | undefined;
  readonly purchase?: Purchase | undefined;
  /** Fills missing fields instead of editing at random. */
  readonly fills?: boolean;
  /** The person who gets tokens or is suspended. Anybody if omitted. */
  readonly to?: Person;
  /** The chance, in percent, that something is wrong with the call. */
  readonly flawed: number;
}

function homeowners(market: Market): Person[] {
  return market.people.filter(({ role }) => role === 'homeowner');
}
function contractors(market: Market): Person[] {
  return market.people.filter(({ role }) => role === 'contractor');
}
function admin(market: Market): Person {
  return market.people.find(({ role }) => role === 'admin')!;
}

const OVER = statesIn('end');

/**
 * The next step that an authorized person would take on a job, so jobs reach their end. Suspended people are restored
 * first.
 */
function fitting(market: Market, dice: Dice): Plan {
  const plan = nextWithJob(market, dice);
  if (plan.by === null || !market.suspended.has(plan.by) || dice.percent(30)) return plan;
  return { op: 'restoreUser', by: admin(market), to: plan.by, flawed: 4 };
}

/** An admin suspends someone. */
function supporting(market: Market, dice: Dice): Plan {
  const parties = market.jobs
    .filter(({ state }) => !OVER.includes(state))
    .flatMap(({ owner, awarded }) => (awarded ? [owner, awarded.by] : [owner]));
  const to = parties.length > 0 && dice.percent(70) ? dice.of(parties) : dice.of(market.people);
  return { op: 'suspendUser', by: admin(market), to, flawed: 8 };
}

/** Someone buys tokens and pays for them, and some of that is undone. */
function trading(market: Market, dice: Dice): Plan {
  const { purchases } = market;
  const open = purchases.filter(({ state }) => state === 'pending');
  const expired = purchases.filter(({ state }) => state === 'expired');
  const undoable = purchases.filter(({ state }) => state === 'paid' || state === 'refunded');
  const used = usedPurchases(market);
  const one = (some: readonly Purchase[]) => dice.of(used.length > 0 && dice.percent(75) ? used : some);
  const staked = stakedPurchases(market);
  const [often, seldom] = used.length > 0 ? [30, 20] : [8, 3];
  const poor = market.people.find((person) => market.tokensOf(person).debt > 0) ?? used.at(0)?.by;
  const charged = market.jobs.find(({ state, bids, boughtPaid }) => state === 'open' && !bids[0] && boughtPaid > 0);
  const plan = (op: Op, purchase: Purchase, by = purchase.by): Plan => ({ op, by, purchase, flawed: 4 });
  return dice.weighted<() => Plan>([
    [1, () => ({ op: 'buyTokens', by: admin(market), flawed: 0 })],
    [18, () => ({ op: 'buyTokens', by: buyer(market, dice), flawed: 5 })],
    [open.length > 0 ? 40 : 0, () => plan('payPurchase', dice.of(open))],
    [expired.length > 0 ? 40 : 0, () => plan('payPurchase', dice.of(expired))],
    [purchases.length > 0 ? 3 : 0, () => plan('payPurchase', dice.of(purchases))],
    [purchases.length > 0 ? 7 : 0, () => plan('expirePurchase', dice.of(open.length > 0 ? open : purchases))],
    [undoable.length > 0 ? often : 0, () => plan('refundPurchase', one(undoable), admin(market))],
    [undoable.length > 0 ? seldom : 0, () => plan('chargeBack', one(undoable))],
    [staked.length > 0 ? 20 : 0, () => plan('chargeBack', dice.of(staked))],
    [charged ? 12 : 0, () => ({ op: 'cancelJob', by: charged!.owner, job: charged, flawed: 0 })],
    [poor ? 20 : 0, () => ({ op: 'adjustTokens', by: admin(market), to: poor!, flawed: 0 })],
  ])();
}

/** Their tokens were spent or staked in part, so they can't simply be taken back. */
function usedPurchases(market: Market): Purchase[] {
  return market.purchases.filter(({ by, pack, state, refundedTokens, left }) => {
    const isWhole = left === pack.tokens - refundedTokens && market.tokensOf(by).held === 0;
    return state === 'paid' && !isWhole;
  });
}

function stakedPurchases(market: Market): Purchase[] {
  return usedPurchases(market).filter(({ by }) => market.tokensOf(by).held > 0);
}

function buyer(market: Market, dice: Dice): Person {
  const buyers = [...homeowners(market), ...contractors(market)];
  const likely = buyers.filter((person) => {
    const { held, debt } = market.tokensOf(person);
    return held > 0 || debt > 0 || market.openPurchasesOf(person).length > 1;
  });
  return dice.of(likely.length > 0 && dice.percent(60) ? likely : buyers);
}

/** What some histories begin with, because it would otherwise be too rare: some buy, and some of those also pay. */
export function openingCalls(history: readonly Roll[], market: Market): (() => Call)[] {
  const dice = new Dice(history[0]?.toReversed() ?? []);
  const person = (name: string) => market.people.find((one) => one.name === name)!;
  const buy = (name: string, pack: string) => (): Call => {
    const body = { pack, returnUrl: `${APP_ORIGIN}/tokens` };
    return { op: 'buyTokens', by: person(name), api: 'graphql', body };
  };
  const pay = (): Call => {
    const { by, id } = market.purchases.find(({ state }) => state === 'pending')!;
    return { op: 'payPurchase', by, api: 'rest', purchase: id, body: { deliveries: 1 } };
  };
  return dice.weighted<(() => Call)[]>([
    [55, []],
    [14, [buy('Hanna', 'small'), pay, buy('Hanna', 'medium'), pay]],
    [14, [buy('Hanna', 'small'), pay]],
    [14, [buy('Cody', 'small'), pay]],
    [3, PACKS.flatMap(({ id }) => [buy('Hugo', id), buy('Hugo', id)])],
  ]);
}

/** Time passes. */
function ageing(market: Market): Plan {
  return { op: 'advanceClock', by: admin(market), flawed: 4 };
}

function nextWithJob(market: Market, dice: Dice): Plan {
  const unrated = market.jobs.find(mayBeReviewed);
  if (unrated && dice.percent(12)) return { op: 'reviewJob', by: unrated.owner, job: unrated, flawed: 12 };
  const going = market.jobs.filter(({ state }) => !OVER.includes(state));
  if (going.length === 0 || dice.below(100) >= 92 + 2 * going.length)
    return { op: 'createJob', by: dice.of(homeowners(market)), flawed: 5 };
  const job = dice.percent(70) ? going[0]! : dice.of(going);
  const { owner } = job;
  const awardee = job.awarded?.by ?? null;
  const live = job.bids.filter(({ state }) => ['pending', 'viewed', 'shortlisted'].includes(state));
  const plan = (op: Op, by: Person | null, bid?: Bid): Plan => ({ op, by, job, bid, flawed: 4 });
  const edit = plan('updateJob', owner);
  const cancel = plan('cancelJob', owner);
  const complete = plan('completeJob', admin(market));
  const extend = plan('extendDeadline', extenderOf(job, market));
  switch (job.state) {
    case 'draft':
      if (gapsIn(job).length > 0 && dice.percent(70)) return { ...edit, fills: true };
      if (costOf(job) > market.tokensOf(owner).available && dice.percent(60)) {
        const [open] = market.openPurchasesOf(owner);
        if (open) return { op: 'payPurchase', by: owner, purchase: open, flawed: 0 };
        return dice.weighted<Plan>([
          [50, { op: 'buyTokens', by: owner, flawed: 4 }],
          [50, { op: 'adjustTokens', by: admin(market), to: owner, flawed: 4 }],
        ]);
      }
      return dice.weighted([
        [60, plan('publishJob', owner)],
        [32, edit],
        [5, plan('deleteJob', owner)],
        [3, complete],
      ]);
    case 'open': {
      const backed = contractors(market).filter((person) => market.tokensOf(person).bought > 0);
      const bid = plan('submitBid', dice.of(backed.length > 0 && dice.percent(50) ? backed : contractors(market)));
      if (live.length === 0)
        return dice.weighted([
          [48, bid],
          [44, edit],
          [5, cancel],
          [3, complete],
          [5, extend],
        ]);
      const one = dice.of(live);
      return dice.weighted([
        [30, bid],
        [22, plan('awardJob', owner, one)],
        [8, plan('reviseBid', one.by, one)],
        [6, plan('viewBid', owner, one)],
        [5, plan('shortlistBid', owner, one)],
        [8, plan('rejectBid', owner, one)],
        [7, plan('withdrawBid', one.by, one)],
        [20, edit],
        [3, cancel],
        [1, complete],
        [4, extend],
      ]);
    }
    case 'awarded':
      return dice.weighted([
        [60, plan('checkInJob', awardee)],
        [9, plan('declineAward', awardee)],
        [9, plan('reopenJob', owner)],
        [14, edit],
        [5, cancel],
        [3, complete],
      ]);
    case 'in_progress':
      return dice.weighted([
        [60, plan('submitJobForReview', awardee)],
        [job.changeRequests > 0 ? 12 : 0, plan('disputeJob', owner)],
        [34, edit],
        [4, cancel],
        [2, complete],
      ]);
    case 'in_review':
      return dice.weighted([
        [40, plan('disputeJob', owner)],
        [24, plan('approveJob', owner)],
        [24, plan('requestChanges', owner)],
        [7, edit],
        [5, complete],
        [12, extend],
      ]);
    case 'disputed':
      return dice.weighted([
        [46, plan('resolveDispute', dice.of([owner, awardee]))],
        [16, plan('acceptResolution', dice.of([owner, awardee]))],
        [34, plan('escalateJob', dice.of([owner, awardee]))],
        [4, complete],
      ]);
    case 'escalated':
      return dice.weighted([
        [90, plan('reachDecision', admin(market))],
        [10, complete],
      ]);
    case 'decision_reached':
      return dice.weighted([
        [68, plan('fileAppeal', awardee)],
        [22, plan('acceptDecision', awardee)],
        [10, complete],
        [20, extend],
      ]);
    case 'appealed':
      return dice.weighted([
        [88, plan('finalizeAppeal', admin(market))],
        [12, complete],
      ]);
    case 'completed':
    case 'cancelled':
      throw new Error(`Nothing is fit for a job that is ${job.state}.`);
  }
}

function extenderOf({ state, owner }: Job, market: Market): Person {
  return EXTENDED_BY[state] === 'admin' ? admin(market) : owner;
}

const NEEDED: Fields = {
  category: 'plumbing',
  urgency: 'standard',
  addressLine1: '2 Side Street',
  city: 'Austin',
  state: 'TX',
};

function gapsIn({ fields }: Job): string[] {
  return Object.keys(NEEDED).filter((field) => fields[field] === null);
}

function costOf({ fields }: Job): number {
  return { standard: 5, priority: 15, urgent: 30 }[String(fields.urgency)] ?? 0;
}

const READS: readonly Op[] = [
  'readJob',
  'listJobs',
  'listBids',
  'listRevisions',
  'ownBids',
  'listEvents',
  'readDispute',
  'readUpcoming',
  'readTokens',
  'readPurchase',
  'readContractor',
];

function reading(market: Market, dice: Dice): Plan {
  return {
    op: dice.of(READS),
    by: dice.percent(6) ? null : dice.of(market.people),
    job: anyOf(market.jobs, dice),
    bid: anyOf(
      market.jobs.flatMap(({ bids }) => bids),
      dice,
    ),
    purchase: anyOf(market.purchases, dice),
    flawed: 12,
  };
}

const EVERYTHING: readonly Op[] = [
  ...TRANSITION_NAMES,
  ...READS,
  'createJob',
  'updateJob',
  'updateJob',
  'reviewJob',
  'deleteJob',
  'submitBid',
  'submitBid',
  'viewBid',
  'shortlistBid',
  'rejectBid',
  'withdrawBid',
  'reviseBid',
  'reviseBid',
  'adjustTokens',
  'adjustTokens',
  'buyTokens',
  'refundPurchase',
  'suspendUser',
  'restoreUser',
  'extendDeadline',
  'advanceClock',
];

const OF_ADMINS: readonly Op[] = [
  'advanceClock',
  'adjustTokens',
  'refundPurchase',
  'suspendUser',
  'restoreUser',
  'reachDecision',
  'finalizeAppeal',
  'completeJob',
];
const OF_OWNERS: readonly Op[] = [
  'publishJob',
  'updateJob',
  'deleteJob',
  'awardJob',
  'reopenJob',
  'approveJob',
  'requestChanges',
  'reviewJob',
  'disputeJob',
  'cancelJob',
  'viewBid',
  'shortlistBid',
  'rejectBid',
  'escalateJob',
];

/** Any person, any call, at any time. Usually the person could make the call if the state were right. */
function wild(market: Market, dice: Dice): Plan {
  const op = dice.of(EVERYTHING);
  const job = anyOf(market.jobs, dice);
  const bid = anyOf(dice.percent(70) && job ? job.bids : market.jobs.flatMap(({ bids }) => bids), dice);
  const nobody = dice.percent(9);
  const ofBid =
    op === 'withdrawBid' || op === 'reviseBid'
      ? bid?.by
      : OF_OWNERS.includes(op) && op.endsWith('Bid')
        ? bid?.job.owner
        : op === 'extendDeadline' && job
          ? extenderOf(job, market)
          : undefined;
  const rightful =
    ofBid ??
    (OF_ADMINS.includes(op)
      ? admin(market)
      : OF_OWNERS.includes(op)
        ? job?.owner
        : op === 'createJob'
          ? homeowners(market)[0]
          : (job?.awarded?.by ?? dice.of(contractors(market))));
  return {
    op,
    by: nobody ? null : ((dice.percent(60) ? rightful : undefined) ?? dice.of(market.people)),
    job,
    bid,
    purchase: anyOf(market.purchases, dice),
    flawed: 13,
  };
}

function anyOf<T>(choices: readonly T[], dice: Dice): T | undefined {
  return choices.length === 0 ? undefined : dice.of(choices);
}

const BID_MOVES: readonly Op[] = ['viewBid', 'shortlistBid', 'rejectBid', 'withdrawBid'];
const ON_BIDS: readonly Op[] = [...BID_MOVES, 'reviseBid', 'listRevisions'];
const OF_USERS: readonly Op[] = ['suspendUser', 'restoreUser'];
const WITHOUT_JOB: readonly Op[] = [
  ...OF_USERS,
  ...REPORTS,
  'buyTokens',
  'refundPurchase',
  'readPurchase',
  'createJob',
  'adjustTokens',
  'advanceClock',
  'listJobs',
  'ownBids',
  'readTokens',
  'readContractor',
];
const WITHOUT_VERSION: readonly Op[] = [
  ...READS,
  ...BID_MOVES,
  ...OF_USERS,
  ...REPORTS,
  'createJob',
  'adjustTokens',
  'buyTokens',
  'refundPurchase',
  'advanceClock',
  'submitBid',
];
/** Operations that have no input at all in GraphQL. */
const WITHOUT_BODY: readonly Op[] = [
  ...BID_MOVES,
  ...TRANSITION_NAMES.filter((name) => Object.keys(TRANSITION[name]).length === 0),
  'deleteJob',
  'restoreUser',
  'readJob',
  'readDispute',
  'readUpcoming',
  'readTokens',
  'readPurchase',
  'readContractor',
];

function toCall(market: Market, dice: Dice, plan: Plan, wanted: Api): Call {
  const { op, by, job, bid, purchase, to, flawed } = plan;
  if (purchase && isReport(op))
    return { op, by, api: 'rest', purchase: purchase.id, body: { deliveries: dice.percent(25) ? 2 : 1 } };
  // Calls that GraphQL can't express go through REST.
  const isOnlyInRest =
    op === 'listRevisions' || op === 'readPurchase' || (op === 'ownBids' && by !== null && by.role !== 'contractor');
  const api = isOnlyInRest ? 'rest' : wanted;
  const isFlawed = dice.percent(flawed);
  const lost = dice.percent(5);
  const staleness = dice.below(100);
  const sound =
    plan.fills && job
      ? Object.fromEntries(gapsIn(job).map((field) => [field, NEEDED[field]]))
      : bodyOf(plan, market, dice, api);
  const body = isFlawed ? broken(op, sound, dice, api) : sound;
  const target =
    op === 'readContractor'
      ? dice.of([...contractors(market).map(({ profileId }) => profileId), `ctr_${NOBODYS}`])
      : undefined;
  const jobId = target ?? (lost || !job ? dice.of([...IDS_OF_NOTHING.job, ...market.gone]) : job.id);
  // In a bid's address, the job may be wrong too.
  const home = bid && !dice.percent(5) ? bid.job.id : jobId;
  const current = op === 'reviseBid' ? bid?.version : job?.version;
  const version =
    WITHOUT_VERSION.includes(op) || current === undefined || staleness < 60
      ? undefined
      : staleness < 86
        ? current
        : Math.max(0, current - 1);
  return {
    op,
    by,
    api,
    body,
    ...(!WITHOUT_JOB.includes(op) || op === 'readContractor' ? { job: ON_BIDS.includes(op) ? home : jobId } : {}),
    ...(ON_BIDS.includes(op) && { bid: lost || !bid ? dice.of(IDS_OF_NOTHING.bid) : bid.id }),
    ...(OF_USERS.includes(op) && { user: lost ? dice.of(IDS_OF_NOTHING.user) : (to ?? dice.of(market.people)).userId }),
    ...((op === 'refundPurchase' || op === 'readPurchase') && {
      purchase: lost || !purchase ? dice.of(IDS_OF_NOTHING.purchase) : purchase.id,
    }),
    ...(version !== undefined && { version }),
  };
}

function isReport(op: Op): boolean {
  return REPORTS.some((report) => report === op);
}

const SAYINGS = [
  'All is well',
  '  around the edges  ',
  'Half the price, by 50%',
  'naïve — “quoted” 🛠️',
  'line\nbreak',
] as const;
const RESOLUTIONS = [
  'Half the price',
  ' Half  the price ',
  'Half\tthe\nprice',
  'Half the price.',
  'Start again',
] as const;

function bodyOf({ op, by, job, bid, purchase, to }: Plan, market: Market, dice: Dice, api: Api): Fields {
  const say = () => dice.of(SAYINGS);
  const perhaps = (field: string, value: () => unknown, chance = 50): Fields =>
    dice.percent(chance) ? { [field]: value() } : {};
  switch (op) {
    case 'createJob':
      return newJob(dice);
    case 'updateJob':
      return patchFor(job, dice, api);
    case 'submitBid':
      return {
        amount: dice.of([100, 0.01, 2500.5, 9_999_999_999.99]),
        ...perhaps('guaranteedView', () => !dice.percent(15), by && market.tokensOf(by).bought > 0 ? 85 : 45),
        ...perhaps('estimatedDurationDays', () => dice.of([1, 14]), 30),
        ...perhaps('message', say, 30),
        ...perhaps('proposedStartDate', () => dice.of(['2026-07-01', '2028-02-29', null]), 30),
        ...perhaps('materialsIncluded', () => dice.percent(50), 30),
        ...perhaps('paymentTerms', say, 20),
      };
    case 'adjustTokens':
      if (to) return { userId: to.userId, amount: dice.of([30, 15]), reason: say() };
      return {
        userId: dice.percent(8) ? `usr_${NOBODYS}` : dice.of(market.people).userId,
        amount: dice.of([5, 20, -5, 30, -40, -500]),
        reason: say(),
      };
    case 'buyTokens':
      return {
        pack: dice.percent(4) ? 'huge' : dice.of(PACKS).id,
        returnUrl: dice.percent(4) ? 'https://elsewhere.example/' : `${APP_ORIGIN}/tokens`,
      };
    case 'refundPurchase': {
      const most = purchase ? market.refundable(purchase) : 1;
      return {
        reason: say(),
        ...perhaps('tokens', () => Math.max(1, dice.of([most, most + 1, 1, 4, Math.ceil(most / 2)])), 65),
      };
    }
    case 'suspendUser':
      return { reason: say() };
    case 'extendDeadline':
      return { until: untilFor(job, market, dice), ...perhaps('reason', say) };
    case 'advanceClock':
      return { seconds: secondsToAdvance(hoursToAdvance(dice)) };
    case 'awardJob':
      return {
        bidId: bid?.id ?? `bid_${NOBODYS}`,
        ...perhaps(
          'expectedBidVersion',
          () => (dice.percent(80) ? (bid?.version ?? 1) : dice.of([1, 2, 3])),
          bid && bid.version > 1 ? 85 : 25,
        ),
      };
    case 'requestChanges':
      return { reason: say(), ...perhaps('items', () => dice.of([[], ['The tap'], ['The tap', 'The tiles']])) };
    case 'reviseBid':
      return {
        ...(bid && api === 'rest' && dice.percent(15) && sentBackBid(bid, dice)),
        ...perhaps('amount', () => dice.of([90, 100, 0.01, 2500.5, null]), 70),
        ...perhaps('estimatedDurationDays', () => dice.of([1, 14, null]), 30),
        ...perhaps('message', () => dice.of([...SAYINGS, '', null]), 30),
        ...perhaps('proposedStartDate', () => dice.of(['2026-07-01', null]), 20),
        ...perhaps('materialsIncluded', () => dice.of([true, false, null]), 20),
        ...perhaps('paymentTerms', () => dice.of([...SAYINGS, null]), 20),
      };
    case 'approveJob':
      return { ...perhaps('rating', () => 1 + dice.below(5), 70), ...perhaps('review', say) };
    case 'reviewJob':
      return { rating: 1 + dice.below(5), ...perhaps('review', say) };
    case 'acceptResolution': {
      const standing = job?.dispute?.proposal?.id;
      return { proposalId: standing && dice.percent(70) ? standing : `prp_${NOBODYS}` };
    }
    case 'completeJob':
      return { reason: say(), ...perhaps('creditContractor', () => dice.percent(75), 40) };
    case 'resolveDispute':
      return { resolution: dice.of(RESOLUTIONS), ...perhaps('agreedBy', () => dice.of(['both', 'Carl'])) };
    case 'listJobs':
      return {
        ...perhaps('status', () => (job ? job.state : 'open'), 25),
        ...dice.of([
          perhaps('category', () => dice.of(CATEGORIES), 30),
          perhaps('categories', () => dice.of(SEVERAL_CATEGORIES), 30),
        ]),
        ...perhaps('urgency', () => dice.of(URGENCIES), 20),
        ...perhaps('budgetMin', () => dice.of([0, 0.7, 100, 1000.01]), 15),
        ...perhaps('budgetMax', () => dice.of([1000.01, 1200, 5000.55]), 15),
        ...perhaps('search', () => dice.of(['sink', '100%', 'k_f', '\\', 'ROOF', '%', 'xyz']), 30),
        ...perhaps(
          'homeownerId',
          () => dice.of([...homeowners(market).map(({ profileId }) => profileId), `hmw_${NOBODYS}`]),
          15,
        ),
        ...pageFor(dice, api),
      };
    case 'listBids':
    case 'ownBids':
      return {
        ...perhaps(
          'status',
          () => dice.of(['pending', 'viewed', 'shortlisted', 'accepted', 'rejected', 'withdrawn']),
          30,
        ),
        ...pageFor(dice, api),
      };
    case 'listEvents':
    case 'listRevisions':
      return pageFor(dice, api);
    default: {
      const kinds = op in TRANSITION ? Object.entries(TRANSITION[op as Transition]) : [];
      return Object.assign(
        {},
        ...kinds.map(([name, { required }]) => (required ? { [name]: say() } : perhaps(name, say))),
      );
    }
  }
}

/** A new deadline, up to the exact limits and an hour past them. */
function untilFor(job: Job | undefined, market: Market, dice: Dice): string {
  const end = (job && market.endOfDeadline(job)) ?? market.now;
  const length = (job && lengthOf(job.state)) ?? 14 * DAY;
  const base = dice.percent(85) ? Math.max(end, market.now) : end;
  const later = dice.of([DAY, 5 * DAY, length / 2, 14 * DAY, end - base + length, end - base + length + HOUR, 0, -DAY]);
  return new Date(market.startedAt + (base + later) * 1_000).toISOString();
}

function hoursToAdvance(dice: Dice): number {
  return dice.weighted([
    [25, () => 1 + dice.below(49)],
    [38, () => 24 * (1 + dice.below(8))],
    [22, () => 24 * (9 + dice.below(8))],
    [10, () => 24 * (17 + dice.below(24))],
    [5, () => 24 * (41 + dice.below(60))],
    [2, () => 0],
  ])();
}

/**
 * Deadlines last whole hours, and a history takes some minutes of real time at most. A few seconds more than whole
 * hours each time keep the clock clear of the moments at which a deadline begins or ends.
 */
export function secondsToAdvance(hours: number): number {
  return hours === 0 ? 0 : hours * HOUR + 10;
}

function pageFor(dice: Dice, api: Api): Fields {
  return {
    ...(dice.percent(40) && { perPage: dice.of([100, 1, 2, 3]) }),
    ...(api === 'rest' && dice.percent(25) && { page: dice.of([1, 2, 3]) }),
  };
}

const CATEGORIES = ['plumbing', 'roofing', 'painting'] as const;
/** Nobody paves. */
const SEVERAL_CATEGORIES = [['plumbing', 'roofing'], ['painting', 'paving', 'painting'], ['roofing']] as const;
const URGENCIES = ['standard', 'priority', 'urgent'] as const;
const TITLES = ['Fix the sink', 'A roof, 100% dry', 'Oak_floor', 'Back\\slash', '  Trim me  '] as const;

function newJob(dice: Dice): Fields {
  const gaps = dice.percent(15);
  const give = (field: string, value: unknown, chance: number): Fields =>
    dice.percent(chance) ? { [field]: value } : {};
  const needed = (field: string, value: unknown): Fields => (gaps && dice.percent(25) ? {} : { [field]: value });
  return {
    title: dice.of(TITLES),
    description: dice.of(['It drips.', 'The roof of the house', 'Paint it']),
    ...needed('category', dice.of(CATEGORIES)),
    ...needed('urgency', dice.of(['standard', 'priority', 'standard', 'urgent', 'priority'])),
    ...needed('addressLine1', '1 Main Street'),
    ...needed('city', dice.of(['Austin', 'Nowhere'])),
    ...needed('state', 'TX'),
    ...give('zipCode', dice.of(['78701', '00000', ' 10001 ']), 40),
    ...give('addressLine2', dice.of(['Rear', ' ', null]), 20),
    ...give('country', 'US', 15),
    ...give('budgetMin', dice.of([100, 0.7, 1000.01, 0]), 55),
    ...give('budgetMax', dice.of([1200, 100, 5000.55, null]), 55),
    ...give('desiredStartDate', dice.of(['2026-06-01', '2026-07-15']), 30),
    ...give('desiredCompletionDate', dice.of(['2026-07-01', '2026-08-01', '2026-06-30']), 50),
    ...give('requirements', dice.of(['Insured', '']), 20),
  };
}

/**
 * Edits that the state mostly allows, up to the exact limits and one step past them. Now and then, an edit that it
 * doesn't allow.
 */
function patchFor(job: Job | undefined, dice: Dice, api: Api): Fields {
  const fields = job?.fields ?? {};
  const patch: Fields = {};
  const names = likelyIn(job?.state);
  // Whether the urgency may be lowered depends on every bid's outcome, so it is tried whenever there was a bid.
  const isBidding = job !== undefined && isIn('bidding', job.state);
  if (isBidding && job.bids.length > 0 && fields.urgency !== 'standard' && dice.percent(35))
    return { urgency: dice.of(['standard', 'priority']) };
  // Budgets are lowered to the exact limit, then once more. Many small steps must not go further than one large step
  // may.
  const budget = dice.of(['budgetMin', 'budgetMax'] as const);
  const highest = isBidding ? job.highest[budget] : null;
  if (highest !== null && highest > 0 && dice.percent(30)) {
    const lowest = Math.ceil((highest * 9) / 10);
    const isLow = Math.round(Number(fields[budget]) * 100) < highest;
    return { [budget]: Math.max(0, isLow && dice.percent(60) ? lowest - 1 : lowest) / 100 };
  }
  for (let count = 1 + dice.below(2); count > 0; count -= 1) {
    const field = dice.percent(10) ? dice.of(JOB_FIELDS) : dice.of(names);
    patch[field] = dice.percent(12) ? (fields[field] ?? null) : newValue(field, job, dice);
  }
  if (job && api === 'rest' && dice.percent(12)) return { ...sentBackWhole(job, dice), ...patch };
  return patch;
}

function likelyIn(state: JobState | undefined): readonly string[] {
  const fields = state && EDITABLE[state];
  if (fields === undefined || fields === 'all') return JOB_FIELDS;
  return [...fields, ...fields.filter((field) => LIMITED.has(field))];
}

/** Fields with limits of their own are tried more often. */
const LIMITED = new Set<string>(['budgetMin', 'budgetMax', 'urgency', 'desiredCompletionDate']);

function newValue(field: string, job: Job | undefined, dice: Dice): unknown {
  switch (field) {
    case 'budgetMin':
    case 'budgetMax': {
      const highest = job?.highest[field] ?? null;
      const lowest = highest === null ? 9_000 : Math.ceil((highest * 9) / 10);
      const below = Math.max(0, lowest - 1) / 100;
      return dice.of([lowest / 100, below, lowest / 100, below, 1_100, 5_000, (lowest + 7) / 100, null, 0.29]);
    }
    case 'urgency':
      return dice.of([...URGENCIES, 'urgent', 'priority', null]);
    case 'desiredStartDate':
      return dice.of(['2026-06-02', '2026-07-20', null]);
    case 'desiredCompletionDate': {
      const base = job?.completionBase ?? '2026-07-01';
      return dice.of([
        shifted(base, 30),
        shifted(base, -30),
        shifted(base, 31),
        shifted(base, -31),
        shifted(base, 5),
        null,
        '2026-06-15',
      ]);
    }
    case 'title':
    case 'description':
      return dice.of(['New words', 'The sink again', null]);
    case 'zipCode':
      return dice.of(['78701', 'nowhere', null]);
    case 'city':
      return dice.of(['Austin', 'Nowhere', null]);
    case 'state':
      return dice.of(['TX', 'ZZ', null]);
    case 'category':
      return dice.of([...CATEGORIES, null]);
    default:
      return dice.of(['Something else', '  Something else ', '', null]);
  }
}

export function shifted(date: string, days: number): string {
  return new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10);
}

/** The job as a client that read it would send it back. Sometimes a read-only field is made up. */
function sentBackWhole(job: Job, dice: Dice): Fields {
  const forged = dice.percent(25)
    ? { [dice.of(['status', 'homeownerId', 'awardedBidId', 'rating', 'review', 'createdAt'])]: 'forged' }
    : {};
  return {
    ...job.fields,
    id: job.id,
    status: job.state,
    homeownerId: job.owner.profileId,
    awardedBidId: job.awarded?.id ?? null,
    rating: job.rating,
    review: job.review,
    createdAt: job.createdAt,
    updatedAt: '2020-01-01T00:00:00.000Z',
    version: 77,
    ...forged,
  };
}

/** The bid as its contractor would send it back. Sometimes a read-only field is made up. */
function sentBackBid(bid: Bid, dice: Dice): Fields {
  const forged = dice.percent(25)
    ? { [dice.of(['status', 'contractorId', 'guaranteedView', 'holdId', 'suspended', 'createdAt'])]: 'forged' }
    : {};
  return {
    ...bid.fields,
    contractorId: bid.by.profileId,
    status: bid.state,
    guaranteedView: bid.guaranteed,
    holdId: bid.holdId,
    suspended: false,
    isOutdated: dice.percent(50),
    createdAt: bid.createdAt,
    submittedAt: bid.createdAt,
    updatedAt: '2020-01-01T00:00:00.000Z',
    version: 77,
    ...forged,
  };
}

/** Makes one thing wrong with the shape, or several. */
function broken(op: Op, sound: Fields, dice: Dice, api: Api): Fields {
  // A DELETE's body is ignored.
  const silent = op === 'deleteJob' || (api === 'graphql' && WITHOUT_BODY.includes(op));
  if (silent || READS.includes(op))
    return silent || WITHOUT_BODY.includes(op) ? sound : brokenQuery(op, sound, dice, api);
  const body: Fields = { ...sound };
  for (let count = 1 + dice.below(2); count > 0; count -= 1) {
    const named = dice.percent(75) && Object.keys(body).length > 0;
    const field = named ? dice.of(Object.keys(body)) : 'wish';
    if (!named) body[dice.of(['wish', 'latitude', 'submittedAt', 'holdId'])] = dice.of([1, 'x']);
    else if (dice.percent(25)) delete body[field];
    else body[field] = badValue(field, dice);
  }
  return body;
}

function badValue(field: string, dice: Dice): unknown {
  if (field === 'urgency') return dice.of(['asap', 5, '']);
  if (field.endsWith('Date')) return dice.of(['2026-02-30', '2026-2-3', 'soon', '2027-02-29', '2026-06-01T00:00:00Z']);
  if (field.startsWith('budget') || field === 'amount') return dice.of([-1, 1.005, 10_000_000_000, '12', true, 0]);
  if (field === 'rating') return dice.of([0, 6, 4.5, 'five']);
  if (field === 'tokens') return dice.of([0, -1, 1.5, '1', 1_000_001]);
  if (field === 'seconds') return dice.of([-1, -86_400, 1.5, '60', 31_536_001]);
  if (field === 'until') return dice.of(['soon', '2099-06-01', '2099-06-01T00:00:00', '2099-13-01T00:00:00Z', 7]);
  if (field === 'estimatedDurationDays') return dice.of([0, 1.5, 'ten']);
  if (field === 'materialsIncluded' || field === 'guaranteedView') return dice.of(['yes', 1]);
  if (field === 'items') return dice.of([7, Array.from({ length: 21 }, () => 'One')]);
  if (field.endsWith('Id')) return dice.of(['', 'bid_1', `xyz_${NOBODYS}`, 7, null]);
  return dice.of(['   ', 'x'.repeat(10_001), 7, ['list'], 'nul\0', null]);
}

function brokenQuery(op: Op, sound: Fields, dice: Dice, api: Api): Fields {
  const bad: Fields[] = [{ perPage: 0 }, { perPage: 101 }];
  if (op !== 'listEvents') bad.push({ status: 'lost' });
  if (op === 'listJobs')
    bad.push(
      { urgency: 'asap' },
      { category: 'roofing', categories: ['painting'] },
      { categories: Array.from({ length: 21 }, () => 'roofing') },
      { budgetMin: -1 },
      { budgetMin: 5.5, budgetMax: 5 },
    );
  if (api === 'rest') bad.push({ page: 0 }, { page: 'first' }, { wish: 1 }, { perPage: 1.5 });
  // If an unauthorized caller filters by owner and another filter is bad, the spec doesn't say which error comes first.
  const { homeownerId: _, ...rest } = sound;
  return { ...rest, ...dice.of(bad), ...(dice.percent(30) && dice.of(bad)) };
}

/** A call on one line, for readers of a failed history. */
export function describeCall({ op, by, api, job, bid, user, purchase, version, body }: Call): string {
  const parts = [
    job && `job ${job}`,
    bid && `bid ${bid}`,
    user && `user ${user}`,
    purchase && `purchase ${purchase}`,
    version !== undefined && `version ${version}`,
    Object.keys(body).length > 0 && shortened(JSON.stringify(body)),
  ];
  return `${by?.name ?? 'nobody'} ${op} by ${api} ${parts.filter(Boolean).join(', ')}`;
}

function shortened(text: string): string {
  return text.replaceAll(/x{100,}/g, 'x…x');
}
