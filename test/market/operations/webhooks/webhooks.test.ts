import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WEBHOOKS } from '../../../../src/market/rules/market-limits.js';
import { openTestApp, type Answer, type Json, type TestApp } from '../../../setup/app.js';
import { waitingCalls } from '../../../setup/database/waiting-calls.js';
import { admin, homeowner, programOf, type Person } from '../../../story/cast.js';
import { until } from '../../../platform/security/until.js';
import { byGraphql, byRest, invalid } from '../../../apis/refused.js';

let app: TestApp;
let hanna: Person;
let otto: Person;
beforeAll(async () => {
  app = await openTestApp();
  [hanna, otto] = [await homeowner(app, 'Hanna'), await homeowner(app, 'Otto')];
});
afterAll(() => app.close());

const URL_OF = 'https://hooks.example.com/jobs';
const FIELDS =
  'id url eventTypes accountEventTypes status pausedReason failingSince oldSecretEndsAt createdAt updatedAt';
const CREATE = `mutation ($input: CreateWebhookEndpointInput!) { createWebhookEndpoint(input: $input) {
  webhookEndpoint { ${FIELDS} } secret viewer { user { id } } } }`;
const SECRET = /^whsec_[0-9A-Za-z+/]{43}=$/;
const MOMENT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const FORBIDDEN = { status: 403, code: 'FORBIDDEN', fields: [] };
const NOT_FOUND = { status: 404, code: 'NOT_FOUND', fields: [] };
const REFUSED = { status: 400, code: 'VALIDATION_FAILED', fields: [] };

const create = ({ token }: Person, body: object) => app.rest('POST', '/v1/webhooks', { token, body });
const made = async (person: Person, body: object = { url: URL_OF }): Promise<Json> => (await create(person, body)).body;
const graphql = ({ token }: Person, query: string, variables: object = {}) => app.graphql(query, { token, variables });

