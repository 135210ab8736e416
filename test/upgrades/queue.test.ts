/** The migration to the task queue, while an instance of an earlier release keeps sending webhooks. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from 'postgres';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openQueue } from '../../src/platform/queue/queue.js';
import { createAddressRules } from '../../src/platform/security/public-addresses.js';
import { createEncryptor } from '../../src/platform/security/encryption.js';
import { newId } from '../../src/market/store/new-id.js';
import { asArray } from '../../src/platform/db/statement.js';
import { webhookTasks } from '../../src/market/webhooks/tasks.js';
import { migrateUpTo, migrations } from '../setup/database/migrate-up-to.js';
import { until } from '../platform/security/until.js';
import { patientUrl } from '../app/callers.js';
import { LONG_TIMEOUTS } from '../setup/long-timeouts.js';
import { ownDatabase, type OwnDatabase } from '../app/own-database.js';
import { openReceiver, type Receiver } from '../market/webhooks/receiver.js';

// On a busy machine, an attempt that times out or outlives its lease would be sent again, minutes later.
vi.mock('../../src/market/rules/market-limits.js', async (original) => {
  const limits = await original<typeof import('../../src/market/rules/market-limits.js')>();
  const { WEBHOOKS, TASKS } = limits;
  return {
    ...limits,
    WEBHOOKS: { ...WEBHOOKS, attemptMs: 200_000 },
    TASKS: { ...TASKS, webhook: { ...TASKS.webhook, leaseSeconds: 300 } },
  };
});

const encryptor = createEncryptor({ secret: 'a secret that only tests know, 32 bytes' });
const ENDPOINTS = Array.from({ length: 10 }, () => newId('webhookEndpoint'));

let database: OwnDatabase;
let receiver: Receiver;
beforeEach(async () => {
  database = await ownDatabase();
  receiver = await openReceiver();
  await migrateUpTo(
    database.sql,
    migrations().findIndex(({ tag }) => tag === '0019_tasks'),
  );
});
afterEach(async () => {
  await receiver.close();
  await database.drop();
});

async function givenEndpoints(sql: Sql): Promise<void> {
  await sql`insert into users (id, email, user_type, first_name, last_name, password_hash, referral_code)
    values ('usr_anna', 'anna@example.test', 'homeowner', 'Anna', 'Hill', '-', 'anna')`;
  for (const id of ENDPOINTS) {
    const secrets = JSON.stringify([
      { sealed: encryptor.encrypt('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', id), endsAt: null },
    ]);
    await sql`insert into webhook_endpoints (id, user_id, url, event_types, status, secrets, sealed_by)
      values (${id}, 'usr_anna', ${receiver.url}, '{}', 'active', ${secrets}::text::jsonb, ${encryptor.keyName})`;
  }
}

/** The previous release's statements, without its rotation among endpoints. */
const before = {
  insert: (sql: Sql, name: string, count: number) =>
    sql`insert into webhook_deliveries (id, endpoint_id, event_id, event_type, status, attempts_made, due_at, claim)
      select 'dlv_' || ${name} || n, (${asArray(ENDPOINTS)}::text[])[1 + n % 10], 'evt_' || ${name} || n,
        'webhook.test', 'waiting', 0, now(), null
      from generate_series(1, ${count}::int) n`,
  claim: (sql: Sql, claim: string) => sql<{ id: string; event: string }[]>`
    update webhook_deliveries set claim = ${claim}, due_at = now() + interval '30 seconds' from (
      select d.id from webhook_deliveries d where d.status = 'waiting' and d.due_at <= now() order by d.due_at
      limit 8 for update skip locked) picked
    where webhook_deliveries.id = picked.id returning webhook_deliveries.id, event_id as event`,
  record: (sql: Sql, id: string, claim: string) =>
    sql`update webhook_deliveries set status = 'delivered', attempts_made = attempts_made + 1, claim = null,
      due_at = now(), ended_at = now() where id = ${id} and claim = ${claim}`,
};

/** Claims and sends until it is stopped. */
function openInstanceBefore(sql: Sql) {
  const state = { isClosed: false };
  const run = async () => {
    while (!state.isClosed) {
      const claim = randomUUID();
      for (const { id, event } of await before.claim(sql, claim)) {
        await fetch(receiver.url, { method: 'POST', body: '{}', headers: { 'webhook-id': event } });
        await before.record(sql, id, claim);
      }
      await sleep(5);
    }
  };
  const running = run();
  return {
    close: async () => {
      state.isClosed = true;
      await running;
    },
  };
}

it('moves what is waiting; nothing is lost or sent twice', async () => {
  const { sql } = database;
  await givenEndpoints(sql);
  await before.insert(sql, 'waiting', 1_000);
  // An instance was sending these two when it was killed. One of the claims has expired.
  await before.insert(sql, 'killed', 2);
  await sql`update webhook_deliveries set claim = 'of a killed instance', due_at = now()
    + interval '1 second' * (case id when 'dlv_killed1' then 5 else -5 end) where id like 'dlv_killed%'`;
  const instanceBefore = openInstanceBefore(sql);
  await until(() => receiver.received.length > 200);
  await migrateUpTo(
    sql,
    migrations().findIndex(({ tag }) => tag === '0030_release_before_tasks'),
  );
  const sentBefore = receiver.received.length;
  expect(sentBefore).toBeLessThan(1_000);
  await before.insert(sql, 'later', 100);
  await instanceBefore.close();
  await migrateUpTo(sql, migrations().length);
  const queue = openQueue({
    connection: { url: patientUrl(database.url) },
    timeouts: LONG_TIMEOUTS,
    databaseWatch: { problem: undefined, onOpen: () => {} },
    log: { warn: (problem: unknown) => expect.unreachable(JSON.stringify(problem)) },
    kinds: {
      webhook: webhookTasks({
        webhookAddresses: createAddressRules({ allowPrivate: true }),
        encryptor,
        webhookMetrics: { recordOutcome: () => {}, trackRequest: (request) => request() },
        log: { warn: (problem: unknown) => expect.unreachable(JSON.stringify(problem)) },
      }),
    },
  });
  const waiting = async () => Number((await sql`select count(*)::int from tasks`)[0]?.count);
  const undelivered = async () => await sql`select from webhook_deliveries where status <> 'delivered'`;
  await until(async () => (await undelivered()).length === 0);
  // Tasks that the old instance was sending are checked again once its claims would have expired.
  await sql`update tasks set run_at = now()`;
  await until(async () => (await waiting()) === 0);
  const ids = receiver.received.map(({ id }) => id);
  expect(new Set(ids).size).toBe(1_102);
  expect(ids).toHaveLength(1_102);
  await queue.close();
});
