/** Hands a mail to the mail server, or keeps it for the page at /mailbox where there is none. */
import { createTransport, type NodemailerError } from 'nodemailer';
import { MAIL } from '../rules/limits.js';
import { isLoopback } from '../security/address.js';
import type { Mail } from '../store/mails.js';
import type { ComposedMail } from './compose.js';

/** `refused`: the address, for good. */
export type SendOutcome = 'sent' | 'refused' | 'stopped' | SendFailure;

/** Why it was not sent. No address: what a server answers may hold one. */
export interface SendFailure {
  readonly code: string;
  readonly command: string | undefined;
  readonly responseCode: number | undefined;
  /** Whether it is not to be sent again. */
  readonly isFinal: boolean;
}

export type SendMail = (mail: Mail, composed: ComposedMail, stop: AbortSignal) => Promise<SendOutcome>;

export interface MailServer {
  readonly url: string;
  readonly from: string;
}

export function createSender({ url, from }: MailServer): SendMail {
  const domain = from.slice(from.lastIndexOf('@') + 1);
  const transport = createTransport({
    // A server elsewhere gets neither password nor links in the clear, unless the URL itself allows it.
    requireTLS: !isLoopback(new URL(url).hostname),
    connectionTimeout: MAIL.connectMs,
    greetingTimeout: MAIL.connectMs,
    socketTimeout: MAIL.silenceMs,
    url,
  });
  return async ({ id, email }, { subject, text, html }, stop) => {
    try {
      await transport.sendMail({
        messageId: `<${id}@${domain}>`,
        from: { address: from, name: 'Job Marketplace' },
        to: { address: email, name: '' },
        envelope: { from, to: [email] },
        headers: { 'Auto-Submitted': 'auto-generated' },
        subject,
        text,
        html,
        disableFileAccess: true,
        disableUrlAccess: true,
        signal: AbortSignal.any([stop, AbortSignal.timeout(MAIL.sendMs)]),
      });
      return 'sent';
    } catch (error) {
      if (stop.aborted) return 'stopped';
      const { code = 'UNKNOWN', command, responseCode, permanent } = error as Partial<NodemailerError>;
      // Only what is answered to the recipient is about the address; what is answered to the message, about that.
      if (permanent === true && command === 'RCPT TO') return 'refused';
      return { code, command, responseCode, isFinal: permanent === true && command === 'DATA' };
    }
  };
}

/** Where there is no mail server, `/mailbox` shows what was sent. */
export const keepForMailbox: SendMail = async () => 'sent';
