/**
 * How many SQL statements a call costs, and how often it waits for the database: a page of a hundred jobs as often as a page of one, and no
 * operation more than it needs.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { JOB_ACTIONS, type JobState } from '../../src/rules/lifecycle.js';
import { BID_TRANSITIONS } from '../../src/rules/bids.js';
import { callGraphql, callRest, type OperationKey } from '../calls.js';
import type { Person } from '../cast.js';
import { openTestHouse, type TestHouse } from '../house.js';
import { bodyOf, gather, givenJob, type GivenJob, type People } from '../journey.js';
import { copiesOf } from '../scenes.js';
import { countingWire, type CountingWire } from './round-trips.js';

/** A page of a hundred jobs with all that hangs on them is more than one request may cost; here it is the measure. */
vi.mock('../../src/rules/limits.js', async (original) => ({
  ...(await original<typeof import('../../src/rules/limits.js')>()),
  GRAPHQL_LIMITS: new Proxy({}, { get: () => 1_000_000 }),
}));

let house: TestHouse;
let wire: CountingWire;
let people: People;
beforeAll(async () => {
  // On one connection each statement is known to the database from its second use on, as on all connections of a server that has run for a while.
  house = await openTestHouse({ DATABASE_POOL_SIZE: '1' }, { through: async (straight) => (wire = await countingWire(straight)).connection });
  people = await gather(house);
  for (const state of ['open', 'in_progress', 'disputed', 'completed'] as const) await copiesOf(house, await givenJob(house, state, people), 25);
  // Every page but the shortest holds jobs of every state, and a bid with a stake.
  await house.sql`
    with placed as (select id, timestamptz '2030-01-01' + row_number() over (partition by status order by id) * interval '1 minute' as made from jobs),
      moved as (update jobs set created_at = made from placed where placed.id = jobs.id)
    update bids set job_created_at = made from placed where placed.id = bids.job_id`;
  await house.sql`update jobs set created_at = now() + interval '10 years' where id = ${(await givenJob(house, 'open', people, { offers: { awardee: { guaranteed_view: true } } })).id}`;
});
afterAll(async () => {
  await house.close();
  wire.close();
});

interface Spent {
  statements: number;
  roundTrips: number;
}

async function spent(call: () => Promise<unknown>): Promise<Spent> {
  house.statements();
  wire.roundTrips();
  await call();
  return { statements: house.statements().length, roundTrips: wire.roundTrips() };
}

const counted = async (call: () => Promise<unknown>): Promise<number> => (await spent(call)).statements;

const PAGE = `query($first: Int!) { jobs(first: $first) { totalCount pageInfo { hasNextPage endCursor } nodes { id title addressLine1 bidCount
  homeowner { id addressLine1 user { firstName email } }
  bids { totalCount nodes { id amount contractor { id licenseNumber user { email } } hold { amount } job { id } } }
  myBid { id amount } awardedBid { id contractor { companyName } }
  availableActions { action allowed reason missingFields tokenCost }
  timeline(first: 10) { totalCount nodes { sequence type data } }
  dispute { reason proposal { resolution } } } } }`;

describe('a page of jobs with everything that hangs on them', () => {
  // The awardee reads what happened in two ways: of jobs that are theirs, and of those that are not yet.
  test.each([
    ['owner', 4],
    ['awardee', 4],
    ['admin', 4],
  ] as const)('costs the %s %i statements, be it of 1, 20 or 100 jobs', async (who, most) => {
    const read = async (first: number) => {
      const answer = await house.graphql(PAGE, { token: people[who].token, variables: { first } });
      expect(answer.errors).toBeUndefined();
      expect(answer.data.jobs.nodes).toHaveLength(first);
    };
    const counts: number[] = [];
    for (const first of [1, 20, 100]) counts.push(await counted(() => read(first)));
    expect(counts).toEqual([most, most, most]);
  });

  test('costs REST two statements: the page, and how many there are', async () => {
    const read = (perPage: number) => counted(() => house.rest('GET', `/v1/jobs?per_page=${perPage}`, { token: people.owner.token }));
    expect([await read(1), await read(20), await read(100)]).toEqual([2, 2, 2]);
  });
});

