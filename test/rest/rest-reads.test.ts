/**
 * HTTP headers tell readers where a created resource is, whether a resource has changed, and where the other pages are.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROUTES } from '../../src/rest/routes.js';
import { JOB_ACTION_LIST } from '../../src/market/rules/lifecycle.js';
import { JOB_STATES } from '../../src/market/rules/states.js';
import { newId } from '../../src/market/store/new-id.js';
import { callRest } from '../story/calls.js';
import { homeowner, type Person } from '../story/cast.js';
import { openTestApp, type Json, type TestApp } from '../setup/app.js';
import { DRAFT, gather, givenJob, type People } from '../story/journey.js';

let app: TestApp;
let people: People;
beforeAll(async () => {
  app = await openTestApp({ PAYMENTS: 'local' });
  people = await gather(app);
});
afterAll(() => app.close());

interface Creation {
  /** The caller, and the person that the call creates, if any. */
  readonly by?: Person;
  readonly path?: string;
  readonly body: object;
  /** The part of the response that `Location` leads to. Defaults to the whole response. */
  made?(this: void, body: Json): unknown;
}

function creations(openJob: string): Readonly<Record<string, Creation>> {
  const { owner, stranger, admin } = people;
  const newUser = { email: 'new@example.test', password: 'a password', first_name: 'N', last_name: 'N' };
  return {
    '/auth/signup/homeowner': { body: newUser, made: ({ user, homeowner }) => ({ user, homeowner }) },
    '/auth/signup/contractor': {
      body: { ...newUser, email: 'newer@example.test' },
      made: ({ user, contractor }) => ({ user, contractor }),
    },
    '/api-keys': { by: owner, body: { name: 'Export' }, made: ({ api_key: key }) => key },
    '/webhooks': { by: owner, body: { url: 'https://hooks.example.com/jobs' }, made: ({ webhook }) => webhook },
    '/tokens/adjustments': { by: admin, body: { user_id: owner.userId, amount: 1, reason: 'A gift.' } },
    '/purchases': { by: owner, body: { pack: 'small', return_url: app.url }, made: ({ purchase }) => purchase },
    '/saved-searches': { by: stranger, body: { name: 'Roofs', filter: { categories: ['roofing'] }, alert: 'off' } },
    '/jobs': { by: owner, body: DRAFT },
    '/jobs/{jobId}/bids': { by: stranger, path: `/jobs/${openJob}/bids`, body: { amount: 5 } },
  };
}

test('every 201 says where the created object is, and it is there', async () => {
  for (const { status, location, path } of ROUTES)
    expect([path, location !== undefined]).toEqual([path, status === 201]);
  const open = await givenJob(app, 'open', people);
  const table = creations(open.id);
  const making = ROUTES.filter(({ status }) => status === 201).map(({ path }) => path);
  expect(Object.keys(table).toSorted()).toEqual(making.toSorted());
  for (const [route, { by, path = route, body, made = (answer: Json) => answer }] of Object.entries(table)) {
    const answer = await app.rest('POST', `/v1${path}`, { body, ...(by && { token: by.token }) });
    expect([route, answer.status]).toEqual([route, 201]);
    const token = by?.token ?? answer.body.token;
    const found = await app.rest('GET', answer.headers.get('location') ?? '', { token });
    expect([route, found.status]).toEqual([route, 200]);
    expect(found.body).toMatchObject(made(answer.body) as object);
  }
});

test("a job that hasn't changed isn't sent again", async () => {
  const { id } = await givenJob(app, 'draft', people);
  const { token } = people.owner;
  const read = (tag: string, who = token) =>
    app.rest('GET', `/v1/jobs/${id}`, { token: who, headers: { 'if-none-match': tag } });
  const { headers } = await app.rest('GET', `/v1/jobs/${id}`, { token });
  const tag = headers.get('etag') ?? '';
  for (const known of [tag, `W/${tag}`, `"0", ${tag}`, '*']) {
    const same = await read(known);
    expect([same.status, same.headers.get('etag')]).toEqual([304, tag]);
  }
  expect((await read(tag, people.stranger.token)).status).toBe(403);
  await callRest(app, 'publish', { by: people.owner, job: id });
  const changed = await read(tag);
  expect([changed.status, changed.body.status]).toEqual([200, 'open']);
});

