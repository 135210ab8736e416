/** Clients can also read every connection backward, from its end or a cursor. They get the same list. */
import { getNamedType, isObjectType, isRequiredArgument } from 'graphql';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { schema } from '../../src/graphql/schema.js';
import { openTestApp, type Json, type TestApp } from '../setup/app.js';
import { allNumbered } from '../platform/live/positions.js';
import { until } from '../platform/security/until.js';
import { callRest } from '../story/calls.js';
import { gather, givenJob, type People } from '../story/journey.js';

let app: TestApp;
let people: People;
let ids: { job: string; bid: string; contractor: string; endpoint: string };

beforeAll(async () => {
  app = await openTestApp({ WEBHOOKS_ALLOW_PRIVATE: 'on', PAYMENTS: 'local' });
  people = await gather(app);
  const [job] = [await givenJob(app, 'completed', people), await givenJob(app, 'completed', people)];
  await givenJob(app, 'completed', people);
  const post = async (path: string, body: object) =>
    (await app.rest('POST', path, { token: people.owner.token, body })).body as Json;
  for (const name of ['one', 'two', 'three']) {
    await post('/v1/api-keys', { name });
    const { email, password } = people.owner;
    await post('/v1/auth/login', { email, password });
  }
  for (const name of ['one', 'two']) await post('/v1/webhooks', { url: `http://127.0.0.1:9/${name}` });
  for (let at = 0; at < 3; at += 1) await post('/v1/purchases', { pack: 'small', return_url: app.url });
  const { webhook } = await post('/v1/webhooks', { url: 'http://127.0.0.1:9/three' });
  for (let at = 0; at < 3; at += 1) await post(`/v1/webhooks/${webhook.id}/test`, {});
  for (const name of ['one', 'two', 'three'])
    await app.rest('POST', '/v1/saved-searches', {
      token: people.awardee.token,
      body: { name, filter: { categories: ['siding'] }, alert: 'off' },
    });
  const me = await app.rest('GET', '/v1/me', { token: people.awardee.token });
  const { token } = people.admin;
  const correction = { user_id: people.awardee.userId, amount: 1, reason: 'A gift.' };
  for (let at = 0; at < 3; at += 1) await app.rest('POST', '/v1/tokens/adjustments', { token, body: correction });
  const open = await givenJob(app, 'open', people);
  const bid = open.bids.awardee!;
  for (const amount of [1, 2, 3])
    await callRest(app, 'revise', { by: people.awardee, job: open.id, bid, body: { amount } });
  ids = { job: job.id, bid, contractor: me.body.contractor.id, endpoint: webhook.id };
  // The awardee's events end where the matching of their searches has come to.
  await allNumbered(app);
  await until(async () => {
    const behind = await app.sql`select from search_cursor where matched_up_to < (select max(position) from events)`;
    return behind.length === 0;
  });
});
afterAll(() => app.close());

/** Each connection's reader, and the document around the connection. */
const CONNECTIONS: Readonly<Record<string, readonly [reader: keyof People, around: (list: string) => string]>> = {
  'Query.jobs': ['owner', (list) => list],
  'Query.contractors': ['owner', (list) => list],
  'Query.users': ['admin', (list) => list],
  'Query.adminActions': ['admin', (list) => list],
  'Query.myEvents': ['awardee', (list) => list],
  'Query.webhookEndpoints': ['owner', (list) => list],
  'Viewer.apiKeys': ['owner', (list) => `viewer { ${list} }`],
  'Viewer.sessions': ['owner', (list) => `viewer { ${list} }`],
  'Viewer.bids': ['awardee', (list) => `viewer { ${list} }`],
  'Viewer.tokenTransactions': ['owner', (list) => `viewer { ${list} }`],
  'Viewer.purchases': ['owner', (list) => `viewer { ${list} }`],
  'Viewer.savedSearches': ['awardee', (list) => `viewer { ${list} }`],
  'Viewer.notifications': ['owner', (list) => `viewer { ${list} }`],
  'User.tokenTransactions': ['owner', (list) => `viewer { user { ${list} } }`],
  'User.purchases': ['owner', (list) => `viewer { user { ${list} } }`],
  'Job.bids': ['owner', (list) => `job(id: "${ids.job}") { ${list} }`],
  'Job.timeline': ['owner', (list) => `job(id: "${ids.job}") { ${list} }`],
  'Bid.revisions': ['owner', (list) => `node(id: "${ids.bid}") { ... on Bid { ${list} } }`],
  'Contractor.reviews': ['owner', (list) => `contractor(id: "${ids.contractor}") { ${list} }`],
  'Contractor.jobs': ['awardee', (list) => `contractor(id: "${ids.contractor}") { ${list} }`],
  'Contractor.bids': ['admin', (list) => `contractor(id: "${ids.contractor}") { ${list} }`],
  'WebhookEndpoint.deliveries': ['owner', (list) => `webhookEndpoint(id: "${ids.endpoint}") { ${list} }`],
};

