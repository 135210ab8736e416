import postgres from 'postgres';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import type { Db } from '../../../src/platform/db/database.js';
import { startCleanup, deleteExpired } from '../../../src/market/store/housekeeping.js';
import { newId } from '../../../src/market/store/new-id.js';
import { redeliver } from '../../../src/market/store/webhooks/webhook-deliveries.js';
import { homeowner, programOf } from '../../story/cast.js';
import type { WebhookEndpointId } from '../../../src/market/rules/ids.js';
import { openTestApp, type TestApp } from '../../setup/app.js';
import { waitingCalls } from '../../setup/database/waiting-calls.js';
import { until } from '../../platform/security/until.js';

let app: TestApp;
let sql: postgres.Sql;
beforeAll(async () => {
  app = await openTestApp();
  sql = postgres({ ...app.database.connection, max: 1, fetch_types: false, onnotice: () => {} });
});
afterAll(async () => {
  await sql.end();
  await app.close();
});

const NOTHING = {
  records: 0,
  tokens: 0,
  sessions: 0,
  oldDeliveries: 0,
  deliveriesOfDeleted: 0,
  endpoints: 0,
  mails: 0,
};
const cleanUp = () =>
  deleteExpired(app.services.db, (_, error) => {
    throw error;
  });

it('deletes what has expired, and nothing that still counts', async () => {
  const [ivy, kim] = [await homeowner(app, 'Ivy'), await homeowner(app, 'Kim')];
  for (const { token } of [ivy, kim]) {
    await app.rest('POST', '/v1/jobs', {
      token,
      headers: { 'idempotency-key': 'k' },
      body: { title: 'T', description: 'D' },
    });
  }
  await sql`update sessions set ends_at = now() - interval '8 days' where user_id = ${ivy.userId}`;
  await sql`update idempotency_records set created_at = now() - interval '25 hours' where user_id = ${ivy.userId}`;
  expect(await cleanUp()).toEqual({ ...NOTHING, records: 1, tokens: 1, sessions: 1 });
  const left = await sql`select (select count(*)::int from refresh_tokens t join sessions s on s.id = t.session_id
      where s.user_id = ${kim.userId}) as tokens,
    (select count(*)::int from idempotency_records where user_id = ${kim.userId}) as records, (select count(*)::int
      from sessions where user_id = ${ivy.userId}) as gone`;
  expect(left[0]).toEqual({ tokens: 1, records: 1, gone: 0 });
  expect((await app.rest('GET', '/v1/me', { token: kim.token })).status).toBe(200);
});

it('recognizes a stolen refresh token as long as its session lasts, however long ago it was used', async () => {
  const { email, password } = await homeowner(app, 'Nell');
  const { body: stolen } = await app.rest('POST', '/v1/auth/login', { body: { email, password } });
  const refresh = (refresh_token: string) => app.rest('POST', '/v1/auth/refresh', { body: { refresh_token } });
  const { body: own } = await refresh(stolen.refresh_token);
  await sql`update refresh_tokens set used_at = now() - interval '60 days', expires_at = now() - interval '38 days'
      where used_at is not null`;
  await cleanUp();
  expect((await refresh(stolen.refresh_token)).body.details.reason).toBe('reused');
  expect((await refresh(own.refresh_token)).body.details.reason).toBe('session_ended');
});

it('deletes API keys a week after they were revoked or have expired, and keeps active ones', async () => {
  const lena = await homeowner(app, 'Lena');
  const keys = [await programOf(app, lena), await programOf(app, lena), await programOf(app, lena)];
  const { body } = await app.rest('GET', '/v1/api-keys', { token: lena.token });
  const [newest, middle, oldest] = body.data.map(({ id }: { id: string }) => id);
  await app.rest('DELETE', `/v1/api-keys/${newest}`, { token: lena.token });
  const sessionOf = (key: string) => sql`(select session_id from api_keys where id = ${key})`;
  expect(await cleanUp()).toMatchObject({ sessions: 0 });
  await sql`update sessions set ends_at = ends_at - interval '8 days' where id = ${sessionOf(newest)}`;
  await sql`update sessions set ends_at = now() - interval '8 days' where id = ${sessionOf(middle)}`;
  expect(await cleanUp()).toMatchObject({ sessions: 2 });
  expect(await sql`select id from api_keys where user_id = ${lena.userId}`).toEqual([{ id: oldest }]);
  expect((await app.rest('GET', '/v1/me', { token: keys[0]?.token })).status).toBe(200);
});

