/** The check finds a call that asks for another connection while it holds a transaction, anywhere in the request. */
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { connect, type Database, type Db } from '../../../src/platform/db/database.js';
import { statement } from '../../../src/platform/db/statement.js';
import { createSecondConnectionCheck } from '../../setup/database/second-connection.js';
import { freshDatabase, type FreshDatabase } from '../../setup/postgres.js';

const FOUND = 'A call that holds a transaction asked the pool for a second connection.';
const one = statement('one', { one: sql<number>`one` }, () => sql`select 1 as one`);
const ask = (on: Db) => one(on, {});

let database: FreshDatabase;
let db: Database;
let found: string[] = [];
beforeAll(async () => {
  database = await freshDatabase();
  db = connect(
    database.connection,
    { poolSize: 4 },
    { watch: createSecondConnectionCheck(({ message }) => found.push(message)) },
  );
});
afterAll(async () => {
  await db.close();
  await database.drop();
});
beforeEach(() => {
  found = [];
});

it('reports a statement on the pool inside a transaction', async () => {
  await expect(db.inTransaction(() => ask(db))).rejects.toThrow(FOUND);
  expect(found).toEqual([FOUND]);
});

it('reports a transaction inside a transaction, and what one of its parts asks for', async () => {
  await expect(db.inTransaction(() => db.inTransaction(ask))).rejects.toThrow(FOUND);
  await expect(db.inTransaction((tx) => tx.inTransaction(() => ask(db)))).rejects.toThrow(FOUND);
  expect(found).toEqual([FOUND, FOUND]);
});

it("doesn't report what is sent in the transaction, before it, after it, or by others in the meantime", async () => {
  await ask(db);
  await Promise.all([
    db.inTransaction(async (tx) => {
      await ask(tx);
      await tx.inTransaction(ask);
    }),
    ask(db),
    db.inTransaction(ask),
  ]);
  await ask(db);
  expect(found).toEqual([]);
});

it('reports whatever a request asks for while its own transaction stays open', async () => {
  let begun = () => {};
  let finish = () => {};
  await db.asOneRequest(async () => {
    await ask(db);
    const open = new Promise<void>((resolve) => (begun = resolve));
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const held = db.inTransaction(async () => {
      begun();
      await finished;
    });
    await open;
    await expect(ask(db)).rejects.toThrow(FOUND);
    finish();
    await held;
    await ask(db);
  });
  expect(found).toEqual([FOUND]);
});

it('reports nothing if nobody asked', async () => {
  // With three connections, one address may use two at the same time.
  const plain = connect(database.connection, { poolSize: 3 });
  expect(await plain.asOneRequest(() => plain.inTransaction(() => ask(plain)))).toEqual([{ one: 1 }]);
  await plain.close();
});
