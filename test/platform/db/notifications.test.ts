/** Listening ends whenever it's told to. A leftover connection would keep the process alive. */
import { setTimeout as delay } from 'node:timers/promises';
import postgres, { type Sql } from 'postgres';
import { afterAll, beforeAll, it } from 'vitest';
import { POOLS } from '../../../src/platform/service-limits.js';
import { listenOn } from '../../../src/platform/db/notifications.js';
import { freshDatabase, type FreshDatabase } from '../../setup/postgres.js';
import { until } from '../security/until.js';

let database: FreshDatabase;
let observer: Sql;
beforeAll(async () => {
  database = await freshDatabase();
  observer = postgres({ ...database.connection, max: 1 });
});
afterAll(async () => {
  await observer.end();
  await database.drop();
});

async function listeners(): Promise<number> {
  const found = await observer`select pid from pg_stat_activity
    where datname = current_database() and application_name = ${POOLS.events.applicationName}`;
  return found.length;
}

it('closes even while its connection is still being opened', async () => {
  const handlers = { onNotification: () => {}, onListening: () => {} };
  // Connecting takes a few milliseconds. These ends come before, during, and after that.
  for (let quarter = 0; quarter < 40; quarter += 1) {
    const listening = listenOn(database.connection, { one: handlers, other: handlers });
    await delay(quarter / 4);
    await listening.close();
  }
  await until(async () => (await listeners()) === 0);
});
