/**
 * Processes as a person starts them, configured only by their environment. A process that a test leaves running ends
 * after the test. A process that a whole file shares ends after the last one.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { afterAll, afterEach, beforeEach } from 'vitest';
import type { Clone } from './clone.js';

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Everything that it wrote to standard output and standard error. */
  readonly output: string;
}

export interface Started {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  /** The server's URL, once it listens. If it exits before that, rejects with its output. */
  readonly url: Promise<string>;
  output(): string;
  /** Stops it, and waits until it has exited. */
  stop(signal?: NodeJS.Signals): Promise<Ended>;
}

export interface Environment {
  readonly [variable: string]: string | undefined;
}

/** Cheap hashes, a free port, and only the variables of the test's environment that locate programs. */
const ENVIRONMENT: Environment = {
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  TMPDIR: process.env.TMPDIR,
  PORT: '0',
  BCRYPT_COST: '4',
};

/** The characters that an error quotes. The reason for the end is last. */
const LAST_OUTPUT = 700;

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
  // Its own group, so its children can be ended along with it.
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
      const opened = /is running at (\S+)/.exec(output)?.[1];
      if (opened) resolve(opened);
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    void ended.then(() => reject(new Error(`It ended. Its last output:\n${output.slice(-LAST_OUTPUT)}`)));
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
    // It has already exited.
  }
}
