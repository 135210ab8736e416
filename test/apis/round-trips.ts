/**
 * A wire between a server and its database that counts how often the server had to wait: what it sends in one breath,
 * before anything comes back, is one round trip. What goes through the connections of events has no part in any call.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EVENTS_CONNECTIONS } from '../../src/store/notifications.js';
import type { FreshDatabase } from '../postgres.js';

type Connection = FreshDatabase['connection'];

export interface CountingWire {
  readonly connection: Connection;
  /** The round trips since the last look. */
  roundTrips(): number;
  close(): void;
}

export async function countingWire(to: Connection): Promise<CountingWire> {
  const folder = mkdtempSync(join(tmpdir(), 'marketplace-wire-'));
  const socketIn = (place: string) => join(place, `.s.PGSQL.${to.port}`);
  let count = 0;
  let answered = true;
  const server: Server = createServer((near) => {
    const far = connect(socketIn(to.host));
    let isOfEvents = false;
    near.on('data', (sent) => {
      // The first message says whose connection it is.
      isOfEvents ||= sent.includes(EVENTS_CONNECTIONS);
      if (answered && !isOfEvents) count += 1;
      answered &&= isOfEvents;
      far.write(sent);
    });
    far.on('data', (received) => {
      answered ||= !isOfEvents;
      near.write(received);
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
    close: () => {
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
