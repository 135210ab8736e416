/** Listens on channels of Postgres (LISTEN and NOTIFY), on a separate connection. */
import { setTimeout as delay } from 'node:timers/promises';
import { POOLS } from '../service-limits.js';
import { DATABASE_DEFAULTS, openPool, type Connection } from './database.js';

/** Resolves once the connection listens, which it does not while the database is away. */
const BEGUN_WITHIN_MS = 1_000;

export interface Listening {
  /** Listens on a new connection, in place of one to a database that is silent or was demoted. */
  reconnect(): Promise<void>;
  close(): Promise<void>;
}

/** The handlers of one channel. */
export interface NotificationHandlers {
  /** Called with the payload of a notification. */
  onNotification(payload: string): void;
  /** Called when the connection listens, for the first time or again: earlier notifications are lost. */
  onListening(): void;
}

/**
 * The driver reconnects and listens again by itself when the connection is lost. A pooler that gives each transaction
 * another connection forwards no notifications; so listeners must also poll from time to time.
 */
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
    // The driver listens again after each lost connection.
    client.listen(channel, onNotification, onListening).catch(() => undefined),
  );
  return {
    close: async () => {
      // The driver does not close a connection that is still being made, and the process would never end.
      await Promise.race([Promise.all(subscriptions), delay(BEGUN_WITHIN_MS)]);
      await client.end({ timeout: 0 });
    },
  };
}
