/**
 * The verdict on a finished run, from the clients' requests, their responses, and the database. Every request was sent
 * until it had a definite response, so the responses predict every row. A success has all of its effects exactly once,
 * a rejected call has no effect, and nothing else is there. This is a pure function, which doesn't share code with the
 * service.
 */
import { operationName } from '../../../story/calls.js';
import { isRead, outcomeOf, settles, succeeded, type Entry, type Fields, type Member } from './history.js';
import { TAGGED } from './client.js';
import { OPERATIONS_ON_JOBS, statesIn } from '../../../story/specified.js';
import type { Rows } from './rows.js';

export const KINDS = [
  'unanswered',
  'lost',
  'doubled',
  'half-applied',
  'unaccounted',
  'answered wrongly',
  'replayed wrongly',
  'state',
  'balance',
] as const;
export type Kind = (typeof KINDS)[number];

export interface Finding {
  readonly kind: Kind;
  readonly what: string;
}

/** Everyone who took part, with the tokens that they got for signing up. */
export interface Participant extends Member {
  readonly signUpBonus: number;
}

export function findingsIn(history: readonly Entry[], rows: Rows, people: readonly Participant[]): Finding[] {
  const done = history.filter((entry) => !isRead(entry.request.op) && succeeded(entry));
  const story = storyOf(done, rows);
  return [
    ...history.flatMap(answersOf),
    ...historyOf(done, story, rows, people),
    ...statesOf(story, rows, people),
    ...balancesOf(story, rows, people),
  ];
}

// The responses
// ---------------------------------------------------------------------------------------------------------------------

const ALLOWED_STATUSES = new Set([200, 201, 400, 403, 404, 409, 503]);

function answersOf(entry: Entry): Finding[] {
  const { request, attempts, expects, shows } = entry;
  const found: Finding[] = [];
  const note = (kind: Kind, what: string) => found.push({ kind, what: `${nameOf(entry)}: ${what}` });
  const outcome = outcomeOf(entry);
  if (!outcome) note('unanswered', `no definite answer after ${attempts.length} attempts`);
  for (const attempt of attempts) {
    if ('lost' in attempt) {
      if (attempt.lost === 'no answer in time')
        note('unanswered', `no answer in time from instance ${attempt.instance}`);
      continue;
    }
    if (!ALLOWED_STATUSES.has(attempt.status)) note('answered wrongly', `status ${attempt.status} ${attempt.code}`);
    if (attempt.status === 503 && !attempt.saysWhen) note('answered wrongly', '503 without a time to come again');
    if (attempt.status === 409 && attempt.code !== 'IDEMPOTENCY_KEY_IN_USE')
      note('answered wrongly', `409 ${attempt.code}`);
  }
  if (outcome) {
    if (expects === 'success' && !outcome.data)
      note('answered wrongly', `refused with ${outcome.code}, though nothing stood against it`);
    if (expects === 'refusal' && outcome.data) note('answered wrongly', 'succeeded, though its state forbids it');
    if (outcome.data)
      for (const [name, value] of Object.entries(shows))
        if (outcome.data[name] !== value) note('answered wrongly', `${name} is ${outcome.data[name]}, not ${value}`);
  }
  if (isRead(request.op)) return found;

  const settled = attempts.filter(settles);
  const first = JSON.stringify(ordered(outcome?.data));
  if (settled.some(({ data }) => JSON.stringify(ordered(data)) !== first))
    note(
      'replayed wrongly',
      `answered ${settled.map(({ data, code }) => JSON.stringify(data ?? code)).join(', then ')}`,
    );
  if (settled.some(({ replayed, data }, at) => (replayed ? !data || attempts[0] === settled[at] : at > 0 && data)))
    note('replayed wrongly', 'an answer is marked as a replay that is none, or the other way round');
  return found;
}

function ordered(data: Fields | null | undefined): unknown {
  return data ? Object.entries(data).sort(([one], [other]) => (one < other ? -1 : 1)) : null;
}

// What the responses predict
// ----------------------------------------------------------------------------------------------------------------