interface Page {
  readonly edges: readonly { cursor: string; node: { id: string } }[];
  readonly pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string };
  readonly totalCount: number;
}

async function read(name: string, page: string): Promise<Page> {
  const [reader, around] = CONNECTIONS[name]!;
  // An earlier offer and a notification don't have their own IDs.
  const keys: Record<string, string> = { 'Bid.revisions': 'id: version', 'Viewer.notifications': 'id: position' };
  const id = keys[name] ?? 'id';
  const pageInfo = 'pageInfo { hasNextPage hasPreviousPage startCursor endCursor }';
  const parts = `edges { cursor node { ${id} } } ${pageInfo} totalCount`;
  const field = name.split('.')[1];
  const { data, errors } = await app.graphql(`{ ${around(`${field}(${page}) { ${parts} }`)} }`, {
    token: people[reader].token,
  });
  expect(errors).toBeUndefined();
  return connectionIn(data);
}

function connectionIn(data: Json): Page {
  return 'edges' in data ? (data as unknown as Page) : connectionIn(Object.values(data)[0] as Json);
}

test('the table has every connection that can be read backward', () => {
  const types = Object.values(schema.getTypeMap()).filter((type) => isObjectType(type));
  const names = types.flatMap((type) =>
    Object.values(type.getFields())
      .filter((field) => getNamedType(field.type).name.endsWith('Connection'))
      // A list with a required argument finds only one entry.
      .filter(({ args }) => args.some(({ name }) => name === 'last') && !args.some(isRequiredArgument))
      .map(({ name }) => `${type.name}.${name}`),
  );
  expect(names.toSorted()).toEqual(Object.keys(CONNECTIONS).toSorted());
});

describe.each(Object.keys(CONNECTIONS))('%s', (name) => {
  it.each([1, 2])('read backward by %i is the same list', async (size) => {
    const forwards = await read(name, 'first: 100');
    expect(forwards.edges.length).toBeGreaterThan(1);
    let edges: Page['edges'] = [];
    for (let page = await read(name, `last: ${size}`), isLast = true; ; isLast = false) {
      edges = [...page.edges, ...edges];
      expect([page.pageInfo.hasNextPage, page.totalCount]).toEqual([!isLast, forwards.totalCount]);
      expect(page.edges.length).toBe(page.pageInfo.hasPreviousPage ? size : page.edges.length);
      if (!page.pageInfo.hasPreviousPage) break;
      page = await read(name, `last: ${size}, before: "${page.pageInfo.startCursor}"`);
    }
    expect(edges).toEqual(forwards.edges);
  });
});

describe('An impossible page', () => {
  it.each([
    ['first: 1, last: 1', { last: expect.stringContaining('first') }],
    ['before: "WzFd"', { before: expect.stringContaining('last') }],
    ['last: 1, after: "WzFd"', { after: expect.stringContaining('before') }],
    ['last: 1, before: "no cursor"', { before: expect.stringContaining('cursor') }],
    ['last: 0', { last: expect.any(String) }],
    ['last: 101', { last: expect.any(String) }],
  ])('%s is refused by name', async (page, fields) => {
    for (const list of [`jobs(${page})`, `job(id: "${ids.job}") { timeline(${page})`]) {
      const end = list.startsWith('jobs') ? '{ totalCount }' : '{ totalCount } }';
      const { errors } = await app.graphql(`{ ${list} ${end} }`, { token: people.owner.token });
      expect(errors?.[0]?.extensions).toMatchObject({ code: 'VALIDATION_FAILED', fields });
    }
  });

  it('with `last` costs its length', async () => {
    const inner = 'bids(last: 100) { nodes { id } }';
    const { errors } = await app.graphql(`{ jobs(last: 100) { nodes { ${inner} } } }`, { token: people.owner.token });
    expect(errors?.[0]?.message).toMatch(/costs \d+/);
  });
});