test('a page links to the first, previous, next, and last page', async () => {
  const lena = await homeowner(app, 'Lena');
  for (let at = 0; at < 5; at += 1) await callRest(app, 'create', { by: lena, body: DRAFT });
  const links = async (address: string): Promise<Record<string, string>> => {
    const { body, headers } = await app.rest('GET', address, { token: lena.token });
    const found = [...(headers.get('link') ?? '').matchAll(/<([^>]+)>; rel="(\w+)"/g)];
    return { ...Object.fromEntries(found.map(([, to, rel]) => [rel, to])), page: String(body.pagination.page) };
  };
  const first = await links('/v1/jobs?per_page=2&status=draft');
  expect(first).toMatchObject({
    first: '/v1/jobs?per_page=2&status=draft',
    next: expect.stringMatching(/^\/v1\/jobs\?per_page=2&status=draft&page=2&after=/),
    last: '/v1/jobs?per_page=2&status=draft&page=3',
  });
  expect(first.prev).toBeUndefined();
  const second = await links(first.next!);
  expect([second.page, second.prev, second.first]).toEqual(['2', first.first, first.first]);
  const third = await links(second.next!);
  expect([third.page, third.prev, third.next]).toEqual(['3', '/v1/jobs?per_page=2&status=draft&page=2', undefined]);
  expect((await links('/v1/jobs?per_page=2&page=9')).prev).toBe('/v1/jobs?per_page=2&page=3');
});

test("the catalog and the lifecycle can be read by anyone, in REST's spelling", async () => {
  const catalog = (await app.rest('GET', '/v1/catalog')).body as Json;
  expect(catalog.urgencies).toContainEqual({ urgency: 'urgent', publish_cost: 30 });
  const lifecycle = (await app.rest('GET', '/v1/lifecycle')).body as Json;
  expect(lifecycle.states).toEqual(JOB_STATES);
  expect(lifecycle.required_to_publish).toContain('address_line1');
  expect(lifecycle.actions.map(({ action }: Json) => action)).toEqual(
    JOB_ACTION_LIST.map(({ action }) => action.toLowerCase()),
  );
});

test('an object is read by its identifier through REST as through GraphQL', async () => {
  const { owner, awardee, bidder, stranger, admin } = people;
  const job = await givenJob(app, 'open', people);
  const body = { amount: 5, guaranteed_view: true };
  const { body: bid } = await callRest(app, 'submitBid', { by: stranger, job: job.id, body });
  await givenJob(app, 'awarded', people);
  const read = async (path: string, token: string) => (await app.rest('GET', path, { token })).body;
  for (const { token } of [owner, awardee, bidder, admin]) {
    const query = `query ($user: ID!, $homeowner: ID!) {
      user: node(id: $user) { ... on User { email phone firstName contractor { id } } }
      homeowner: node(id: $homeowner) { ... on Homeowner { userId city zipCode addressLine1 } } }`;
    const variables = { user: awardee.userId, homeowner: owner.profileId };
    const { user, homeowner } = (await app.graphql(query, { token, variables })).data;
    expect(await read(`/v1/users/${awardee.userId}`, token)).toMatchObject({
      email: user.email,
      phone: user.phone,
      first_name: user.firstName,
      homeowner_id: null,
      contractor_id: user.contractor.id,
    });
    expect(await read(`/v1/homeowners/${owner.profileId}`, token)).toMatchObject({
      user_id: owner.userId,
      city: homeowner.city,
      zip_code: homeowner.zipCode,
      address_line1: homeowner.addressLine1,
    });
  }
  expect((await read(`/v1/users/${awardee.userId}`, owner.token)).email).toBe(awardee.email);
  expect((await read(`/v1/users/${awardee.userId}`, bidder.token)).email).toBeNull();
  for (const { token } of [owner, stranger, admin])
    expect(await read(`/v1/bids/${bid.id}/hold`, token)).toMatchObject({ id: bid.hold_id, bid_id: bid.id, amount: 5 });
});

test('an identifier that names nothing is not found', async () => {
  const { owner, bidder } = people;
  const { body } = await callRest(app, 'submitBid', {
    by: people.stranger,
    job: (await givenJob(app, 'open', people)).id,
    body: { amount: 5 },
  });
  for (const path of [
    `/users/${newId('user')}`,
    `/users/${owner.profileId}`,
    `/homeowners/${newId('homeowner')}`,
    `/homeowners/${bidder.profileId}`,
    `/homeowners/nobody`,
    `/bids/${newId('bid')}/hold`,
    `/bids/${body.id}/hold`,
  ])
    expect([path, (await app.rest('GET', `/v1${path}`, { token: owner.token })).status]).toEqual([path, 404]);
  const others = await app.rest('GET', `/v1/bids/${body.id}/hold`, { token: bidder.token });
  expect(others.status).toBe(403);
});
