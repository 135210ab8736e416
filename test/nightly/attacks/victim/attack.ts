/** What an attacker does, as data: the same child process carries out every attack of the table. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** One request. Eight `#` in a row are replaced by a number that is new each time. */
export interface Call {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Whose call it is, where that is not the attack's next token. */
  readonly token?: string;
}

interface Common {
  /** The addresses it comes from, in turn. The row's own address by default. */
  readonly addresses?: readonly string[];
  /** Access tokens, used in turn: by calls, or in place of `@TOKEN@` by connections. */
  readonly tokens?: readonly string[];
  readonly forMs?: number;
}

/**
 * Whole requests, taken in turn: on so many connections, or so many a second (in bursts), whether or not they are
 * answered.
 */
export interface Calls extends Common {
  readonly kind: 'calls';
  readonly requests: readonly Call[];
  readonly connections?: number;
  readonly perSecond?: number;
  readonly burst?: number;
  /** So many at once to begin with. */
  readonly atFirst?: number;
  readonly keepAlive?: boolean;
}

/** Connections that say what no client would: bytes at once, bytes drop by drop, answers left unread. */
export interface Connections extends Common {
  readonly kind: 'connections';
  readonly connections?: number;
  readonly openPerSecond?: number;
  /** Where thousands come from one address: the system looks long for a port that is free there. */
  readonly firstLocalPort?: number;
  /** Sent so many times as soon as the connection stands, */
  readonly first?: string;
  readonly times?: number;
  /** and this so many times behind it. */
  readonly next?: string;
  readonly nextTimes?: number;
  /**
   * Of a WebSocket, which `first` asks for: messages that are sent one by one, each when the server has said something,
   * and all from the third on together.
   */
  readonly messages?: readonly object[];
  /** Sent behind them: one more message, which begins and does not end, of so many fragments. */
  readonly fragments?: number;
  readonly drip?: { readonly text: string; readonly everyMs: number };
  readonly take?: 'all' | 'nothing' | { readonly bytes: number; readonly everyMs: number };
  readonly hangUpAfterMs?: number;
  /** Whether it hangs up by a reset, which the server hears of at once. */
  readonly byReset?: boolean;
  /** Connects anew so long after a connection was closed. */
  readonly again?: { readonly afterMs: number };
}

export type Attack = Calls | Connections;

/** What came back to the attacker. */
export interface AttackTally {
  readonly sent: number;
  readonly answered: number;
  readonly bytes: number;
  readonly slowestMs: number;
  /** Answers with the code INTERNAL, which nothing that is sent may cause. */
  readonly internal: number;
  readonly statuses: Readonly<Record<string, number>>;
  /** Of its connections: how many stood, were closed, or failed, and why. */
  readonly events: Readonly<Record<string, number>>;
}

interface Where {
  readonly port: number;
  readonly address: string;
  readonly forMs: number;
}

const CHILD = fileURLToPath(new URL('attacker.child.mjs', import.meta.url));

/** No two attackers of a run share a number. */
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
