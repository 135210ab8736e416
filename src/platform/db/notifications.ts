/** Listens on Postgres channels (LISTEN and NOTIFY) over a separate connection. */
import { setTimeout as delay } from 'node:timers/promises';
import { POOLS } from '../service-limits.js';
import { DATABASE_DEFAULTS, openPool, type Connection } from './database.js';

/**
 * How long opening waits for the connection to listen. While the database is unreachable, the connection can't listen.
 */
const BEGUN_WITHIN_MS = 1_000;

export interface Listening {
  /** Listens on a new connection, which replaces one to a silent or demoted database. */
  reconnect(): Promise<void>;
  close(): Promise<void>;
}

/** The handlers of one channel. */
export interface NotificationHandlers {
  /** Called with the payload of a notification. */
  onNotification(payload: string): void;
  /** Called whenever the connection starts to listen. Notifications sent before that are lost. */
  onListening(): void;
}

/**
 * The driver reconnects and listens again when the connection is lost. A pooler that gives each transaction a different
 * connection doesn't forward notifications, so listeners must also poll now and then.
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
      // The driver doesn't close a connection that is still being opened, so without this wait, the process would never
      // end.
      await Promise.race([Promise.all(subscriptions), delay(BEGUN_WITHIN_MS)]);
      await client.end({ timeout: 0 });
    },
  };
}
