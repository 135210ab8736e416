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
  db = connect(database.connection, { poolSize: 2 });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

const many = (count: number) => Promise.all(Array.from({ length: count }, () => db.send(QUICK, [])));

test('quick statements stand behind each other on a connection, and count as waiting', async () => {
  await many(4);
  const sent = many(10);
  expect([db.gate.active, db.gate.queued]).toEqual([2, 8]);
  expect(await sent).toHaveLength(10);
  expect([db.gate.active, db.gate.queued]).toEqual([0, 0]);
});

test('nobody stands behind a statement that takes long', async () => {
  await many(4);
  let isOver = false;
  const slow = db.send(SLOW, []).then(() => (isOver = true));
  await db.send('select pg_sleep(0.1)', []);
  for (let round = 0; round < 20; round += 1) await many(10);
  expect(isOver).toBe(false);
  await slow;
});
