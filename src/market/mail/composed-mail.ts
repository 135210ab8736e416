/** An email's content, and the settings for composing it. */
import type { LinkTokens } from '../../platform/security/link-tokens.js';
import type { LinkPage } from '../rules/people/mail-kinds.js';

/** The URLs in emails: pages of this server, or of your own app with `{token}` in the URL. */
export interface LinkAddresses {
  /** The URL where people reach this server. Set once the server listens. */
  origin: string;
  readonly pages: Partial<Readonly<Record<LinkPage, string | undefined>>>;
  /** Your app's page for a job, with `{id}` in the URL. */
  readonly job: string | undefined;
}

export interface ComposedMail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The link that turns off emails of this kind. */
  readonly unsubscribe?: string | undefined;
  /** True if the recipient gets at most one such email per hour. */
  readonly isHourly?: boolean;
}

export type Uncomposed = 'nobody' | 'no token';

export interface ComposeSettings {
  readonly tokens: LinkTokens;
  readonly addresses: LinkAddresses;
}
