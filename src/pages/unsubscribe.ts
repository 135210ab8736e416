/**
 * The page for unsubscribe links in emails. It works without a session, because a link's token can only turn emails
 * off. Scanners open every link, so only a POST unsubscribes. Both the page's button and mail programs (RFC 8058) send
 * one.
 */
import { readUnsubscribeToken, titlesOf, UNSUBSCRIBE_PATH } from '../market/mail/unsubscribe.js';
import { turnOffEmails } from '../market/store/notifications/notification-emails.js';
import type { Database } from '../platform/db/database.js';
import { asArray } from '../platform/db/statement.js';
import { refuse } from '../platform/errors.js';
import { escapeHtml, HTML, htmlPage, TEXT_STYLES, type SiteLinks } from '../platform/http/pages/look.js';
import type { Pages } from '../platform/http/pages/pages.js';
import { allowStyles } from '../platform/http/browser-headers.js';
import type { LinkTokens } from '../platform/security/link-tokens.js';

interface UnsubscribePageOptions {
  readonly db: Pick<Database, 'of'>;
  readonly tokens: LinkTokens;
  readonly links: SiteLinks;
  /** Where people log in. By default, that's this server. */
  readonly appOrigin: string | undefined;
}

const METHODS = ['GET', 'HEAD', 'POST'];

export function openUnsubscribePage({ db, tokens, links, appOrigin = '/' }: UnsubscribePageOptions): Pages {
  const app = `<a href="${escapeHtml(appOrigin)}">Job Marketplace</a>`;
  return {
    handles: (path) => path.startsWith(UNSUBSCRIBE_PATH),
    async send(exchange) {
      const isPost = exchange.method === 'POST';
      exchange.route = `${isPost ? 'POST' : 'GET'} ${UNSUBSCRIBE_PATH}{token}`;
      if (!METHODS.includes(exchange.method))
        throw refuse('METHOD_NOT_ALLOWED', { details: { allowedMethods: METHODS } });
      const sendPage = (status: number, title: string, body: string) => {
        allowStyles(exchange);
        exchange.send(status, HTML, htmlPage({ title, styles: STYLES, links, body: main(title, body) }));
      };
      const link = readUnsubscribeToken(tokens, exchange.path.slice(UNSUBSCRIBE_PATH.length));
      if (!link) return sendPage(404, 'Unknown link', `<p>${UNKNOWN}</p><p>${settingsIn(app)}</p>`);
      const titles = `<ul>${titlesOf(link)
        .map((title) => `<li>${escapeHtml(title)}</li>`)
        .join('')}</ul>`;
      if (!isPost)
        return sendPage(200, 'Unsubscribe', `<p>${QUESTION}</p>${titles}${BUTTON}<p class="faint">${STAYS}</p>`);
      await turnOffEmails(db.of(exchange.client), { userId: link.userId, types: asArray(link.types) });
      sendPage(200, 'You’re unsubscribed', `<p>${DONE}</p>${titles}<p>${STAYS} ${settingsIn(app)}</p>`);
    },
  };
}

const UNKNOWN = 'This link is incomplete or no longer works. Try opening it from the email again.';
const QUESTION = 'Do you want to stop getting these emails?';
const DONE = 'We’ll no longer send you these emails:';
const STAYS = 'You’ll still get these notifications in your feed.';
const BUTTON = '<form method="post"><button>Unsubscribe</button></form>';

const settingsIn = (app: string) => `You can turn emails on and off in your notification settings at ${app}.`;

const main = (title: string, body: string) => `
    <main>
      <h1>${title}</h1>
      ${body}
    </main>`;

const STYLES = `${TEXT_STYLES}
      main { max-width: 480px; }
      button {
        margin: 12px 0; padding: 10px 18px; font: inherit; font-weight: 600; color: #fff; background: #b93a08;
        border: 0; border-radius: 6px; cursor: pointer;
      }
`;
