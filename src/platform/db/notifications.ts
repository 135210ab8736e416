/** Listens on Postgres channels (LISTEN and NOTIFY) over its own connection. */
import { setTimeout as delay } from 'node:timers/promises';
import { POOLS } from '../service-limits.js';
import { DATABASE_DEFAULTS, openPool, type Connection } from './database.js';

/** How long opening waits for the database. While it's unreachable, nothing can listen. */
const BEGUN_WITHIN_MS = 1_000;

export interface Listening {
  /** Replaces a connection to a silent or demoted database. */
  reconnect(): Promise<void>;
  close(): Promise<void>;
}

export interface NotificationHandlers {
  onNotification(payload: string): void;
  /** Called each time the connection starts to listen. Earlier notifications are lost. */
  onListening(): void;
}

/** Poolers in transaction mode forward no notifications, so callers must also poll. */
export function listenOn(connection: Connection, channels: Readonly<Record<string, NotificationHandlers>>): Listening {
  let current = listenOnce(connection, channels);
  return {
    reconnect: () => {
      const lost = current;
      current = listenOnce(connection, channels);
      return lost.close();
    },
    close: () => current.close(),
  };
}

function listenOnce(
  connection: Connection,
  channels: Readonly<Record<string, NotificationHandlers>>,
): Pick<Listening, 'close'> {
  const client = openPool(connection, {
    ...DATABASE_DEFAULTS,
    poolSize: 1,
    applicationName: POOLS.events.applicationName,
  });
  const subscriptions = Object.entries(channels).map(([channel, { onNotification, onListening }]) =>
    // The driver listens again after each reconnect.
    client.listen(channel, onNotification, onListening).catch(() => undefined),
  );
  return {
    close: async () => {
      // A connection that is still opening would never close and would keep the process alive.
      await Promise.race([Promise.all(subscriptions), delay(BEGUN_WITHIN_MS)]);
      await client.end({ timeout: 0 });
    },
  };
}
