/** Debian's PostgreSQL with a synchronous standby: clusters in one folder, which alternate between two ports. */
import { execFile, execFileSync } from 'node:child_process';
import { appendFileSync, chownSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freeAddress } from '../../../deploy/proxy.js';
import { until } from '../../../platform/security/until.js';
import { temporaryFolder } from '../../../setup/temporary-folder.js';

export interface Cluster {
  readonly port: number;
  /** Runs each statement separately with psql, without waiting for the standby. */
  psql(...statements: string[]): Promise<string>;
  promote(): Promise<void>;
  /** Kills all of its processes, as if its machine were lost. */
  kill(): void;
}

export interface Clusters {
  primary: Cluster;
  standby: Cluster;
  /** After the standby's promotion, replaces the lost cluster with a new standby. */
  replace(): Promise<void>;
  remove(): void;
}

const VERSIONS = '/usr/lib/postgresql';
const BIN = join(VERSIONS, readdirSync(VERSIONS).at(-1) ?? '', 'bin');
const SETTINGS = `
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
shared_buffers = '64MB'
wal_keep_size = '256MB'
synchronous_commit = on
synchronous_standby_names = '*'
`;
export const NAME = 'marketplace';
const TIMEOUTS = { statement: '10s', lock: '5s', idle_in_transaction_session: '15s' };

export async function openClusters(): Promise<Clusters> {
  const folder = temporaryFolder('failover');
  const [one, other] = await Promise.all([0, 1].map(async () => Number((await freeAddress()).split(':')[1])));
  const ports = [one!, other!];
  const idOf = (option: string) => Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }));
  const account = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : undefined;
  const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8', PGOPTIONS: '-c synchronous_commit=local' };
  const run = async (program: string, ...args: string[]) =>
    (await promisify(execFile)(join(BIN, program), args, { ...account, cwd: '/', env })).stdout.trim();
  const to = (port: number) => ['--host=127.0.0.1', `--port=${port}`, `--username=${NAME}`];
  let count = 0;

  function emptyFolder(): string {
    const data = join(folder.path, String((count += 1)));
    mkdirSync(data, { mode: 0o700 });
    if (account) chownSync(data, account.uid, account.gid);
    return data;
  }

  async function start(data: string, port: number): Promise<Cluster> {
    await run('pg_ctl', 'start', '--wait', '-D', data, '-l', join(data, 'log'), '-o', `-p ${port}`);
    let isKilled = false;
    return {
      port,
      psql: (...statements) =>
        run('psql', ...to(port), '-AXqtd', NAME, ...statements.flatMap((statement) => ['-c', statement])),
      promote: async () => void (await run('pg_ctl', 'promote', '--wait', '-D', data)),
      kill: () => {
        if (isKilled) return;
        isKilled = true;
        const postmaster = Number.parseInt(readFileSync(join(data, 'postmaster.pid'), 'utf8'), 10);
        // It starts no other process meanwhile.
        process.kill(postmaster, 'SIGSTOP');
        const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8').trim().split(' ');
        for (const pid of [postmaster, ...children.map(Number)]) process.kill(pid, 'SIGKILL');
      },
    };
  }

  async function standbyOf(primary: Cluster): Promise<Cluster> {
    const data = emptyFolder();
    const port = ports.find((each) => each !== primary.port)!;
    await run('pg_basebackup', ...to(primary.port), '-D', data, '--write-recovery-conf', '--checkpoint=fast');
    const standby = await start(data, port);
    await until(async () => (await primary.psql('select sync_state from pg_stat_replication')) === 'sync');
    return standby;
  }

  const data = emptyFolder();
  await run('initdb', '-D', data, `--username=${NAME}`, '--auth=trust');
  appendFileSync(join(data, 'postgresql.conf'), SETTINGS);
  const primary = await start(data, ports[0]!);
  await run('createdb', ...to(primary.port), NAME);
  for (const [name, value] of Object.entries(TIMEOUTS))
    await primary.psql(`alter role ${NAME} in database ${NAME} set ${name}_timeout = '${value}'`);
  const clusters: Clusters = {
    primary,
    standby: await standbyOf(primary),
    replace: async () => {
      clusters.primary = clusters.standby;
      await clusters.primary.psql('alter system reset synchronous_standby_names', 'select pg_reload_conf()');
      clusters.standby = await standbyOf(clusters.primary);
    },
    remove: () => {
      clusters.primary.kill();
      clusters.standby.kill();
      folder.remove();
    },
  };
  return clusters;
}
