/** Listens on Postgres channels (LISTEN and NOTIFY) over a separate connection. */
import { setTimeout as delay } from 'node:timers/promises';
import { POOLS } from '../service-limits.js';
import { DATABASE_DEFAULTS, openPool, type Connection } from './database.js';

/** While the database is unreachable, the connection can't listen, so opening waits only this long. */
const BEGUN_WITHIN_MS = 1_000;

export interface Listening {
  /** Listens on a new connection, which replaces a connection to a silent or demoted database. */
  reconnect(): Promise<void>;
  close(): Promise<void>;
}

export interface NotificationHandlers {
  onNotification(payload: string): void;
  /** Called whenever the connection starts to listen. Notifications sent before that are lost. */
  onListening(): void;
}

/**
 * A pooler that uses a different connection for each transaction forwards no notifications, so listeners must also
 * poll.
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
      // Without this wait, a connection that is still being opened would never close, and the process would never end.
      await Promise.race([Promise.all(subscriptions), delay(BEGUN_WITHIN_MS)]);
      await client.end({ timeout: 0 });
    },
  };
}
