import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import postgres, { type Sql } from 'postgres';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { connect, named, type Database } from '../../../src/platform/db/database.js';
import type { Replica } from '../../../src/platform/db/stale-reads.js';
import { freshDatabase, type FreshDatabase } from '../../setup/postgres.js';

const QUICK = named('quick', 'select 1');
/** Waits until the lock is released. */
const SLOW = named('slow', 'select pg_advisory_xact_lock(1)');

let database: FreshDatabase;
let db: Database;
let client: Sql;
beforeAll(async () => {
  database = await freshDatabase();
  const timeouts = { queueTimeoutMs: 100_000, lockTimeoutMs: 100_000, statementTimeoutMs: 100_000 };
  db = connect(database.connection, { poolSize: 5, ...timeouts });
  client = postgres({ ...database.connection, max: 1, fetch_types: false });
});
beforeEach(() => client`select pg_advisory_lock(1)`);
afterAll(async () => {
  await client.end({ timeout: 1 });
  await db.close();
  await database.drop();
});

const release = () => client`select pg_advisory_unlock(1)`;
const many = (count: number) => Promise.all(Array.from({ length: count }, () => db.send(QUICK, [])));

test('no more statements run than there are connections, a fifth of which is left to other addresses', async () => {
  const greedy = db.of({ address: 'greedy' });
  const slow = Array.from({ length: 6 }, () => greedy.send(SLOW, []));
  expect([db.queue.active, db.queue.waiting]).toEqual([4, 2]);
  await db.of({ address: 'other' }).send(QUICK, []);
  expect([db.queue.active, db.queue.waiting]).toEqual([4, 2]);
  await release();
  await Promise.all(slow);
  expect([db.queue.active, db.queue.waiting]).toEqual([0, 0]);
});

test('no more than a fifth of the connections have long statements, in transactions too', async () => {
  const long = () => db.forLong!().inTransaction((tx) => tx.send(SLOW, []));
  const slow = [long(), long(), long()];
  expect([db.queue.active, db.queue.waiting]).toEqual([1, 2]);
  await release();
  await Promise.all(slow);
});

test('no statement waits behind a slow one', async () => {
  await many(4);
  let isOver = false;
  const slow = db.send(SLOW, []).then(() => (isOver = true));
  for (let round = 0; round < 20; round += 1) await many(10);
  expect(isOver).toBe(false);
  await release();
  await slow;
});

test("a caller that waits too long hears about the database if it doesn't respond, else the server", async () => {
  const settings = { poolSize: 2, queueTimeoutMs: 5_000, lockTimeoutMs: 100_000, statementTimeoutMs: 100_000 };
  const small = connect(database.connection, settings);
  const one = small.of({ address: 'one' });
  const slow = one.send(SLOW, []);
  const inVain = () =>
    one.send(QUICK, []).then(String, ({ overloadCause }: { overloadCause?: string }) => overloadCause ?? 'the server');
  expect(await inVain()).toBe('database_slow');
  const other = small.of({ address: 'other' });
  await other.send(QUICK, []);
  let isOver = false;
  const answered = (async () => {
    while (!isOver) await other.send(QUICK, []);
  })();
  await expect.poll(inVain).toBe('the server');
  isOver = true;
  await answered;
  await release();
  await slow;
  await small.close();
});

test('if the result of a COMMIT is lost, the user’s reads use the primary', async () => {
  const notes: unknown[] = [];
  const replica: Replica = {
    readsOf: () => ({ send: () => Promise.reject(new Error('not used')), usePrimary: () => {} }),
    noteWrite: async (...note) => void notes.push(note),
    bringUpToDate: async () => {},
    close: async () => {},
  };
  const small = connect(database.connection, { poolSize: 1 }, { replica });
  const writer = small.of({ address: 'one', user: 'usr_1' });
  await client`create table unlucky ()`;
  await client`create sequence attempts`;
  // The first attempt loses a deadlock, and its COMMIT returns a position, although it only rolls back.
  await client`create function lose_first() returns trigger language plpgsql as
    $$ begin if nextval('attempts') = 1 then raise sqlstate '40P01'; end if; return new; end $$`;
  await client`create trigger at_insert before insert on unlucky for each row execute function lose_first()`;
  await client`create function cut_off() returns trigger language plpgsql as
    $$ begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$`;
  await client`create constraint trigger at_commit after insert on unlucky deferrable initially deferred
    for each row execute function cut_off()`;
  const insert = named('insert', 'insert into unlucky default values');
  await expect(writer.inTransaction((tx) => tx.commitWith(tx.send(insert, [])))).rejects.toThrow();
  expect([...(await client`select last_value::int from attempts`)]).toEqual([{ last_value: 2 }]);
  expect(notes).toEqual([['usr_1', undefined]]);
  await small.close();
  await release();
});

test('the URL can say how long a connection may take', async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const url = `postgres://marketplace@127.0.0.1:${port}/market?connect_timeout=1`;
  const impatient = connect({ url }, { poolSize: 1, connectTimeoutSeconds: 100_000 });
  await expect(impatient.send(QUICK, [])).rejects.toMatchObject({ overloadCause: 'database_away' });
  for (const socket of sockets) socket.destroy();
  silent.close();
  await impatient.close();
});
