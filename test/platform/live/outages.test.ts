/**
 * Two servers on a Postgres that fails: its listening connection is killed, or it restarts. A client with an open
 * stream still gets every event, once and in order.
 */
import { pino } from 'pino';
import { afterEach, expect, it } from 'vitest';
import { LIVE_QUERIES, openEvents } from '../../../src/market/operations/events/live-events.js';
import { openLive, type EventStream } from '../../../src/platform/live/live.js';
import type { JobEvent } from '../../../src/market/store/events/events.js';
import { newId } from '../../../src/market/store/new-id.js';
import { connect } from '../../../src/platform/db/database.js';
import { migrate } from '../../../src/platform/db/migrate.js';
import { patientUrl } from '../../app/callers.js';
import { durablePostgres, type DurablePostgres } from '../../faults/durable-postgres.js';
import { folderInMemory } from '../../setup/temporary-folder.js';
import { viewerOf } from './viewers.js';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const ADMIN = viewerOf({ userId: 'usr_ada', profileId: '' }, 'admin');
const metrics = {
  statement: () => {},
  recordNumbering: () => {},
  recordWaiting: () => {},
  recordBatch: () => {},
  recordHeartbeat: () => {},
};

async function openInstance(url: string) {
  const connection = { url: patientUrl(url) };
  const live = await openLive({
    queries: LIVE_QUERIES,
    connection,
    metrics,
    log: pino({ level: 'silent' }),
    hooks: {},
  });
  closing.push(() => live.close());
  const db = connect(connection, { poolSize: 1 });
  closing.push(() => db.close());
  return { live, stream: openEvents(live, ADMIN, {}, db) };
}

async function openPostgres(): Promise<DurablePostgres> {
  const server = await durablePostgres(folderInMemory());
  closing.push(() => server.remove());
  await server.start();
  await migrate({ url: patientUrl(server.url) });
  return server;
}

/** Commits events without waking the servers directly. */
async function commit(server: DurablePostgres, count: number): Promise<string[]> {
  const sql = server.open('writer');
  try {
    const ids = Array.from({ length: count }, () => newId('event'));
    const job = newId('job');
    for (const [at, id] of ids.entries()) {
      await sql`insert into events (id, job_id, sequence, type, homeowner_id)
        values (${id}, ${job}, ${at + 1}, 'job.updated', 'hmw_of_a_test')`;
    }
    return ids;
  } finally {
    await sql.end({ timeout: 5 });
  }
}

async function take(stream: EventStream<JobEvent>, count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) {
    const { value, done } = await stream.next();
    if (done) throw new Error('The stream has ended.');
    ids.push(value.id);
  }
  return ids;
}

it("a killed listening connection on either instance doesn't lose events", { timeout: 300_000 }, async () => {
  const server = await openPostgres();
  const instances = [await openInstance(server.url), await openInstance(server.url)];
  const received: string[] = [];
  const seen: string[][] = [[], []];
  for (let round = 0; round < 4; round += 1) {
    const admin = server.open('killer');
    // A connection that was killed earlier may still be reconnecting.
    let killed: object[] = [];
    while (killed.length === 0)
      killed = await admin`select pg_terminate_backend(pid) from pg_stat_activity
          where query ilike 'listen %' and state = 'idle' limit 1`;
    await admin.end({ timeout: 5 });
    const ids = await commit(server, 5);
    received.push(...ids);
    for (const [at, { stream, live }] of instances.entries()) {
      live.wake();
      seen[at]?.push(...(await take(stream, ids.length)));
    }
  }
  expect(seen).toEqual([received, received]);
});

it("a restarted Postgres, however it ended, doesn't lose events", { timeout: 300_000 }, async () => {
  const server = await openPostgres();
  const instances = [await openInstance(server.url), await openInstance(server.url)];
  const received: string[] = [];
  const seen: string[][] = [[], []];
  for (const how of ['fast', 'immediate', 'killed'] as const) {
    const before = await commit(server, 3);
    // Stops immediately. Some committed events may have no position yet, and others may not have been read.
    await server.stop(how);
    await server.start();
    const after = await commit(server, 3);
    received.push(...before, ...after);
    for (const [at, { stream }] of instances.entries()) seen[at]?.push(...(await take(stream, 6)));
  }
  expect(seen).toEqual([received, received]);
});
