/** What Postgres sends to whoever listens on a channel (LISTEN and NOTIFY), on a connection that does nothing else. */
import { setTimeout as delay } from 'node:timers/promises';
import { DATABASE_DEFAULTS, openPool, type Connection } from './database.js';

/** What `pg_stat_activity` calls the connections that events go through. */
export const EVENTS_CONNECTIONS = 'job-marketplace events';

/** While the database is away nothing begins. */
const BEGUN_WITHIN_MS = 1_000;

export interface Listening {
  close(): Promise<void>;
}

/** Of one channel. */
export interface NotificationHandlers {
  /** Somebody sent this on it. */
  onNotification(payload: string): void;
  /** The connection listens, for the first time or again: what was sent before is lost. */
  onListening(): void;
}

/**
 * The driver connects again by itself when the connection is lost, and listens again. A pooler that gives each
 * transaction another connection passes no notifications on; whoever listens must look for themselves from time to
 * time.
 */
export function listenOn(connection: Connection, channels: Readonly<Record<string, NotificationHandlers>>): Listening {
  const client = openPool(connection, { ...DATABASE_DEFAULTS, poolSize: 1, applicationName: EVENTS_CONNECTIONS });
  const begun = Object.entries(channels).map(([channel, { onNotification, onListening }]) =>
    // A first attempt that fails is repeated like any other.
    client.listen(channel, onNotification, onListening).catch(() => undefined),
  );
  return {
    close: async () => {
      // Of a connection that is still being made the driver closes nothing, and the process would never end.
      await Promise.race([Promise.all(begun), delay(BEGUN_WITHIN_MS)]);
      await client.end({ timeout: 0 });
    },
  };
}
