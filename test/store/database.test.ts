/** The pool under a load of statements quick and slow. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect, type Database } from '../../src/store/database.js';
import { freshDatabase, type FreshDatabase } from '../postgres.js';

const QUICK = 'select 1';
const SLOW = 'select pg_sleep(3)';

let database: FreshDatabase;
let db: Database;
beforeAll(async () => {
  database = await freshDatabase();
  db = connect(database.connection, { poolSize: 5 });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

const many = (count: number) => Promise.all(Array.from({ length: count }, () => db.send(QUICK, [])));

test('no more statements are at work than there are connections, and one in five of those is left to other addresses', async () => {
  const greedy = db.of({ address: 'greedy' });
  const slow = Array.from({ length: 6 }, () => greedy.send('select pg_sleep(0.5)', []));
  expect([db.queue.active, db.queue.waiting]).toEqual([4, 2]);
  const beganMs = performance.now();
  await db.of({ address: 'other' }).send(QUICK, []);
  expect(performance.now() - beganMs).toBeLessThan(450);
  await Promise.all(slow);
  expect([db.queue.active, db.queue.waiting]).toEqual([0, 0]);
});

test('no statement waits behind one that takes long', async () => {
  await many(4);
  let isOver = false;
  const slow = db.send(SLOW, []).then(() => (isOver = true));
  await db.send('select pg_sleep(0.1)', []);
  for (let round = 0; round < 20; round += 1) await many(10);
  expect(isOver).toBe(false);
  await slow;
});
