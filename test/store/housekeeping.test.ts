import postgres from 'postgres';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { tidy } from '../../src/store/housekeeping.js';
import { newId } from '../../src/store/new-id.js';
import { homeowner, programOf } from '../cast.js';
import { openTestApp, type TestApp } from '../app.js';

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

it('throws away what has run out, and nothing that still counts', async () => {
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
  expect(await tidy(app.services.db)).toEqual({ records: 1, tokens: 0, sessions: 1, deliveries: 0, endpoints: 0 });
  const left = await sql`select (select count(*)::int from refresh_tokens t join sessions s on s.id = t.session_id
      where s.user_id = ${kim.userId}) as tokens,
    (select count(*)::int from idempotency_records where user_id = ${kim.userId}) as records, (select count(*)::int
      from sessions where user_id = ${ivy.userId}) as gone`;
  expect(left[0]).toEqual({ tokens: 1, records: 1, gone: 0 });
  expect((await app.rest('GET', '/v1/me', { token: kim.token })).status).toBe(200);
});

it('throws away API keys a week after they were revoked or have expired, and keeps those that work', async () => {
  const lena = await homeowner(app, 'Lena');
  const keys = [await programOf(app, lena), await programOf(app, lena), await programOf(app, lena)];
  const { body } = await app.rest('GET', '/v1/api-keys', { token: lena.token });
  const [newest, middle, oldest] = body.data.map(({ id }: { id: string }) => id);
  await app.rest('DELETE', `/v1/api-keys/${newest}`, { token: lena.token });
  const sessionOf = (key: string) => sql`(select session_id from api_keys where id = ${key})`;
  expect(await tidy(app.services.db)).toMatchObject({ sessions: 0 });
  await sql`update sessions set ends_at = ends_at - interval '8 days' where id = ${sessionOf(newest)}`;
  await sql`update sessions set ends_at = now() - interval '8 days' where id = ${sessionOf(middle)}`;
  expect(await tidy(app.services.db)).toMatchObject({ sessions: 2 });
  expect(await sql`select id from api_keys where user_id = ${lena.userId}`).toEqual([{ id: oldest }]);
  expect((await app.rest('GET', '/v1/me', { token: keys[0]?.token })).status).toBe(200);
});

it('throws away what was sent to webhooks after a month, and what was sent to deleted ones', async () => {
  const mia = await homeowner(app, 'Mia');
  const made = async (): Promise<string> => {
    const body = { url: 'https://hooks.example.com' };
    const answer = await app.rest('POST', '/v1/webhooks', { token: mia.token, body });
    await app.rest('PUT', `/v1/webhooks/${answer.body.webhook.id}`, { token: mia.token, body: { status: 'paused' } });
    return answer.body.webhook.id;
  };
  const [kept, deleted] = [await made(), await made()];
  const delivery = (endpoint: string, days: number) => sql`with one as (
      insert into webhook_deliveries (id, endpoint_id, event_id, event_type, status, due_at, created_at)
      values (${newId('webhookDelivery')}, ${endpoint}, ${newId('event')}, 'webhook.test', 'waiting', now(),
        now() - make_interval(days => ${days}))
      returning id)
    insert into webhook_attempts (delivery_id, number, started_at, duration_ms) select id, 1, now(), 1 from one`;
  for (const days of [1, 31]) await delivery(kept, days);
  await delivery(deleted, 1);
  await app.rest('DELETE', `/v1/webhooks/${deleted}`, { token: mia.token });
  expect(await tidy(app.services.db)).toMatchObject({ deliveries: 2, endpoints: 0 });
  await sql`update webhook_endpoints set deleted_at = now() - interval '2 hours' where id = ${deleted}`;
  expect(await tidy(app.services.db)).toMatchObject({ deliveries: 0, endpoints: 1 });
  const left = await sql`select (select count(*)::int from webhook_deliveries) as deliveries,
    (select count(*)::int from webhook_attempts) as attempts, (select count(*)::int
      from webhook_endpoints) as endpoints`;
  expect(left[0]).toEqual({ deliveries: 1, attempts: 1, endpoints: 1 });
});
