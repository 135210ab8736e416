/**
 * A proxy between a server and its database. It counts round trips: how often the server waits for the database. It can
 * also hold back what the database sends on some connections, like a network that drops packets.
 *
 * The count doesn't depend on the machine's speed. The proxy collects what the server sends until the server can't send
 * more without a response, forwards all of it, and delivers the responses only when all have arrived.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DATABASE_DEFAULTS } from '../../src/platform/db/database.js';
import type { FreshDatabase } from '../setup/postgres.js';

type Connection = FreshDatabase['connection'];

export interface DatabaseWire {
  readonly connection: Connection;
  /** The round trips of calls since the last check. Connections for the queue, the probe, and events don't count. */
  roundTrips(): number;
  /** Holds back the responses on each connection whose latest statement contains this text, now or later. */
  hold(text: string): void;
  /** How many pieces are held back. */
  held(): number;
  /** Delivers the pieces in their order. */
  release(): void;
  close(): void;
}

/** Identifies a connection that serves calls in its startup message to Postgres. */
const IS_FOR_CALLS = `application_name\0${DATABASE_DEFAULTS.applicationName}\0`;

/** A server that has sent nothing for this many event loop turns is waiting for responses. */
const QUIET_TURNS = 20;

export async function databaseWire(to: Connection): Promise<DatabaseWire> {
  const folder = mkdtempSync(join(tmpdir(), 'marketplace-wire-'));
  const socketIn = (place: string) => join(place, `.s.PGSQL.${to.port}`);
  let roundTrips = 0;
  let holding: string | undefined;
  let held: (() => void)[] = [];

  const deliver = (near: Socket, received: Buffer, lastSent: Buffer) => {
    if (holding !== undefined && lastSent.includes(holding)) held.push(() => near.write(received));
    else near.write(received);
  };

  const server = createServer((near) => {
    const far = connect(socketIn(to.host));
    let isForCalls = false;
    let isReady = false;
    let lastSent: Buffer = Buffer.alloc(0);
    let outgoing: Buffer[] = [];
    let incoming: Buffer[] = [];
    let answersDue = 0;
    let quietTurns = 0;
    const fromServer = messageCounter(['Q', 'S']);
    const fromDatabase = messageCounter(['Z']);

    const forwardWhenQuiet = () => {
      quietTurns += 1;
      if (quietTurns < QUIET_TURNS) return void setImmediate(forwardWhenQuiet);
      if (answersDue === 0) roundTrips += 1;
      lastSent = Buffer.concat(outgoing);
      outgoing = [];
      answersDue += fromServer(lastSent);
      far.write(lastSent);
    };

    near.on('data', (sent) => {
      isForCalls ||= !isReady && sent.includes(IS_FOR_CALLS);
      if (!isForCalls || !isReady) {
        lastSent = Buffer.from(sent);
        far.write(sent);
        return;
      }
      if (outgoing.length === 0) setImmediate(forwardWhenQuiet);
      outgoing.push(Buffer.from(sent));
      quietTurns = 0;
    });
    far.on('data', (received) => {
      if (!isForCalls || !isReady) {
        isReady ||= fromDatabase(received) > 0;
        deliver(near, received, lastSent);
        return;
      }
      incoming.push(Buffer.from(received));
      answersDue -= fromDatabase(received);
      if (answersDue > 0) return;
      deliver(near, Buffer.concat(incoming), lastSent);
      incoming = [];
    });
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const)
      one.on('close', () => other.destroy()).on('error', () => other.destroy());
  });
  await new Promise<void>((resolve) => server.listen(socketIn(folder), resolve));
  return {
    connection: { ...to, host: folder },
    roundTrips: () => {
      const seen = roundTrips;
      roundTrips = 0;
      return seen;
    },
    hold: (text) => (holding = text),
    held: () => held.length,
    release: () => {
      holding = undefined;
      for (const deliverHeld of held) deliverHeld();
      held = [];
    },
    close: () => {
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Counts messages of these types in a protocol stream. Each has a letter, a four-byte length, and the content. */
function messageCounter(types: readonly string[]): (piece: Buffer) => number {
  let rest: Buffer = Buffer.alloc(0);
  return (piece) => {
    let count = 0;
    let at = 0;
    const bytes = Buffer.concat([rest, piece]);
    while (at + 5 <= bytes.length) {
      const end = at + 1 + bytes.readInt32BE(at + 1);
      if (end > bytes.length) break;
      if (types.includes(String.fromCharCode(bytes[at] ?? 0))) count += 1;
      at = end;
    }
    rest = bytes.subarray(at);
    return count;
  };
}
