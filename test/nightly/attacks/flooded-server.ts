/** A server in a separate process, as in production, with callers in other processes: quiet readers, and attackers. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { startProxy } from '../../deploy/proxy.js';
import { clone } from '../../app/clone.js';
import { signUp, type Account } from '../../app/callers.js';
import { ownDatabase } from '../../app/own-database.js';
import { startServer } from '../../app/processes.js';

export interface FloodedServer {
  readonly url: string;
  readonly hanna: Account;
  close(): Promise<void>;
}

export interface ServerSettings {
  /** True to put HAProxy in front, as in production. `url` is then HAProxy's address. */
  readonly behindProxy: boolean;
}

export async function openFloodedServer({ behindProxy }: ServerSettings): Promise<FloodedServer> {
  goFirst(process.pid);
  const project = clone();
  const database = await ownDatabase();
  const server = startServer(project, {
    DATABASE_URL: database.url,
    NODE_ENV: 'production',
    JWT_SECRET: 'a secret that only floods know, 32 bytes',
    BCRYPT_COST: '12',
    RATE_LIMIT_READ: '1000000',
    TRUST_PROXY_HOPS: behindProxy ? '1' : '0',
    LOG_LEVEL: 'error',
  });
  const ownUrl = await server.url;
  goFirst(server.pid);
  // Allows all of an attack's connections to open together, so they are held and not turned away.
  const proxy = behindProxy
    ? await startProxy([new URL(ownUrl).host], { NEW_CONNECTIONS_PER_ADDRESS: '1000' })
    : undefined;
  return {
    url: proxy?.url ?? ownUrl,
    hanna: await signUp(ownUrl, 'hanna@example.test'),
    close: async () => {
      await proxy?.stop();
      await server.stop();
      await database.drop();
      project.remove();
    },
  };
}

/** The machine's other work affects measurements. If the system allows it, these processes get priority. */
function goFirst(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, '-19');
  } catch {
    // Without priority, the rounds must be enough.
  }
}

export interface Tally {
  readonly answered: number;
  readonly p50: number;
  readonly p99: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly withRetryAfter: number;
}

type Calls = { url: string; forMs: number } & (
  | { kind: 'reads'; token: string; lines: number; perSecond?: number }
  | { kind: 'logins'; perSecond: number; /** The number of the first guessed account. */ first: number }
);

const CHILD = fileURLToPath(new URL('callers.child.mjs', import.meta.url));

export async function call(calls: Calls): Promise<Tally> {
  const { output } = await run([process.execPath, CHILD, JSON.stringify(calls)]).ended;
  return JSON.parse(output) as Tally;
}

/** Ends on its own, or on request. */
export function run([program = '', ...args]: readonly string[]): { ended: Promise<{ output: string }>; stop(): void } {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = new Promise<{ output: string }>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve({ output }));
  });
  return { ended, stop: () => void child.kill('SIGINT') };
}

export function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}
