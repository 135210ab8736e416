/** A dry run returns the effects of its own transaction, even if others write at the same time. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Id } from '../../../src/market/rules/ids.js';
import { newId } from '../../../src/market/store/new-id.js';
import { connect, named, type Database, type Db } from '../../../src/platform/db/database.js';
import { RECORDED_EFFECTS } from '../../../src/market/store/dry-run-effects.js';
import { freshDatabase, type FreshDatabase } from '../../setup/postgres.js';

let database: FreshDatabase;
let db: Database;
beforeAll(async () => {
  database = await freshDatabase();
  db = connect(database.connection, { poolSize: 4 });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

const HANNA = { userId: 'usr_hanna', role: 'homeowner' };

const INSERT_EVENT = named(
  'insertEvent',
  `insert into events (id, job_id, sequence, type, to_status, homeowner_id)
    values ($1, $2, 1, 'job.created', 'draft', 'hmw_of_a_test')`,
);

async function write(on: Db): Promise<Id<'event'>> {
  const id = newId('event');
  await on.send(INSERT_EVENT, [id, newId('job')]);
  return id;
}

it('include what was written in the transaction and its savepoints, and nothing that was undone', async () => {
  await db.inTransaction(async (tx) => {
    const beganAt = Date.now();
    expect(await RECORDED_EFFECTS.since(tx, beganAt, HANNA)).toEqual({ charges: [], stakes: [], events: [] });
    const first = await write(tx);
    const second = await tx.inTransaction((part) => part.inTransaction(write));
    const undone = tx.inTransaction(async (part) => {
      await write(part);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    const { events } = await RECORDED_EFFECTS.since(tx, beganAt, HANNA);
    expect(events.map(({ id }: { id: string }) => id).sort()).toEqual([first, second].sort());
    expect(events).toContainEqual({ id: first, type: 'job.created', fromStatus: null, toStatus: 'draft' });
  });
});

it('include nothing that others have committed in the meantime, before or after its own first write', async () => {
  await db.inTransaction(async (tx) => {
    const beganAt = Date.now();
    await write(db);
    const own = await write(tx);
    await write(db);
    const { events } = await RECORDED_EFFECTS.since(tx, beganAt, HANNA);
    expect(events.map(({ id }: { id: string }) => id)).toEqual([own]);
  });
});
