/** The migrations result in the tables that the code declares. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import postgres, { type Sql } from 'postgres';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { declaredTables, migratedTables } from '../setup/database/declared-tables.js';
import { migrateUpTo, migrations } from '../setup/database/migrate-up-to.js';
import { freshDatabase } from '../setup/postgres.js';
import { statesAllowing } from '../story/specified.js';
import { ownDatabase, type OwnDatabase } from '../app/own-database.js';
import { temporaryFolder } from '../setup/temporary-folder.js';

const MIGRATIONS = new URL('../../schema/migrations/', import.meta.url);

it('no table has changed since the last migration', async () => {
  const { id, prevId, ...migrated } = migratedTables();
  const { id: newId, prevId: newPrevId, ...declared } = await declaredTables(prevId);
  expect(JSON.parse(JSON.stringify(declared)), 'Run: npm run migration -- --name what_changed').toEqual(migrated);
});

it('every migration in _journal.json exists, and no other', () => {
  const files = readdirSync(MIGRATIONS)
    .filter((name) => name.endsWith('.sql'))
    .map((name) => name.replace(/\.sql$/, ''));
  expect(files.toSorted()).toEqual(migrations().map(({ tag }) => tag));
});

it('migrations are in the order of their timestamps, which is the order in which they run', () => {
  const times = migrations().map(({ when }) => when);
  expect(times).toEqual(times.toSorted((one, other) => one - other));
});

/** Earlier migrations were written before anyone ran a market. */
const RULES_SINCE = '0027_oldest_build';
const written = migrations()
  .filter(({ tag }) => tag >= RULES_SINCE)
  .map(({ tag }) => ({ tag, text: readFileSync(new URL(`${tag}.sql`, MIGRATIONS), 'utf8') }));

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const LINTER = join(ROOT, `node_modules/@squawk-cli/${process.platform}-${process.arch}/bin/squawk`);

/** The rules that a migration breaks. */
function brokenRules(text: string): string[] {
  const folder = temporaryFolder('linted');
  const file = join(folder.path, 'migration.sql');
  writeFileSync(file, text);
  const inside = text.startsWith('-- Outside a transaction.') ? [] : ['--assume-in-transaction'];
  const config = join(ROOT, '.squawk.toml');
  const { status, stdout, stderr } = spawnSync(LINTER, [...inside, '--config', config, '--reporter', 'json', file]);
  folder.remove();
  if (status === null || status > 1) throw new Error(String(stderr));
  return (JSON.parse(String(stdout)) as { rule_name: string }[]).map(({ rule_name }) => rule_name);
}

// The project's package registry only has the linter's package for Linux.
describe.skipIf(!existsSync(LINTER) && process.env.REQUIRE_ALL !== '1')('the linter', () => {
  it('finds no lock on a large table in any migration', () => {
    for (const { tag, text } of written) expect([tag, brokenRules(text)]).toEqual([tag, []]);
  });

  it.each([
    ['create index a on jobs (title)', 'require-concurrent-index-creation'],
    ['-- Outside a transaction.\ndrop index if exists a', 'require-concurrent-index-deletion'],
    [`alter table jobs add constraint a check (title <> '')`, 'constraint-missing-not-valid'],
    ['alter table jobs add constraint a foreign key (id) references bids (id)', 'adding-foreign-key-constraint'],
    ['alter table jobs alter column title set not null', 'adding-not-nullable-field'],
    ['alter table jobs alter column title type varchar(20)', 'changing-column-type'],
    ['alter table jobs drop column title', 'ban-drop-column'],
    ['-- Outside a transaction.\ncreate index concurrently a on jobs (title)', 'prefer-robust-stmts'],
  ])('rejects: %s', (text, rule) => expect(brokenRules(text)).toContain(rule));
});

/** These statements block no reader or writer, however long they wait for a lock. */
const WITHOUT_BLOCKING = [
  /^(create (unique )?|drop )index concurrently/i,
  /^alter table \S+ validate constraint/i,
  /^do \$\$[^]*set_config\('lock_timeout'/i,
];

it('outside a transaction, where the lock timeout is long, nothing makes others queue', () => {
  const outside = written.filter(({ text }) => text.startsWith('-- Outside a transaction.'));
  expect(outside.length).toBeGreaterThan(0);
  for (const { tag, text } of outside)
    for (const statement of text.split('--> statement-breakpoint'))
      expect([tag, WITHOUT_BLOCKING.some((form) => form.test(statement.replaceAll(/^\s*--.*$/gm, '').trim()))]).toEqual(
        [tag, true],
      );
});

it('a migration that removes something says which builds the schema still supports', () => {
  const taking = written.filter(({ text }) => /squawk-ignore ban-drop|drop (column|table)|rename/i.test(text));
  expect(taking.length).toBeGreaterThan(0);
  for (const { tag, text } of taking) {
    const known = /update "?oldest_build"? set "?newest_migration"? = greatest\("?newest_migration"?, (\d+)\)/i.exec(
      text,
    );
    expect([tag, migrations().some(({ when }) => String(when) === known?.[1])]).toEqual([tag, true]);
  }
});

it('triggers copy the searchable columns of the jobs that contractors can bid on, and of no others', async () => {
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

it('events are vacuumed after 5,000 dead rows plus 1% of the table, not after 20%', async () => {
  const fresh = await freshDatabase();
  const sql = postgres({ ...fresh.connection, max: 1 });
  const [events] = await sql`select reloptions as options from pg_class where oid = 'events'::regclass`;
  expect(events?.options).toEqual([
    'autovacuum_vacuum_scale_factor=0.01',
    'autovacuum_vacuum_threshold=5000',
    'autovacuum_analyze_scale_factor=0.02',
  ]);
  await sql.end();
  await fresh.drop();
});

describe('An existing database', () => {
  let own: OwnDatabase;
  beforeEach(async () => {
    own = await ownDatabase();
  });
  afterEach(() => own.drop());

  it("matches a new installation's when it is upgraded release by release", async () => {
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
});

/** The database's columns, constraints, indexes, triggers, functions, and enums. */
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
