/**
 * A Postgres that takes care of its data, on an address of its own, that a test can end in every way and start again on
 * the same folder.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres, { type Sql } from 'postgres';
import { chooseAccount, giveTo } from '../../src/store/embedded/account.js';
import { findBinaries } from '../../src/store/embedded/binaries.js';
import { initialiseOnce, DATABASE, SUPERUSER } from '../../src/store/embedded/cluster.js';
import { clearLeftovers } from '../../src/store/embedded/leftovers.js';
import { reachFor } from '../../src/store/embedded/reach.js';
import { armWatchdog } from '../../src/store/embedded/watchdog.js';

/** Politely, as on a power cut of its clients, and as on a power cut of its own. */
export const ENDINGS = { fast: 'SIGINT', immediate: 'SIGQUIT', killed: 'SIGKILL' } as const;
export type Ending = keyof typeof ENDINGS;

export interface DurablePostgres {
  readonly url: string;
  readonly folder: string;
  /** Resolves once it takes connections. */
  start(): Promise<void>;
  stop(how: Ending): Promise<void>;
  /** From then on it takes connections and bytes, and answers nothing. */
  freeze(): void;
  thaw(): void;
  /** The database by the back API, for as long as this life of it lasts. */
  open(name: string): Sql;
  /** Gives a folder to the user that it runs as, so that it may keep tables there. */
  own(folder: string): void;
  /** What it wrote that it should not have to. */
  panics(): string[];
  remove(): Promise<void>;
}

export async function durablePostgres(): Promise<DurablePostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'marketplace-durable-'));
  chmodSync(folder, 0o711);
  const watchdog = armWatchdog(
    'n=0; while [ -e "$1" ] && [ $n -lt 50 ]; do p=$(head -n 1 "$1/postgres/postmaster.pid" 2>/dev/null) && kill ' +
      '-QUIT "$p" 2>/dev/null; rm -rf "$1"; sleep 0.2; n=$((n+1)); done',
    [folder],
  );
  const cluster = join(folder, 'postgres');
  const account = chooseAccount(cluster);
  const reach = reachFor(account, folder, findBinaries());
  await initialiseOnce(cluster, { account, reach, disposable: true });
  letIn(cluster);
  const port = await freePort();
  const url = `postgres://${SUPERUSER}@127.0.0.1:${port}/${DATABASE}`;
  let running: ChildProcess | undefined;
  const panics: string[] = [];

  async function start(): Promise<void> {
    await clearLeftovers(cluster);
    const given = [
      `port=${port}`,
      'listen_addresses=127.0.0.1',
      'unix_socket_directories=',
      'fsync=on',
      'synchronous_commit=on',
      'shared_buffers=128MB',
      'jit=off',
    ];
    const child = spawn(
      reach.binaries.postgres,
      ['-D', reach.pathOf(cluster), ...given.flatMap((setting) => ['-c', setting])],
      {
        ...account,
        cwd: cluster,
        detached: true,
        stdio: ['ignore', 'ignore', 'pipe'],
        env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
      },
    );
    running = child;
    await new Promise<void>((resolve, reject) => {
      let tail = '';
      let isReady = false;
      child.stderr.on('data', (chunk: Buffer) => {
        const text = chunk.toString();
        panics.push(...text.split('\n').filter((line) => line.includes('PANIC')));
        if (isReady) return;
        // While it recovers, it says so to everyone who calls; only its last words are of use.
        tail = (tail + text).slice(-4_000);
        isReady = tail.includes('ready to accept connections');
        if (isReady) resolve();
      });
      child.once('exit', () => reject(new Error(`Postgres ended at its start:\n${tail}`)));
    });
  }

  async function stop(how: Ending): Promise<void> {
    const child = running;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    running = undefined;
    const ended = once(child, 'exit');
    child.kill(ENDINGS[how]);
    await ended;
  }

  /** To the postmaster first, which would else begin other backends. */
  function signalAll(signal: NodeJS.Signals): void {
    const { pid } = running ?? {};
    if (pid === undefined) throw new Error('Postgres is not running.');
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
    for (const each of [pid, ...children]) process.kill(each, signal);
  }

  return {
    url,
    folder,
    start,
    stop,
    freeze: () => signalAll('SIGSTOP'),
    thaw: () => signalAll('SIGCONT'),
    open: (name) =>
      postgres(url, {
        max: 1,
        fetch_types: false,
        onnotice: () => {},
        connect_timeout: 5,
        backoff: () => 0.05,
        connection: { application_name: name },
      }),
    own: (place) => giveTo(account, place),
    panics: () => panics,
    remove: async () => {
      await stop('immediate');
      reach.clear();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
      watchdog.disarm();
    },
  };
}

/** The cluster's own rules refuse every address; the first rule that fits is the one that counts. */
function letIn(cluster: string): void {
  const file = join(cluster, 'pg_hba.conf');
  const rules = readFileSync(file, 'utf8');
  writeFileSync(file, `host all all 127.0.0.1/32 trust\n${rules}`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