interface BidStory {
  readonly id: string;
  readonly job: JobStory;
  readonly by: Member;
  amount: number;
  tag: string;
  readonly guaranteed: boolean;
  /** True if it was rejected by an award that then fell through. Its stake isn't held again. */
  isRestored: boolean;
  status: string;
}

interface JobStory {
  readonly id: string;
  readonly owner: Member;
  readonly tag: string;
  /** The operations that succeeded on it. */
  readonly entries: Entry[];
  readonly bids: BidStory[];
  status: string;
  gone: boolean;
  awardedBid: string | null;
  paid: number;
  /** The event that an ending left. Undefined if an admin completes a complete job. */
  ending: Entry | undefined;
  /** What followed from the events in the log, if the job ever returned to an earlier state. */
  effects: Predicted[] | undefined;
}

/**
 * Unless a job returned to an earlier state, later states come after earlier ones, whatever the order of the responses.
 */
const PROGRESS = [
  'draft',
  'open',
  'awarded',
  'in_progress',
  'in_review',
  'disputed',
  'escalated',
  'decision_reached',
  'appealed',
  'completed',
  'cancelled',
];
const LEADS_TO: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(OPERATIONS_ON_JOBS)
    .filter(([key, { to }]) => to !== 'stays' && to !== 'gone' && key !== 'resolveDispute')
    .map(([key, { to }]) => [key, to]),
);
const EVENT: Readonly<Record<string, string>> = {
  create: 'job.created',
  ...Object.fromEntries(Object.entries(OPERATIONS_ON_JOBS).map(([key, { event }]) => [key, event])),
  view: 'bid.viewed',
  shortlist: 'bid.shortlisted',
  reject: 'bid.rejected',
  withdraw: 'bid.withdrawn',
  revise: 'bid.revised',
};
/** After one of these, only the log says in which order things happened. */
const LEADING_BACK: readonly string[] = ['declineAward', 'reopen', 'requestChanges'];
const STAKE = 5;
const BID_PROGRESS = ['pending', 'viewed', 'shortlisted', 'accepted', 'rejected', 'withdrawn'];
const BID_LEADS_TO: Readonly<Record<string, string>> = {
  view: 'viewed',
  shortlist: 'shortlisted',
  reject: 'rejected',
  withdraw: 'withdrawn',
};

interface Story {
  readonly jobs: Map<string, JobStory>;
  readonly bids: Map<string, BidStory>;
}

function dataOf(entry: Entry): Fields {
  return outcomeOf(entry)?.data ?? {};
}

function leadsTo(entry: Entry): string | undefined {
  return entry.request.op === 'resolveDispute' ? dataOf(entry).status : LEADS_TO[entry.request.op];
}

function storyOf(done: readonly Entry[], { events }: Rows): Story {
  const jobs = new Map<string, JobStory>();
  const bids = new Map<string, BidStory>();
  for (const entry of done) {
    if (entry.request.op !== 'create') continue;
    const { id } = dataOf(entry);
    jobs.set(id, {
      id,
      owner: entry.request.by,
      tag: entry.tag,
      entries: [entry],
      bids: [],
      status: 'draft',
      gone: false,
      awardedBid: null,
      paid: 0,
      ending: undefined,
      effects: undefined,
    });
  }
  for (const entry of done) {
    const { op, by, body } = entry.request;
    const job = jobs.get(entry.request.job ?? '');
    if (!job) continue;
    job.entries.push(entry);
    if (op === 'delete') job.gone = true;
    if (op === 'award') job.awardedBid = body?.bidId ?? null;
    if (op === 'publish') job.paid += Number(dataOf(entry).tokensCharged);
    job.paid += entry.charge;
    const to = leadsTo(entry);
    if (to !== undefined && PROGRESS.indexOf(to) > PROGRESS.indexOf(job.status)) job.status = to;
    if ((to === 'completed' || to === 'cancelled') && (!job.ending || job.ending.request.op === 'complete'))
      job.ending = entry;
    if (op === 'submitBid') {
      const { id, amount } = dataOf(entry);
      const guaranteed = body?.guaranteedView === true;
      const bid = { id, job, by, amount, tag: entry.tag, guaranteed, isRestored: false, status: 'pending' };
      job.bids.push(bid);
      bids.set(id, bid);
    }
    // Only the client that knows the whole job revises a bid on it, so these are in order.
    const revised = op === 'revise' ? bids.get(entry.request.bid ?? '') : undefined;
    if (revised) Object.assign(revised, { amount: dataOf(entry).amount, tag: entry.tag });
  }
  for (const entry of done) {
    const to = BID_LEADS_TO[entry.request.op];
    const bid = bids.get(entry.request.bid ?? '');
    if (bid && to !== undefined && BID_PROGRESS.indexOf(to) > BID_PROGRESS.indexOf(bid.status)) bid.status = to;
  }
  for (const { status, awardedBid, bids: on } of jobs.values()) {
    for (const bid of on) {
      if (bid.id === awardedBid) bid.status = 'accepted';
      else if (
        !statesIn('bidding').some((one) => one === status) &&
        BID_PROGRESS.indexOf(bid.status) < BID_PROGRESS.indexOf('accepted')
      )
        bid.status = 'rejected';
    }
  }
  for (const job of jobs.values())
    if (job.entries.some(({ request }) => LEADING_BACK.includes(request.op)))
      replay(
        job,
        events.filter(({ job_id: id }) => id === job.id),
      );
  return { jobs, bids };
}

