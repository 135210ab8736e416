/** The servers, each in a separate process: started on one database, measured for CPU, and stopped with the bench. */
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { debuggerIn } from '../setup/collect-garbage.js';
import { JWT_SECRET, type RivalName } from './work/works.js';

export type ServerName = 'product' | RivalName;

export interface RunningServer {
  readonly name: ServerName;
  readonly port: number;
  readonly pid: number;
  /** Undefined unless the server was started with `--inspect`. */
  readonly debuggerUrl: string | undefined;
  stop(): Promise<void>;
}

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const TSX = ['--import', 'tsx'];

/** PostGraphile 5 requires Node 22, which is installed as a package. */
const COMMANDS: Readonly<Record<RivalName, readonly string[]>> = {
  floor: [process.execPath, ...TSX, here('rivals/floor.ts')],
  yoga: [process.execPath, ...TSX, here('rivals/yoga.ts')],
  mercurius: [process.execPath, ...TSX, here('rivals/mercurius.ts')],
  usual: [process.execPath, ...TSX, here('rivals/usual.ts')],
  postgraphile: [here('node_modules/node/bin/node'), ...TSX, here('rivals/postgraphile.ts')],
};

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export interface StartOptions {
  /** The folder of a built product: this version, or another one to compare it with. */
  readonly product?: string | undefined;
  readonly environment?: Readonly<Record<string, string>>;
  /** Flags for Node itself. */
  readonly flags?: readonly string[];
}

export async function startServer(
  name: ServerName,
  database: { readonly environment: Readonly<Record<string, string>> },
  { product = here('../..'), environment = {}, flags = [] }: StartOptions = {},
): Promise<RunningServer> {
  const port = await freePort();
  const [program = '', ...args] =
    name === 'product' ? [process.execPath, join(product, 'dist/main.js')] : COMMANDS[name];
  const nowhere = openSync('/dev/null', 'w');
  const child = spawn(program, [...flags, ...args], {
    cwd: here('.'),
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      ...database.environment,
      PORT: String(port),
      NODE_ENV: 'production',
      RATE_LIMITS: 'off',
      JWT_SECRET,
      ...environment,
    },
    // Log lines are actually written, but to /dev/null.
    stdio: ['ignore', nowhere, 'pipe'],
  });
  closeSync(nowhere);
  running.add(child);
  let said = '';
  let debuggerUrl: string | undefined;
  child.stderr?.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-8_000);
    debuggerUrl ??= debuggerIn(said);
    if (process.env.BENCH_TELL) process.stderr.write(`[${name}] ${chunk.toString()}`);
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  void ended.then(() => running.delete(child));
  await answering(
    port,
    () => child.exitCode !== null,
    () => new Error(`${name} did not start:\n${said}`),
  );
  return {
    name,
    port,
    pid: child.pid ?? 0,
    debuggerUrl,
    stop: async () => {
      child.kill('SIGTERM');
      const cut = setTimeout(() => child.kill('SIGKILL'), 5_000);
      await ended;
      clearTimeout(cut);
    },
  };
}

const START_TIMEOUT_MS = 60_000;

async function answering(port: number, hasEnded: () => boolean, failure: () => Error): Promise<void> {
  const until = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < until && !hasEnded()) {
    const answered = await fetch(`http://127.0.0.1:${port}/healthz`)
      .then((answer) => answer.arrayBuffer())
      .catch(() => undefined);
    if (answered) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw failure();
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/**
 * The CPU time of all the process's threads so far, in seconds. Uses nanoseconds if the kernel reports them, and ticks
 * otherwise. Ended threads aren't included, but a server's threads don't end.
 */
export function cpuSeconds(pid: number): number {
  try {
    const spent = readdirSync(`/proc/${pid}/task`).map((thread) =>
      Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')[0]),
    );
    return spent.reduce((sum, nanoseconds) => sum + nanoseconds, 0) / 1e9;
  } catch {
    const [user, system] = statFields(pid).slice(11, 13).map(Number);
    return ((user ?? 0) + (system ?? 0)) / TICKS_PER_SECOND;
  }
}

const TICKS_PER_SECOND = 100;

/** The fields after the program's name, which may contain any character. */
function statFields(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/**
 * Postgres' CPU time so far: the postmaster and all its children. Ended backends aren't included, but the pools'
 * backends don't end.
 */
export function postgresCpuSeconds(postmaster: number): number {
  return [postmaster, ...childrenOf(postmaster)].reduce((sum, pid) => sum + cpuOrNone(pid), 0);
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return Number(statFields(pid)[1]) === parent;
      } catch {
        return false; // The process has ended meanwhile.
      }
    });
}

function cpuOrNone(pid: number): number {
  try {
    return cpuSeconds(pid);
  } catch {
    return 0;
  }
}