describe('a webhook endpoint', () => {
  it('is created through both APIs, with a secret that is shown once and stored encrypted', async () => {
    const owner = await homeowner(app, 'Olga');
    const { status, body, headers } = await create(owner, { url: URL_OF, event_types: ['job.published'] });
    const webhook = {
      id: expect.stringMatching(/^whk_[0-9A-Za-z]{27}$/),
      url: URL_OF,
      event_types: ['job.published'],
      account_event_types: [],
      status: 'active',
      paused_reason: null,
      failing_since: null,
      old_secret_ends_at: null,
      created_at: MOMENT,
      updated_at: MOMENT,
    };
    expect({ status, body }).toEqual({ status: 201, body: { webhook, secret: expect.stringMatching(SECRET) } });
    expect(headers.get('location')).toBe(`/v1/webhooks/${body.webhook.id}`);

    const { data } = await graphql(owner, CREATE, { input: { url: URL_OF, eventTypes: ['BID_SUBMITTED'] } });
    expect(data.createWebhookEndpoint).toMatchObject({
      webhookEndpoint: { id: expect.stringMatching(/^whk_/), eventTypes: ['BID_SUBMITTED'], status: 'ACTIVE' },
      secret: expect.stringMatching(SECRET),
      viewer: { user: { id: owner.userId } },
    });

    const listed = await app.rest('GET', '/v1/webhooks', { token: owner.token });
    const seen = await graphql(owner, `{ webhookEndpoints { totalCount nodes { ${FIELDS} } } }`);
    expect(listed.body.data.map(({ id }: Json) => id)).toEqual(
      seen.data.webhookEndpoints.nodes.map(({ id }: Json) => id),
    );
    expect(seen.data.webhookEndpoints.totalCount).toBe(2);
    expect(JSON.stringify([listed.body, seen.data])).not.toMatch(/whsec_/);
    const rows = await app.sql`select w::text as row from webhook_endpoints w where user_id = ${owner.userId}`;
    for (const secret of [body.secret, data.createWebhookEndpoint.secret] as string[])
      expect(rows.some(({ row }) => row.includes(secret.slice(6)))).toBe(false);
  });

  it('receives all types by default, and each once', async () => {
    expect((await made(otto)).webhook.event_types).toEqual([]);
    const { webhook } = await made(otto, { url: URL_OF, event_types: ['job.published', 'job.published'] });
    expect(webhook.event_types).toEqual(['job.published']);
    expect(byRest(await create(otto, { url: URL_OF, event_types: ['job.exploded'] }))).toEqual(
      invalid('event_types.0'),
    );
  });

  it('receives no account events by default, and stores each listed type once, through both APIs', async () => {
    const owner = await homeowner(app, 'Ovid');
    const types = ['webhook.paused', 'account.email_changed', 'webhook.paused'];
    const { webhook } = await made(owner, { url: URL_OF, account_event_types: types });
    expect(webhook).toMatchObject({
      event_types: [],
      account_event_types: ['webhook.paused', 'account.email_changed'],
    });
    const path = `/v1/webhooks/${webhook.id}`;
    const renamed = await app.rest('PUT', path, { token: owner.token, body: { url: `${URL_OF}/2` } });
    expect(renamed.body.account_event_types).toEqual(webhook.account_event_types);
    const input = { url: URL_OF, accountEventTypes: ['WEBHOOK_FAILING'] };
    const { data } = await graphql(owner, CREATE, { input });
    expect(data.createWebhookEndpoint.webhookEndpoint).toMatchObject({
      eventTypes: [],
      accountEventTypes: ['WEBHOOK_FAILING'],
    });
    const UPDATE = `mutation ($id: ID!, $input: UpdateWebhookEndpointInput!) {
      updateWebhookEndpoint(id: $id, input: $input) { webhookEndpoint { accountEventTypes } } }`;
    const emptied = await graphql(owner, UPDATE, { id: webhook.id, input: { accountEventTypes: [] } });
    expect(emptied.data.updateWebhookEndpoint.webhookEndpoint.accountEventTypes).toEqual([]);
    for (const type of ['job.published', 'account.exploded'])
      expect(byRest(await create(owner, { url: URL_OF, account_event_types: [type] }))).toEqual(
        invalid('account_event_types.0'),
      );
    const wrong = { url: URL_OF, accountEventTypes: ['JOB_PUBLISHED'] };
    expect((await graphql(owner, CREATE, { input: wrong })).errors).toHaveLength(1);
    const asJobEvent = await create(owner, { url: URL_OF, event_types: ['webhook.paused'] });
    expect(byRest(asJobEvent)).toEqual(invalid('event_types.0'));
  });

  it.each([
    'http://hooks.example.com',
    'ftp://hooks.example.com',
    'hooks.example.com',
    '',
    'https://user@hooks.example.com',
    'https://user:secret@hooks.example.com',
    'https://hooks.example.com/#part',
    'https://hooks.example.com:22',
    'https://hooks.example.com:80',
    'https://localhost',
    'https://localhost./x',
    'https://database',
    'https://metadata.google.internal',
    'https://printer.local',
    'https://127.0.0.1',
    'https://0x7f.1',
    'https://2130706433',
    'https://017700000001',
    'https://127.1',
    'https://0.0.0.0',
    'https://10.1.2.3',
    'https://172.16.0.1',
    'https://192.168.1.1',
    'https://169.254.169.254/latest/meta-data',
    'https://100.64.0.1',
    'https://198.18.0.1',
    'https://224.0.0.1',
    'https://240.0.0.1',
    'https://255.255.255.255',
    'https://[::1]',
    'https://[::]',
    'https://[::7f00:1]',
    'https://[::ffff:127.0.0.1]',
    'https://[::ffff:8.8.8.8]',
    'https://[64:ff9b::7f00:1]',
    'https://[2002:7f00:1::]',
    'https://[2001:0:7f00:1::]',
    'https://[fe80::1]',
    'https://[fec0::1]',
    'https://[fd00::1]',
    'https://[ff02::1]',
    'https://[2001:db8::1]',
  ])('may not lead to %s', async (url) => {
    expect(byRest(await create(hanna, { url }))).toEqual(invalid('url'));
    expect(byGraphql(await graphql(hanna, CREATE, { input: { url } }))).toEqual(invalid('url'));
  });

  it.each(['https://8.8.8.8/x', 'https://hooks.example.com:8443/a?b=c', 'https://[2606:4700::1111]'])(
    'may lead to %s, and may be changed to it',
    async (url) => {
      const owner = await homeowner(app, 'Ola');
      const { webhook } = await made(owner, { url });
      expect(webhook.url).toBe(url);
      const path = `/v1/webhooks/${webhook.id}`;
      const inside = await app.rest('PUT', path, { token: owner.token, body: { url: 'https://127.0.0.1' } });
      expect(byRest(inside)).toEqual(invalid('url'));
    },
  );

  it('is one of at most five per person, even for simultaneous calls', async () => {
    const owner = await homeowner(app, 'Oona');
    const answers = await Promise.all(Array.from({ length: 8 }, () => create(owner, { url: URL_OF })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 201, 201, 201, 201, 400, 400, 400]);
    const refused = answers.find(({ status }) => status === 400);
    expect(refused?.body.error).toContain(`${WEBHOOKS.endpointsPerPerson} webhook endpoints`);
    const [{ id }] = (await app.rest('GET', '/v1/webhooks', { token: owner.token })).body.data;
    expect((await app.rest('DELETE', `/v1/webhooks/${id}`, { token: owner.token })).status).toBe(200);
    expect((await create(owner, { url: URL_OF })).status).toBe(201);
  });

  it('is paused and resumed by its owner, who can send the whole endpoint back', async () => {
    const owner = await homeowner(app, 'Olaf');
    const { webhook } = await made(owner);
    const path = `/v1/webhooks/${webhook.id}`;
    const paused = await app.rest('PUT', path, { token: owner.token, body: { ...webhook, status: 'paused' } });
    expect(paused.body).toMatchObject({ status: 'paused', paused_reason: 'requested', url: URL_OF });
    const UPDATE = `mutation ($id: ID!, $input: UpdateWebhookEndpointInput!) {
      updateWebhookEndpoint(id: $id, input: $input) {
      webhookEndpoint { status pausedReason eventTypes url } viewer { id } } }`;
    const input = { status: 'ACTIVE', eventTypes: ['JOB_COMPLETED'] };
    const { data } = await graphql(owner, UPDATE, { id: webhook.id, input });
    expect(data.updateWebhookEndpoint).toEqual({
      webhookEndpoint: { status: 'ACTIVE', pausedReason: null, eventTypes: ['JOB_COMPLETED'], url: URL_OF },
      viewer: { id: owner.userId.replace('usr_', 'vwr_') },
    });
    const body = { created_at: '2020-01-01T00:00:00.000Z' };
    expect(byRest(await app.rest('PUT', path, { token: owner.token, body }))).toEqual(invalid('created_at'));
  });

  it("receives no test while it's paused", async () => {
    const owner = await homeowner(app, 'Odd');
    const { webhook } = await made(owner);
    const { token } = owner;
    await app.rest('PUT', `/v1/webhooks/${webhook.id}`, { token, body: { status: 'paused' } });
    expect(byRest(await app.rest('POST', `/v1/webhooks/${webhook.id}/test`, { token }))).toEqual(REFUSED);
  });

  it('gets another secret, and the old one also signs for a day', async () => {
    const owner = await homeowner(app, 'Oksana');
    const { webhook, secret } = await made(owner);
    const path = `/v1/webhooks/${webhook.id}/rotate-secret`;
    const before = Date.now();
    const { status, body } = await app.rest('POST', path, { token: owner.token });
    expect(status).toBe(200);
    expect(body.secret).toMatch(SECRET);
    expect(body.secret).not.toBe(secret);
    const left = Date.parse(body.webhook.old_secret_ends_at) - before;
    expect(left).toBeGreaterThan(23.9 * 3_600_000);
    expect(left).toBeLessThan(24.5 * 3_600_000);
    const ROTATE = 'mutation ($id: ID!) { rotateWebhookSecret(id: $id) { secret webhookEndpoint { id } } }';
    for (let round = 0; round < 5; round += 1) {
      const { data } = await graphql(owner, ROTATE, { id: webhook.id });
      expect(data.rotateWebhookSecret).toEqual({
        secret: expect.stringMatching(SECRET),
        webhookEndpoint: { id: webhook.id },
      });
    }
    const [row] =
      await app.sql`select jsonb_array_length(secrets) as secrets from webhook_endpoints where id = ${webhook.id}`;
    expect(row!.secrets).toBe(WEBHOOKS.secretsAtOnce);
  });

  it('is neither created nor changed by a session that was ended while the call waited', async () => {
    const owner = await homeowner(app, 'Orson');
    const { webhook } = await made(owner);
    const path = `/v1/webhooks/${webhook.id}`;
    const { token } = owner;
    const calls = [
      () => create(owner, { url: URL_OF }),
      () => app.rest('PUT', path, { token, body: { url: 'https://elsewhere.example.com' } }),
      () => app.rest('POST', `${path}/rotate-secret`, { token }),
    ];
    for (const call of calls) {
      let answer: Promise<Answer<Json>> | undefined;
      await app.sql.begin(async (tx) => {
        await tx`select from users where id = ${owner.userId} for update`;
        await tx`select from webhook_endpoints where id = ${webhook.id} for update`;
        answer = call();
        await until(async () => (await waitingCalls(app.sql)) === 1);
        await tx`update sessions set revoked_at = now() where user_id = ${owner.userId}`;
      });
      const refused = await answer;
      expect([refused?.status, refused?.body.details.reason]).toEqual([401, 'session_ended']);
      await app.sql`update sessions set revoked_at = null where user_id = ${owner.userId}`;
    }
    const rows = await app.sql`select url, jsonb_array_length(secrets) as secrets from webhook_endpoints
      where user_id = ${owner.userId}`;
    expect(rows).toEqual([{ url: URL_OF, secrets: 1 }]);
  });

  it('is gone for everybody once it is deleted', async () => {
    const owner = await homeowner(app, 'Ole');
    const { webhook } = await made(owner);
    const DELETE = 'mutation ($id: ID!) { deleteWebhookEndpoint(id: $id) { deletedWebhookEndpointId } }';
    const { data } = await graphql(owner, DELETE, { id: webhook.id });
    expect(data.deleteWebhookEndpoint).toEqual({ deletedWebhookEndpointId: webhook.id });
    for (const [method, path] of WAYS(webhook.id))
      expect(byRest(await app.rest(method, path, { token: owner.token, ...bodyOf(method) }))).toEqual(NOT_FOUND);
    expect((await app.rest('GET', '/v1/webhooks', { token: owner.token })).body.data).toEqual([]);
  });
});

