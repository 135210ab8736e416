/**
 * Jobs that an older instance moves. It doesn't know the column for when a job entered its state, and leaves it
 * unchanged.
 */
import type { Sql } from 'postgres';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrateUpTo, migrations } from '../setup/database/migrate-up-to.js';
import { ownDatabase, type OwnDatabase } from '../app/own-database.js';
import { recordedDatabase, restore } from './recorded.js';

const before = recordedDatabase('043ffe9');

let own: OwnDatabase;
let sql: Sql;
beforeAll(async () => {
  own = await ownDatabase();
  sql = own.sql;
  await migrateUpTo(sql, before.migrations);
  await restore(sql, before);
  await migrateUpTo(
    sql,
    migrations().findIndex(({ tag }) => tag === '0028_changes_of_state_by_trigger'),
  );
});
afterAll(() => own.drop());

const times = () => sql`
  select id, status_changed_at::text as at from jobs
  where exists (select from events where job_id = jobs.id and from_status is distinct from to_status) order by id`;

it('those before the trigger get the time of the event that moved them', async () => {
  const expected = await times();
  await sql`update jobs set status_changed_at = status_changed_at - interval '1 day'`;
  await migrateUpTo(sql, migrations().length);
  expect(await times()).toEqual(expected);
});

it('those after it get the time of the move, unless the move sets it', async () => {
  const [first, second] = await sql`select id, status_changed_at from jobs where status = 'open' order by id`;
  await sql`update jobs set status = 'cancelled', live_bid_count = 0 where id = ${first?.id}`;
  await sql`
    update jobs set status = 'cancelled', live_bid_count = 0, status_changed_at = '2026-02-01'
    where id = ${second?.id}`;
  const changed = await sql`
    select id, status_changed_at > now() - interval '1 hour' as new, status_changed_at = '2026-02-01' as said
    from jobs where id in (${first?.id}, ${second?.id}) order by id`;
  expect(changed).toEqual([
    { id: first?.id, new: true, said: false },
    { id: second?.id, new: false, said: true },
  ]);
  const unmoved = () => sql`select id, status_changed_at::text as at from jobs where status <> 'cancelled' order by id`;
  const expected = await unmoved();
  await sql`update jobs set status = status, title = title || '!'`;
  expect(await unmoved()).toEqual(expected);
});