const REACHED: Readonly<Record<string, string>> = {
  'job.created': 'draft',
  ...Object.fromEntries(
    Object.values(OPERATIONS_ON_JOBS)
      .filter(({ to }) => to !== 'stays' && to !== 'gone')
      .map(({ event, to }) => [event, to]),
  ),
};
const BID_REACHED: Readonly<Record<string, string>> = {
  'bid.submitted': 'pending',
  ...Object.fromEntries(Object.entries(BID_LEADS_TO).map(([op, to]) => [EVENT[op] ?? '', to])),
};

/**
 * Follows a job's own events, and the calls about its bids, in the order of the log. Predicts what each of them does to
 * the other bids. `historyOf` compares these events with the responses, and the predicted ones with the log.
 */
function replay(job: JobStory, log: Rows['events']): void {
  const isLive = ({ status }: BidStory) => ['pending', 'viewed', 'shortlisted'].includes(status);
  const following = new Set<string>();
  const effects: Predicted[] = [];
  let awarded: BidStory | undefined;
  let passedOver = new Map<BidStory, string>();
  job.status = 'draft';
  for (const bid of job.bids) bid.status = 'not yet there';
  for (const { type, data, actor_id: actor } of log) {
    const about = job.bids.find(({ id }) => type.startsWith('bid.') && id === data.bidId);
    if (about && following.delete(`${type} ${about.id}`)) continue;
    const cause = job.entries.find(({ request }) => EVENT[request.op] === type) ?? job.entries[0];
    const follow = (bid: BidStory, event: string, status: string) => {
      bid.status = status;
      following.add(`${event} ${bid.id}`);
      // The award itself predicts the acceptance.
      if (cause && event !== 'bid.accepted')
        effects.push({ overloadCause: cause, lines: [eventLine(event, job.id, bid.id, actor, '')] });
    };
    const reached = REACHED[type];
    if (reached !== undefined) job.status = reached;
    if (about) about.status = BID_REACHED[type] ?? about.status;
    if (type === 'job.awarded') {
      awarded = job.bids.find(({ id }) => id === data.bidId);
      if (awarded) follow(awarded, 'bid.accepted', 'accepted');
      passedOver = new Map(job.bids.filter(isLive).map((bid) => [bid, bid.status]));
      for (const bid of passedOver.keys()) follow(bid, 'bid.rejected', 'rejected');
    } else if (type === 'job.award_declined' || type === 'job.reopened') {
      const to = type === 'job.reopened' ? 'rejected' : 'withdrawn';
      if (awarded) follow(awarded, `bid.${to}`, to);
      awarded = undefined;
      for (const [bid, status] of passedOver) {
        bid.isRestored = true;
        follow(bid, 'bid.restored', status);
      }
    } else if (reached === 'completed' || reached === 'cancelled') {
      for (const bid of job.bids.filter(isLive)) follow(bid, 'bid.rejected', 'rejected');
    }
  }
  job.awardedBid = awarded?.id ?? null;
  job.effects = effects;
}

