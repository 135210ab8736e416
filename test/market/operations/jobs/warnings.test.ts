/** A job that contractors can't find is accepted as is, and Hanna is told why they can't find it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isLookUpOfSession, openTestApp, type Json, type TestApp } from '../../../setup/app.js';
import { callRest } from '../../../story/calls.js';
import { DRAFT, gather, givenJob, type People } from '../../../story/journey.js';

let app: TestApp;
let people: People;
beforeAll(async () => {
  app = await openTestApp();
  people = await gather(app);
});
afterAll(() => app.close());

const TYPOS = {
  category: 'plumming',
  city: 'Austinn',
  zip_code: '1',
  desired_start_date: '2001-01-01',
  desired_completion_date: null,
};
const codes = (warnings: Json[]) => warnings.map(({ code, field }) => `${code} ${field}`);

const WARNINGS = 'query($id: ID!) { job(id: $id) { warnings { code field message } } }';

async function asGraphql(id: string, by: keyof People): Promise<Json> {
  const { data, errors } = await app.graphql(WARNINGS, { token: people[by].token, variables: { id } });
  expect(errors).toBeUndefined();
  return data.job.warnings;
}

test('each mistake in a draft gets a warning with its value, and the job can still be published', async () => {
  const created = await callRest(app, 'create', { by: people.owner, body: { ...DRAFT, ...TYPOS } });
  expect(created.status).toBe(201);
  expect(codes(created.body.warnings)).toEqual([
    'UNKNOWN_CATEGORY category',
    'UNKNOWN_PLACE zip_code',
    'UNKNOWN_PLACE city',
    'DATE_IN_PAST desired_start_date',
  ]);
  expect(created.body.warnings[0].message).toBe(
    '“plumming” is not a category in the catalog. Did you mean “plumbing”?',
  );
  const published = await callRest(app, 'publish', { by: people.owner, job: created.body.id });
  expect([published.status, published.body.job.warnings]).toEqual([200, created.body.warnings]);
  const { id } = created.body;
  const warnings = await asGraphql(id, 'owner');
  expect(codes(warnings)).toEqual([
    'UNKNOWN_CATEGORY category',
    'UNKNOWN_PLACE zipCode',
    'UNKNOWN_PLACE city',
    'DATE_IN_PAST desiredStartDate',
  ]);
  expect(await asGraphql(id, 'admin')).toEqual(warnings);
});

test("only the owner and admins see warnings: others read null and don't see a ZIP code in a message", async () => {
  const job = await givenJob(app, 'open', people, { fields: { zip_code: '10001' } });
  for (const by of ['owner', 'admin'] as const) {
    const { body } = await app.rest('GET', `/v1/jobs/${job.id}`, { token: people[by].token });
    expect(codes(body.warnings)).toEqual(['PLACE_MISMATCH zip_code']);
  }
  for (const by of ['awardee', 'bidder', 'stranger'] as const) {
    const { body } = await app.rest('GET', `/v1/jobs/${job.id}`, { token: people[by].token });
    expect([body.warnings, await asGraphql(job.id, by)]).toEqual([null, null]);
    expect(JSON.stringify(body)).not.toContain('10001');
  }
});

test('a job is located by its ZIP code, or by its city if the two contradict each other', async () => {
  const placed = async (fields: object) => {
    const { body } = await callRest(app, 'create', { by: people.owner, body: { ...DRAFT, ...fields } });
    return [Math.round(body.latitude), Math.round(body.longitude), codes(body.warnings)];
  };
  expect(await placed({ zip_code: '10001' })).toEqual([30, -98, ['PLACE_MISMATCH zip_code']]);
  expect(await placed({ zip_code: '10001', city: 'New York', state: 'New York' })).toEqual([41, -74, []]);
  // The data set has no city with that name, although the ZIP code is close by.
  expect(await placed({ zip_code: '78704', city: 'West Lake Hills' })).toEqual([30, -98, ['UNKNOWN_PLACE city']]);
  expect(await placed({ zip_code: '78704', city: 'Round Rock' })).toEqual([30, -98, []]);
  const { id } = (await callRest(app, 'create', { by: people.owner, body: DRAFT })).body;
  const moved = await callRest(app, 'update', { by: people.owner, job: id, body: { city: 'New York', state: 'NY' } });
  expect([Math.round(moved.body.latitude), codes(moved.body.warnings)]).toEqual([41, ['PLACE_MISMATCH zip_code']]);
  const mended = await callRest(app, 'update', { by: people.owner, job: id, body: { zip_code: '10001' } });
  expect(mended.body.warnings).toEqual([]);
});

test('warnings end with the award, and REST lists omit them', async () => {
  const job = await givenJob(app, 'awarded', people, { fields: TYPOS });
  const { body } = await app.rest('GET', `/v1/jobs/${job.id}`, { token: people.owner.token });
  expect(body.warnings).toEqual([]);
  const list = await app.rest('GET', '/v1/jobs', { token: people.owner.token });
  expect(list.body.data.filter((row: Json) => 'warnings' in row)).toEqual([]);
  const awarded = `/v1/contractors/${people.awardee.profileId}/jobs`;
  const work = await app.rest('GET', awarded, { token: people.admin.token });
  expect(work.body.data.map(({ warnings }: Json) => warnings)).toEqual([[]]);
});

test('a job can be sent back exactly as read, including its warnings, or its distance in a list', async () => {
  const { body } = await callRest(app, 'create', { by: people.owner, body: { ...DRAFT, ...TYPOS } });
  const again = await callRest(app, 'update', { by: people.owner, job: body.id, body });
  expect([again.status, again.body.version]).toEqual([200, body.version]);
  const stale = await callRest(app, 'update', { by: people.owner, job: body.id, body: { ...body, warnings: [] } });
  expect(stale.status).toBe(200);
  const list = await app.rest('GET', '/v1/jobs?per_page=1', { token: people.owner.token });
  const [listed] = list.body.data;
  expect(listed).toHaveProperty('distance', null);
  for (const distance of [null, 1.5]) {
    const edit = { by: people.owner, job: listed.id, body: { ...listed, distance } };
    const unchanged = await callRest(app, 'update', edit);
    expect([unchanged.status, unchanged.body.version]).toEqual([200, listed.version]);
  }
});

test('a list with warnings takes no more database reads than one without', async () => {
  const read = async (fields: string) => {
    app.statements();
    const { data, errors } = await app.graphql(`{ jobs(first: 20) { nodes { id ${fields} } } }`, {
      token: people.owner.token,
    });
    expect(errors).toBeUndefined();
    return {
      nodes: data.jobs.nodes as Json[],
      statements: app.statements().filter((text) => !isLookUpOfSession(text)).length,
    };
  };
  await read('title');
  const [without, warned] = [await read('title'), await read('warnings { code field message }')];
  expect(warned.statements).toBe(without.statements);
  expect(warned.nodes.some(({ warnings }) => warnings.length > 0)).toBe(true);
});

test("everyone who can see a job reads when its status changed, and edits don't affect that", async () => {
  const job = await givenJob(app, 'open', people);
  const since = async (by: keyof People) => {
    const { body } = await app.rest('GET', `/v1/jobs/${job.id}`, { token: people[by].token });
    const { data } = await app.graphql('query($id: ID!) { job(id: $id) { statusChangedAt } }', {
      token: people[by].token,
      variables: { id: job.id },
    });
    expect(data.job.statusChangedAt).toBe(body.status_changed_at);
    return body.status_changed_at as string;
  };
  const published = await since('owner');
  const { body } = await app.rest('GET', `/v1/jobs/${job.id}/events`, { token: people.owner.token });
  const event = body.data.find(({ type }: Json) => type === 'job.published');
  expect(Math.abs(Date.parse(event.occurred_at) - Date.parse(published))).toBeLessThan(1_000);
  for (const by of ['awardee', 'stranger', 'admin'] as const) expect(await since(by)).toBe(published);
  await callRest(app, 'update', { by: people.owner, job: job.id, body: { requirements: 'A ladder.' } });
  expect(await since('owner')).toBe(published);
  await callRest(app, 'award', { by: people.owner, job: job.id, body: { bid_id: job.bids.awardee } });
  expect((await since('bidder')) > published).toBe(true);
});
