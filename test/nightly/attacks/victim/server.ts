/**
 * The server under attack: built, in a separate process, with production settings and a heap of 512 MB, on a seeded
 * market.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { hashSync } from 'bcrypt';
import postgres, { type Sql } from 'postgres';
import type { Market } from '../../../../src/market/store/seed/seed.js';
import { seedUnevenMarket } from '../../../bench/market/uneven-market.js';
import { collectGarbage, debuggerIn } from '../../../setup/collect-garbage.js';
import { freeAddress, startProxy } from '../../../deploy/proxy.js';
import { openMailServer } from '../../../market/mail/mail-server.js';
import { freshDatabase } from '../../../setup/postgres.js';
import { clone } from '../../../app/clone.js';
import { httpCall } from './http-call.js';
import { setNiceness } from './niceness.js';
import { JWT_SECRET, PASSWORD } from './people.js';

export interface AttackedServer {
  readonly market: Market;
  readonly sql: Sql;
  /** The server's own port. */
  readonly port: number;
  /** The port that callers use. It is HAProxy's port, if there is one. */
  readonly callersPort: number;
  /** The reason for each restart. Empty if all is well. */
  readonly restarts: readonly string[];
  /** The process's resident memory in MB. Zero if there is no process. */
  residentMb(): number;
  /**
   * True if the memory that an attack took has been released. The allocator may keep freed memory for a while, so then
   * only memory in use counts.
   */
  holdsLittle(): Promise<boolean>;
  isRunning(): boolean;
  /** Restarts the server if it isn't calm or holds too much memory. Returns whether it did. */
  ensureHealthy(): Promise<boolean>;
  /** The end of its output. */
  output(): string;
  close(): Promise<void>;
}

const METRICS_TOKEN = 'the-token-of-the-metrics';
const SIZE = { jobs: 10_000, bids: 20_000, people: 4_000 };
const BCRYPT_COST = 12;
const HEAP_MB = 512;
const RESIDENT_MB_MAX = 300;
const IN_USE_MB_MAX = 150;
const OUTPUT_KEPT = 4_000;

export interface ServerSettings {
  readonly behindProxy: boolean;
}