type Cost = readonly [key: OperationKey, state: JobState, by: keyof People, statements: number, roundTrips: number];

/** The session's check counts, and so does every BEGIN; a COMMIT is a round trip and no statement. */
const COSTS: readonly Cost[] = [
  ['create', 'draft', 'owner', 4, 3],
  ['update', 'draft', 'owner', 4, 4],
  ['delete', 'draft', 'owner', 4, 4],
  ['publish', 'draft', 'owner', 2, 2],
  ['submitBid', 'open', 'stranger', 6, 4],
  ['view', 'open', 'owner', 6, 4],
  ['shortlist', 'open', 'owner', 6, 4],
  ['reject', 'open', 'owner', 6, 4],
  ['withdraw', 'open', 'bidder', 6, 4],
  ['award', 'open', 'owner', 2, 2],
  ['checkIn', 'awarded', 'awardee', 1, 1],
  ['submitForReview', 'in_progress', 'awardee', 1, 1],
  ['approve', 'in_review', 'owner', 6, 4],
  ['dispute', 'in_review', 'owner', 1, 1],
  ['resolveDispute', 'disputed', 'owner', 5, 4],
  ['escalate', 'disputed', 'awardee', 1, 1],
  ['reachDecision', 'escalated', 'admin', 1, 1],
  ['fileAppeal', 'decision_reached', 'awardee', 1, 1],
  ['finalizeAppeal', 'appealed', 'admin', 5, 4],
  ['complete', 'open', 'admin', 6, 4],
  ['cancel', 'open', 'owner', 6, 4],
];

describe('an operation', () => {
  test('costs as many statements and round trips as this table says, the same by both doors', async () => {
    const table: Cost[] = [];
    for (const [key, state, who] of COSTS) {
      const copies = await copiesOf(house, await givenJob(house, state, people), 3);
      const asked = (at: number) => askedOf(key, who, copies[at] as GivenJob);
      const byRest = () => callRest(house, key, asked(0));
      await byRest();
      const rest = await spent(async () => expect((await callRest(house, key, asked(1))).status).toBeLessThan(300));
      const graphql = await spent(async () => expect((await callGraphql(house, key, asked(2))).errors).toBeUndefined());
      expect(graphql, key).toEqual(rest);
      table.push([key, state, who, rest.statements, rest.roundTrips]);
    }
    expect(table).toEqual(COSTS);
  });

  test('that is refused costs at most one round trip more, to say why', async () => {
    const cancelled = await givenJob(house, 'cancelled', people);
    for (const [key, , who, , roundTrips] of COSTS) {
      if (key === 'create') continue;
      const refused = () => callRest(house, key, askedOf(key, who, cancelled));
      await refused();
      const { roundTrips: needed } = await spent(async () => expect((await refused()).status, key).toBeGreaterThanOrEqual(400));
      expect(needed, key).toBeLessThanOrEqual(roundTrips + 1);
    }
  });

  test('is in the table, if it is one on jobs or bids', () => {
    expect(COSTS.map(([key]) => key).sort()).toEqual(['create', ...Object.keys(JOB_ACTIONS), ...Object.keys(BID_TRANSITIONS)].sort());
  });
});

function askedOf(key: OperationKey, who: keyof People, job: GivenJob) {
  return { by: people[who] as Person, job: job.id, bid: job.bids.bidder ?? undefined, body: bodyFor(key, job) };
}

function bodyFor(key: OperationKey, { bids }: GivenJob): object | undefined {
  if (key === 'create') return { title: 'A', description: 'B', zip_code: '78701', city: 'Austin', state: 'TX' };
  if (key === 'update') return { requirements: 'Bring a ladder.' };
  if (key === 'submitBid') return { amount: 1, guaranteed_view: true };
  if (key === 'delete' || key in BID_TRANSITIONS) return undefined;
  return bodyOf(key as Parameters<typeof bodyOf>[0], (name) => `The ${name}.`, bids.awardee);
}