it('deletes webhook deliveries after a month, unless they’re sent again, and those of deleted endpoints', async () => {
  const mia = await homeowner(app, 'Mia');
  const made = async (): Promise<string> => {
    const body = { url: 'https://hooks.example.com' };
    const answer = await app.rest('POST', '/v1/webhooks', { token: mia.token, body });
    await app.rest('PUT', `/v1/webhooks/${answer.body.webhook.id}`, { token: mia.token, body: { status: 'paused' } });
    return answer.body.webhook.id;
  };
  const [kept, deleted] = [await made(), await made()];
  const delivery = (endpoint: string, days: number, sentDaysAgo = days) => sql`with one as (
      insert into webhook_deliveries (id, endpoint_id, event_id, event_type, status, created_at)
      values (${newId('webhookDelivery')}, ${endpoint}, ${newId('event')}, 'webhook.test', 'waiting',
        now() - make_interval(days => ${days}))
      returning id
    ), attempt as (
      insert into webhook_attempts (delivery_id, number, started_at, duration_ms) select id, 1, now(), 1 from one)
    insert into tasks (id, kind, key, created_at)
      select id, 'webhook', ${endpoint}, now() - make_interval(days => ${sentDaysAgo}) from one returning id`;
  for (const days of [1, 31]) await delivery(kept, days);
  // Its owner asked for it again yesterday, so its attempts aren't over.
  await delivery(kept, 31, 1);
  // Its owner asks for it again while it's still waiting.
  const [waiting] = await delivery(kept, 31);
  await redeliver(app.services.db, { id: waiting?.id, endpointId: kept as WebhookEndpointId });
  await delivery(deleted, 1);
  await app.rest('DELETE', `/v1/webhooks/${deleted}`, { token: mia.token });
  expect(await cleanUp()).toMatchObject({ oldDeliveries: 1, deliveriesOfDeleted: 1, endpoints: 0 });
  await sql`update webhook_endpoints set deleted_at = now() - interval '2 hours' where id = ${deleted}`;
  expect(await cleanUp()).toEqual({ ...NOTHING, endpoints: 1 });
  const left = await sql`select (select count(*)::int from webhook_deliveries) as deliveries,
    (select count(*)::int from webhook_attempts) as attempts,
    (select count(*)::int from tasks where kind = 'webhook') as tasks,
    (select count(*)::int from webhook_endpoints) as endpoints`;
  expect(left[0]).toEqual({ deliveries: 3, attempts: 3, tasks: 3, endpoints: 1 });
});

it('keeps what is used again while it would be deleted', async () => {
  const nora = await homeowner(app, 'Nora');
  const body = { url: 'https://hooks.example.com' };
  const headers = { 'idempotency-key': 'again' };
  const { body: made } = await app.rest('POST', '/v1/webhooks', { token: nora.token, body });
  await app.rest('POST', '/v1/jobs', { token: nora.token, headers, body: { title: 'T', description: 'D' } });
  await sql`update idempotency_records set created_at = now() - interval '25 hours' where user_id = ${nora.userId}`;
  const endpoint: WebhookEndpointId = made.webhook.id;
  const id = newId('webhookDelivery');
  await sql`insert into webhook_deliveries (id, endpoint_id, event_id, event_type, status, created_at, ended_at)
    values (${id}, ${endpoint}, ${newId('event')}, 'webhook.test', 'delivered', now() - interval '31 days',
      now() - interval '31 days')`;
  const deleting = await sql.begin(async (tx) => {
    await tx`update idempotency_records set created_at = now() where user_id = ${nora.userId}`;
    await tx`update webhook_deliveries set status = 'waiting', ended_at = null where id = ${id}`;
    await tx`insert into tasks (id, kind, key) values (${id}, 'webhook', ${endpoint})`;
    const cleaning = cleanUp();
    await until(async () => (await waitingCalls(app.sql)) === 1);
    return [cleaning];
  });
  expect(await deleting[0]).toEqual(NOTHING);
  expect(await sql`select from webhook_deliveries where id = ${id}`).toHaveLength(1);
});

it('deletes emails after a month', async () => {
  const [mary, max] = [await homeowner(app, 'Mary'), await homeowner(app, 'Max')];
  await sql`update mails set created_at = now() - interval '31 days' where user_id = ${mary.userId}`;
  expect(await cleanUp()).toEqual({ ...NOTHING, mails: 1 });
  expect(await sql`select from mails where user_id = ${max.userId}`).toHaveLength(1);
});

it('deletes everything that has expired, however much it is', async () => {
  const nora = await homeowner(app, 'Nora');
  await sql`insert into idempotency_records (user_id, operation, key, input_seal, answer, created_at)
    select ${nora.userId}, 'createJob', n::text, '', '', now() - interval '2 days' from generate_series(1, 12000) n`;
  expect(await cleanUp()).toEqual({ ...NOTHING, records: 12_000 });
});

/** A database that has nothing to delete, and fails on the statement with this name. */
function emptyDatabase(failing: string): Db & { readonly sent: string[] } {
  const sent: string[] = [];
  return {
    sent,
    isTransaction: false,
    afterCommit: (work) => work(),
    send: async ({ name }) => {
      sent.push(name);
      if (name === failing) throw new Error('It takes too long.');
      return [];
    },
    inTransaction: () => Promise.reject(new Error('Each batch is a statement by itself.')),
  };
}

const EACH = [
  'dropRecords',
  'dropTokens',
  'dropSessions',
  'dropOldDeliveries',
  'dropDeliveriesOfDeleted',
  'dropEndpoints',
  'dropMails',
];

it("deletes the rest if one kind of row can't be deleted, and says which", async () => {
  const db = emptyDatabase('dropTokens');
  const failed: string[] = [];
  await deleteExpired(db, (kind, error) => failed.push(`${kind}: ${String(error)}`));
  expect(failed).toEqual(['tokens: Error: It takes too long.']);
  expect(db.sent).toEqual(EACH);
});

afterEach(() => void vi.useRealTimers());

it('starts soon after startup, and continues every hour until it is closed', async () => {
  vi.useFakeTimers();
  const db = emptyDatabase('none');
  const housekeeping = startCleanup(db, () => {});
  const sentWithin = async (seconds: number) => {
    await vi.advanceTimersByTimeAsync(seconds * 1000);
    return db.sent.splice(0);
  };
  expect(await sentWithin(30)).toEqual([]);
  expect(await sentWithin(30)).toEqual(EACH);
  expect(await sentWithin(3_600)).toEqual(EACH);
  await housekeeping.close();
  expect(await sentWithin(7_200)).toEqual([]);
});
