/** Builds the house from its configuration, and takes it down again. The server, the admin's commands and the tests share it. */
import { createHmac, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Config } from './config.js';
import type { House } from './operations/house.js';
import { refuse } from './rules/errors.js';
import { createAccessTokens } from './security/access-token.js';
import { createPasswords } from './security/passwords.js';
import { createRateLimits } from './security/rate-limit.js';
import { connect, type Connection, type DatabaseHooks } from './store/database.js';
import { assertDriverIsPatched } from './store/driver-check.js';
import { tidy } from './store/housekeeping.js';
import { migrate } from './store/migrate.js';

const ACCESS_TOKEN_TTL_SECONDS = 15 * 60;
/** Some three megabytes of them. */
const VIEWERS_MAX = 10_000;
const TIDY_EVERY_MS = 60 * 60 * 1000;

export interface OpenHouse {
  readonly house: House;
  close(): Promise<void>;
}

export async function openHouse(config: Config, log: Logger, connection: Connection, hooks: DatabaseHooks = {}): Promise<OpenHouse> {
  assertDriverIsPatched();
  await migrate(connection);
  const db = connect(connection, { poolSize: config.DATABASE_POOL_SIZE, preparedStatements: config.DATABASE_PREPARED_STATEMENTS }, hooks);
  const rateLimits = createRateLimits({
    enabled: config.RATE_LIMITS,
    redisUrl: config.REDIS_URL,
    onRedisLost: (error) => log.warn({ err: error }, 'Redis is lost: rates are counted in the memory of each instance'),
    onRedisBack: () => log.info('Redis is back: rates are counted there'),
  });
  // Calls before this is settled would be counted in memory, beside what other instances count in Redis.
  await rateLimits.ready();
  const secret = config.JWT_SECRET ?? keptSecret(config.DATA_DIR);
  const house: House = {
    db,
    rateLimits,
    passwords: createPasswords({ cost: config.BCRYPT_COST, overloaded: (retryAfter) => refuse('OVERLOADED', { details: { retryAfter } }) }),
    accessTokens: createAccessTokens({
      secret,
      previousSecret: config.JWT_PREVIOUS_SECRET,
      issuer: config.JWT_ISSUER,
      audience: config.JWT_AUDIENCE,
      ttlSeconds: ACCESS_TOKEN_TTL_SECONDS,
    }),
    viewers: new LRUCache({ max: VIEWERS_MAX }),
    seal: (text) => createHmac('sha256', `seal ${secret}`).update(text).digest('base64url'),
    budgets: config.budgets,
    log,
  };
  const tidying = setInterval(() => void tidy(db).catch((error: unknown) => log.warn({ err: error }, 'what has run out could not be thrown away')), TIDY_EVERY_MS);
  return {
    house,
    close: async () => {
      clearInterval(tidying);
      await Promise.all([db.close(), rateLimits.close()]);
    },
  };
}

/** Outside production nobody should have to invent a secret; it is made once, so that log-ins outlive a restart. */
function keptSecret(dataFolder: string): string {
  const file = join(dataFolder, 'jwt-secret');
  if (!existsSync(file)) {
    mkdirSync(dataFolder, { recursive: true });
    writeFileSync(file, randomBytes(48).toString('base64url'), { mode: 0o600, flag: 'wx' });
  }
  return readFileSync(file, 'utf8');
}
