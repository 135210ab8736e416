/** The migrations lead to the tables that the code believes in. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { generateDrizzleJson } from 'drizzle-kit/api';
import postgres, { type Sql } from 'postgres';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import drizzleConfig from '../../drizzle.config.js';
import { migrateUpTo, migrations } from '../migrate-up-to.js';
import { freshDatabase } from '../postgres.js';
import { statesAllowing } from '../specified.js';
import { ownDatabase, type OwnDatabase } from '../start/own-database.js';

const TABLES = new URL('../../src/store/tables/', import.meta.url);
const META = new URL('../../schema/migrations/meta/', import.meta.url);

it('no table has changed since the last migration', async () => {
  const { id, prevId, ...migrated } = lastSnapshot();
  const {
    id: newId,
    prevId: newPrevId,
    ...declared
  } = generateDrizzleJson(await declaredTables(), prevId, undefined, drizzleConfig.casing);
  expect(JSON.parse(JSON.stringify(declared)), 'Run: npm run migration -- --name what_changed').toEqual(migrated);
});

it('every migration of _journal.json is there, and no other', () => {
  const files = readdirSync(new URL('..', META))
    .filter((name) => name.endsWith('.sql'))
    .map((name) => name.replace(/\.sql$/, ''));
  expect(files.toSorted()).toEqual(migrations().map(({ tag }) => tag));
});

it('migrations stand in the order of their times, which is the order in which they run', () => {
  const times = migrations().map(({ when }) => when);
  expect(times).toEqual(times.toSorted((one, other) => one - other));
});

it('triggers keep what is searched of the jobs on which contractors may bid, and of no others', async () => {
  const fresh = await freshDatabase();
  const sql = postgres({ ...fresh.connection, max: 1, fetch_types: false });
  try {
    const texts = await sql<{ text: string }[]>`
      select prosrc as text from pg_proc where proname = 'copy_while_open'
      union all select pg_get_triggerdef(oid) from pg_trigger where tgfoid = 'copy_while_open'::regproc`;
    expect(texts).toHaveLength(3);
    for (const { text } of texts)
      expect(
        new Set([...text.matchAll(/'(\w+)'/g)].map(([, state]) => state)),
        `Replace this by a migration, and fill open_job_search anew: ${text}`,
      ).toEqual(new Set(statesAllowing('submitBid')));
  } finally {
    await sql.end();
    await fresh.drop();
  }
});

describe('A database that exists already', () => {
  let own: OwnDatabase;
  beforeEach(async () => {
    own = await ownDatabase();
  });
  afterEach(() => own.drop());

  it('becomes that of a new installation when it is upgraded release by release', async () => {
    for (const count of migrations().keys()) await migrateUpTo(own.sql, count + 1);
    const fresh = await freshDatabase();
    const sql = postgres({ ...fresh.connection, max: 1, fetch_types: false });
    try {
      expect(await shapeOf(own.sql)).toEqual(await shapeOf(sql));
    } finally {
      await sql.end();
      await fresh.drop();
    }
  });

  it('takes a new state and the checks that name it in one migration, which is one transaction', async () => {
    await migrateUpTo(own.sql, migrations().length);
    const naming = await own.sql<{ name: string; definition: string }[]>`
      select conname as name, pg_get_constraintdef(oid) as definition from pg_constraint
      where contype = 'c' and conrelid = 'jobs'::regclass and pg_get_constraintdef(oid) like '%''open''%'`;
    expect(naming.map(({ name }) => name).toSorted()).toEqual([
      'jobs_award_fits_the_state',
      'jobs_live_bids_fit_the_state',
    ]);
    await own.sql.begin(async (sql) => {
      await sql`alter type job_status add value 'set_aside'`;
      for (const { name, definition } of naming)
        await sql.unsafe(
          `alter table jobs drop constraint ${name}, add constraint ${name} ${withSetAside(definition)}`,
        );
    });
    const checks = await own.sql`select pg_get_constraintdef(oid) as definition from pg_constraint
      where contype = 'c' and conrelid = 'jobs'::regclass and pg_get_constraintdef(oid) like '%''set_aside''%'`;
    expect(checks).toHaveLength(naming.length);
  });
});

/** The check as it is written for a list of states that has one more. */
function withSetAside(definition: string): string {
  return definition
    .replace(/= ('open'::\w+)/, '= any (array[$1])')
    .replaceAll(/'open'::(\w+)/g, "'open'::$1, 'set_aside'::$1");
}

/** What there is in the database: columns, constraints, indexes, triggers, functions and enums. */
function shapeOf(sql: Sql): Promise<readonly unknown[]> {
  return sql`
    select concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default) as it
    from information_schema.columns where table_schema = 'public'
    union all select concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid)) from pg_constraint
      where connamespace = 'public'::regnamespace
    union all select indexdef from pg_indexes where schemaname = 'public'
    union all select pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
    union all select concat_ws(' ', proname, prosrc) from pg_proc where pronamespace = 'public'::regnamespace
    union all select concat_ws(' ', enumtypid::regtype, enumlabel) from pg_enum
    order by it`;
}

async function declaredTables(): Promise<Record<string, unknown>> {
  const files = readdirSync(TABLES).filter((name) => name.endsWith('.ts'));
  const modules = (await Promise.all(files.map((name) => import(fileURLToPath(new URL(name, TABLES)))))) as Record<
    string,
    unknown
  >[];
  return Object.assign({}, ...modules) as Record<string, unknown>;
}

function lastSnapshot(): { id: string; prevId: string } {
  const last = readdirSync(META)
    .filter((name) => name.endsWith('_snapshot.json'))
    .toSorted()
    .at(-1);
  return read(last ?? 'missing') as { id: string; prevId: string };
}

function read(name: string): unknown {
  return JSON.parse(readFileSync(new URL(name, META), 'utf8'));
}