// Events, transfers, and records: nothing missing, doubled, or extra
// -----------------------------------------------------------------

const tagIn = (text: string) => /\[(c\d+-\d+)\]/.exec(text)?.[1] ?? '';
const TAGGED_EVENTS = new Set(
  Object.keys(TAGGED)
    .map((key) => EVENT[key] ?? '')
    .concat('job.dispute_resolved', 'job.resolution_proposed'),
);

function eventLine(type: string, job: string, about: string, actor: string | null, tag: string): string {
  return `event ${type} ${job} ${about} by ${actor} ${TAGGED_EVENTS.has(type) ? tag : ''}`;
}

/** A line for each row that a success must have left, apart from its effects on others involved in the job. */
function linesOf(entry: Entry, story: Story): string[] {
  const { op, by, job = dataOf(entry).id, bid = dataOf(entry).id, body } = entry.request;
  const record = `record ${by.userId} ${op === 'adjustTokens' ? op : isRead(op) ? '' : operationName(op)} ${entry.tag}`;
  const event = (type: string, about = '') => eventLine(type, job, about, by.userId, entry.tag);
  const transfer = (user: string, change: number, reason: string, about: string) =>
    `transfer ${user} ${change} ${reason} ${about}`;
  const reported = story.jobs.get(job);
  switch (op) {
    case 'adjustTokens':
      return [record, transfer(body?.userId, body?.amount, 'adjustment', tagIn(body?.reason))];
    case 'submitBid':
    case 'view':
    case 'shortlist':
    case 'reject':
    case 'withdraw':
    case 'revise':
      return [record, event(EVENT[op] ?? '', bid)];
    case 'publish':
      return [
        record,
        event('job.published'),
        transfer(by.userId, -Number(dataOf(entry).tokensCharged), 'publish', job),
      ];
    case 'update':
      return [
        record,
        event('job.updated'),
        ...(entry.charge > 0 ? [transfer(by.userId, -entry.charge, 'urgency_raise', job)] : []),
      ];
    case 'resolveDispute':
      return [record, event(dataOf(entry).status === 'completed' ? 'job.dispute_resolved' : 'job.resolution_proposed')];
    case 'complete':
      return [record];
    case 'cancel':
      return [
        record,
        event('job.cancelled'),
        ...(reported && reported.bids.length === 0 ? [transfer(by.userId, reported.paid, 'publish_refund', job)] : []),
      ];
    case 'award':
      return [record, event('job.awarded'), event('bid.accepted', body?.bidId)];
    default:
      return [record, event(EVENT[op] ?? '')];
  }
}

/** Bids that ended with their job or were passed over, by any caller, and the admin's action that ended a job. */
function effectsOf(story: Story, happened: ReadonlyMap<string, number>): Predicted[] {
  const predicted: Predicted[] = [];
  const rejectedByHand = new Set(
    [...story.jobs.values()].flatMap(({ entries }) =>
      entries.filter(({ request }) => request.op === 'reject').map(({ request }) => request.bid),
    ),
  );
  for (const { id, bids, entries, ending, effects } of story.jobs.values()) {
    const completing = entries.filter(({ request }) => request.op === 'complete');
    const left = completing.filter((entry) => happened.has(completionOf(entry, id)));
    // Of several admins' completions, only the first leaves an event. If the job was already complete, none does.
    if (completing.length > 0 && (ending?.request.op === 'complete' || left.length > 0)) {
      const first = left[0] ?? completing[0];
      if (first) predicted.push({ overloadCause: first, lines: [completionOf(first, id)] });
    }
    if (effects) {
      predicted.push(...effects);
      continue;
    }
    const cause = entries.find(({ request }) => request.op === 'award') ?? left[0] ?? ending;
    for (const bid of bids) {
      if (bid.status !== 'rejected' || rejectedByHand.has(bid.id) || !cause) continue;
      predicted.push({
        overloadCause: cause,
        lines: [eventLine('bid.rejected', id, bid.id, cause.request.by.userId, '')],
      });
    }
  }
  return predicted;
}

