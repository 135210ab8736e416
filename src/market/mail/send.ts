/** Passes an email to the mail server. Without one, keeps it for the page at /mailbox. */
import { createTransport, type NodemailerError } from 'nodemailer';
import { MAIL } from '../rules/market-limits.js';
import { withEitherSignal } from '../../platform/queue/either-signal.js';
import { isLoopback } from '../../platform/security/address.js';
import type { LinkTokens } from '../../platform/security/link-tokens.js';
import type { Mail } from '../store/accounts/mails.js';
import type { ComposedMail, LinkAddresses } from './composed-mail.js';

export type SendOutcome = 'sent' | 'stopped' | SendFailure;

/** Why an email wasn't sent. Leaves out the server's response, which may contain the recipient's address. */
export interface SendFailure {
  readonly code: string;
  readonly command: string | undefined;
  readonly responseCode: number | undefined;
  /** `refused` if the address was rejected, `given_up` if the email itself was. Undefined if a retry may work. */
  readonly end: 'refused' | 'given_up' | undefined;
}

export type SendMail = (mail: Mail, composed: ComposedMail, stop: AbortSignal) => Promise<SendOutcome>;

export interface MailServer {
  readonly url: string;
  readonly from: { readonly name: string; readonly address: string };
}

export interface Sender {
  readonly send: SendMail;
  /** Connects and logs in without sending anything. Returns the failure, if any. */
  check(): Promise<SendFailure | undefined>;
}

export interface MailSettings extends Sender {
  /** True if people can read the emails, in their inboxes or at /mailbox. */
  readonly isOn: boolean;
  /** The secret in the link to /mailbox. Undefined if there's no mailbox. */
  readonly mailboxSecret: string | undefined;
  readonly tokens: LinkTokens;
  readonly addresses: LinkAddresses;
}

export function createSender({ url, from: { address, name } }: MailServer): Sender {
  const domain = address.slice(address.lastIndexOf('@') + 1);
  const transport = createTransport({
    // Sends the password and the links to another machine only over TLS, unless the URL turns TLS off.
    requireTLS: !isLoopback(new URL(url).hostname),
    connectionTimeout: MAIL.connectMs,
    greetingTimeout: MAIL.connectMs,
    socketTimeout: MAIL.silenceMs,
    url,
  });
  const send: SendMail = async ({ id, email }, { subject, text, html, unsubscribe }, stop) => {
    try {
      const message = {
        messageId: `<${id}@${domain}>`,
        from: { address, name: name || 'Job Marketplace' },
        to: { address: email, name: '' },
        envelope: { from: address, to: [email] },
        headers: { 'Auto-Submitted': 'auto-generated', ...(unsubscribe && unsubscribeHeaders(unsubscribe)) },
        subject,
        text,
        html,
        disableFileAccess: true,
        disableUrlAccess: true,
      };
      await withEitherSignal(AbortSignal.timeout(MAIL.sendMs), stop, (signal) =>
        transport.sendMail({ ...message, signal }),
      );
      return 'sent';
    } catch (error) {
      if (stop.aborted) return 'stopped';
      return failureOf(error as Partial<NodemailerError>);
    }
  };
  return {
    send,
    check: () =>
      transport.verify().then(
        () => undefined,
        (error: unknown) => failureOf(error as Partial<NodemailerError>),
      ),
  };
}

/** With these headers, mail programs show a button that unsubscribes with one click (RFC 8058). */
function unsubscribeHeaders(link: string): Record<string, string> {
  return { 'List-Unsubscribe': `<${link}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' };
}

function failureOf(error: Partial<NodemailerError>): SendFailure {
  const { code = 'UNKNOWN', command, responseCode } = error;
  return { code, command, responseCode, end: endAfter(error) };
}

/** Only a rejected recipient counts against the address. */
function endAfter({ command, permanent, response = '' }: Partial<NodemailerError>): SendFailure['end'] {
  if (permanent !== true) return undefined;
  if (command === 'DATA') return 'given_up';
  // A 5.7.x status is about this server or MAIL_FROM: a block list, a policy, or required authentication.
  return command === 'RCPT TO' && !/\b5\.7\.\d/.test(response) ? 'refused' : undefined;
}

/** Used without a mail server. The page at `/mailbox` then shows the emails. */
export const keepForMailbox: Sender = { send: async () => 'sent', check: async () => undefined };
