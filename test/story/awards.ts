/** An award over other bids in every live status, and what becomes of these bids. */
import type { TestApp } from '../setup/app.js';
import { callRest, type OperationKey } from './calls.js';
import { contractor, type Person } from './cast.js';
import { givenJob, giveTokens, type GivenJob, type Journey, type People } from './journey.js';

export interface GivenAward {
  readonly job: GivenJob;
  /** The contractor whose bid is pending at the award. The bidder's is viewed, and the stranger's shortlisted. */
  readonly paul: Person;
  readonly bids: Readonly<Record<'awarded' | 'pending' | 'viewed' | 'shortlisted', string>>;
}

/** Olive awards her job to Ava. Ava, Ben, and Paul have staked tokens on their bids. */
export async function givenAward(app: TestApp, people: People, journey: Journey = {}): Promise<GivenAward> {
  const paul = await contractor(app, 'Paul');
  for (const rich of [people.awardee, people.bidder, paul]) await giveTokens(app, people.admin, rich, 5);
  const offers = { awardee: { guaranteed_view: true }, bidder: { guaranteed_view: true } };
  const job = await givenJob(app, 'open', people, { offers, ...journey });
  const bids = {
    awarded: job.bids.awardee!,
    viewed: job.bids.bidder!,
    shortlisted: await bidOf(app, people.stranger, job, {}),
    pending: await bidOf(app, paul, job, { guaranteed_view: true }),
  };
  await must(app, 'view', people.owner, job, bids.viewed);
  await must(app, 'view', people.owner, job, bids.shortlisted);
  await must(app, 'shortlist', people.owner, job, bids.shortlisted);
  await award(app, people, job, bids.awarded);
  return { job, paul, bids };
}

export async function bidOf(app: TestApp, by: Person, job: GivenJob, more: object = {}): Promise<string> {
  const { status, body } = await callRest(app, 'submitBid', { by, job: job.id, body: { amount: 700, ...more } });
  if (status !== 201) throw new Error(`${by.name} could not bid: ${JSON.stringify(body)}`);
  return body.id;
}

export async function award(app: TestApp, people: People, job: GivenJob, bid: string): Promise<void> {
  await must(app, 'award', people.owner, job, undefined, { bid_id: bid });
}

export async function must(
  app: TestApp,
  key: OperationKey,
  by: Person,
  { id: job }: GivenJob,
  bid?: string,
  body?: object,
): Promise<void> {
  const answer = await callRest(app, key, { by, job, bid, body });
  if (answer.status >= 400) throw new Error(`${by.name} could not ${key}: ${JSON.stringify(answer.body)}`);
}

/** Each bid's status, and the status of its hold. */
export async function bidsOn({ sql }: TestApp, { id }: GivenJob): Promise<Record<string, string>> {
  const rows = await sql<{ id: string; status: string; hold: string | null }[]>`
    select b.id, b.status, h.status as hold from bids b left join holds h on h.bid_id = b.id where b.job_id = ${id}`;
  return Object.fromEntries(rows.map(({ id: bid, status, hold }) => [bid, `${status}, ${hold ?? 'no'} hold`]));
}

/** The types of a job's events after this many, as they are stored. */
export async function eventsSince({ sql }: TestApp, { id }: GivenJob, count: number): Promise<StoredEvent[]> {
  const rows = await sql<StoredEvent[]>`select type, from_status as "from", to_status as "to", data from events
    where job_id = ${id} and sequence > ${count} order by sequence`;
  return [...rows];
}

export interface StoredEvent {
  readonly type: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly data: Record<string, unknown>;
}

/** A job's row, its bids and their earlier offers, and its number of events, to show that a refusal changes nothing. */
export async function everythingOn({ sql }: TestApp, { id }: GivenJob): Promise<unknown> {
  const [row] = await sql`select to_json(j) as job, (select json_agg(b order by b.id) from bids b
      where b.job_id = j.id) as bids, (select json_agg(r order by r.version) from bid_revisions r
      join bids b on b.id = r.bid_id where b.job_id = j.id) as revisions, (select count(*)::int from events e
      where e.job_id = j.id) as events from jobs j where j.id = ${id}`;
  return row;
}

export async function tokensOf(app: TestApp, { token }: Person): Promise<{ balance: number; held: number }> {
  const { balance, held } = (await app.rest('GET', '/v1/tokens', { token })).body;
  return { balance, held };
}
