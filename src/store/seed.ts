/**
 * A market of any size, made by SQL alone: people, jobs in every state that most jobs pass, bids, holds, transfers, and
 * every event of how it all came about. It has the same invariants as a market that grew call by call; `checkDatabase`
 * finds no violation.
 */
import postgres, { type Sql, type TransactionSql } from 'postgres';
import type { Connection } from './database.js';
import { insertIntegrations } from './seed/integrations.js';
import { hashed, insertPlanned, planJobs, TOWN } from './seed/jobs.js';
import {
  crowdedJob,
  IDENTIFIER,
  SHARE_WITH_BIDS,
  STATES,
  UNEVEN,
  type Market,
  type MarketSize,
  type SeededState,
} from './seed/market.js';
import { insertPeople } from './seed/people.js';

/** Throws unless the database has no people: generated data are never mixed with existing ones. */
export async function openEmptyDatabase(connection: Connection): Promise<Sql> {
  const options = { max: 1, fetch_types: false, onnotice: () => {} };
  const sql = 'url' in connection ? postgres(connection.url, options) : postgres({ ...connection, ...options });
  const [found] = await sql`select 1 from users limit 1`;
  if (!found) return sql;
  await sql.end();
  const variable = 'url' in connection ? 'DATABASE_URL' : 'DATA_DIR';
  throw new Error(`The database has people already; only an empty one is filled. Name another by ${variable}.`);
}

/** How many steps a seeding reports. */
export const SEED_STEPS = 13;
const BIDS_ON_A_JOB_MAX = 15;

/**
 * Loads an empty, migrated database. Triggers are disabled meanwhile, since every row is derived from the same plan;
 * foreign keys and indexes are created afterwards.
 */
export async function seedMarket(
  sql: Sql,
  size: MarketSize,
  passwordHash: string,
  onStep: (what: string) => void = () => {},
): Promise<Market> {
  const half = Math.floor(size.people / 2);
  const market: Market = { homeowners: half, contractors: half, jobs: size.jobs, uneven: size.uneven === true };
  const mean = Math.max(
    1,
    Math.min(Math.round(size.bids / (size.jobs * SHARE_WITH_BIDS)), Math.floor((BIDS_ON_A_JOB_MAX + 1) / 2)),
  );
  await sql.begin(async (tx) => {
    await tx.unsafe(
      `set local statement_timeout = 0; set local synchronous_commit = off;
       set local maintenance_work_mem = '512MB'; set local work_mem = '256MB'`,
    );
    await tx.unsafe(IDENTIFIER);
    const rebuild = await withoutIndexes(tx, [
      'bids',
      'holds',
      'events',
      'reviews',
      'job_search',
      'open_job_search',
      'jobs',
      'token_transfers',
    ]);
    const wake = await withoutTriggers(tx);
    onStep('people');
    await insertPeople(tx, market, passwordHash);
    const states = stateOf(size.openPercent);
    const bids = `case when ${states} = 'draft' then 0 else 1 + n * 7 % ${2 * mean - 1} end`;
    const made = `date_trunc('milliseconds', now()) - interval '300 days' + n * (interval '200 days' / ${size.jobs})`;
    onStep('a plan of the jobs');
    await planJobs(tx, { from: 1, to: size.jobs, state: states, bids, made }, market);
    await insertPlanned(tx, market, 'with positions', onStep);
    if (market.uneven) await addCrowdedJob(tx, market);
    await tx.unsafe(
      `insert into job_search (job_id, created_at, words, town)
       select j.id, j.created_at, lower(j.title || chr(1) || j.description), ${market.uneven ? TOWN : 'null'}
       from jobs j order by j.created_at, j.id`,
    );
    await tx.unsafe(
      `insert into open_job_search (job_id, created_at, words, town) select s.job_id, s.created_at, s.words, s.town
       from job_search s join jobs j on j.id = s.job_id where j.status = 'open'
       order by s.created_at, s.job_id`,
    );
    onStep('indexes');
    await rebuild();
    if (market.uneven) await insertIntegrations(tx, market);
    await wake();
  });
  onStep('statistics');
  await sql.unsafe('vacuum (analyze)');
  return market;
}
/** An expression over `n`: in turns, or by a hash where few jobs are open, so that open jobs are of every kind. */
function stateOf(openPercent: number | undefined): string {
  const byTurns = (states: readonly SeededState[]) =>
    `(array[${states.map((state) => `'${state}'`).join(', ')}]::job_status[])[1 + n % ${states.length}]`;
  if (openPercent === undefined) return byTurns(STATES);
  return `case when ${hashed(100)} < ${openPercent} then 'open'
    else ${byTurns(STATES.filter((state) => state !== 'open'))} end`;
}

