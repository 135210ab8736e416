/**
 * A wire between a server and its database. It counts how often the server had to wait: what it sends in one breath,
 * before anything comes back, is one round trip. And it can hold back what comes back on some connections, as a network
 * does that swallows it, while all others go on.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EVENTS_CONNECTIONS } from '../../src/store/notifications.js';
import type { FreshDatabase } from '../postgres.js';

type Connection = FreshDatabase['connection'];

export interface DatabaseWire {
  readonly connection: Connection;
  /** The round trips since the last look. What goes through the connections of events has no part in any call. */
  roundTrips(): number;
  /** Holds back what comes on each connection that has sent this text last, or sends it from now on. */
  hold(text: string): void;
  /** How many pieces are held back. */
  held(): number;
  /** Delivers what was held back, in its order. */
  release(): void;
  close(): void;
}

export async function databaseWire(to: Connection): Promise<DatabaseWire> {
  const folder = mkdtempSync(join(tmpdir(), 'marketplace-wire-'));
  const socketIn = (place: string) => join(place, `.s.PGSQL.${to.port}`);
  let count = 0;
  let answered = true;
  let holding: string | undefined;
  let held: (() => void)[] = [];
  const server = createServer((near) => {
    const far = connect(socketIn(to.host));
    let isOfEvents = false;
    let lastSent: Buffer = Buffer.alloc(0);
    near.on('data', (sent) => {
      // The first message says whose connection it is.
      isOfEvents ||= sent.includes(EVENTS_CONNECTIONS);
      if (answered && !isOfEvents) count += 1;
      answered &&= isOfEvents;
      lastSent = Buffer.from(sent);
      far.write(sent);
    });
    far.on('data', (received) => {
      answered ||= !isOfEvents;
      if (holding !== undefined && lastSent.includes(holding)) held.push(() => near.write(received));
      else near.write(received);
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
      const seen = count;
      count = 0;
      return seen;
    },
    hold: (text) => (holding = text),
    held: () => held.length,
    release: () => {
      holding = undefined;
      for (const deliver of held) deliver();
      held = [];
    },
    close: () => {
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
