/** A real PgBouncer in front of a test database, with the configuration that operators run. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { FreshDatabase } from '../setup/postgres.js';
import { until } from '../platform/security/until.js';
import { temporaryFolder } from '../setup/temporary-folder.js';
import { patientUrl } from '../app/callers.js';
import { openApi } from '../app/own-database.js';
import { freeAddress } from './proxy.js';

type Connection = FreshDatabase['connection'];

const CONFIGURATION = readFileSync(join(import.meta.dirname, '../../deploy/pgbouncer.ini'), 'utf8');
export const PASSWORD = 'a password for PgBouncer';
export const ADMIN = 'pgbouncer_admin';
export const STATS = 'pgbouncer_stats';

export interface Bouncer {
  readonly url: string;
  /** The URL of its console, for one of PgBouncer's own users. */
  consoleUrl(user: string): string;
  stop(signal?: NodeJS.Signals): Promise<void>;
  start(): Promise<void>;
  /** Reloads a changed configuration without disconnecting clients. */
  reload(change: (configuration: string) => string): void;
  remove(): Promise<void>;
}

/** To use another program than Debian's, set `PGBOUNCER`. `change` edits the configuration. */
export async function startBouncer(
  to: Connection,
  change: (configuration: string) => string = (configuration) => configuration,
): Promise<Bouncer> {
  const folder = temporaryFolder('pgbouncer');
  const database = to.host.startsWith('/')
    ? await openApi(join(to.host, `.s.PGSQL.${to.port}`))
    : { port: to.port, close: () => {} };
  const [, port = ''] = (await freeAddress()).split(':');
  const replace = (text: string, old: string, by: string) => {
    if (!text.includes(old)) throw new Error(`deploy/pgbouncer.ini has no ${old}`);
    return text.replaceAll(old, by);
  };
  const users = join(folder.path, 'userlist.txt');
  const configuration = [
    ['host=127.0.0.1 port=5432 dbname=marketplace', `host=127.0.0.1 port=${database.port} dbname=${to.database}`],
    ['listen_port = 6432', `listen_port = ${port}`],
    ['/etc/pgbouncer/userlist.txt', users],
    // On a busy machine, a connection takes longer.
    ['server_connect_timeout = 3', 'server_connect_timeout = 100'],
  ].reduce((text, [old = '', by = '']) => replace(text, old, by), CONFIGURATION);
  const file = join(folder.path, 'pgbouncer.ini');
  writeFileSync(file, change(configuration));
  writeFileSync(users, [to.username, ADMIN, STATS].map((name) => `"${name}" "${PASSWORD}"\n`).join(''));
  // PgBouncer doesn't run as root.
  for (const path of [folder.path, file, users]) chmodSync(path, 0o755);
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  let running: { kill(signal: NodeJS.Signals): void; ended: Promise<unknown> } | undefined;

  async function start(): Promise<void> {
    const bouncer = spawn(process.env.PGBOUNCER ?? 'pgbouncer', [...user, file]);
    let output = '';
    for (const stream of [bouncer.stdout, bouncer.stderr]) stream.on('data', (chunk) => (output += chunk));
    running = { kill: (signal) => bouncer.kill(signal), ended: once(bouncer, 'exit') };
    await until(() => {
      if (bouncer.exitCode !== null) throw new Error(`PgBouncer has ended: ${output}`);
      return canConnect(Number(port));
    });
  }
  async function stop(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    running?.kill(signal);
    await running?.ended;
    running = undefined;
  }
  await start();
  return {
    url: patientUrl(`postgres://${to.username}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/marketplace`),
    consoleUrl: (user) => `postgres://${user}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/pgbouncer`,
    start,
    stop,
    reload: (rewrite) => {
      writeFileSync(file, rewrite(readFileSync(file, 'utf8')));
      running?.kill('SIGHUP');
    },
    remove: async () => {
      await stop();
      database.close();
      folder.remove();
    },
  };
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    }).on('error', () => resolve(false));
  });
}
