/** Opens and closes the services. The server, the admin commands, and the tests share this. */
import { createHmac } from 'node:crypto';
import type { Logger } from 'pino';
import { SESSION } from '../platform/caller-limits.js';
import { API_KEY_USES } from '../market/rules/market-limits.js';
import { POOLS } from '../platform/service-limits.js';
import type { Config } from './config.js';
import { openLive } from '../platform/live/live.js';
import { suggestPack } from '../market/operations/purchases/suggest-pack.js';
import { paymentSettings } from './payment-settings.js';
import { mailSettings } from './mail-settings.js';
import { createMailMetrics } from '../market/mail/metrics.js';
import { createWebhookMetrics } from '../market/webhooks/metrics.js';
import { COUNTED_ACTIONS } from '../market/rules/jobs/deadlines.js';
import { BUDGETS, budgetWindowSeconds } from '../market/rules/rate-limits.js';
import { STREAM_ENDS } from '../platform/graphql/streams/stream-ends.js';
import { createMetrics } from '../platform/telemetry/metrics.js';
import type { Services } from '../market/operations/services.js';
import { LIVE_QUERIES } from '../market/operations/events/live-events.js';
import { createKeyUses } from '../market/operations/sessions/key-uses.js';
import { ID_PREFIXES } from '../market/rules/ids.js';
import { createViewers } from '../market/operations/sessions/viewers.js';
import { RECORDED_EFFECTS } from '../market/store/dry-run-effects.js';
import { insertRecord, lockKey, selectRecord } from '../market/store/idempotency-records.js';
import { isBearer } from '../market/rules/viewer.js';
import { createAccessTokens } from '../platform/security/access-token.js';
import { createPasswords } from '../platform/security/passwords.js';
import { createAddressRules } from '../platform/security/public-addresses.js';
import { createRateLimits } from '../platform/security/rate-limit.js';
import { createRefreshTokens } from '../platform/security/refresh-token.js';
import { createEncryptor } from '../platform/security/encryption.js';
import { keptSecret } from '../platform/security/secrets.js';
import { openFilesMax, withinOpenFiles } from '../platform/quotas/quota-table.js';
import { createQuotas } from '../platform/quotas/quotas.js';
import {
  connect,
  directly,
  type Connection,
  type DatabaseHooks,
  type DatabaseTimeouts,
} from '../platform/db/database.js';
import { assertDriverIsPatched } from '../platform/db/driver-check.js';
import { watchDatabase } from '../platform/db/database-watch.js';
import { replicaFor } from './replica.js';
import { watchServices } from './watch.js';

export interface OpenServices {
  readonly services: Services;
  /** Applies new rate limits and quotas. Calls in progress keep what they hold. */
  changeLimits(config: Pick<Config, 'budgets' | 'quotas'>): void;
  close(): Promise<void>;
}

const DATABASE_LOG = {
  database_away: {
    begins: 'database unreachable: calls that need it fail with 503 OVERLOADED',
    ends: 'database reachable again',
  },
  database_read_only: {
    begins: 'database read-only: calls that change data fail with 503 OVERLOADED',
    ends: 'database writable again',
  },
} as const;

export interface ServiceTimeouts extends DatabaseTimeouts {
  /** How long the check for a database outage waits for a response. */
  probeTimeoutMs: number;
}

