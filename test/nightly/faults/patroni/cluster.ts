/**
 * Three machines with etcd, Patroni, and Debian's PostgreSQL, configured by `deploy/patroni.yml`. Each machine is a
 * network namespace with its own address, and has a small disk for its database.
 */
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, closeSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { PASSWORD } from '../../../deploy/bouncer.js';
import { temporaryFolder } from '../../../setup/temporary-folder.js';
import { smallDisk, type SmallDisk } from '../storm/small-disk.js';

export type Program = 'postgres' | 'patroni';

export interface Machine {
  readonly name: string;
  readonly address: string;
  readonly disk: SmallDisk;
  /** Starts etcd, Patroni, and the check for a full disk. Patroni starts PostgreSQL. */
  start(): void;
  /** Sends the signal to all processes of these programs. Without programs, to all of the machine's processes. */
  signal(signal: NodeJS.Signals, ...programs: Program[]): void;
  /** Disconnects the machine from the network. */
  cutOff(): void;
  reconnect(): void;
}

export interface Roles {
  readonly primary: Machine;
  readonly standby: Machine;
}

export interface Cluster {
  readonly machines: readonly Machine[];
  /**
   * Resolves with the primary and its synchronous standby once all three machines replicate and agree on these roles.
   */
  whole(): Promise<Roles>;
  remove(): Promise<void>;
}

export const NAME = 'marketplace';
const VERSIONS = '/usr/lib/postgresql';
const BIN = join(VERSIONS, readdirSync(VERSIONS).at(-1) ?? '', 'bin');
const DEPLOY = join(import.meta.dirname, '../../../../deploy');
const CONFIGURATION = readFileSync(join(DEPLOY, 'patroni.yml'), 'utf8');
const TIMEOUTS = { statement: '10s', lock: '5s', idle_in_transaction_session: '15s' };
const DISK_MEGABYTES = 768;
const WHOLE_WITHIN_MS = 180_000;
const AS_POSTGRES = ['setpriv', '--reuid=postgres', '--regid=postgres', '--init-groups'];
/** Runs when its input ends, which also happens if the test is killed. */
const CLEAN_UP = `read _
for n in 1 2 3; do
  ip netns pids "$1-$n" | xargs -r kill -9
  ip link del "$1c$n"
  ip netns del "$1-$n"
done
ip link del "$1"`;

