/**
 * Processes as a person starts them: with an environment and nothing else. Whatever a test leaves running is ended
 * after it, and what was started for all tests of a file after the last.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { afterAll, afterEach, beforeEach } from 'vitest';
import type { Clone } from './clone.js';

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** All it wrote, on both channels. */
  readonly output: string;
}

export interface Started {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  /** Where the server is open, once it is. Rejects with what it wrote if it ends before. */
  readonly url: Promise<string>;
  output(): string;
  /** Asks it to stop, and waits until it has. */
  stop(signal?: NodeJS.Signals): Promise<Ended>;
}

export interface Environment {
  readonly [variable: string]: string | undefined;
}

/** Cheap hashes and a free port; nothing of the test's own environment but where programs are. */
const ENVIRONMENT: Environment = {
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  TMPDIR: process.env.TMPDIR,
  PORT: '0',
  BCRYPT_COST: '4',
};

const running = new Set<ChildProcess>();
let ofAllTests: ReadonlySet<ChildProcess> | undefined;

beforeEach(() => {
  ofAllTests ??= new Set(running);
});
afterEach(async () => {
  await Promise.all([...running].filter((child) => !ofAllTests?.has(child)).map(endGroup));
});
afterAll(async () => {
  await Promise.all([...running].map(endGroup));
});

export function startServer(clone: Pick<Clone, 'folder'>, environment: Environment): Started {
  return start(clone, [process.execPath, 'dist/main.js'], environment);
}

export function start(
  { folder }: Pick<Clone, 'folder'>,
  [program = '', ...args]: string[],
  environment: Environment,
  input = '',
): Started {
  // A group of its own, so that what it starts can be ended with it.
  const child = spawn(program, args, { cwd: folder, env: { ...ENVIRONMENT, ...environment }, detached: true });
  running.add(child);
  let output = '';
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (code, signal) => {
      running.delete(child);
      resolve({ code, signal, output });
    });
  });
  const url = new Promise<string>((resolve, reject) => {
    const collect = (chunk: Buffer) => {
      output += chunk.toString();
      const opened = /is open at (\S+)/.exec(output)?.[1];
      if (opened) resolve(opened);
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    void ended.then(() => reject(new Error(`It ended and said:\n${output}`)));
  });
  url.catch(() => {}); // Not every test asks.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  return {
    pid: child.pid ?? 0,
    ended,
    url,
    output: () => output,
    stop: (signal = 'SIGTERM') => {
      child.kill(signal);
      return ended;
    },
  };
}

const TIMEOUT_MS = 200_000;

async function endGroup(child: ChildProcess): Promise<void> {
  const closed = new Promise((resolve) => child.once('close', resolve));
  signalGroup(child, 'SIGTERM');
  const cut = setTimeout(() => signalGroup(child, 'SIGKILL'), TIMEOUT_MS);
  await closed;
  clearTimeout(cut);
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid) process.kill(-pid, signal);
  } catch {
    // It has ended meanwhile.
  }
}
