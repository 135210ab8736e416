/** Metrics that are read from the services at each scrape, instead of counted per call. */
import type { Services } from '../market/operations/services.js';
import {
  countLockWaits,
  readClockOverdue,
  readEmailFigures,
  readPurchaseFigures,
  readSearchLag,
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
  if (services.mail.isOn) watchEmails(services);
  watchClock(services);
  watchSavedSearches(services);
  watchPurchases(services);
  services.metrics.fact('build_info', 'The version of this server and of Node.', {
    version: VERSION,
    node: process.version,
  });
}

function watchQuotas({ metrics, db, passwords, quotas, rateLimits }: Services, hasRedis: boolean): void {
  metrics.gauge('database_connections_busy', 'Database connections in use.', () => db.queue.active);
  metrics.gauge('password_hashes_running', 'Passwords being hashed.', () => passwords.active);
  const redisGauge = '1 while rates are counted in Redis, 0 while Redis is unreachable. NaN if REDIS_URL is not set.';
  metrics.gauge('rate_limits_in_redis', redisGauge, () =>
    hasRedis ? Number(rateLimits.storeInUse() === 'redis') : Number.NaN,
  );
  metrics.gauges(
    'quota_in_use',
    'How much of each quota is in use by all callers: connections, calls, or bytes not yet read by clients.',
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
  metrics.gauge('database_up', '1 while the database is reachable, otherwise 0.', () =>
    databaseWatch.problem?.overloadCause === 'database_away' ? 0 : 1,
  );
  metrics.gauge('database_away_seconds', 'How long the database has been unreachable. 0 while it is reachable.', () =>
    secondsOf('database_away'),
  );
  metrics.gauge('database_read_only_seconds', 'How long the database has been read-only. 0 while it is writable.', () =>
    secondsOf('database_read_only'),
  );
  metrics.gauge('database_lock_waits', 'Database sessions that are waiting for a lock.', lockWaits);
}

const NO_FIGURES: Partial<Figures> = {};

/** Every server reports the same values, so dashboards take the maximum, not the sum. */
function watchMarket({ metrics, db, databaseWatch }: Services): void {
  const read = unlessAway<Partial<Figures>>(databaseWatch, () => readFigures(db.forLong()));
  const figures = createCachedRead(read, NO_FIGURES, FIGURES.marketEveryMs, FIGURES.databaseWaitMs);
  metrics.gauges(
    'market_jobs',
    'Jobs by status, counted every five minutes.',
    'status',
    async () => (await figures()).jobs ?? {},
  );
  metrics.gauges(
    'market_jobs_reached',
    'Jobs that were published, awarded, and completed. A draft that an admin completed counts as published.',
    'stage',
    async () => ({ ...(await figures()).reached }),
  );
  metrics.gauge(
    'market_disputes_open',
    'Jobs with an open dispute or appeal.',
    async () => (await figures()).disputesOpen ?? Number.NaN,
  );
  metrics.gauges('market_tokens', 'All users’ tokens: available, or held.', 'state', async () => ({
    ...(await figures()).tokens,
  }));
}

const NO_WEBHOOKS = { waiting: Number.NaN, oldestSeconds: Number.NaN, paused: Number.NaN };

/** Metrics of all webhooks. Every server reports the same values. */
function watchWebhooks({ metrics, db, databaseWatch }: Services): void {
  const read = unlessAway(databaseWatch, () => readWebhookFigures(db.forLong()));
  const figures = createCachedRead(read, NO_WEBHOOKS, FIGURES.everyMs, FIGURES.databaseWaitMs);
  metrics.gauge(
    'webhook_deliveries_waiting',
    'Events waiting for their first or next attempt at a webhook. At most 10,000 are counted.',
    async () => (await figures()).waiting,
  );
  metrics.gauge(
    'webhook_oldest_due_seconds',
    'How long the oldest due event has been waiting to be sent to a webhook.',
    async () => (await figures()).oldestSeconds,
  );
  metrics.gauge('webhook_endpoints_paused', 'Paused webhook endpoints.', async () => (await figures()).paused);
}

const NO_EMAILS = { oldestSeconds: Number.NaN, eventsBehind: Number.NaN };

/** Metrics of all emails. Every server that can send emails reports the same values. */
function watchEmails({ metrics, db, databaseWatch }: Services): void {
  const read = unlessAway(databaseWatch, () => readEmailFigures(db.forLong()));
  const figures = createCachedRead(read, NO_EMAILS, FIGURES.everyMs, FIGURES.databaseWaitMs);
  metrics.gauge(
    'mail_oldest_due_seconds',
    'How long the oldest due email has been waiting to be sent, among at most 10,000 emails.',
    async () => (await figures()).oldestSeconds,
  );
  metrics.gauge(
    'notification_emails_events_behind',
    'Events with stored notifications that are waiting to be queued as emails.',
    async () => (await figures()).eventsBehind,
  );
}

/** All instances report the same value. It grows if no instance's clock runs. */
function watchClock({ metrics, db, databaseWatch }: Services): void {
  const read = unlessAway(databaseWatch, () => readClockOverdue(db.forLong()));
  metrics.gauge(
    'clock_overdue_seconds',
    'How long the job that has waited longest for the clock has been due. The clock looks at due jobs every minute.',
    createCachedRead(read, Number.NaN, FIGURES.everyMs, FIGURES.databaseWaitMs),
  );
}

/** All instances report the same value. It grows if no instance compares events with the saved searches. */
function watchSavedSearches({ metrics, db, databaseWatch }: Services): void {
  const read = unlessAway(databaseWatch, () => readSearchLag(db.forLong()));
  metrics.gauge(
    'saved_search_lag_seconds',
    'How long the oldest event has waited to be compared with the saved searches. Contractors with saved searches ' +
      'don’t see it yet.',
    createCachedRead(read, Number.NaN, FIGURES.everyMs, FIGURES.databaseWaitMs),
  );
}

const NO_PURCHASES = { pendingSeconds: Number.NaN, overdueSeconds: Number.NaN };

/** Metrics of all purchases. Every server reports the same values. */
function watchPurchases({ metrics, db, databaseWatch }: Services): void {
  const read = unlessAway(databaseWatch, () => readPurchaseFigures(db.forLong()));
  const figures = createCachedRead(read, NO_PURCHASES, FIGURES.everyMs, FIGURES.databaseWaitMs);
  metrics.gauge(
    'purchase_oldest_pending_seconds',
    'How long the oldest pending purchase has waited for its payment. Some payments take days to arrive.',
    async () => (await figures()).pendingSeconds,
  );
  metrics.gauge(
    'purchase_lookups_overdue_seconds',
    'How long the oldest overdue lookup of a purchase at the payment provider has been due.',
    async () => (await figures()).overdueSeconds,
  );
}

/** Fails immediately if the database is known to be unreachable. */
function unlessAway<T>(watch: Services['databaseWatch'], read: () => Promise<T>): () => Promise<T> {
  return async () => {
    if (watch.problem?.overloadCause === 'database_away') throw new Error('The database is unreachable.');
    return read();
  };
}
