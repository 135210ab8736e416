/** The migrations lead to the tables that the code believes in. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { generateDrizzleJson } from 'drizzle-kit/api';
import { expect, it } from 'vitest';
import drizzleConfig from '../../drizzle.config.js';

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
  expect(files.toSorted()).toEqual(listed().map(({ tag }) => tag));
});

it('migrations stand in the order of their times, which is the order in which they run', () => {
  const times = listed().map(({ when }) => when);
  expect(times).toEqual(times.toSorted((one, other) => one - other));
});

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

function listed(): { tag: string; when: number }[] {
  return (read('_journal.json') as { entries: { tag: string; when: number }[] }).entries;
}

function read(name: string): unknown {
  return JSON.parse(readFileSync(new URL(name, META), 'utf8'));
}