const completionOf = ({ request, tag }: Entry, job: string) =>
  eventLine('job.completed', job, '', request.by.userId, tag);

interface Predicted {
  readonly overloadCause: Entry;
  readonly lines: string[];
}

function historyOf(done: readonly Entry[], story: Story, rows: Rows, people: readonly Participant[]): Finding[] {
  const found: Finding[] = [];
  const happened = counted([
    ...rows.events.map(({ type, job_id, actor_id, data }) =>
      eventLine(
        type,
        job_id,
        typeof data.bidId === 'string' && type.startsWith('bid.') ? data.bidId : '',
        actor_id,
        tagIn(JSON.stringify(data)),
      ),
    ),
    ...rows.transfers.map(
      ({ user_id, change, reason, job_id, note }) =>
        `transfer ${user_id} ${change} ${reason} ${job_id ?? tagIn(note ?? '')}`,
    ),
    ...rows.records.map(({ user_id, operation, key }) => `record ${user_id} ${operation} ${key}`),
  ]);
  const predicted = [
    ...done.map((entry): Predicted => ({ overloadCause: entry, lines: linesOf(entry, story) })),
    ...effectsOf(story, happened),
  ];
  const expected = counted([
    ...predicted.flatMap(({ lines }) => lines),
    ...people
      .filter(({ signUpBonus }) => signUpBonus > 0)
      .map(({ userId, signUpBonus }) => `transfer ${userId} ${signUpBonus} signup_bonus `),
  ]);

  for (const { overloadCause, lines } of predicted) {
    const missing = lines.filter((line) => (happened.get(line) ?? 0) < (expected.get(line) ?? 0));
    if (missing.length === 0) continue;
    const kind = missing.length === lines.length ? 'lost' : 'half-applied';
    found.push({ kind, what: `${nameOf(overloadCause)} was acknowledged, and there is no ${missing.join(', no ')}` });
  }
  for (const [line, times] of happened) {
    const predictedTimes = expected.get(line) ?? 0;
    if (times <= predictedTimes) continue;
    found.push({
      kind: predictedTimes > 0 ? 'doubled' : 'unaccounted',
      what: `${line} is there ${times} times; ${predictedTimes} were acknowledged`,
    });
  }
  for (const person of people) {
    const bonus = `transfer ${person.userId} ${person.signUpBonus} signup_bonus `;
    if (person.signUpBonus > 0 && !happened.has(bonus))
      found.push({ kind: 'lost', what: `the sign-up of ${person.userId}: there is no ${bonus}` });
  }
  return found;
}

function counted(lines: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}

// Jobs, bids, and holds: each as its history left it
// --------------------------------------------------------------------------------------------

