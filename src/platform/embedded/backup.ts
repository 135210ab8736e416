/**
 * Copies the embedded database to a folder with Postgres's low-level base backup, while servers write to it. The copy
 * includes the write-ahead log, so a restore applies the changes made during the copy.
 */
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import postgres from 'postgres';
import { TEMPORARY, type EmbeddedPostgres } from './embedded.js';
import { findPrograms } from './programs.js';

const CLUSTER = 'postgres';
const LABEL = 'backup_label';
const SECRET = 'jwt-secret';
/** Postgres recreates these at startup. The copy keeps empty folders. */
const LEFT_OUT =
  /^postmaster\.|^pg_(wal|replslot|dynshmem|notify|serial|snapshots|stat_tmp|subtrans)\/|pgsql_tmp|pg_internal\.init/;

export async function backUp(
  connection: EmbeddedPostgres['connection'],
  dataFolder: string,
  folderName: string,
): Promise<void> {
  const target = resolve(folderName);
  if (existsSync(target)) throw new Error(`${target} already exists. Choose a new folder.`);
  if (`${target}${sep}`.startsWith(`${resolve(dataFolder)}${sep}`))
    throw new Error(`${target} is inside the database's own folder. Choose a folder elsewhere.`);
  const cluster = join(dataFolder, CLUSTER);
  await makeFolder(target, `${target}.incomplete-`, async (folder) => {
    const copy = join(folder, CLUSTER);
    // Otherwise, the driver would close this idle connection, which would end the backup.
    const sql = postgres({ ...connection, max: 1, fetch_types: false, max_lifetime: null });
    try {
      // Makes Postgres keep its write-ahead log from here on, until this connection ends.
      await sql`select pg_create_physical_replication_slot('backup_' || pg_backend_pid(), true, true)`;
      const [start] = await sql<{ log: string }[]>`select pg_walfile_name(pg_backup_start('backup', true)) as log`;
      await copyTree(cluster, copy, (path) => !LEFT_OUT.test(path));
      const [end] = await sql<{ log: string; label: string }[]>`
        select pg_walfile_name(lsn) as log, labelfile as label from pg_backup_stop(false)`;
      if (!start || !end) throw new Error('Postgres did not say where the backup begins and ends.');
      await copyTree(join(cluster, 'pg_wal'), join(copy, 'pg_wal'), (log) => log >= start.log && log <= end.log);
      await writeFile(join(copy, LABEL), end.label, { flush: true, mode: 0o600 });
    } finally {
      await sql.end();
    }
    await copyOne(join(dataFolder, SECRET), join(folder, SECRET));
  });
}

/** Postgres completes the copy the next time it starts in this folder. */
export async function restore(source: string, dataFolder: string): Promise<void> {
  if (!existsSync(join(source, CLUSTER, LABEL))) throw new Error(`There is no backup in ${resolve(source)}.`);
  const cluster = join(dataFolder, CLUSTER);
  if (existsSync(cluster))
    throw new Error(
      `${resolve(dataFolder)} already has a database, which won't be overwritten. Move it away, or set DATA_DIR to ` +
        'another folder.',
    );
  const [secret, kept] = [join(source, SECRET), join(dataFolder, SECRET)];
  if (existsSync(secret) && existsSync(kept) && readFileSync(secret, 'utf8') !== readFileSync(kept, 'utf8'))
    throw new Error(`${resolve(kept)} differs from the secret in the backup and won't be overwritten. Move it away.`);
  mkdirSync(dataFolder, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  await copyOne(secret, kept);
  const { own } = findPrograms(resolve(dataFolder), cluster);
  await makeFolder(cluster, join(dataFolder, TEMPORARY), async (folder) => {
    await copyTree(join(source, CLUSTER), folder, () => true);
    for (const path of ['.', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })]) own(join(folder, path));
  });
}

/** Fills a folder under a temporary name, and renames it when complete. */
async function makeFolder(path: string, temporary: string, fill: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(temporary);
  try {
    await fill(folder);
    renameSync(folder, path);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

async function copyTree(from: string, to: string, isCopied: (path: string) => boolean): Promise<void> {
  mkdirSync(to, { recursive: true, mode: 0o700 });
  for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name).slice(from.length + 1);
    if (!isCopied(path)) continue;
    if (entry.isDirectory()) mkdirSync(join(to, path), { recursive: true, mode: 0o700 });
    else await copyOne(join(from, path), join(to, path));
  }
}

/**
 * Flushes the copy to disk. Skips a deleted file. Uses a stream because `copyFile` would wait forever for the rest of a
 * truncated file.
 */
async function copyOne(from: string, to: string): Promise<void> {
  try {
    await pipeline(createReadStream(from), createWriteStream(to, { mode: 0o600, flush: true }));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    rmSync(to, { force: true });
  }
}
