/** An instance that stops while hours of events wait to become deliveries. */
import postgres from 'postgres';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { POOLS } from '../../../src/platform/service-limits.js';
import { createEncryptor } from '../../../src/platform/security/encryption.js';
import { connect } from '../../../src/platform/db/database.js';
import { seedMarket } from '../../../src/market/store/seed/seed.js';
import { openWebhooks } from '../../../src/market/webhooks/webhooks.js';
import { freshDatabase, type FreshDatabase } from '../../setup/postgres.js';
import { until } from '../../platform/security/until.js';

let database: FreshDatabase;
beforeAll(async () => {
  database = await freshDatabase();
});
afterAll(() => database.drop());

it('finishes the current step, and leaves the others to another instance', async () => {
  const sql = postgres({ ...database.connection, max: 2, fetch_types: false, onnotice: () => {} });
  await seedMarket(sql, { jobs: 50, bids: 50, people: 20 }, '-');
  // As if all events were still pending, and each batch had only one event.
  await sql`update webhook_cursor set position = 0`;
  await sql`update jobs set bids_ever = 501`;
  await sql`insert into webhook_endpoints (id, user_id, url, event_types, status, secrets, sealed_by, created_at)
    select 'whk_' || substr(user_id, 5), user_id, 'https://hooks.example.com/', '{}', 'active', '[]', '', '2000-01-01'
    from homeowners`;
  const cursor = async () => Number((await sql`select position from webhook_cursor`)[0]?.position);
  const last = Number((await sql`select max(position) from events`)[0]?.max);

  const pool = connect(database.connection, POOLS.queue);
  let closed: Promise<void> | undefined;
  await sql.begin(async (tx) => {
    await tx`lock table webhook_deliveries in exclusive mode`;
    const webhooks = await openWebhooks({
      queue: { db: pool, wake: () => {} },
      live: { onEvents: () => () => {} },
      encryptor: createEncryptor({ secret: 'a secret that only tests know, 32 bytes' }),
      log: pino({ level: 'silent' }),
      databaseWatch: { problem: undefined },
    });
    await until(async () => {
      const held = await sql`select from pg_stat_activity where datname = current_database()
        and wait_event_type = 'Lock' and query like '%/* insertDeliveries */%'`;
      return held.length > 0;
    });
    closed = webhooks.close();
  });
  await closed;
  await pool.close();
  expect(await cursor()).toBeGreaterThan(0);
  expect(await cursor()).toBeLessThan(last / 2);
  await sql.end();
});
