/** Clients can read every object with an ID again by its ID, and no two objects share one. */
import { getNamedType, isLeafType, isObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, it, test, vi } from 'vitest';
import { schema } from '../../src/graphql/schema.js';
import { newId } from '../../src/market/store/new-id.js';
import { openTestApp, type Json, type TestApp } from '../setup/app.js';
import { programOf, type Person } from '../story/cast.js';
import { allNumbered } from '../platform/live/positions.js';
import { until } from '../platform/security/until.js';
import { gather, givenJob, propose, type People } from '../story/journey.js';
import { createSelections } from './whole-selection.js';

/** One document selects every field, which costs more than a request may. */
vi.mock('../../src/platform/caller-limits.js', async (original) => ({
  ...(await original<typeof import('../../src/platform/caller-limits.js')>()),
  GRAPHQL_LIMITS: new Proxy({}, { get: () => 100_000_000 }),
}));

const withId = Object.values(schema.getTypeMap())
  .filter((type) => isObjectType(type))
  // A pack's ID is a name from the server's configuration.
  .filter((type) => 'id' in type.getFields() && type.name !== 'TokenPack');

let app: TestApp;
let people: People;
let jobId: string;
let disputedId: string;
beforeAll(async () => {
  app = await openTestApp({ WEBHOOKS_ALLOW_PRIVATE: 'on', PAYMENTS: 'local' });
  people = await gather(app);
  const { token } = people.owner;
  await app.rest('POST', '/v1/api-keys', { token, body: { name: 'a program' } });
  const { body } = await app.rest('POST', '/v1/webhooks', { token, body: { url: 'http://127.0.0.1:9/' } });
  await app.rest('POST', `/v1/webhooks/${body.webhook.id}/test`, { token, body: {} });
  await app.rest('POST', '/v1/purchases', { token, body: { pack: 'small', return_url: app.url } });
  await app.rest('POST', '/v1/saved-searches', {
    token: people.awardee.token,
    body: { name: 'Siding', filter: { categories: ['siding'] }, alert: 'off' },
  });
  const passwords = { current_password: people.bidder.password, new_password: 'another good password' };
  expect((await app.rest('POST', '/v1/me/password', { token: people.bidder.token, body: passwords })).status).toBe(200);
  const { profileId } = people.awardee;
  await app.rest('POST', `/v1/contractors/${profileId}/verify`, { token: people.admin.token });
  const offers = { awardee: { guaranteed_view: true } };
  ({ id: jobId } = await givenJob(app, 'completed', people, { offers }));
  const disputed = await givenJob(app, 'disputed', people);
  disputedId = disputed.id;
  await propose(app, people, disputed);
  await allNumbered(app);
  // Nothing listens there. The endpoint changes once, at its first failure.
  await until(async () => (await app.sql`select from webhook_endpoints where failing_since is null`).length === 0);
});
afterAll(() => app.close());

const CHANGING = ['lastUsedAt', 'nextAttemptAt'];

function leavesOf(type: string): string[] {
  const fields = withId.find(({ name }) => name === type)?.getFields() ?? {};
  return Object.values(fields)
    .filter((field) => isLeafType(getNamedType(field.type)) && !CHANGING.includes(field.name))
    .map(({ name }) => name);
}

interface Seen {
  readonly id: string;
  readonly type: string;
  readonly object: Json;
}

