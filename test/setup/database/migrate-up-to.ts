import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Sql } from 'postgres';
import { runPending } from '../../../src/platform/db/migrate.js';
import { MIGRATIONS } from '../../../src/platform/service-limits.js';
import { temporaryFolder } from '../temporary-folder.js';

const FOLDER = join(import.meta.dirname, '../../../schema/migrations');

interface Journal {
  readonly entries: readonly { readonly tag: string; readonly when: number }[];
}

const readJournal = () => JSON.parse(readFileSync(join(FOLDER, 'meta/_journal.json'), 'utf8')) as Journal;

export const migrations = () => readJournal().entries;

/** Migrates like an earlier release with this many migrations. */
export async function migrateUpTo(sql: Sql, count: number): Promise<void> {
  const folder = temporaryFolder('migrations');
  cpSync(FOLDER, folder.path, { recursive: true });
  const journal = { ...readJournal(), entries: migrations().slice(0, count) };
  writeFileSync(join(folder.path, 'meta/_journal.json'), JSON.stringify(journal));
  // On a busy machine, a table can be in use for longer than a migration waits.
  await runPending(sql, { folder: folder.path, times: { ...MIGRATIONS, lockTimeoutMs: 250_000 } });
  folder.remove();
}
