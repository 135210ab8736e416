/**
 * The page at /mailbox, where developers on this machine read the emails that a mail server would send. Their links let
 * anyone into an account, so the page requires the secret in the link that the server prints at startup. A cookie then
 * stores the secret. Requests that come through a proxy or with another host name are rejected.
 */
import { escapeHtml, HTML, htmlPage, TEXT_STYLES, type SiteLinks } from '../platform/http/pages/look.js';
import { openPages } from '../platform/http/pages/pages.js';
import type { Exchange } from '../platform/http/exchange.js';
import { isLocal } from '../platform/http/local.js';
import { allowPageScripts } from '../platform/http/browser-headers.js';
import { isLoopback } from '../platform/security/address.js';
import { isSecret } from '../platform/security/secrets.js';
import { selectNewestMails, type Mail } from '../market/store/accounts/mails.js';
import type { Db } from '../platform/db/database.js';
import { compose } from '../market/mail/compose.js';
import type { ComposedMail } from '../market/mail/composed-mail.js';
import type { MailSettings } from '../market/mail/send.js';

const PATH = '/mailbox';
const COOKIE = 'mailbox';
const COOKIE_SECONDS = 30 * 24 * 60 * 60;

export interface Mailbox {
  /** True if this request may open the mailbox. Others get the response for an unknown path. */
  handles(exchange: Exchange): boolean;
  send(exchange: Exchange): Promise<void>;
}

export function openMailbox(db: Db, settings: MailSettings, links: SiteLinks): Mailbox {
  const { mailboxSecret: secret } = settings;
  const script = openPages({
    [`${PATH}.js`]: { contentType: 'text/javascript; charset=utf-8', read: async () => SCRIPT },
  });
  return {
    handles: (exchange) =>
      secret !== undefined &&
      (exchange.path === PATH || script.handles(exchange.path)) &&
      isRead(exchange) &&
      isOpenedHere(exchange),
    async send(exchange) {
      if (script.handles(exchange.path)) return script.send(exchange);
      exchange.route = `GET ${PATH}`;
      if (secret === undefined) return;
      if (isSecret(new URLSearchParams(exchange.search).get('secret'), secret)) return remember(exchange, secret);
      allowPageScripts(exchange);
      exchange.response.setHeader('Cache-Control', 'no-store');
      if (!cookiesIn(exchange.header('cookie')).some((value) => isSecret(value, secret)))
        return exchange.send(403, HTML, closedPage(links));
      const mails = await selectNewestMails(db, {});
      const composed = await Promise.all(mails.map((mail) => compose(db, mail, settings, 'show')));
      const shown = mails.flatMap((mail, at) => {
        const content = composed[at];
        return content === undefined || typeof content === 'string' ? [] : [{ ...mail, ...content }];
      });
      exchange.send(200, HTML, mailboxPage(shown, links));
    },
  };
}

/** Redirects to the page without the secret, to keep the secret out of the address bar and the history. */
function remember(exchange: Exchange, secret: string): void {
  // Browsers send a cookie to every port, and another server on this machine has its own secret.
  const name = COOKIE + String(exchange.request.socket.localPort);
  const cookie = `${name}=${secret}; Path=${PATH}; Max-Age=${COOKIE_SECONDS}; HttpOnly; SameSite=Strict`;
  exchange.response.setHeader('Set-Cookie', cookie);
  exchange.response.setHeader('Location', PATH);
  exchange.send(303, HTML, '');
}

function cookiesIn(header = ''): readonly string[] {
  const pairs = header.split(';').map((pair) => pair.trim());
  return pairs.filter((pair) => pair.startsWith(COOKIE)).map((pair) => pair.slice(pair.indexOf('=') + 1));
}

const isRead = ({ request: { method } }: Exchange) => method === 'GET' || method === 'HEAD';

/** True if a browser on this machine opened the page itself. Requests from other origins have an Origin header. */
function isOpenedHere(exchange: Exchange): boolean {
  if (!isLocal(exchange) || exchange.header('origin') !== undefined) return false;
  const host = exchange.header('host') ?? '';
  return URL.canParse(`http://${host}`) && isLoopback(new URL(`http://${host}`).hostname);
}

type ShownMail = Mail & ComposedMail;

function mailboxPage(mails: readonly ShownMail[], links: SiteLinks): string {
  const body = `
    <main>
      <h1>Mailbox</h1>
      <div class="list">
        <p class="faint">This server has no mail server, so its emails stay here. Emails with expired links aren’t
          shown. To send emails, set <code>SMTP_URL</code> and <code>MAIL_FROM</code>.</p>
        <input type="search" placeholder="Search" aria-label="Search emails" hidden />
        <nav aria-label="Emails">${mails.map(entryOf).join('')}</nav>
        <p role="status">${mails.length > 0 ? '' : 'No emails yet. Sign up or reset a password to get one.'}</p>
      </div>
      <div class="open"><a class="back" href="#">Back to the list</a>${mails.map(articleOf).join('')}</div>
    </main>
    <script src="${PATH}.js" defer></script>`;
  return htmlPage({ title: 'Mailbox', styles: STYLES, body, links, path: PATH });
}

