/** Listening ends whenever it's told to. A leftover connection would keep the process alive. */
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import postgres, { type Sql } from 'postgres';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { POOLS } from '../../../src/platform/service-limits.js';
import { listenOn } from '../../../src/platform/db/notifications.js';
import { temporaryFolder } from '../../setup/temporary-folder.js';
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

it('listens once to each channel after an outage, however many attempts to connect failed', async () => {
  const folder = temporaryFolder('listening');
  let refused = 0;
  let isAway = true;
  const name = `.s.PGSQL.${database.connection.port}`;
  const proxy = createServer((near) => {
    if (isAway) {
      refused += 1;
      return void near.destroy();
    }
    const far = connect(join(database.connection.host, name));
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) socket.on('error', () => near.destroy() && far.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(join(folder.path, name), resolve));
  const heard: string[] = [];
  const handlers = (channel: string) => ({ onNotification: () => {}, onListening: () => heard.push(channel) });
  const listening = listenOn(
    { ...database.connection, host: folder.path },
    {
      one: handlers('one'),
      two: handlers('two'),
      three: handlers('three'),
      last: { onNotification: () => heard.push('notified'), onListening: () => {} },
    },
  );
  try {
    await until(() => refused >= 20);
    isAway = false;
    await until(async () => {
      await observer`select pg_notify('last', '')`;
      return heard.includes('notified');
    });
    expect(heard.filter((channel) => channel !== 'notified').toSorted()).toEqual(['one', 'three', 'two']);
  } finally {
    await listening.close();
    proxy.close();
    folder.remove();
  }
});
