/** How this server sends email, according to its configuration. */
import { isOnlyLocal, type Config } from './config.js';
import { createLinkTokens } from '../platform/security/link-tokens.js';
import { keptSecret } from '../platform/security/secrets.js';
import { createSender, keepForMailbox, type MailSettings } from '../market/mail/send.js';

export function mailSettings(config: Config, secret: string): MailSettings {
  const { SMTP_URL: url, MAIL_FROM: from } = config;
  const server = url !== undefined && from !== undefined ? { url, from } : undefined;
  return {
    isOn: server !== undefined || hasMailbox(config),
    ...(server ? createSender(server) : keepForMailbox),
    mailboxSecret: mailboxSecretOf(config),
    tokens: createLinkTokens(secret, config.JWT_PREVIOUS_SECRET),
    addresses: {
      origin: config.PUBLIC_URL ?? `http://${config.HOST}:${config.PORT}`,
      pages: { '/reset-password': config.APP_RESET_URL, '/verify-email': config.APP_VERIFY_URL },
      job: config.APP_JOB_URL,
    },
  };
}

export function mailboxLink(url: string, config: Config): string | undefined {
  const secret = mailboxSecretOf(config);
  return secret && `${url}/mailbox?secret=${secret}`;
}

function mailboxSecretOf(config: Config): string | undefined {
  return hasMailbox(config) ? (config.MAILBOX_SECRET ?? keptSecret(config.DATA_DIR, 'mailbox-secret')) : undefined;
}

/** True if no mail server is set, so browsers on this machine can read emails at /mailbox. */
function hasMailbox(config: Config): boolean {
  return config.SMTP_URL === undefined && isOnlyLocal(config);
}
