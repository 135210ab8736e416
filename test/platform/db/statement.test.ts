/** Every statement is named after its constant or function, and the database shows that name. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connect, named, type Database } from '../../../src/platform/db/database.js';
import { statement } from '../../../src/platform/db/statement.js';
import { freshDatabase, type FreshDatabase } from '../../setup/postgres.js';

let database: FreshDatabase;
let db: Database;
beforeAll(async () => {
  database = await freshDatabase();
  db = connect(database.connection);
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

const SOURCE = new URL('../../../src/', import.meta.url);

const HOMES = /^(?:market\/store|platform\/(?:db|queue))\/(?!tables\/).*\.ts$/;
const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((name) => HOMES.test(name));

/** Files with other names: the queue's, and those of BEGIN and COMMIT. */
const WITHOUT = ['database.ts', 'transaction.ts'];

/** Matches each statement's name and each creation of a statement. */
const NAMES = /\b(?:statement|countedStatement|named)\(\s*'(\w+)'|\bname: '(\w+)'/g;
const MADE = /(?<!function )\b(?:statement|countedStatement|pagedList|pagesOfMany(?:<[^(]*>)?)\(/g;

it('each statement has the name of the constant that holds it, and no two in different files share a name', () => {
  const fileOf = new Map<string, string>();
  for (const path of files) {
    const file = basename(path);
    const text = readFileSync(new URL(path, SOURCE), 'utf8');
    const names = [...text.matchAll(NAMES)].map(([, one, other]) => one ?? other ?? '');
    if (!['statement.ts', 'page.ts', 'pages-of-many.ts', ...WITHOUT].includes(file))
      expect(names.length, file).toBeGreaterThanOrEqual(text.match(MADE)?.length ?? 0);
    for (const name of new Set(names)) {
      expect(fileOf.get(name), name).toBeUndefined();
      fileOf.set(name, file);
      if (!WITHOUT.includes(file)) expect(text).toMatch(new RegExp(String.raw`\b(?:const|function) ${name}\b`));
    }
  }
  expect(fileOf.size).toBeGreaterThan(100);
});

it('the name comes after the first word, where pg_stat_statements keeps it', () => {
  expect(named('one', 'select 1').text).toBe('select /* one */ 1');
  expect(named('two', '\n  with x as (select 1)\n  select 2').text).toBe('with /* two */ x as (select 1)\n  select 2');
});

it('the database shows the name while the statement runs', async () => {
  const selectOwnText = statement(
    'selectOwnText',
    { text: sql<string>`query` },
    () => sql`select query from pg_stat_activity where pid = pg_backend_pid()`,
  );
  const [{ text } = { text: '' }] = await selectOwnText(db, {});
  expect(text).toMatch(/^select \/\* selectOwnText \*\/ query /);
});