const WAYS = (id: string) =>
  [
    ['GET', `/v1/webhooks/${id}`],
    ['PUT', `/v1/webhooks/${id}`],
    ['GET', `/v1/webhooks/${id}/deliveries`],
    ['POST', `/v1/webhooks/${id}/test`],
    ['POST', `/v1/webhooks/${id}/rotate-secret`],
    ['DELETE', `/v1/webhooks/${id}`],
  ] as const;
const bodyOf = (method: string) => (method === 'PUT' ? { body: { status: 'paused' } } : {});

describe('other users', () => {
  it("can't read or change it; admins can read it, but not change it", async () => {
    const owner = await homeowner(app, 'Orla');
    const ada = await admin(app);
    const { webhook } = await made(owner);
    const delivery = await app.rest('POST', `/v1/webhooks/${webhook.id}/test`, { token: owner.token });
    const ways = [...WAYS(webhook.id), ['POST', `/v1/webhooks/deliveries/${delivery.body.id}/redeliver`] as const];
    for (const [method, path] of ways) {
      const call = (person: Person) => app.rest(method, path, { token: person.token, ...bodyOf(method) });
      expect(byRest(await call(otto))).toEqual(FORBIDDEN);
      if (method === 'GET') expect((await call(ada)).status).toBe(200);
      else expect(byRest(await call(ada))).toEqual(FORBIDDEN);
    }
    const seen = await graphql(otto, 'query ($id: ID!) { webhookEndpoint(id: $id) { id } }', { id: webhook.id });
    expect([seen.data.webhookEndpoint, byGraphql(seen)]).toEqual([null, FORBIDDEN]);
    const listed = await app.rest('GET', '/v1/webhooks', { token: ada.token });
    expect(listed.body.data.map(({ id }: Json) => id)).not.toContain(webhook.id);
  });

  it('such as an API key of the owner manage it with full access, and only read it with read access', async () => {
    const owner = await homeowner(app, 'Oskar');
    const { webhook } = await made(owner);
    const body = { name: 'A reading program', access: 'read' };
    const reading = (await app.rest('POST', '/v1/api-keys', { token: owner.token, body })).body.secret;
    for (const [method, path] of WAYS(webhook.id)) {
      const answer = await app.rest(method, path, { token: reading, ...bodyOf(method) });
      if (method === 'GET') expect(answer.status).toBe(200);
      else expect(byRest(answer)).toEqual(FORBIDDEN);
    }
    const { token } = await programOf(app, owner);
    for (const [method, path] of WAYS(webhook.id)) {
      const sent = method === 'PUT' ? { body: { status: 'active' } } : {};
      expect((await app.rest(method, path, { token, ...sent })).status, `${method} ${path}`).toBe(200);
    }
    expect((await app.rest('GET', '/v1/webhooks', { token })).body.data).toEqual([]);
  });
});

