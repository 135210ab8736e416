/**
 * A Postgres that doesn't lose data, at its own address. A test can end it in every way, and start it again in the same
 * folder.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import postgres, { type Sql } from 'postgres';
import { freeAddress } from '../deploy/proxy.js';
import { initialiseOnce, DATABASE, SUPERUSER } from '../../src/platform/embedded/embedded.js';
import { findPrograms } from '../../src/platform/embedded/programs.js';
import { startPostgres } from '../../src/platform/embedded/server.js';
import { signalPostgres } from '../platform/embedded/processes.js';
import { temporaryFolder } from '../setup/temporary-folder.js';

/** An orderly stop, one that cuts clients off, and one like a power failure. */
export const ENDINGS = { fast: 'SIGINT', immediate: 'SIGQUIT', killed: 'SIGKILL' } as const;
export type Ending = keyof typeof ENDINGS;

export interface DurablePostgres {
  readonly url: string;
  readonly folder: string;
  /** Resolves once it accepts connections. */
  start(): Promise<void>;
  stop(how: Ending): Promise<void>;
  /** From then on, it accepts connections and data, but never responds. */
  freeze(): void;
  thaw(): void;
  /** A direct connection to the database, valid until it stops. */
  open(name: string): Sql;
  /** Gives a folder to the user that it runs as, so it can store tables there. */
  own(folder: string): void;
  /** The PANIC lines in its log. */
  panics(): string[];
  remove(): Promise<void>;
}

export async function durablePostgres(parent?: string): Promise<DurablePostgres> {
  const folder = temporaryFolder('durable', parent);
  const cluster = join(folder.path, 'postgres');
  const programs = findPrograms(folder.path, cluster);
  await initialiseOnce(cluster, join(folder.path, 'unfinished-'), programs);
  letIn(cluster);
  const port = Number((await freeAddress()).split(':')[1]);
  const url = `postgres://${SUPERUSER}@127.0.0.1:${port}/${DATABASE}`;
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'fsync=on',
    'synchronous_commit=on',
    'shared_buffers=128MB',
    'jit=off',
  ];
  const panics: string[] = [];
  let running: { pid: number; ended: Promise<void> } | undefined;

  async function start(): Promise<void> {
    const onMessage = (line: string) => void (line.includes('PANIC') && panics.push(line));
    const { ended } = await startPostgres({ programs, cluster, settings, onMessage });
    running = { pid: Number.parseInt(readFileSync(join(cluster, 'postmaster.pid'), 'utf8'), 10), ended };
  }

  async function stop(how: Ending): Promise<void> {
    const stopped = running;
    running = undefined;
    if (!stopped) return;
    process.kill(stopped.pid, ENDINGS[how]);
    await stopped.ended;
  }

  function postmaster(): number {
    if (!running) throw new Error('Postgres is not running.');
    return running.pid;
  }

  return {
    url,
    folder: folder.path,
    start,
    stop,
    freeze: () => signalPostgres(postmaster(), 'SIGSTOP'),
    thaw: () => signalPostgres(postmaster(), 'SIGCONT'),
    open: (name) =>
      postgres(url, {
        max: 1,
        fetch_types: false,
        onnotice: () => {},
        connect_timeout: 100,
        backoff: () => 0.05,
        connection: { application_name: name },
      }),
    own: programs.own,
    panics: () => panics,
    remove: async () => {
      await stop('immediate');
      folder.remove();
    },
  };
}

/** The cluster's own rules reject every address. The first matching rule counts. */
function letIn(cluster: string): void {
  const file = join(cluster, 'pg_hba.conf');
  const rules = readFileSync(file, 'utf8');
  writeFileSync(file, `host all all 127.0.0.1/32 trust\n${rules}`);
}
