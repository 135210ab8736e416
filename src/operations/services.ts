/** What operations use: made once at start, and handed to every call. */
import type { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Live } from '../live/live.js';
import type { SessionId } from '../rules/ids.js';
import type { Metrics } from '../metrics.js';
import type { BudgetName } from '../rules/limits.js';
import type { Viewer } from '../rules/viewer.js';
import type { AccessTokens } from '../security/access-token.js';
import type { Passwords } from '../security/passwords.js';
import type { RefreshTokens } from '../security/refresh-token.js';
import type { RateLimits } from '../security/rate-limit.js';
import type { AddressRules } from '../security/public-addresses.js';
import type { Sealer } from '../security/sealing.js';
import type { Shares } from '../shares/shares.js';
import type { KeyHolder } from '../store/api-keys.js';
import type { Database } from '../store/database.js';
import type { KeyUses } from './key-uses.js';
import type { DatabaseWatch } from '../store/database-watch.js';

export interface Services {
  readonly db: Database;
  /** A connection of its own, to find out whether the database is there however busy the others are. */
  readonly probe: Database;
  readonly databaseWatch: DatabaseWatch;
  /** Events as they happen. */
  readonly live: Live;
  readonly shares: Shares;
  readonly metrics: Metrics;
  readonly passwords: Passwords;
  readonly accessTokens: AccessTokens;
  readonly refreshTokens: RefreshTokens;
  /** Whose each session is, which never changes; whether it is active is asked at every call. */
  readonly viewers: LRUCache<SessionId, Viewer>;
  /** The same for API keys, by the SHA-256 of their secrets. */
  readonly keyHolders: LRUCache<string, KeyHolder>;
  readonly keyUses: KeyUses;
  readonly rateLimits: RateLimits;
  /** How many calls a minute each budget allows here. */
  readonly budgets: Readonly<Record<BudgetName, number>>;
  /** Digests that only holders of the secret can make; the second is that of JWT_PREVIOUS_SECRET, where it is set. */
  seals(text: string): readonly string[];
  /** Encrypts what must be read again. */
  readonly sealer: Sealer;
  /** Where webhooks may lead. */
  readonly webhookAddresses: AddressRules;
  readonly log: Logger;
}