/** A job of middling age that half the town bids on. */
async function addCrowdedJob(tx: TransactionSql, market: Market): Promise<void> {
  const bids = Math.min(UNEVEN.bidsOnCrowdedJob, market.contractors);
  const n = crowdedJob(market);
  await planJobs(
    tx,
    {
      from: n,
      to: n,
      state: `'open'::job_status`,
      bids: String(bids),
      made: `date_trunc('milliseconds', now()) - interval '200 days'`,
    },
    market,
  );
  await insertPlanned(tx, market, 'with positions');
}

export interface Batch {
  /** The number of the first job; identifiers follow from it. */
  readonly from: number;
  readonly count: number;
  readonly state: SeededState;
  readonly bids: number;
}

/**
 * Adds jobs that are all in one state and older than the others, so that the newest stay the newest. All triggers and
 * keys are active.
 */
export async function addJobs(sql: Sql, market: Market, { from, count, state, bids }: Batch): Promise<void> {
  await sql.begin(async (tx) => {
    await tx.unsafe(`set local statement_timeout = 0; set constraints all deferred`);
    await tx.unsafe(IDENTIFIER);
    const made = `date_trunc('milliseconds', now()) - interval '400 days' + (n - ${from}) * interval '1 second'`;
    await planJobs(
      tx,
      { from, to: from + count - 1, state: `'${state}'::job_status`, bids: String(bids), made },
      market,
    );
    await insertPlanned(tx, market, 'to be numbered');
    // Otherwise the servers on this database would be busy with it.
    await tx.unsafe(`select number_events(${ALL_EVENTS})`);
  });
}

/** More events than are ever added at once. */
const ALL_EVENTS = 2 ** 31 - 1;
/**
 * Drops keys and indexes, since creating them at the end is faster than maintaining them, and returns a function that
 * creates them again. Keys that other tables refer to stay.
 */
async function withoutIndexes(tx: TransactionSql, tables: readonly string[]): Promise<() => Promise<void>> {
  const given = [`{${tables.join(',')}}`];
  const keys = await tx.unsafe<{ table: string; name: string; definition: string }[]>(
    `select k.conrelid::regclass::text as table, k.conname as name, pg_get_constraintdef(k.oid) as definition
     from pg_constraint k
     where k.conrelid::regclass::text = any($1::text[]) and k.contype in ('p', 'u') and not exists (
       select from pg_constraint f where f.contype = 'f' and f.conindid = k.conindid)`,
    given,
  );
  for (const { table, name } of keys) await tx.unsafe(`alter table ${table} drop constraint "${name}"`);
  const indexes = await tx.unsafe<{ name: string; definition: string }[]>(
    `select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition from pg_index i
     where i.indrelid::regclass::text = any($1::text[]) and not exists (
       select from pg_constraint c where c.conindid = i.indexrelid)`,
    given,
  );
  for (const { name } of indexes) await tx.unsafe(`drop index ${name}`);
  return async () => {
    for (const { table, name, definition } of keys)
      await tx.unsafe(`alter table ${table} add constraint "${name}" ${definition}`);
    for (const { definition } of indexes) await tx.unsafe(definition);
  };
}

/**
 * Disables triggers and drops foreign keys, and returns a function that undoes both. Setting `session_replication_role`
 * would be one line, but only superusers may; this works for the owner of the tables.
 */
async function withoutTriggers(tx: TransactionSql): Promise<() => Promise<void>> {
  const keys = await tx.unsafe<{ table: string; name: string; definition: string }[]>(
    `select conrelid::regclass::text as table, conname as name, pg_get_constraintdef(oid) as definition
     from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace`,
  );
  const triggers = await tx.unsafe<{ table: string; name: string }[]>(
    `select t.tgrelid::regclass::text as table, t.tgname as name from pg_trigger t
     join pg_class c on c.oid = t.tgrelid
     where not t.tgisinternal and c.relnamespace = current_schema()::regnamespace`,
  );
  for (const { table, name } of keys) await tx.unsafe(`alter table ${table} drop constraint "${name}"`);
  for (const { table, name } of triggers) await tx.unsafe(`alter table ${table} disable trigger "${name}"`);
  return async () => {
    for (const { table, name, definition } of keys)
      await tx.unsafe(`alter table ${table} add constraint "${name}" ${definition}`);
    for (const { table, name } of triggers) await tx.unsafe(`alter table ${table} enable trigger "${name}"`);
  };
}