export async function openCluster(): Promise<Cluster> {
  const id = Math.floor(Math.random() * 250);
  const bridge = `patroni${id}`;
  const network = `10.213.${id}`;
  const folder = temporaryFolder('patroni');
  const cleaning = spawn('sh', ['-c', CLEAN_UP, 'sh', bridge], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  ip('link', 'add', bridge, 'type', 'bridge');
  ip('address', 'add', `${network}.1/24`, 'dev', bridge);
  ip('link', 'set', bridge, 'up');
  const addresses = [1, 2, 3].map((number) => `${network}.${10 + number}`);

  function machine(address: string, at: number): Machine {
    const name = `db${at + 1}`;
    const namespace = `${bridge}-${at + 1}`;
    const cable = `${bridge}c${at + 1}`;
    ip('netns', 'add', namespace);
    ip('link', 'add', cable, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace);
    ip('link', 'set', cable, 'master', bridge, 'up');
    ip('-n', namespace, 'link', 'set', 'lo', 'up');
    ip('-n', namespace, 'link', 'set', 'eth0', 'up');
    ip('-n', namespace, 'address', 'add', `${address}/24`, 'dev', 'eth0');

    const disk = smallDisk(DISK_MEGABYTES);
    if (!disk) throw new Error('No file system may be mounted here.');
    const own = join(folder.path, name);
    mkdirSync(own);
    chmodSync(own, 0o777);
    const file = join(own, 'patroni.yml');
    writeFileSync(
      file,
      CONFIGURATION.replace(
        ': /var/run/postgresql',
        `: ${own}\n    shared_buffers: 32MB\n    max_wal_size: 160MB`,
      ).replace('wal_keep_size: 1GB', 'wal_keep_size: 96MB'),
    );
    const peers = addresses.map((each, n) => `db${n + 1}=http://${each}:2380`);
    const env = {
      PATH: process.env.PATH,
      LC_ALL: 'C.UTF-8',
      ETCD_NAME: name,
      ETCD_ENABLE_V2: 'true',
      ETCD_DATA_DIR: join(own, 'etcd'),
      ETCD_LISTEN_CLIENT_URLS: 'http://0.0.0.0:2379',
      ETCD_ADVERTISE_CLIENT_URLS: `http://${address}:2379`,
      ETCD_LISTEN_PEER_URLS: 'http://0.0.0.0:2380',
      ETCD_INITIAL_ADVERTISE_PEER_URLS: `http://${address}:2380`,
      ETCD_INITIAL_CLUSTER: peers.join(','),
      PATRONI_NAME: name,
      PATRONI_POSTGRESQL_CONNECT_ADDRESS: `${address}:5432`,
      PATRONI_RESTAPI_CONNECT_ADDRESS: `${address}:8008`,
      PATRONI_ETCD_HOSTS: addresses.map((each) => `${each}:2379`).join(','),
      PATRONI_REPLICATION_PASSWORD: 'a password for replication',
      PATRONI_REWIND_PASSWORD: 'a password for pg_rewind',
      PATRONI_RESTAPI_PASSWORD: 'a password for Patroni',
      PATRONI_POSTGRESQL_DATA_DIR: join(disk.folder, 'data'),
      PATRONI_POSTGRESQL_BIN_DIR: BIN,
      PATRONI_POSTGRESQL_PGPASS: join(own, 'pgpass'),
      PATRONICTL_CONFIG_FILE: file,
    };
    const run = (program: string, ...args: string[]) => {
      const log = openSync(join(own, `${program}.log`), 'a');
      spawn('nsenter', [`--net=/run/netns/${namespace}`, ...AS_POSTGRES, program, ...args], {
        env,
        cwd: own,
        detached: true,
        stdio: ['ignore', log, log],
      }).unref();
      closeSync(log);
    };
    return {
      name,
      address,
      disk,
      start: () => {
        run('etcd');
        run('patroni', file);
        run('sh', '-c', 'while sleep 5; do "$1"; done', 'sh', join(DEPLOY, 'switchover-if-full'));
      },
      signal: (signal, ...programs) => {
        const pids = ip('netns', 'pids', namespace).trim().split('\n').map(Number);
        for (const pid of pids)
          if (programs.length === 0 || programs.some((each) => each === commandOf(pid))) kill(pid, signal);
      },
      cutOff: () => void ip('link', 'set', cable, 'down'),
      reconnect: () => void ip('link', 'set', cable, 'up'),
    };
  }

  const machines = addresses.map(machine);
  const logs = () =>
    machines
      .map(({ name }) => `${name}:\n${readFileSync(join(folder.path, name, 'patroni.log'), 'utf8').slice(-4_000)}`)
      .join('\n');
  const machinesIn = (names: string) => names.split(' ').map((name) => machines.find((each) => each.name === name));
  const cluster: Cluster = {
    machines,
    whole: async () => {
      const deadlineMs = performance.now() + WHOLE_WITHIN_MS;
      for (;;) {
        if (performance.now() > deadlineMs) throw new Error(`The machines aren't replicating.\n${logs()}`);
        const views = await Promise.all(addresses.map(membersAt)).catch(() => []);
        const [names, ...others] = new Set(views.map(namesInWhole));
        const [primary, standby] = machinesIn(names ?? '');
        if (primary && standby && others.length === 0) return { primary, standby };
        await pause(500);
      }
    },
    remove: async () => {
      const cleaned = new Promise((resolve) => cleaning.once('exit', resolve));
      cleaning.stdin.end();
      await cleaned;
      for (const { disk } of machines) disk.remove();
      folder.remove();
    },
  };

  for (const each of machines) each.start();
  const { primary } = await cluster.whole();
  const psql = (...statements: string[]) =>
    execFileSync('setpriv', [
      ...AS_POSTGRES.slice(1),
      'psql',
      `--host=${join(folder.path, primary.name)}`,
      ...statements.flatMap((statement) => ['--command', statement]),
    ]);
  psql(`create role ${NAME} login password '${PASSWORD}'`, `create database ${NAME} owner ${NAME}`);
  for (const [name, value] of Object.entries(TIMEOUTS))
    psql(`alter role ${NAME} in database ${NAME} set ${name}_timeout = '${value}'`);
  return cluster;
}

function ip(...args: string[]): string {
  return execFileSync('ip', args, { encoding: 'utf8' });
}

function commandOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return undefined; // It has just ended.
  }
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has just ended.
  }
}

interface Member {
  readonly name: string;
  readonly role: string;
  readonly state: string;
  readonly timeline?: number;
}

async function membersAt(address: string): Promise<Member[]> {
  const response = await fetch(`http://${address}:8008/cluster`, { signal: AbortSignal.timeout(2_000) });
  return ((await response.json()) as { members: Member[] }).members;
}

/** The names of the primary and its synchronous standby. Empty unless all three machines are replicating. */
function namesInWhole(members: readonly Member[]): string {
  const leader = members.find(({ role }) => role === 'leader');
  const standby = members.find(({ role }) => role === 'sync_standby');
  const isWhole =
    members.length === 3 &&
    members.every(({ state, timeline }) => /running|streaming/.test(state) && timeline === leader?.timeline);
  return isWhole && leader && standby ? `${leader.name} ${standby.name}` : '';
}
