/** The services that operations use, created once at startup and passed to every call. */
import type { Live } from '../../platform/live/live.js';
import type { MailMetrics } from '../mail/metrics.js';
import type { MailSettings } from '../mail/send.js';
import type { WebhookMetrics } from '../webhooks/metrics.js';
import type { ClockAction, DeadlineSettings } from '../rules/jobs/deadlines.js';
import type { BudgetName } from '../rules/rate-limits.js';
import type { ID_PREFIXES } from '../rules/ids.js';
import type { Bearer, Viewer } from '../rules/viewer.js';
import type { LiveEntry } from '../store/events/live-batch.js';
import type { PlatformServices } from '../../platform/call/services.js';
import type { AccessTokens } from '../../platform/security/access-token.js';
import type { Passwords } from '../../platform/security/passwords.js';
import type { RefreshTokens } from '../../platform/security/refresh-token.js';
import type { RateBudget } from '../../platform/security/rate-limit.js';
import type { AddressRules } from '../../platform/security/public-addresses.js';
import type { Encryptor } from '../../platform/security/encryption.js';
import type { Database } from '../../platform/db/database.js';
import type { Payments } from '../../platform/payments/payments.js';
import type { ReportSource, Settlement, TokenPack } from '../rules/purchases.js';
import type { KeyUses } from './sessions/key-uses.js';
import type { DatabaseWatch } from '../../platform/db/database-watch.js';

export interface PaymentSettings {
  /** Undefined if nobody can buy tokens. */
  readonly provider: Payments | undefined;
  readonly packs: readonly TokenPack[];
  readonly currency: string;
  /** The origins, besides this server's own, that buyers can return to. */
  readonly returnOrigins: readonly string[];
  recordReport(this: void, source: ReportSource, settlement: Settlement): void;
}

export interface Services extends PlatformServices<Viewer> {
  /** A separate connection, so the database can be checked even if all other connections are busy. */
  readonly probe: Database;
  readonly databaseWatch: DatabaseWatch;
  readonly live: Live<LiveEntry, Viewer>;
  readonly passwords: Passwords;
  readonly accessTokens: AccessTokens<Bearer>;
  readonly refreshTokens: RefreshTokens<(typeof ID_PREFIXES)['refreshToken']>;
  readonly keyUses: KeyUses;
  budget(this: void, name: BudgetName): RateBudget;
  /** Encrypts the secrets that the server must be able to read again. */
  readonly encryptor: Encryptor;
  /** True if only people with a confirmed email may publish and bid. */
  readonly requireVerifiedEmail: boolean;
  readonly mail: MailSettings;
  readonly payments: PaymentSettings;
  readonly mailMetrics: MailMetrics;
  readonly webhookMetrics: WebhookMetrics;
  recordClockAction(this: void, action: ClockAction): void;
  /** When people are reminded, and whether the clock acts. */
  readonly deadlines: DeadlineSettings;
  /** True if an admin can move the deadline clock, which is never possible in production. */
  readonly canAdvanceClock: boolean;
  readonly webhookAddresses: AddressRules;
}
