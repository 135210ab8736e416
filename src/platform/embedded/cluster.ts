/**
 * Creates a new cluster once. It is created under another name and renamed when it and its database are complete, so a
 * start that is killed halfway leaves only an incomplete folder. Text is UTF-8 and sorts by code point, the same on
 * every machine.
 */
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Programs } from './programs.js';

export const SUPERUSER = 'marketplace';
export const DATABASE = 'marketplace';

export async function initialiseOnce(cluster: string, temporary: string, programs: Programs): Promise<void> {
  const isInitialised = () => existsSync(join(cluster, 'PG_VERSION'));
  if (isInitialised()) return;
  const temporaryCluster = mkdtempSync(temporary);
  programs.own(temporaryCluster);
  try {
    await initialise(temporaryCluster, programs);
    renameSync(temporaryCluster, cluster);
  } catch (error) {
    rmSync(temporaryCluster, { recursive: true, force: true, maxRetries: 5 });
    // Another server may have been faster. Postgres's lock decides which of the two continues.
    if (!isInitialised()) throw error;
  }
}

async function initialise(folder: string, { run }: Programs): Promise<void> {
  const options = [
    `--pgdata=${folder}`,
    `--username=${SUPERUSER}`,
    // Trusts every local client, because only the socket's owner and root can open it.
    '--auth-local=trust',
    '--auth-host=reject',
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
  ];
  // pg_trgm uses the system's locale to recognize letters. Machines without this locale index only ASCII.
  await run('initdb', [...options, '--lc-ctype=C.UTF-8']).catch((error: Error) => {
    if (!error.message.includes('invalid locale name')) throw error;
    return run('initdb', options);
  });
  await run('postgres', ['--single', '-D', folder, 'postgres'], `create database ${DATABASE}\n`);
}