describe('a delivery', () => {
  it('is listed with its attempts in both APIs, and sent again under the same identifiers', async () => {
    const owner = await homeowner(app, 'Oda');
    const { webhook } = await made(owner);
    const first = await app.rest('POST', `/v1/webhooks/${webhook.id}/test`, { token: owner.token });
    expect(first.body).toMatchObject({
      id: expect.stringMatching(/^dlv_/),
      webhook_id: webhook.id,
      event_id: expect.stringMatching(/^evt_/),
      event_type: 'webhook.test',
    });
    const TEST = `mutation ($id: ID!) { sendTestEvent(id: $id) { delivery { id eventType } viewer { id } } }`;
    const second = await graphql(owner, TEST, { id: webhook.id });
    expect(second.data.sendTestEvent.delivery.eventType).toBe('WEBHOOK_TEST');
    const LIST = `{ webhookEndpoints { nodes { id deliveries(first: 1) { totalCount pageInfo { endCursor hasNextPage }
      nodes { id webhookId eventId eventType status nextAttemptAt createdAt endedAt 
        attempts { number startedAt durationMs responseStatus error response } } } } } }`;
    const { data } = await graphql(owner, LIST);
    const [{ deliveries }] = data.webhookEndpoints.nodes;
    expect(deliveries).toMatchObject({ totalCount: 2, pageInfo: { hasNextPage: true } });
    expect(deliveries.nodes.map(({ id }: Json) => id)).toEqual([second.data.sendTestEvent.delivery.id]);
    const NEXT = `query ($after: String) { webhookEndpoints { nodes { deliveries(after: $after) { nodes { id } } } } }`;
    const next = await graphql(owner, NEXT, { after: deliveries.pageInfo.endCursor });
    expect(next.data.webhookEndpoints.nodes[0].deliveries.nodes).toEqual([{ id: first.body.id }]);
    const rest = await app.rest('GET', `/v1/webhooks/${webhook.id}/deliveries`, { token: owner.token });
    expect(rest.body.data.map(({ id }: Json) => id)).toEqual([second.data.sendTestEvent.delivery.id, first.body.id]);

    const AGAIN = 'mutation ($id: ID!) { redeliver(deliveryId: $id) { delivery { id eventId status } } }';
    const again = await graphql(owner, AGAIN, { id: first.body.id });
    expect(again.data.redeliver.delivery).toEqual({
      id: first.body.id,
      eventId: first.body.event_id,
      status: 'WAITING',
    });
  });
});
