/** A contractor's awarded jobs and own bids, for admins and the contractor, through both APIs. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../../../src/market/store/new-id.js';
import { openTestApp, type Json, type TestApp } from '../../../setup/app.js';
import { gather, givenJob, type People } from '../../../story/journey.js';

const LISTS = ['jobs', 'bids'] as const;
type List = (typeof LISTS)[number];

let app: TestApp;
let people: People;
/** Newest first. */
const expected: Record<List, string[]> = { jobs: [], bids: [] };

/** Some jobs that the awardee won, and one on which they only bid. */
beforeAll(async () => {
  app = await openTestApp();
  people = await gather(app);
  for (const state of ['completed', 'awarded', 'open', 'disputed'] as const) {
    const job = await givenJob(app, state, people);
    expected.bids.unshift(job.bids.awardee!);
    if (state !== 'open') expected.jobs.unshift(job.id);
  }
});
afterAll(() => app.close());

const idsOf = (rows: readonly Json[]) => rows.map(({ id }) => id as string);

async function readByRest(who: keyof People, list: List, id = people.awardee.profileId) {
  const { token } = people[who];
  const { status, body, headers } = await app.rest('GET', `/v1/contractors/${id}/${list}?per_page=2`, { token });
  if (status !== 200) return [status, body.details.code];
  const next = /<([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
  const more = next === undefined ? [] : (await app.rest('GET', next, { token })).body.data;
  return [body.pagination.total, ...idsOf([...body.data, ...more])];
}

async function readByGraphql(who: keyof People, list: List) {
  const query = `query ($id: ID!) { contractor(id: $id) { ${list}(first: 100) { totalCount nodes { id } } } }`;
  const variables = { id: people.awardee.profileId };
  const { data, errors } = await app.graphql(query, { token: people[who].token, variables });
  expect(errors).toBeUndefined();
  const read = data.contractor[list];
  return read && [read.totalCount, ...idsOf(read.nodes)];
}

it.each(['admin', 'awardee'] as const)('the %s reads both, newest first', async (who) => {
  for (const list of LISTS) {
    const whole = [expected[list].length, ...expected[list]];
    expect(await readByRest(who, list)).toEqual(whole);
    expect(await readByGraphql(who, list)).toEqual(whole);
  }
});

it.each(['owner', 'other', 'bidder', 'stranger'] as const)('the %s reads neither', async (who) => {
  for (const list of LISTS) {
    expect(await readByRest(who, list)).toEqual([403, 'FORBIDDEN']);
    expect(await readByGraphql(who, list)).toBeNull();
  }
});

it("for a contractor who doesn't exist, neither exists", async () => {
  for (const who of ['admin', 'stranger'] as const)
    for (const list of LISTS) expect(await readByRest(who, list, newId('contractor'))).toEqual([404, 'NOT_FOUND']);
});

it('in a list of contractors, each reads their own and an admin reads all, in one statement per list', async () => {
  const QUERY = '{ contractors(first: 100) { nodes { id jobs { nodes { id addressLine1 } } bids { nodes { id } } } } }';
  const read = async (who: keyof People) => {
    app.statements();
    const { data } = await app.graphql(QUERY, { token: people[who].token });
    const lists = app.statements().filter((text) => /\/\* (awardedJobsOfMany|bidsOfMany) \*\//.test(text));
    expect(lists).toHaveLength(2);
    return data.contractors.nodes as Json[];
  };
  for (const { id, jobs, bids } of await read('awardee')) {
    const isOwn = id === people.awardee.profileId;
    expect([jobs, bids].every((list) => (list !== null) === isOwn)).toBe(true);
    if (isOwn) expect(jobs.nodes[0]).toEqual({ id: expected.jobs[0], addressLine1: expect.any(String) });
  }
  const all = await read('admin');
  expect(all.every(({ jobs, bids }) => jobs !== null && bids !== null)).toBe(true);
  expect(idsOf(all.find(({ id }) => id === people.awardee.profileId)!.bids.nodes)).toEqual(expected.bids);
});
