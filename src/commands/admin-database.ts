/** Finds the database for a command, whether or not a server is running. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { environment, readConfig, type Config } from '../app/config.js';
import type { EmbeddedPostgres } from '../platform/embedded/embedded.js';
import { connect, type Connection } from '../platform/db/database.js';
import { unreadinessOf } from '../platform/db/readiness.js';

/**
 * Uses placeholders for the secrets that systemd passes only to the servers. Commands don't sign tokens, and the
 * servers send the emails that commands queue.
 */
export function configOfCommand(): Config {
  const env = environment();
  return readConfig(env, {
    JWT_SECRET: randomBytes(32).toString('hex'),
    ...(env['MAIL_FROM'] && { SMTP_URL: 'smtp://only-servers-send.invalid' }),
    ...(env['ADMIN_EMAIL'] && { ADMIN_PASSWORD: 'only servers create this admin' }),
  });
}

export async function reachDatabase({
  DATABASE_URL,
  DATABASE_DIRECT_URL,
  DATA_DIR: dataFolder,
}: Pick<Config, 'DATABASE_URL' | 'DATABASE_DIRECT_URL' | 'DATA_DIR'>): Promise<{
  connection: Connection;
  /** The database's URL without the password. Commands print it, so operators notice a wrong database. */
  name: string;
  stop(): Promise<void>;
}> {
  const url = DATABASE_DIRECT_URL ?? DATABASE_URL;
  if (url) return { connection: { url }, name: nameOf(new URL(url)), stop: async () => {} };
  return { ...(await reachEmbedded(dataFolder)), name: `the database in ${resolve(dataFolder)}` };
}

/** Starts the embedded database, or joins the one that a server is already running. */
export async function reachEmbedded(dataFolder: string): Promise<EmbeddedPostgres> {
  const { findRunningPostgres, startEmbeddedPostgres } = await import('../platform/embedded/embedded.js');
  const running = findRunningPostgres(dataFolder);
  if (running) return { connection: running, stop: async () => {} };
  return startEmbeddedPostgres(dataFolder, { onStep: (step) => process.stderr.write(`${step}…\n`) });
}

function nameOf({ host, pathname }: URL): string {
  return `the database ${pathname.slice(1)} on ${host || 'this machine'}`;
}

/** `npm run admin` doesn't migrate the schema, because servers may be running. Operators migrate in a separate step. */
export async function assertSchema(connection: Connection): Promise<void> {
  const db = connect(connection, { poolSize: 1 });
  const reason = await unreadinessOf(db).finally(() => db.close());
  if (reason !== undefined) throw new Error(`Nothing was changed: ${reason}.`);
}

/** Without the server's environment, a command would create an unused database and report success. */
export function assertDatabaseExists(url: string | undefined, dataFolder: string): void {
  if (url !== undefined || existsSync(join(dataFolder, 'postgres'))) return;
  throw new Error(
    `There is no database in ${resolve(dataFolder)}. Set DATA_DIR or DATABASE_URL to the same value as for the ` +
      'server, or start the server once.',
  );
}
