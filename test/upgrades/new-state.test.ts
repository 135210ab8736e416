/**
 * A new release adds a state before the award, with a migration, to an earlier release's database. Jobs with bids are
 * put on hold there, and can be found and awarded from that state.
 */
import { generateMigration } from 'drizzle-kit/api';
import postgres, { type Sql } from 'postgres';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { PASSWORD } from '../../src/commands/demo/town.js';
import { openTestApp, type Json, type TestApp } from '../setup/app.js';
import { checkDatabase } from '../setup/database/checker.js';
import { declaredTables, migratedTables } from '../setup/database/declared-tables.js';
import { migrateUpTo, migrations } from '../setup/database/migrate-up-to.js';
import { emptyDatabase, type FreshDatabase } from '../setup/postgres.js';
import { recordedDatabase, restore } from './recorded.js';

const ON_HOLD = vi.hoisted(() => 'on_hold');
vi.mock('../../src/market/rules/states.js', async (original) => {
  const states = await original<typeof import('../../src/market/rules/states.js')>();
  const row = { phase: 'bidding', noun: 'a job on hold', description: 'Put on hold by its owner.' };
  Object.assign(states.JOB_STATE_ROWS, { [ON_HOLD]: row });
  for (const list of [states.JOB_STATES, states.UNFINISHED_JOB_STATES]) (list as string[]).push(ON_HOLD);
  return states;
});
vi.mock('../../src/market/rules/lifecycle.js', async (original) => {
  const lifecycle = await original<typeof import('../../src/market/rules/lifecycle.js')>();
  for (const key of ['submitBid', 'award', 'cancel'] as const)
    (lifecycle.JOB_ACTIONS[key].from as readonly string[] as string[]).push(ON_HOLD);
  return lifecycle;
});

const before = recordedDatabase('043ffe9');

let database: FreshDatabase;
let app: TestApp;
beforeAll(async () => {
  database = await emptyDatabase();
  const sql = postgres({ ...database.connection, max: 1, fetch_types: false, onnotice: () => {} });
  await migrateUpTo(sql, before.migrations);
  await restore(sql, before);
  await migrateUpTo(sql, migrations().length);
  const statements = [...(await generatedStatements()), ...(await statementsByHand(sql))];
  // A migration is one transaction.
  await sql.begin(async (tx) => {
    for (const statement of statements) await tx.unsafe(statement);
  });
  await sql.end();
  app = await openTestApp({}, { sameDatabaseAs: { database } });
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

/** The statements that `npm run migration` writes for the current tables. */
async function generatedStatements(): Promise<string[]> {
  const migrated = migratedTables();
  return generateMigration(migrated, await declaredTables(migrated.id));
}

/** The statements that `test/contracts/migrations.test.ts` requires: the triggers that name the searchable state. */
async function statementsByHand(sql: Sql): Promise<string[]> {
  const withOnHold = (text: string) =>
    text.replaceAll(/(\w+\.status) = 'open'(?:::job_status)?/g, `$1::text in ('open', '${ON_HOLD}')`);
  const functions = await sql<{ text: string }[]>`
    select pg_get_functiondef('copy_while_open'::regproc) as text`;
  const triggers = await sql<{ name: string; text: string }[]>`
    select tgname as name, pg_get_triggerdef(oid) as text from pg_trigger where tgfoid = 'copy_while_open'::regproc`;
  return [
    ...functions.map(({ text }) => withOnHold(text)),
    ...triggers.flatMap(({ name, text }) => [`drop trigger ${name} on jobs`, withOnHold(text)]),
  ];
}

async function logIn(email: string): Promise<string> {
  const { status, body } = await app.rest('POST', '/v1/auth/login', { body: { email, password: PASSWORD } });
  expect(status).toBe(200);
  return body.token as string;
}

it('a job with bids is on hold, is found and bid on, and is awarded from there', async () => {
  const rowsOf = (table: string) => before.tables[table] as Json[];
  const job = rowsOf('jobs').find(({ status, live_bid_count }) => status === 'open' && live_bid_count > 0)!;
  const emailOf = (profile: Json) => rowsOf('users').find(({ id }) => id === profile.user_id)!.email as string;
  const owner = await logIn(emailOf(rowsOf('homeowners').find(({ id }) => id === job.homeowner_id)!));
  const hasBid = (id: string) => rowsOf('bids').some((bid) => bid.job_id === job.id && bid.contractor_id === id);
  const newcomer = await logIn(emailOf(rowsOf('contractors').find(({ id }) => !hasBid(id))!));
  const search = `/v1/jobs?status=${ON_HOLD}&search=${encodeURIComponent(job.title)}`;
  const idsIn = async (address: string) =>
    (await app.rest('GET', address, { token: newcomer })).body.data.map(({ id }: Json) => id);
  expect(await idsIn(search)).toEqual([]);

  await app.sql`update jobs set status = ${ON_HOLD} where id = ${job.id}`;
  expect(await idsIn(search)).toEqual([job.id]);
  const read = await app.graphql('query ($id: ID!) { job(id: $id) { status } }', {
    token: owner,
    variables: { id: job.id },
  });
  expect(read.data.job.status).toBe('ON_HOLD');
  const bid = await app.rest('POST', `/v1/jobs/${job.id}/bids`, { token: newcomer, body: { amount: 500 } });
  expect(bid.status).toBe(201);
  const award = await app.rest('POST', `/v1/jobs/${job.id}/award`, { token: owner, body: { bid_id: bid.body.id } });
  expect([award.status, award.body.status]).toEqual([200, 'awarded']);
  const searched = await app.sql`select job_id from open_job_search where job_id = ${job.id}`;
  expect(searched).toEqual([]);
  // The step to that state was made by hand, without an event, and the checks only know the specification's steps.
  const problems = await checkDatabase(app.sql);
  expect(problems.filter((problem) => !problem.includes(ON_HOLD))).toEqual([]);
});

it('a job that is on hold from the start is searched, and those in other states as before', async () => {
  const openIds = (rows: readonly Json[]) => rows.map(({ id }) => id as string).toSorted();
  const expected = await app.sql<Json[]>`select id from jobs where status::text in ('open', ${ON_HOLD})`;
  const searched = await app.sql<Json[]>`select job_id as id from open_job_search`;
  expect(openIds(searched)).toEqual(openIds(expected));
});