export async function openServices(
  config: Config,
  log: Logger,
  connection: Connection,
  hooks: DatabaseHooks = {},
  { probeTimeoutMs, ...timeouts }: Partial<ServiceTimeouts> = {},
): Promise<OpenServices> {
  assertDriverIsPatched();
  const metrics = createMetrics({ budgets: Object.keys(BUDGETS), streamEnds: Object.keys(STREAM_ENDS) });
  const webhookMetrics = createWebhookMetrics(metrics);
  const mailMetrics = createMailMetrics(metrics);
  const filesMax = openFilesMax();
  const limits = withinOpenFiles(config.quotas, filesMax);
  if (limits !== config.quotas)
    log.warn(
      { open_files_max: filesMax, connections_max: limits.connections.total },
      'the limit on open files is low, so this server accepts fewer connections (see `ulimit -n`)',
    );
  const probeSettings = {
    ...POOLS.probe,
    ...(probeTimeoutMs !== undefined && { statementTimeoutMs: probeTimeoutMs, lockTimeoutMs: probeTimeoutMs }),
  };
  const openProbe = (hooks: DatabaseHooks) => connect(connection, probeSettings, hooks);
  const databaseWatch = watchDatabase(openProbe, {
    answerWithinMs: probeTimeoutMs,
    onProblem: ({ overloadCause, since }, error) => log.warn({ since, err: error }, DATABASE_LOG[overloadCause].begins),
    onBack: ({ overloadCause, since }, seconds) => log.info({ since, seconds }, DATABASE_LOG[overloadCause].ends),
  });
  const observedHooks: DatabaseHooks = {
    ...hooks,
    onOpen: databaseWatch.onOpen,
    onAnswer: (name, seconds, isFailed) => {
      metrics.statement(name, seconds);
      if (!isFailed) databaseWatch.noteAnswer();
    },
    onOverload: ({ overloadCause, sqlstate }) => {
      metrics.recordDatabaseFailure(overloadCause, sqlstate);
      if (overloadCause !== 'database_full') databaseWatch.suspect();
    },
    onRetry: metrics.recordRetry,
    problem: () => databaseWatch.problem?.overloadCause,
  };
  const settings = { poolSize: config.DATABASE_POOL_SIZE, ...timeouts };
  const replica = replicaFor(config, { log, connection, settings, limits, metrics, databaseWatch });
  const db = connect(
    connection,
    settings,
    { ...observedHooks, replica: replica?.replica },
    { limits, events: metrics },
  );
  const rateLimits = createRateLimits({
    enabled: config.RATE_LIMITS,
    redisUrl: config.REDIS_URL,
    onRedisLost: (error) =>
      log.warn({ err: error }, 'Redis unreachable: each instance tracks rate limits in its own memory'),
    onRedisBack: () => log.info('Redis reachable again: instances track rate limits there'),
  });
  // Until this settles, calls would count in memory instead of in the Redis that all servers share.
  await rateLimits.ready();
  const secret = config.JWT_SECRET ?? keptSecret(config.DATA_DIR, 'jwt-secret');
  const keyUses = createKeyUses(db);
  const secrets = config.JWT_PREVIOUS_SECRET === undefined ? [secret] : [secret, config.JWT_PREVIOUS_SECRET];
  let { budgets } = config;
  const { onOpen, onOverload, problem } = observedHooks;
  const live: Services['live'] = await openLive({
    queries: LIVE_QUERIES,
    connection: directly(connection),
    metrics,
    log,
    // This connection bypasses the pooler, so its responses don't prove that calls work.
    hooks: { onOpen, onAnswer: metrics.statement, onOverload, problem },
  });
  replica?.setIsOnlyInstance(live.isOnlyInstance);
  const mail = mailSettings(config, secret);
  const payments = paymentSettings(config, metrics, () => mail.addresses.origin);
  const services: Services = {
    db,
    probe: databaseWatch.probe,
    databaseWatch,
    live,
    replica: replica?.replica,
    quotas: createQuotas(limits, metrics),
    metrics,
    webhookMetrics,
    mailMetrics,
    recordClockAction: metrics.counter(
      'clock_actions_total',
      'Reminders that this instance’s clock wrote, and actions that it took, by action.',
      'action',
      COUNTED_ACTIONS,
    ),
    rateLimits,
    passwords: createPasswords({ cost: config.BCRYPT_COST, limits: limits.hashingQueue, events: metrics }),
    accessTokens: createAccessTokens({
      secret,
      previousSecret: config.JWT_PREVIOUS_SECRET,
      issuer: config.JWT_ISSUER,
      audience: config.JWT_AUDIENCE,
      ttlSeconds: SESSION.accessTokenSeconds,
      isBearer,
    }),
    refreshTokens: createRefreshTokens({
      prefix: ID_PREFIXES.refreshToken,
      secret,
      previousSecret: config.JWT_PREVIOUS_SECRET,
    }),
    keyUses,
    viewers: createViewers({
      activeSessions: live.activeSessions,
      keyUses,
      requireVerifiedEmail: config.REQUIRE_VERIFIED_EMAIL,
    }),
    storedAnswers: { lockKey, selectRecord, insertRecord },
    recordedEffects: RECORDED_EFFECTS,
    hmacs: (text) => secrets.map((each) => createHmac('sha256', `seal ${each}`).update(text).digest('base64url')),
    encryptor: createEncryptor({ secret, previousSecret: config.JWT_PREVIOUS_SECRET }),
    requireVerifiedEmail: config.REQUIRE_VERIFIED_EMAIL,
    mail,
    deadlines: {
      mode: config.DEADLINES,
      days: {
        open: config.DEADLINE_OPEN_DAYS,
        in_review: config.DEADLINE_IN_REVIEW_DAYS,
        disputed: config.DEADLINE_DISPUTED_DAYS,
        decision_reached: config.DEADLINE_DECISION_DAYS,
      },
      stakeHours: config.DEADLINE_STAKE_HOURS,
    },
    canAdvanceClock: config.CLOCK === 'adjustable',
    webhookAddresses: createAddressRules({ allowPrivate: config.WEBHOOKS_ALLOW_PRIVATE }),
    payments,
    describeRefusal: (refusal, caller) => suggestPack(payments, refusal, caller),
    budget: (name) => ({ name, max: budgets[name], windowSeconds: budgetWindowSeconds(name) }),
    log,
  };
  const flushKeyUses = () =>
    keyUses.flush().catch((error: unknown) => log.warn({ err: error }, 'writing API key last-used times failed'));
  const flushing = setInterval(() => void flushKeyUses(), API_KEY_USES.writeEveryMs);
  watchServices(services, config.RATE_LIMITS && config.REDIS_URL !== undefined);
  return {
    services,
    changeLimits: (next) => {
      ({ budgets } = next);
      services.quotas.changeLimits(next.quotas);
    },
    close: async () => {
      clearInterval(flushing);
      await flushKeyUses();
      await live.close();
      await Promise.all([db.close(), replica?.close(), databaseWatch.close(), rateLimits.close()]);
    },
  };
}
