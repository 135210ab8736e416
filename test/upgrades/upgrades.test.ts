/**
 * Databases from earlier releases, each with the demo town in it. The current release migrates them on startup and
 * continues from there. `record.ts` creates them.
 */
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN as TOWNS_ADMIN, PASSWORD } from '../../src/commands/demo/town.js';
import { openTestApp, type Json, type TestApp } from '../setup/app.js';
import { checkDatabase } from '../setup/database/checker.js';
import { migrateUpTo } from '../setup/database/migrate-up-to.js';
import { emptyDatabase, type FreshDatabase } from '../setup/postgres.js';
import { recordedDatabase, restore, type RecordedDatabase } from './recorded.js';

describe.each(['7034561', '59073ba', '043ffe9'])('a database of release %s', (release) => {
  const before = recordedDatabase(release);
  const rowsOf = (table: string) => (before.tables[table] ?? []) as Json[];
  let database: FreshDatabase;
  let app: TestApp;
  beforeAll(async () => {
    database = await databaseOf(before);
    app = await openTestApp({}, { sameDatabaseAs: { database } });
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  async function logIn(email: string): Promise<{ token: string; userId: string }> {
    const { status, body } = await app.rest('POST', '/v1/auth/login', { body: { email, password: PASSWORD } });
    expect(status).toBe(200);
    return { token: body.token, userId: body.user.id };
  }

  it('keeps every row, and every guarantee between rows', async () => {
    for (const table of ['users', 'jobs', 'bids', 'holds', 'events', 'token_transfers', 'reviews']) {
      const [{ count = 0 } = {}] = await app.sql<{ count: number }[]>`select count(*)::int from ${app.sql(table)}`;
      // The tests' own admin is an additional user. A release without reviews kept them in the events.
      const expected = table === 'reviews' ? 1 : rowsOf(table).length + (table === 'users' ? 1 : 0);
      expect([table, count]).toEqual([table, expected]);
    }
    expect(await checkDatabase(app.sql)).toEqual([]);
  });

  it('lets its people log in, who find their jobs, tokens, and events', async () => {
    const people = rowsOf('users').filter(({ user_type }) => user_type !== 'admin');
    for (const { email } of people) {
      const { token, userId } = await logIn(email);
      const { body: tokens } = await app.rest('GET', '/v1/tokens', { token });
      const [row] = rowsOf('token_balances').filter(({ user_id }) => user_id === userId);
      expect([tokens.balance, tokens.held]).toEqual([row.balance, row.held]);
    }
    const { token, userId } = await logIn(people.find(({ user_type }) => user_type === 'homeowner')!.email);
    const owners = rowsOf('homeowners').filter(({ user_id }) => user_id === userId);
    const owned = rowsOf('jobs').filter(({ homeowner_id }) => owners.some(({ id }) => id === homeowner_id));
    const { body: jobs } = await app.rest('GET', '/v1/jobs?per_page=100', { token });
    expect(jobs.data.map(({ id, status }: Json) => [id, status]).toSorted()).toEqual(
      owned.map(({ id, status }) => [id, status]).toSorted(),
    );
    for (const { id } of owned) {
      const { body: events } = await app.rest('GET', `/v1/jobs/${id}/events?per_page=100`, { token });
      expect(events.data.map((event: Json) => event.id).toSorted()).toEqual(
        rowsOf('events')
          .filter(({ job_id }) => job_id === id)
          .map((event) => event.id)
          .toSorted(),
      );
    }
  });

  it('says since when each job has been in its state, from the events', async () => {
    const { token } = await logIn(TOWNS_ADMIN.email);
    const movedAt = (jobId: string) =>
      rowsOf('events')
        .filter((event) => event.job_id === jobId && event.from_status !== event.to_status)
        .map(({ occurred_at }) => Date.parse(occurred_at))
        .reduce((one, other) => Math.max(one, other), 0);
    const expected = rowsOf('jobs').toSorted((one, other) => movedAt(one.id) - movedAt(other.id));
    const { body } = await app.rest('GET', '/v1/jobs?per_page=100&order_by=longest_unchanged', { token });
    expect(body.data.map(({ id }: Json) => id)).toEqual(expected.map(({ id }) => id));
  });

  it('continues: contractors find open jobs, and an award is followed by the work and its approval', async () => {
    const { token: admin } = await logIn(TOWNS_ADMIN.email);
    const [bid] = rowsOf('bids').filter(
      ({ job_id, status }) =>
        status === 'pending' && rowsOf('jobs').some((job) => job.id === job_id && job.status === 'open'),
    );
    const emailOf = (table: string, id: string) => {
      const [{ user_id }] = rowsOf(table).filter((row) => row.id === id) as [Json];
      return rowsOf('users').find((user) => user.id === user_id)?.email as string;
    };
    const job = rowsOf('jobs').find(({ id }) => id === bid.job_id)!;
    const owner = await logIn(emailOf('homeowners', job.homeowner_id));
    const contractor = await logIn(emailOf('contractors', bid.contractor_id));
    const search = encodeURIComponent(job.title);
    const found = await app.rest('GET', `/v1/jobs?per_page=100&search=${search}`, { token: contractor.token });
    expect(found.body.data.map(({ id }: Json) => id)).toContain(job.id);
    for (const [by, step, body] of [
      [owner, 'award', { bid_id: bid.id }],
      [contractor, 'checkin', {}],
      [contractor, 'submit-for-review', { completion_notes: 'Done.' }],
      [owner, 'approve', { rating: 5, review: 'Well done.' }],
    ] as const) {
      const { status } = await app.rest('POST', `/v1/jobs/${job.id}/${step}`, { token: by.token, body });
      expect([step, status]).toEqual([step, 200]);
    }
    const audit = await app.rest('GET', '/v1/tokens/audit', { token: admin });
    expect(audit.body.ok).toBe(true);
    expect(await checkDatabase(app.sql)).toEqual([]);
  });
});

/** The database as that release left it: its migrations and its rows. */
async function databaseOf(recorded: RecordedDatabase): Promise<FreshDatabase> {
  const database = await emptyDatabase();
  const sql = postgres({ ...database.connection, max: 1, fetch_types: false, onnotice: () => {} });
  await migrateUpTo(sql, recorded.migrations);
  await restore(sql, recorded);
  await sql.end();
  return database;
}