function entryOf(mail: ShownMail): string {
  return `<a href="#${mail.id}"><b>${escapeHtml(mail.subject)}</b> ${escapeHtml(mail.email)} ${timeOf(mail)}</a>`;
}

function articleOf(mail: ShownMail): string {
  const title = escapeHtml(mail.subject);
  return `<article id="${mail.id}">
        <h2>${title}</h2>
        <p class="faint">To ${escapeHtml(mail.email)}, ${timeOf(mail)}</p>
        <iframe title="${title}" loading="lazy" sandbox="allow-popups allow-popups-to-escape-sandbox"
          srcdoc="${escapeHtml(mail.html)}"></iframe>
        <details><summary>As plain text</summary><pre>${withLinks(escapeHtml(mail.text))}</pre></details>
      </article>`;
}

/** The script replaces this time with a relative one. */
function timeOf({ createdAt }: Mail): string {
  const time = createdAt.toISOString();
  return `<time datetime="${time}">${time.slice(0, 16).replace('T', ' ')} UTC</time>`;
}

function withLinks(text: string): string {
  return text.replaceAll(/^https?:\/\/\S+$/gm, (address) => `<a href="${address}">${address}</a>`);
}

const closedPage = (links: SiteLinks) =>
  htmlPage({
    title: 'Mailbox',
    styles: TEXT_STYLES,
    links,
    path: PATH,
    body: `
    <main>
      <h1>Mailbox</h1>
      <p>This page shows every email, including links into every account. Open it with the secret link that the
        server prints at startup: look for “Mailbox” in its terminal. This browser remembers it for 30 days,
        but only for the host name in the link.</p>
      <p>You can also open <code>/mailbox?secret=…</code> with the secret from <code>MAILBOX_SECRET</code>, or from the
        file <code>mailbox-secret</code> in the folder <code>DATA_DIR</code>.</p>
    </main>`,
  });

/** Without scripts, the page shows the email that its link selects. Until then, a wide window shows the newest. */
const STYLES = `${TEXT_STYLES}
      main { display: grid; grid-template-columns: 340px minmax(0, 1fr); gap: 32px; max-width: 1280px; }
      h1 { grid-column: 1 / -1; margin: 0 0 -20px; }
      .list input {
        width: 100%; padding: 8px 12px; font: inherit; color: var(--ink); background: var(--box);
        border: 1px solid var(--edge); border-radius: 6px;
      }
      .list nav { margin: 12px -12px; }
      .list nav a {
        display: block; padding: 10px 12px; border-bottom: 1px solid var(--line); color: var(--faint); font-size: 14px;
        text-decoration: none; overflow-wrap: anywhere;
      }
      .list nav a:is(:hover, [aria-current]) { background: var(--card); }
      .list nav a[aria-current] { box-shadow: inset 3px 0 var(--mark); }
      .list b { display: block; color: var(--ink); font-weight: 600; }
      .list time { float: right; }
      article h2 { margin-top: 0; }
      article:not(:target), .open:has(:target) article:not(:target), .back, [hidden] { display: none !important; }
      iframe { width: 100%; height: 620px; border: 1px solid var(--line); border-radius: 8px; background: #fff; }
      pre { white-space: pre-wrap; overflow-wrap: anywhere; }
      @media (min-width: 801px) { .open:not(:has(:target)) article:first-of-type { display: block !important; } }
      @media (max-width: 800px) {
        main { display: block; }
        h1 { margin: 0 0 12px; }
        main:has(:target) .list { display: none; }
        .open:has(:target) .back { display: inline-block !important; margin-bottom: 16px; }
      }
`;

const SCRIPT = `'use strict';
const UNITS = [['day', 86_400], ['hour', 3_600], ['minute', 60]];
const words = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const entries = [...document.querySelectorAll('.list nav a')];
const isWide = matchMedia('(min-width: 801px)');
const search = document.querySelector('.list input');

function ago(date) {
  const seconds = (Date.now() - date) / 1_000;
  const [unit, size] = UNITS.find(([, size]) => seconds >= size) ?? [];
  return unit ? words.format(-Math.floor(seconds / size), unit) : 'just now';
}

function showTimes() {
  for (const time of document.querySelectorAll('time')) {
    const date = new Date(time.dateTime);
    time.textContent = ago(date);
    time.title = date.toLocaleString('en');
  }
}

const isOpen = ({ hash }, at) =>
  hash === location.hash || (at === 0 && isWide.matches && location.hash.length < 2);

function markOpen() {
  for (const [at, entry] of entries.entries())
    entry.ariaCurrent = isOpen(entry, at) ? 'true' : null;
}

const textOf = (entry) => entry.textContent + document.querySelector(entry.hash).textContent;
search.hidden = entries.length === 0;
search.oninput = () => {
  for (const entry of entries) entry.hidden = !textOf(entry).toLowerCase().includes(search.value.trim().toLowerCase());
  const isEmpty = entries.length > 0 && entries.every(({ hidden }) => hidden);
  document.querySelector('[role=status]').textContent = isEmpty ? 'No email matches.' : '';
};
addEventListener('hashchange', markOpen);
setInterval(showTimes, 30_000);
showTimes();
markOpen();
`;
