/** Opens the replica at `DATABASE_REPLICA_URL`. */
import type { Logger } from 'pino';
import { connect, type Connection, type DatabaseSettings } from '../platform/db/database.js';
import type { DatabaseWatch } from '../platform/db/database-watch.js';
import { openReplica } from '../platform/db/replica.js';
import type { Replica } from '../platform/db/stale-reads.js';
import { openRedis } from '../platform/redis.js';
import { POOLS } from '../platform/service-limits.js';
import type { QuotaTable } from '../platform/quotas/quota-table.js';
import type { Metrics } from '../platform/telemetry/metrics.js';
import type { Config } from './config.js';

interface ReplicaServices {
  readonly log: Logger;
  /** The primary's connection. The replica's connection has the same settings. */
  readonly connection: Connection;
  readonly settings: Partial<DatabaseSettings>;
  readonly limits: QuotaTable;
  readonly metrics: Metrics;
  readonly databaseWatch: Pick<DatabaseWatch, 'probe' | 'problem'>;
}

interface OpenReplica {
  readonly replica: Replica;
  /** Called once the server can receive other instances' heartbeats. */
  setIsOnlyInstance(isOnlyInstance: () => boolean): void;
  close(): Promise<void>;
}

export function replicaFor(
  { DATABASE_REPLICA_URL: url, DATABASE_REPLICA_LAG_MAX_SECONDS: lagMaxSeconds, REDIS_URL }: Config,
  { log, connection, settings, limits, metrics, databaseWatch }: ReplicaServices,
): OpenReplica | undefined {
  if (url === undefined) return undefined;
  const address: Connection = {
    url,
    direct: connection.direct,
    ...(connection.preparedStatements !== undefined && { preparedStatements: connection.preparedStatements }),
  };
  // Doesn't log a lost Redis, because the rate limits' connection does.
  const redis = REDIS_URL === undefined ? undefined : openRedis(REDIS_URL, { onLost: () => {}, onBack: () => {} });
  let isOnlyInstance = () => false;
  const replica = openReplica({
    lagMaxSeconds,
    primary: databaseWatch.probe,
    isPrimaryAway: () => databaseWatch.problem?.overloadCause === 'database_away',
    redis,
    metrics,
    isOnlyInstance: () => isOnlyInstance(),
    openPool: (hooks) =>
      connect(address, settings, { ...hooks, onAnswer: metrics.statement }, { limits, events: metrics }),
    openProbe: (hooks) => connect(address, { ...POOLS.probe, applicationName: 'job-marketplace replica probe' }, hooks),
    onUnusable: (reason) => log.warn({ reason }, 'the replica is not used: reads go to the primary'),
    onUsable: () => log.info('the replica is used for reads'),
  });
  return {
    replica,
    setIsOnlyInstance: (isOnly) => (isOnlyInstance = isOnly),
    close: async () => {
      redis?.close();
      await replica.close();
    },
  };
}