/** Every object with an ID that a person can reach from their account and the job. */
async function readAll(person: Person): Promise<Seen[]> {
  const selections = createSelections(schema);
  const jobs = [`job(id: "${jobId}")`, `disputed: job(id: "${disputedId}")`];
  const roots = ['viewer', ...jobs, 'webhookEndpoints', 'contractors', 'adminActions'].map((root) => {
    const type = getNamedType(schema.getQueryType()!.getFields()[root.replaceAll(/^\w+: |\(.*/g, '')]!.type);
    return `${root} { ${selections.of(type, type.name.endsWith('Connection') ? 4 : 3)} }`;
  });
  const { data } = await app.graphql(`{ ${roots.join(' ')} } ${selections.fragments()}`, { token: person.token });
  const seen: Seen[] = [];
  JSON.stringify(data, (_, value: Json) => {
    const type: unknown = value?.__typename;
    if (typeof type === 'string' && value[`${type}_id`]) seen.push({ id: value[`${type}_id`], type, object: value });
    return value;
  });
  return seen;
}

const readNode = (id: string, token: string, selection = '') =>
  app.graphql(`query ($id: ID!) { node(id: $id) { __typename id ${selection} } }`, { token, variables: { id } });

describe('an identifier', () => {
  test('makes every type that has one a Node', () => {
    for (const type of withId) expect([type.name, type.getInterfaces().map(String)]).toEqual([type.name, ['Node']]);
  });

  it('belongs to only one type, and leads back to the object for everyone who has read it', async () => {
    const types = new Map<string, string>();
    for (const person of [people.owner, people.awardee, people.bidder, people.admin]) {
      const objects = new Map((await readAll(person)).map((seen) => [seen.id, seen]));
      for (const { id, type, object } of objects.values()) {
        expect([id, types.get(id) ?? type]).toEqual([id, type]);
        types.set(id, type);
        const leaves = leavesOf(type);
        const { data, errors } = await readNode(id, person.token, `... on ${type} { ${leaves.join(' ')} }`);
        expect([person.name, id, errors]).toEqual([person.name, id, undefined]);
        for (const name of leaves) expect([id, name, data.node[name]]).toEqual([id, name, object[`${type}_${name}`]]);
      }
    }
    expect([...new Set(types.values())].toSorted()).toEqual(withId.map(({ name }) => name).toSorted());
  });
});

describe('a private object', () => {
  it.each([
    ['an API key', 'select id from api_keys where user_id = $1', 'owner', 'bidder'],
    ['a webhook endpoint', 'select id from webhook_endpoints where user_id = $1', 'owner', 'awardee'],
    [
      'a delivery',
      'select d.id from webhook_deliveries d join webhook_endpoints w on w.id = d.endpoint_id where w.user_id = $1',
      'owner',
      'awardee',
    ],
    ['a hold', 'select id from holds where user_id = $1', 'awardee', 'bidder'],
    [
      'an event of another’s bid',
      `select id from events where type = 'bid.submitted' and actor_id = $1`,
      'awardee',
      'bidder',
    ],
  ] as const)('%s is FORBIDDEN by its identifier', async (_, query, whose, who) => {
    const [row] = await app.sql.unsafe(query, [people[whose].userId]);
    expect(row).toBeDefined();
    const { data, errors } = await readNode(String(row?.id), people[who].token);
    expect([data.node, errors?.[0]?.extensions.code]).toEqual([null, 'FORBIDDEN']);
  });

  it("such as a viewer belongs to nobody else, and an object that doesn't exist is NOT_FOUND", async () => {
    const { owner, bidder } = people;
    const { data } = await app.graphql('{ viewer { id user { id } } }', { token: owner.token });
    expect(data.viewer.id).toBe(data.viewer.user.id.replace('usr_', 'vwr_'));
    const others = [
      data.viewer.id,
      ...(['hold', 'event', 'proposal', 'review', 'apiKey', 'webhookEndpoint', 'webhookDelivery'] as const).map(
        (kind) => newId(kind),
      ),
    ];
    for (const id of others) {
      const { errors } = await readNode(id, bidder.token);
      expect([id, errors?.[0]?.extensions.code]).toEqual([id, 'NOT_FOUND']);
    }
  });

  it("such as an API key can't be read by an API key", async () => {
    const { owner } = people;
    const [key] = await app.sql`select id from api_keys where user_id = ${owner.userId}`;
    const program = await programOf(app, owner);
    const { errors } = await readNode(String(key?.id), program.token);
    expect(errors?.[0]?.extensions.code).toBe('FORBIDDEN');
  });
});
