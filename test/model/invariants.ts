/**
 * What must be true whatever the rules of deadlines are in detail. It is computed from what happened and when, not from
 * the model's rules.
 */
import { isIn } from '../story/specified.js';
import { DAY, WARNING } from './deadlines.js';
import type { Happening, Job, JobState, Market, Person } from './market.js';

/** After each turn of the clock: it warned before it acted, and no dispute lasts too long. */
export function checkClock(market: Market): void {
  for (const job of market.jobs) {
    for (const [index, happening] of job.happenings.entries())
      if (happening.by === null && happening.type !== 'job.reminded' && happening.type !== 'bid.rejected')
        checkWarned(job, happening, job.happenings.slice(0, index));
    if (job.state === 'disputed') checkDispute(market, job);
  }
}

function checkWarned(job: Job, { type, at, texts, from }: Happening, before: readonly Happening[]): void {
  const bidId = texts.bidId;
  const entry = before.findLastIndex((one) => one.bidder === null && one.from !== one.to);
  const ofThis = (one: Happening) =>
    one.type === 'job.reminded' && one.texts.bidId === bidId && one.texts.to !== 'admin' && one.at <= at - WARNING;
  const sinceEntry = bidId === undefined ? before.slice(entry + 1) : before;
  if (!sinceEntry.some(ofThis))
    throw new Error(`${type} of the job ${job.id}, which was ${from}, came without warning`);
}

function checkDispute(market: Market, job: Job): void {
  if (waitsFor(market, [job.owner, job.awarded!.by])) return;
  const began = job.happenings.findLast(({ type }) => type === 'job.disputed')!.at;
  const warned = job.happenings.findLast(({ type, texts }) => type === 'job.reminded' && texts.to === 'parties')?.at;
  if (counted(market, job, began) < 28 * DAY) return;
  if (warned === undefined) throw new Error(`The parties of the job ${job.id} were never reminded of their dispute`);
  if (counted(market, job, warned) >= WARNING) throw new Error(`The dispute on the job ${job.id} wasn’t escalated`);
}

/** The time since this moment in which neither party was suspended. */
function counted({ turns }: Market, { owner, awarded }: Job, since: number): number {
  return turns
    .filter(({ from, suspended }) => from >= since && !suspended.has(owner) && !suspended.has(awarded!.by))
    .reduce((sum, { from, to }) => sum + to - from, 0);
}

function waitsFor({ suspended }: Market, people: readonly (Person | undefined)[]): boolean {
  return people.some((person) => person !== undefined && suspended.has(person));
}

/** The states that don't end automatically, and the people who must act in them. */
const WAITING: { readonly [State in JobState]?: (job: Job, market: Market) => readonly (Person | undefined)[] } = {
  draft: ({ owner }) => [owner],
  awarded: ({ awarded }) => [awarded?.by],
  in_progress: ({ awarded }) => [awarded?.by],
  escalated: (_, { people }) => people.filter(({ role }) => role === 'admin'),
  appealed: (_, { people }) => people.filter(({ role }) => role === 'admin'),
};

/** Those whose silence the clock would answer, if they weren't suspended. */
const ANSWERED: { readonly [State in JobState]?: (job: Job) => readonly (Person | undefined)[] } = {
  open: ({ owner }) => [owner],
  in_review: ({ owner }) => [owner],
  disputed: ({ owner, awarded }) => [owner, awarded?.by],
  decision_reached: ({ awarded }) => [awarded?.by],
};

/** After so much time that nothing happens anymore: every job has ended, or waits for someone who can act. */
export function checkAtRest(market: Market): void {
  for (const job of market.jobs) {
    const { id, state } = job;
    if (isIn('end', state)) continue;
    const answered = ANSWERED[state]?.(job);
    if (answered && !waitsFor(market, answered)) throw new Error(`The job ${id} remained ${state}`);
    const named = WAITING[state]?.(job, market) ?? [];
    if (answered || waitsFor(market, named)) continue;
    if (!named.some((person) => person && canMove(market, person, job)))
      throw new Error(`Nobody can act on the job ${id}, which is ${state}`);
  }
}

/** True if the person can do more than edit the job. */
function canMove(market: Market, person: Person, job: Job): boolean {
  const actions = Object.entries(market.actionsFor(person, job));
  return actions.some(([name, { allowed }]) => allowed && !['UPDATE', 'SUBMIT_BID', 'EXTEND_DEADLINE'].includes(name));
}
