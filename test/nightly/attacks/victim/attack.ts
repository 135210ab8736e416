/** An attacker's actions as data. The same child process carries out every attack in the table. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** One request. Each run of eight `#` is replaced with a number that is new each time. */
export interface Call {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The caller's token. By default, the attack's next one. */
  readonly token?: string;
}

interface Common {
  /** The source addresses, in turn. By default, the row's own address. */
  readonly addresses?: readonly string[];
  /** Access tokens, used in turn: by calls, or for `@TOKEN@` on connections. */
  readonly tokens?: readonly string[];
  readonly forMs?: number;
}

/**
 * Complete requests, sent in turn: over a number of connections, or at a rate per second (in bursts), with or without
 * responses.
 */
export interface Calls extends Common {
  readonly kind: 'calls';
  readonly requests: readonly Call[];
  readonly connections?: number;
  readonly perSecond?: number;
  readonly burst?: number;
  /** How many are sent at the same time at the start. */
  readonly atFirst?: number;
  readonly keepAlive?: boolean;
}

/** Connections that behave like no real client: bytes in a burst, bytes one by one, unread responses. */
export interface Connections extends Common {
  readonly kind: 'connections';
  readonly connections?: number;
  readonly openPerSecond?: number;
  /** For thousands of connections from one address, where the system takes long to find a free port. */
  readonly firstLocalPort?: number;
  /** Sent `times` times as soon as the connection opens. */
  readonly first?: string;
  readonly times?: number;
  /** Then sent `nextTimes` times. */
  readonly next?: string;
  readonly nextTimes?: number;
  /**
   * Messages on a WebSocket, which `first` requests. The first ones each wait for a server message. From the third on,
   * they are sent together.
   */
  readonly messages?: readonly object[];
  /** Then one more message, with this many fragments and no end. */
  readonly fragments?: number;
  readonly drip?: { readonly text: string; readonly everyMs: number };
  readonly take?: 'all' | 'nothing' | { readonly bytes: number; readonly everyMs: number };
  readonly hangUpAfterMs?: number;
  /** True to hang up with a reset, which the server notices immediately. */
  readonly byReset?: boolean;
  /** Reconnects after this delay when a connection closes. */
  readonly again?: { readonly afterMs: number };
}

export type Attack = Calls | Connections;

/** What the attacker got back. */
export interface AttackTally {
  readonly sent: number;
  readonly answered: number;
  readonly bytes: number;
  readonly slowestMs: number;
  /** Responses with the code INTERNAL, which no input may cause. */
  readonly internal: number;
  readonly statuses: Readonly<Record<string, number>>;
  /** How many connections opened, closed, or failed, and why. */
  readonly events: Readonly<Record<string, number>>;
}

interface Where {
  readonly port: number;
  readonly address: string;
  readonly forMs: number;
}

const CHILD = fileURLToPath(new URL('attacker.child.mjs', import.meta.url));

/** No two attackers in a run share a number. */
const NUMBERS_OF_AN_ATTACK = 1_000_000;
let attacks = 0;

export interface CarriedOut {
  readonly begun: Promise<void>;
  readonly ended: Promise<AttackTally>;
}

export function carryOut(attack: Attack, { port, address, forMs }: Where): CarriedOut {
  attacks += 1;
  const child = spawn(process.execPath, [CHILD], { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
  child.stdin.end(
    JSON.stringify({ addresses: [address], forMs, ...attack, port, firstNumber: attacks * NUMBERS_OF_AN_ATTACK }),
  );
  let output = '';
  const begun = new Promise<void>((resolve) => {
    child.once('close', resolve).stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      resolve();
    });
  });
  const ended = new Promise<AttackTally>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(JSON.parse(output.slice(output.indexOf('\n'))) as AttackTally);
      else reject(new Error(`An attacker ended with ${code}: ${output}`));
    });
  });
  return { begun, ended };
}
