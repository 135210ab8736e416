/** How many SQL statements a call costs: a page of a hundred jobs as many as a page of one, and no operation more than it needs. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { JOB_ACTIONS, type JobState } from '../../src/rules/lifecycle.js';
import { BID_TRANSITIONS } from '../../src/rules/bids.js';
import { callGraphql, callRest, type OperationKey } from '../calls.js';
import type { Person } from '../cast.js';
import { openTestHouse, type TestHouse } from '../house.js';
import { bodyOf, gather, givenJob, type GivenJob, type People } from '../journey.js';
import { copiesOf } from '../scenes.js';

/** A page of a hundred jobs with all that hangs on them is more than one request may cost; here it is the measure. */
vi.mock('../../src/rules/limits.js', async (original) => ({
  ...(await original<typeof import('../../src/rules/limits.js')>()),
  GRAPHQL_LIMITS: new Proxy({}, { get: () => 1_000_000 }),
}));

let house: TestHouse;
let people: People;
beforeAll(async () => {
  house = await openTestHouse();
  people = await gather(house);
  for (const state of ['open', 'in_progress', 'disputed', 'completed'] as const) await copiesOf(house, await givenJob(house, state, people), 25);
  // Every page but the shortest holds jobs of every state, and a bid with a stake.
  await house.sql`
    with placed as (select id, timestamptz '2030-01-01' + row_number() over (partition by status order by id) * interval '1 minute' as made from jobs),
      moved as (update jobs set created_at = made from placed where placed.id = jobs.id)
    update bids set job_created_at = made from placed where placed.id = bids.job_id`;
  await house.sql`update jobs set created_at = now() + interval '10 years' where id = ${(await givenJob(house, 'open', people, { offers: { awardee: { guaranteed_view: true } } })).id}`;
});
afterAll(() => house.close());

async function counted(call: () => Promise<unknown>): Promise<number> {
  house.statements();
  await call();
  return house.statements().length;
}

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
    ['owner', 15],
    ['awardee', 18],
    ['admin', 15],
  ] as const)('costs the %s at most %i statements, be it of 1, 20 or 100 jobs', async (who, most) => {
    const read = async (first: number) => {
      const answer = await house.graphql(PAGE, { token: people[who].token, variables: { first } });
      expect(answer.errors).toBeUndefined();
      expect(answer.data.jobs.nodes).toHaveLength(first);
    };
    const counts: number[] = [];
    for (const first of [1, 20, 100]) counts.push(await counted(() => read(first)));
    expect(Math.max(...counts)).toBeLessThanOrEqual(most);
    expect(counts[2]).toBe(counts[1]);
  });

  test('costs REST two statements beside the session: the page, and how many there are', async () => {
    const read = (perPage: number) => counted(() => house.rest('GET', `/v1/jobs?per_page=${perPage}`, { token: people.owner.token }));
    expect([await read(1), await read(20), await read(100)]).toEqual([3, 3, 3]);
  });
});

type Cost = readonly [key: OperationKey, state: JobState, by: keyof People, statements: number];

/** The session's check counts, and so does every BEGIN; a COMMIT does not. */
const COSTS: readonly Cost[] = [
  ['create', 'draft', 'owner', 4],
  ['update', 'draft', 'owner', 4],
  ['delete', 'draft', 'owner', 4],
  ['publish', 'draft', 'owner', 5],
  ['submitBid', 'open', 'stranger', 6],
  ['view', 'open', 'owner', 6],
  ['shortlist', 'open', 'owner', 6],
  ['reject', 'open', 'owner', 6],
  ['withdraw', 'open', 'bidder', 6],
  ['award', 'open', 'owner', 7],
  ['checkIn', 'awarded', 'awardee', 2],
  ['submitForReview', 'in_progress', 'awardee', 2],
  ['approve', 'in_review', 'owner', 6],
  ['dispute', 'in_review', 'owner', 2],
  ['resolveDispute', 'disputed', 'owner', 5],
  ['escalate', 'disputed', 'awardee', 2],
  ['reachDecision', 'escalated', 'admin', 2],
  ['fileAppeal', 'decision_reached', 'awardee', 2],
  ['finalizeAppeal', 'appealed', 'admin', 5],
  ['complete', 'open', 'admin', 6],
  ['cancel', 'open', 'owner', 6],
];

describe('an operation', () => {
  test('costs as many statements as this table says, the same by both doors', async () => {
    const table: Cost[] = [];
    for (const [key, state, who] of COSTS) {
      const copies = await copiesOf(house, await givenJob(house, state, people), 2);
      const by: Person = people[who];
      const asked = (job: GivenJob) => ({ by, job: job.id, bid: job.bids.bidder ?? undefined, body: bodyFor(key, job) });
      const byRest = await counted(async () => expect((await callRest(house, key, asked(copies[0]!))).status).toBeLessThan(300));
      const byGraphql = await counted(async () => expect((await callGraphql(house, key, asked(copies[1]!))).errors).toBeUndefined());
      expect(byGraphql, key).toBe(byRest);
      table.push([key, state, who, byRest]);
    }
    expect(table).toEqual(COSTS);
  });

  test('is in the table, if it is one on jobs or bids', () => {
    expect(COSTS.map(([key]) => key).sort()).toEqual(['create', ...Object.keys(JOB_ACTIONS), ...Object.keys(BID_TRANSITIONS)].sort());
  });
});

function bodyFor(key: OperationKey, { bids }: GivenJob): object | undefined {
  if (key === 'create') return { title: 'A', description: 'B', zip_code: '78701', city: 'Austin', state: 'TX' };
  if (key === 'update') return { requirements: 'Bring a ladder.' };
  if (key === 'submitBid') return { amount: 1, guaranteed_view: true };
  if (key === 'delete' || key in BID_TRANSITIONS) return undefined;
  return bodyOf(key as Parameters<typeof bodyOf>[0], (name) => `The ${name}.`, bids.awardee);
}
