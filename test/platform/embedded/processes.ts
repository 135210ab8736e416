import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import postgres, { type Row } from 'postgres';
import type { EmbeddedPostgres } from '../../../src/platform/embedded/embedded.js';

type Connection = EmbeddedPostgres['connection'];

export interface ServerProcess {
  readonly pid: number;
  /** The first line of output: the connection, or an error. */
  readonly report: Promise<Report>;
  /** Returns all output, once the process has ended. */
  stop(): Promise<string>;
  kill(signal: NodeJS.Signals): Promise<void>;
}

interface Report {
  connection?: Connection;
  error?: string;
}

const CHILD = fileURLToPath(new URL('process.child.mjs', import.meta.url));
const SOURCE = fileURLToPath(new URL('../../../src/platform/embedded/embedded.ts', import.meta.url));
const children = new Set<ChildProcess>();

export function startProcess(
  folder: string,
  { source = SOURCE, uid }: { source?: string; uid?: number } = {},
): ServerProcess {
  const child = spawn(process.execPath, [CHILD, folder, source], { uid, gid: uid, detached: true });
  children.add(child);
  let written = '';
  const collect = (chunk: Buffer) => (written += chunk.toString());
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const ended = once(child, 'close').then(() => children.delete(child));
  const report = new Promise<Report>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', (line) => resolve(JSON.parse(line) as Report));
    void ended.then(() => reject(new Error(`The server process ended and said: ${written}`)));
  });
  report.catch(() => {}); // A test that kills the process early doesn't await this.
  return {
    pid: child.pid ?? 0,
    report,
    stop: async () => {
      child.stdin.on('error', () => {});
      child.stdin.write('stop\n');
      await ended;
      return written;
    },
    kill: async (signal) => {
      process.kill(-(child.pid ?? 0), signal);
      if (signal === 'SIGKILL') await ended;
    },
  };
}

export async function connectionOf(server: ServerProcess): Promise<Connection> {
  const { connection, error } = await server.report;
  if (!connection) throw new Error(error);
  return connection;
}

export async function ask(connection: Connection, statement: string): Promise<Row[]> {
  const sql = postgres({ ...connection, max: 1, fetch_types: false, onnotice: () => {} });
  try {
    return [...(await sql.unsafe(statement))];
  } finally {
    await sql.end({ timeout: 2 });
  }
}

/** All users' processes whose command line names the folder, and the shell that watches its Postgres. */
export function processesOf(folder: string): { pid: number; command: string }[] {
  const { stdout } = spawnSync('ps', ['-eo', 'pid=,stat=,args=', '-ww'], { encoding: 'utf8' });
  const all = stdout.split('\n').flatMap((line) => {
    const [, pid, state, command] = /^\s*(\d+) (\S+)\s+(.*)$/.exec(line) ?? [];
    return pid && command && !state?.startsWith('Z') ? [{ pid: Number(pid), command }] : [];
  });
  const direct = all.filter(({ command }) => command.includes(folder));
  const watching = all.filter(
    ({ command }) => command.includes('read _') && direct.some(({ pid }) => command.endsWith(` sh ${pid}`)),
  );
  return [...direct, ...watching];
}

export function postmasterOf(folder: string): number {
  return Number.parseInt(readFileSync(`${folder}/postgres/postmaster.pid`, 'utf8'), 10);
}

/** Signals the postmaster first. If it's stopped, it starts no other backend. */
export function signalPostgres(postmaster: number, signal: 'SIGSTOP' | 'SIGCONT'): void {
  process.kill(postmaster, signal);
  for (const pid of readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8').match(/\d+/g) ?? []) {
    try {
      process.kill(Number(pid), signal);
    } catch (error) {
      // A backend may have ended meanwhile.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

export function killLeftProcesses(): void {
  for (const child of children) child.kill('SIGKILL');
}