function statesOf({ jobs, bids }: Story, rows: Rows, people: readonly Participant[]): Finding[] {
  const found: Finding[] = [];
  const profileOf = new Map(people.map(({ userId, profileId }) => [userId, profileId]));
  const compare = (what: string, is: unknown, should: unknown) => {
    if (is !== should)
      found.push({ kind: 'state', what: `${what} is ${is}; what was acknowledged makes it ${should}` });
  };
  const everyOne = <Row extends { id: string }, Reported extends { id: string }>(
    noun: string,
    present: readonly Row[],
    reported: readonly Reported[],
    check: (row: Row, reported: Reported) => void,
  ) => {
    const byId = new Map(present.map((row) => [row.id, row]));
    const known = new Set(reported.map(({ id }) => id));
    if (byId.size !== present.length) found.push({ kind: 'doubled', what: `a ${noun} is there twice` });
    for (const one of reported) {
      const row = byId.get(one.id);
      if (row) check(row, one);
      else found.push({ kind: 'lost', what: `${noun} ${one.id} was acknowledged and is not there` });
    }
    for (const { id } of present)
      if (!known.has(id)) found.push({ kind: 'unaccounted', what: `${noun} ${id} was never acknowledged` });
  };

  everyOne(
    'job',
    rows.jobs,
    [...jobs.values()].filter(({ gone }) => !gone),
    (row, job) => {
      compare(`the status of ${job.id}`, row.status, job.status);
      compare(`the title of ${job.id}`, tagIn(row.title), job.tag);
      compare(`the homeowner of ${job.id}`, row.homeowner_id, profileOf.get(job.owner.userId));
      compare(`the award of ${job.id}`, row.awarded_bid_id, job.awardedBid);
      // If several calls raced to write, any of them may have been the last.
      const edits = job.entries.filter(({ request }) => request.op === 'update');
      const alone = edits.every(({ expects }) => expects === 'success');
      const possible = edits.length === 0 ? [''] : alone ? [edits.at(-1)?.tag] : edits.map(({ tag }) => tag);
      if (!possible.includes(tagIn(row.requirements ?? '')))
        compare(`the text of ${job.id}`, row.requirements, possible.join(' or '));
    },
  );
  everyOne('bid', rows.bids, [...bids.values()], (row, bid) => {
    compare(`the status of ${bid.id}`, row.status, bid.status);
    compare(`the amount of ${bid.id}`, Number(row.amount), bid.amount);
    compare(`the message of ${bid.id}`, tagIn(row.message ?? ''), bid.tag);
    compare(`the job of ${bid.id}`, row.job_id, bid.job.id);
    compare(`the bidder of ${bid.id}`, row.contractor_id, profileOf.get(bid.by.userId));
  });
  const staked = [...bids.values()].filter(({ guaranteed }) => guaranteed);
  everyOne(
    'hold on bid',
    rows.holds.map((hold) => ({ ...hold, id: hold.bid_id })),
    staked,
    (row, bid) => {
      compare(
        `the hold of ${bid.id}`,
        `${row.status} ${row.amount} of ${row.user_id}`,
        `${isStaked(bid) ? 'active' : 'released'} ${STAKE} of ${bid.by.userId}`,
      );
    },
  );
  for (const { id, entries } of jobs.values()) {
    for (const op of ['award', 'publish', 'cancel', 'approve'] as const) {
      const count = (...ops: string[]) => entries.filter(({ request }) => ops.includes(request.op)).length;
      const times = count(op);
      if (times > 1 + (op === 'award' ? count('declineAward', 'reopen') : 0))
        found.push({ kind: 'doubled', what: `${op} of ${id} was acknowledged ${times} times` });
    }
  }
  return found;
}

function isStaked({ status, job, isRestored }: BidStory): boolean {
  if (isRestored || job.status === 'completed' || job.status === 'cancelled') return false;
  return status === 'pending' || status === 'viewed' || status === 'shortlisted' || status === 'accepted';
}

// Balances: the sum of all acknowledged changes
// ----------------------------------------------------------------------------------------------------

function balancesOf({ jobs, bids }: Story, rows: Rows, people: readonly Participant[]): Finding[] {
  const found: Finding[] = [];
  const summed = new Map<string, number>();
  for (const { user_id, change } of rows.transfers) summed.set(user_id, (summed.get(user_id) ?? 0) + change);
  const held = new Map<string, number>();
  for (const bid of bids.values())
    if (bid.guaranteed && isStaked(bid)) held.set(bid.by.userId, (held.get(bid.by.userId) ?? 0) + STAKE);
  const kept = new Map(rows.balances.map((row) => [row.user_id, row]));
  for (const { userId } of people) {
    // Admins have no tokens, and no balance row.
    const row = kept.get(userId) ?? { balance: 0, held: 0 };
    const should = { balance: summed.get(userId) ?? 0, held: held.get(userId) ?? 0 };
    if (row.balance !== should.balance || row.held !== should.held)
      found.push({
        kind: 'balance',
        what: `${userId} has ${row.balance} and holds ${row.held}, not ${should.balance} and ${should.held}`,
      });
  }
  if (jobs.size === 0) found.push({ kind: 'lost', what: 'nothing was done' });
  return found;
}

function nameOf({ request: { op, job, bid, by }, tag }: Entry): string {
  return `${op} ${tag} by ${by.userId}${job === undefined ? '' : ` on ${job}`}${bid === undefined ? '' : ` ${bid}`}`;
}
