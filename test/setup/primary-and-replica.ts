/** A primary and a replica of it: embedded Postgres twice, each on a port of this machine. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import type { ChildProcess } from 'node:child_process';
import postgres, { type Sql } from 'postgres';
import { startEmbeddedPostgres } from '../../src/platform/embedded/embedded.js';
import { findPrograms } from '../../src/platform/embedded/programs.js';
import { migrate } from '../../src/platform/db/migrate.js';
import { patientUrl } from '../app/callers.js';
import { freeAddress } from '../deploy/proxy.js';
import { signalPostgres } from '../platform/embedded/processes.js';
import { until } from '../platform/security/until.js';
import type { FreshDatabase } from './postgres.js';
import { folderInMemory, temporaryFolder } from './temporary-folder.js';

export interface PrimaryAndReplica {
  readonly database: FreshDatabase;
  readonly url: string;
  readonly replicaUrl: string;
  /** The postmasters' process IDs. Every backend is a child of one. */
  readonly pids: { readonly primary: number; readonly replica: number | undefined };
  /** While replay is paused, the replica serves old data. */
  pauseReplay(): Promise<void>;
  /** Resolves once the replica has everything that the primary had when it was called. */
  catchUp(): Promise<void>;
  startReplica(): Promise<void>;
  killReplica(): Promise<void>;
  /** Stops responding, but keeps connections open. */
  freezeReplica(): void;
  thawReplica(): void;
  remove(): Promise<void>;
}

/** Commits don't wait for the disk. */
const HASTY = ['fsync=off'];
const SETTINGS = ['wal_level=replica', 'max_wal_senders=4', 'max_connections=200'];

const ACCESS = ['local all all trust', 'host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'];

/** Both servers get the settings. */
export async function openPrimaryAndReplica(settings: readonly string[] = HASTY): Promise<PrimaryAndReplica> {
  const folder = temporaryFolder('replica', folderInMemory());
  const [ofPrimary, ofReplica] = [join(folder.path, 'primary'), join(folder.path, 'replica')];
  const cluster = join(ofReplica, 'postgres');
  const onTcp = (portOf: number) => ['listen_addresses=127.0.0.1', `port=${portOf}`];

  const first = await startEmbeddedPostgres(ofPrimary, { settings: [...SETTINGS, ...settings] });
  await migrate(first.connection);
  await first.stop();
  const port = Number((await freeAddress()).split(':')[1]);
  const replicaPort = Number((await freeAddress()).split(':')[1]);
  writeFileSync(join(ofPrimary, 'postgres', 'pg_hba.conf'), ACCESS.join('\n'));
  mkdirSync(ofReplica, { mode: 0o711 });
  // Keeps the owner. A stopped primary can simply be copied.
  execFileSync('cp', ['-a', join(ofPrimary, 'postgres'), cluster]);
  writeFileSync(join(cluster, 'standby.signal'), '');
  const programs = findPrograms(ofReplica, cluster);
  const primary = await startEmbeddedPostgres(ofPrimary, { settings: [...SETTINGS, ...settings, ...onTcp(port)] });
  const { username, database, connect_timeout } = primary.connection;

  const urlOf = (portOf: number) => patientUrl(`postgres://${username}@127.0.0.1:${portOf}/${database}`);

  const onPrimary = postgres(urlOf(port), { max: 1, fetch_types: false, onnotice: () => {} });
  let server: ChildProcess | undefined;
  let onReplica: Sql | undefined;

  async function startReplica(): Promise<void> {
    rmSync(join(cluster, 'postmaster.pid'), { force: true });
    const allSettings = [
      ...SETTINGS,
      ...settings,
      ...onTcp(replicaPort),
      `unix_socket_directories=`,
      `primary_conninfo=host=127.0.0.1 port=${port} user=${username}`,
      'hot_standby_feedback=on',
    ];
    const child = programs.start('postgres', ['-D', cluster, ...allSettings.flatMap((setting) => ['-c', setting])]);
    server = child;
    const log: string[] = [];
    await new Promise<void>((resolve, reject) => {
      child.once('close', () => reject(new Error(log.join('\n'))));
      createInterface({ input: child.stderr }).on('line', (line) => {
        log.push(line);
        if (line.includes('ready to accept read-only connections')) resolve();
      });
    });
    onReplica = postgres(urlOf(replicaPort), { max: 1, fetch_types: false, onnotice: () => {} });
  }

  function signalReplica(signal: 'SIGSTOP' | 'SIGCONT'): void {
    if (server?.pid) signalPostgres(server.pid, signal);
  }

  async function killReplica(): Promise<void> {
    await onReplica?.end({ timeout: 0 });
    if (!server) return;
    const ended = once(server, 'exit');
    signalReplica('SIGCONT');
    server.kill('SIGQUIT');
    server = undefined;
    await ended;
  }

  await startReplica();
  return {
    database: { connection: { host: '127.0.0.1', port, username, database, connect_timeout }, drop: async () => {} },
    url: urlOf(port),
    replicaUrl: urlOf(replicaPort),
    get pids() {
      const pidFile = readFileSync(join(ofPrimary, 'postgres', 'postmaster.pid'), 'utf8');
      return { primary: Number.parseInt(pidFile, 10), replica: server?.pid };
    },
    pauseReplay: async () => {
      await onReplica?.unsafe('select pg_wal_replay_pause()');
      await until(async () => {
        const rows = await onReplica?.unsafe<{ state: string }[]>('select pg_get_wal_replay_pause_state() as state');
        return rows?.[0]?.state === 'paused';
      });
    },
    catchUp: async () => {
      const [row] = await onPrimary<{ position: string }[]>`select pg_current_wal_insert_lsn()::text as position`;
      await onReplica?.unsafe('select pg_wal_replay_resume()');
      await until(async () => {
        // Flushes what was written without waiting for the disk.
        await onPrimary`select pg_logical_emit_message(true, 'test', '')`;
        const reached = `select pg_last_wal_replay_lsn() >= '${row?.position}' as "isReached"`;
        return (await onReplica?.unsafe<{ isReached: boolean }[]>(reached))?.[0]?.isReached === true;
      });
    },
    startReplica,
    killReplica,
    freezeReplica: () => signalReplica('SIGSTOP'),
    thawReplica: () => signalReplica('SIGCONT'),
    remove: async () => {
      await onPrimary.end({ timeout: 5 });
      await killReplica();
      await primary.stop();
      folder.remove();
    },
  };
}
