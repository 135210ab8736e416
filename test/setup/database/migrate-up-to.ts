import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Sql } from 'postgres';
import { runPending } from '../../../src/platform/db/migrate.js';
import { temporaryFolder } from '../temporary-folder.js';

const MIGRATIONS = join(import.meta.dirname, '../../../schema/migrations');

interface Journal {
  readonly entries: readonly { readonly tag: string; readonly when: number }[];
}

const readJournal = () => JSON.parse(readFileSync(join(MIGRATIONS, 'meta/_journal.json'), 'utf8')) as Journal;

export const migrations = () => readJournal().entries;

/** Migrates like an earlier release with this many migrations. */
export async function migrateUpTo(sql: Sql, count: number): Promise<void> {
  const folder = temporaryFolder('migrations');
  cpSync(MIGRATIONS, folder.path, { recursive: true });
  const journal = { ...readJournal(), entries: migrations().slice(0, count) };
  writeFileSync(join(folder.path, 'meta/_journal.json'), JSON.stringify(journal));
  await runPending(sql, { folder: folder.path });
  folder.remove();
}
