/** How a command finds the database, whether a server is running or not. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readConfig, type Config } from './config.js';
import type { Connection } from './store/database.js';

/** A command signs nothing: where no secret is given, it neither asks for one nor makes one that is kept. */
export function configOfCommand(): Config {
  return readConfig(undefined, { JWT_SECRET: randomBytes(32).toString('hex') });
}

/** The embedded database may be running inside a server already; then this command joins it there. */
export async function reachDatabase(
  url: string | undefined,
  dataFolder: string,
): Promise<{ connection: Connection; stop(): Promise<void> }> {
  if (url) return { connection: { url }, stop: async () => {} };
  const { findRunningPostgres, startEmbeddedPostgres } = await import('./store/embedded.js');
  const running = findRunningPostgres(dataFolder);
  return running ? { connection: running, stop: async () => {} } : startEmbeddedPostgres(dataFolder);
}

/** Which database it is, for whoever may have meant another; without the password. */
export function nameOfDatabase(url: string | undefined, dataFolder: string): string {
  if (url === undefined) return `the database in ${resolve(dataFolder)}`;
  const { host, pathname } = new URL(url);
  return `the database ${pathname.slice(1)} on ${host || 'this machine'}`;
}

/**
 * Without the server's environment a command would make a database of its own, which no server reads, and say that
 * all is well.
 */
export function assertDatabaseExists(url: string | undefined, dataFolder: string): void {
  if (url !== undefined || existsSync(join(dataFolder, 'postgres'))) return;
  throw new Error(
    `There is no database in ${resolve(dataFolder)}: give DATA_DIR or DATABASE_URL as the server has it, or start ` +
      'the server once.',
  );
}