export async function openAttackedServer({ behindProxy }: ServerSettings): Promise<AttackedServer> {
  setNiceness(process.pid, -10);
  const project = clone();
  const database = await freshDatabase();
  const { host, port: socketPort, username, database: name } = database.connection;
  const sql = postgres({ ...database.connection, max: 2, fetch_types: false, onnotice: () => {} });
  const market = await seedUnevenMarket(sql, SIZE, hashSync(PASSWORD, BCRYPT_COST));

  let child: ChildProcess | undefined;
  const address = await freeAddress();
  const port = portOf(address);
  const proxy = behindProxy ? await startProxy([address]) : undefined;
  const mailServer = await openMailServer();
  const callersPort = proxy ? portOf(proxy.url) : port;
  const restarts: string[] = [];
  let output = '';
  let debuggerUrl = '';

  /** The tests' Postgres listens on a Unix socket, which only the driver's own variables can specify. */
  const environment = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    NODE_ENV: 'production',
    PORT: String(port),
    TRUST_PROXY_HOPS: behindProxy ? '1' : '0',
    JWT_SECRET,
    METRICS_TOKEN,
    LOG_LEVEL: 'error',
    // Allows webhooks that point back at the server, which can't know its public address.
    WEBHOOKS_ALLOW_PRIVATE: 'on',
    PUBLIC_URL: 'https://api.example',
    SMTP_URL: mailServer.url,
    MAIL_FROM: 'market@api.example',
    DATABASE_URL: `postgres:///${name}`,
    PGHOST: host,
    PGPORT: String(socketPort),
    PGUSERNAME: username,
  };

  async function start(): Promise<void> {
    output = '';
    const started = spawn(process.execPath, ['--inspect-port=0', `--max-old-space-size=${HEAP_MB}`, 'dist/main.js'], {
      cwd: project.folder,
      env: environment,
      detached: true,
    });
    child = started;
    setNiceness(started.pid, -10);
    await new Promise<void>((resolve, reject) => {
      const collect = (chunk: Buffer) => {
        output = (output + chunk.toString()).slice(-OUTPUT_KEPT);
        debuggerUrl = debuggerIn(chunk.toString()) ?? debuggerUrl;
        if (output.includes('is running at ')) resolve();
      };
      started.stdout.on('data', collect);
      started.stderr.on('data', collect);
      started.once('close', () => reject(new Error(`The server ended and wrote:\n${output}`)));
    });
    // HAProxy checks it every half second.
    while ((await httpCall({ port: callersPort, path: '/healthz' })).status !== 200) await sleep(50);
  }

  async function stop(signal: NodeJS.Signals): Promise<void> {
    const stopping = child;
    if (!stopping || !isRunning()) return;
    const closed = new Promise((resolve) => stopping.once('close', resolve));
    stopping.kill(signal);
    const cut = setTimeout(() => stopping.kill('SIGKILL'), 10_000);
    await closed;
    clearTimeout(cut);
  }

  const isRunning = () => child !== undefined && child.exitCode === null && child.signalCode === null;

  function residentMb(): number {
    try {
      return Math.round(
        Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${child?.pid}/status`, 'utf8'))?.[1] ?? 0) / 1024,
      );
    } catch {
      return 0;
    }
  }

  /** Node opens the debugger on request. While it is open, the server is a little slower. */
  async function openDebugger(): Promise<string> {
    debuggerUrl = '';
    if (child?.pid !== undefined) process.kill(child.pid, 'SIGUSR1');
    while (debuggerUrl === '' && isRunning()) await sleep(5);
    return debuggerUrl;
  }

  async function holdsLittle(): Promise<boolean> {
    if (residentMb() <= RESIDENT_MB_MAX) return isRunning();
    await collectGarbage(await openDebugger(), 'and end the debugger');
    const { text } = await httpCall({ port, path: '/metrics', token: METRICS_TOKEN });
    const figure = (name: string) => Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1] ?? Number.NaN) / 2 ** 20;
    return figure('nodejs_heap_size_used_bytes') + figure('nodejs_external_memory_bytes') <= IN_USE_MB_MAX;
  }

  async function ailment(): Promise<string | undefined> {
    if (!isRunning()) return `it had ended: ${output}`;
    const unrest = await unrestOf(port);
    if (unrest !== undefined) return unrest;
    return (await holdsLittle()) ? undefined : `it held ${residentMb()} MB`;
  }

  await start();
  return {
    market,
    sql,
    port,
    callersPort,
    restarts,
    residentMb,
    holdsLittle,
    isRunning,
    ensureHealthy: async () => {
      const reason = await ailment();
      if (reason === undefined) return false;
      restarts.push(reason);
      await stop('SIGKILL');
      await start();
      return true;
    },
    output: () => output,
    close: async () => {
      await stop('SIGTERM');
      await proxy?.stop();
      await mailServer.close();
      await sql.end({ timeout: 5 });
      await database.drop();
      project.remove();
    },
  };
}

const portOf = (address: string) => Number(address.slice(address.lastIndexOf(':') + 1));

const CALMS_DOWN_WITHIN_MS = 5_000;

/** What is left of the last attack, if the server doesn't respond quickly several times in a row. */
async function unrestOf(port: number): Promise<string | undefined> {
  const deadline = performance.now() + CALMS_DOWN_WITHIN_MS;
  for (;;) {
    const answers = [await httpCall({ port, path: '/readyz' }), await httpCall({ port, path: '/readyz' })];
    if (answers.every(({ status, ms }) => status === 200 && ms < 100)) return undefined;
    if (answers.some(({ status }) => status === 0) || performance.now() > deadline) {
      return answers.map(({ status, ms, text }) => `/readyz: ${status} after ${Math.round(ms)} ms ${text}`).join('\n');
    }
    await sleep(100);
  }
}
