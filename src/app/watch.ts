/** What the metrics show about the services, in addition to what they count call by call. */
import type { Services } from '../market/operations/services.js';
import {
  countLockWaits,
  readFigures,
  readWebhookFigures,
  createCachedRead,
  type Figures,
} from '../market/store/figures.js';
import type { DatabaseProblem } from '../platform/db/database-watch.js';
import { FIGURES } from '../market/rules/market-limits.js';
import { VERSION } from '../platform/version.js';

export function watchServices(services: Services, hasRedis: boolean): void {
  watchQuotas(services, hasRedis);
  watchDatabaseGauges(services);
  watchMarket(services);
  watchWebhooks(services);
  services.metrics.fact('build_info', 'What runs here.', { version: VERSION, node: process.version });
}

function watchQuotas({ metrics, db, passwords, quotas, rateLimits }: Services, hasRedis: boolean): void {
  metrics.gauge('database_connections_busy', 'Connections at work.', () => db.queue.active);
  metrics.gauge('password_hashes_running', 'Passwords being hashed.', () => passwords.active);
  const redisGauge = '1 while rates are counted in Redis, 0 while it is away; NaN where there is none.';
  metrics.gauge('rate_limits_in_redis', redisGauge, () =>
    hasRedis ? Number(rateLimits.storeInUse() === 'redis') : Number.NaN,
  );
  metrics.gauges(
    'quota_in_use',
    'How much of each quota all callers together hold: connections, calls, bytes of answers not yet taken.',
    'quota',
    () => ({
      connections: quotas.connections.inUse(),
      webSockets: quotas.webSockets.inUse(),
      streams: quotas.streams.inUse(),
      requests: quotas.requests.inUse(),
      heavyReads: quotas.heavyReads.waiting,
      databaseQueue: db.queue.waiting,
      hashingQueue: passwords.waiting,
      unreadBytes: quotas.unreadBytes.inUse(),
    }),
  );
}

function watchDatabaseGauges({ metrics, probe, databaseWatch }: Services): void {
  const lockWaits = createCachedRead(
    unlessAway(databaseWatch, () => countLockWaits(probe)),
    0,
    FIGURES.lockWaitsEveryMs,
    FIGURES.databaseWaitMs,
  );
  const secondsOf = (overloadCause: DatabaseProblem['overloadCause']) =>
    databaseWatch.problem?.overloadCause === overloadCause
      ? (Date.now() - databaseWatch.problem.since.getTime()) / 1000
      : 0;
  metrics.gauge('database_up', '1 while the database can be reached, 0 while it is away.', () =>
    databaseWatch.problem?.overloadCause === 'database_away' ? 0 : 1,
  );
  metrics.gauge('database_away_seconds', 'How long the database has been away; 0 while it can be reached.', () =>
    secondsOf('database_away'),
  );
  metrics.gauge('database_read_only_seconds', 'How long the database has taken no changes; 0 while it does.', () =>
    secondsOf('database_read_only'),
  );
  metrics.gauge('database_lock_waits', 'Sessions of the database that wait for a lock.', lockWaits);
}

const NO_FIGURES: Partial<Figures> = {};

/** Every instance reports the same figures for the one market. A dashboard takes the maximum, not the sum. */
function watchMarket({ metrics, db, databaseWatch }: Services): void {
  const read = unlessAway<Partial<Figures>>(databaseWatch, () => readFigures(db.forLong()));
  const figures = createCachedRead(read, NO_FIGURES, FIGURES.everyMs, FIGURES.databaseWaitMs);
  metrics.gauges('market_jobs', 'Jobs, by status.', 'status', async () => (await figures()).jobs ?? {});
  metrics.gauges(
    'market_jobs_reached',
    'Jobs that were published or that an admin completed as drafts, that were awarded, and that are completed.',
    'stage',
    async () => ({ ...(await figures()).reached }),
  );
  metrics.gauge(
    'market_disputes_open',
    'Jobs whose dispute or appeal is not settled yet.',
    async () => (await figures()).disputesOpen ?? Number.NaN,
  );
  metrics.gauges(
    'market_tokens',
    'Tokens of all people together, by whether a hold binds them.',
    'state',
    async () => ({ ...(await figures()).tokens }),
  );
}

const NO_WEBHOOKS = { waiting: Number.NaN, oldestSeconds: Number.NaN, paused: Number.NaN };

/** For all instances together. Every instance reports the same value. */
function watchWebhooks({ metrics, db, databaseWatch }: Services): void {
  const read = unlessAway(databaseWatch, () => readWebhookFigures(db.forLong()));
  const figures = createCachedRead(read, NO_WEBHOOKS, FIGURES.everyMs, FIGURES.databaseWaitMs);
  metrics.gauge(
    'webhook_deliveries_waiting',
    'Events that are still to be sent to webhooks, or to be sent again; at most 10,000 are counted.',
    async () => (await figures()).waiting,
  );
  metrics.gauge(
    'webhook_oldest_due_seconds',
    'How long the event that is due longest has been waiting to be sent.',
    async () => (await figures()).oldestSeconds,
  );
  metrics.gauge('webhook_endpoints_paused', 'Webhook endpoints that are paused.', async () => (await figures()).paused);
}

/** Doesn't wait for a database that is known to be down. */
function unlessAway<T>(watch: Services['databaseWatch'], read: () => Promise<T>): () => Promise<T> {
  return async () => {
    if (watch.problem?.overloadCause === 'database_away') throw new Error('The database is away.');
    return read();
  };
}
