/**
 * The page at /mailbox: the mails that went out while there is no mail server, for whoever develops on this machine.
 * Their links let anyone into an account, so the page opens only with a secret link, which the server prints at
 * startup. A cookie remembers it. Requests through proxies on this machine or with other host names are rejected if
 * they can be recognized, and don't have the secret anyway.
 */
import { escapeHtml, HTML, htmlPage, ICON, TEXT_STYLES } from '../platform/http/pages/look.js';
import type { Exchange } from '../platform/http/exchange.js';
import { isLocal } from '../platform/http/local.js';
import { allowStyles } from '../platform/http/policy.js';
import { isLoopback } from '../platform/security/address.js';
import { isSecret } from '../platform/security/secrets.js';
import { selectNewestMails, type Mail } from '../market/store/accounts/mails.js';
import type { Db } from '../platform/db/database.js';
import { compose, type ComposedMail } from '../market/mail/compose.js';
import type { MailSettings } from '../market/mail/send.js';

const PATH = '/mailbox';
const COOKIE = 'mailbox';
const COOKIE_SECONDS = 30 * 24 * 60 * 60;

export interface Mailbox {
  /** False for whoever it is not for: they get what any unknown address answers. */
  handles(exchange: Exchange): boolean;
  send(exchange: Exchange): Promise<void>;
}

export function openMailbox(db: Db, { mailboxSecret: secret, tokens, addresses }: MailSettings): Mailbox {
  return {
    handles: (exchange) => secret !== undefined && exchange.path === PATH && isRead(exchange) && isOpenedHere(exchange),
    async send(exchange) {
      exchange.route = `GET ${PATH}`;
      if (secret === undefined) return;
      if (isSecret(new URLSearchParams(exchange.search).get('secret'), secret)) return remember(exchange, secret);
      allowStyles(exchange);
      if (!isSecret(cookieIn(exchange.header('cookie')), secret)) return exchange.send(403, HTML, CLOSED_PAGE);
      const mails = await selectNewestMails(db, {});
      const entries = mails.flatMap((mail) => {
        const composed = compose(mail, tokens, addresses);
        return typeof composed === 'string' ? [] : [entryOf(mail, composed)];
      });
      exchange.send(200, HTML, mailboxPage(entries));
    },
  };
}

/** Redirects, so that the browser's address bar and history don't contain the secret. */
function remember(exchange: Exchange, secret: string): void {
  const cookie = `${COOKIE}=${secret}; Path=${PATH}; Max-Age=${COOKIE_SECONDS}; HttpOnly; SameSite=Strict`;
  exchange.response.setHeader('Set-Cookie', cookie);
  exchange.response.setHeader('Location', PATH);
  exchange.send(303, HTML, '');
}

function cookieIn(header = ''): string | undefined {
  const pairs = header.split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${COOKIE}=`))?.slice(COOKIE.length + 1);
}

const isRead = ({ request: { method } }: Exchange) => method === 'GET' || method === 'HEAD';

/** A page of another origin says so when it asks, be it one that may call. */
function isOpenedHere(exchange: Exchange): boolean {
  if (!isLocal(exchange) || exchange.header('origin') !== undefined) return false;
  const host = exchange.header('host') ?? '';
  return URL.canParse(`http://${host}`) && isLoopback(new URL(`http://${host}`).hostname);
}

function entryOf({ id, email, createdAt }: Mail, { subject, text, html }: ComposedMail): string {
  const title = escapeHtml(subject);
  return `<article id="${id}">
        <h2>${title}</h2>
        <p class="faint">To ${escapeHtml(email)}, ${createdAt.toISOString()}</p>
        <iframe title="${title}" sandbox="allow-popups allow-popups-to-escape-sandbox" srcdoc="${escapeHtml(html)}">
        </iframe>
        <details><summary>As plain text</summary><pre>${withLinks(escapeHtml(text))}</pre></details>
      </article>`;
}

function withLinks(text: string): string {
  return text.replaceAll(/^https?:\/\/\S+$/gm, (address) => `<a href="${address}">${address}</a>`);
}

const CLOSED_PAGE = htmlPage({
  title: 'Mailbox',
  styles: TEXT_STYLES,
  body: `
    <main>
      <h1>${ICON} Mailbox</h1>
      <p>This page shows every email, including links into every account. Open it with the secret link that the
        server prints at startup: look for “Mailbox” in its terminal. This browser remembers it for 30 days.</p>
      <p>You can also open <code>/mailbox?secret=…</code> with the secret from <code>MAILBOX_SECRET</code>, or from the
        file <code>mailbox-secret</code> in the folder <code>DATA_DIR</code>.</p>
    </main>`,
});

function mailboxPage(entries: readonly string[]): string {
  const body = `
    <main>
      <h1>${ICON} Mailbox</h1>
      <p>There is no mail server here, so that mails stay on this page, the newest first. Those whose link has expired
        are not shown. Set <code>SMTP_URL</code> and <code>MAIL_FROM</code> to have them sent.</p>
      ${entries.length > 0 ? entries.join('\n') : '<p>There are no mails yet.</p>'}
    </main>`;
  return htmlPage({ title: 'Mailbox', styles: STYLES, body });
}

const STYLES = `${TEXT_STYLES}
      article { border-top: 1px solid var(--line); padding: 8px 0 16px; }
      iframe { width: 100%; height: 560px; border: 1px solid var(--line); border-radius: 9px; }
      pre { white-space: pre-wrap; overflow-wrap: anywhere; }
`;
