/**
 * The local checkout page, for development without a payment provider. Nothing is charged. Only browsers on this
 * machine can open it.
 */
import { settleAndTell } from '../market/operations/purchases/provider-calls.js';
import type { Services } from '../market/operations/services.js';
import { isId, type PurchaseId } from '../market/rules/ids.js';
import { choosePayment, selectOrder, type PurchaseRow } from '../market/store/ledger/purchases.js';
import type { Db } from '../platform/db/database.js';
import { refuse } from '../platform/errors.js';
import type { Exchange } from '../platform/http/exchange.js';
import { isLocal } from '../platform/http/local.js';
import { escapeHtml, HTML, htmlPage, TEXT_STYLES, type SiteLinks } from '../platform/http/pages/look.js';
import type { Pages } from '../platform/http/pages/pages.js';
import { allowStyles } from '../platform/http/browser-headers.js';
import { isLoopback } from '../platform/security/address.js';
import { LOCAL_CHECKOUT_PATH, localCheckout, localPaymentOf } from '../platform/payments/local.js';

const METHODS = ['GET', 'HEAD', 'POST'];
const FORM_BYTES_MAX = 1_000;

export function openCheckoutPage(services: Services, links: SiteLinks): Pages {
  async function send(exchange: Exchange): Promise<void> {
    const isPost = exchange.method === 'POST';
    exchange.route = `${isPost ? 'POST' : 'GET'} ${LOCAL_CHECKOUT_PATH}{id}`;
    if (!METHODS.includes(exchange.method))
      throw refuse('METHOD_NOT_ALLOWED', { details: { allowedMethods: METHODS } });
    if (!isLocal(exchange) || !isSameOrigin(exchange)) throw refuse('FORBIDDEN', { message: ONLY_HERE });
    const id = exchange.path.slice(LOCAL_CHECKOUT_PATH.length);
    const db = services.db.of(exchange.client);
    if (isPost && isId('purchase', id)) await choose(db, id, String(await exchange.body(FORM_BYTES_MAX)));
    const [purchase] = isId('purchase', id) ? await selectOrder(db, { id }) : [];
    if (purchase?.provider !== 'local') throw refuse('NOT_FOUND', { message: 'Purchase not found.' });
    allowStyles(exchange);
    // With the other pages’ policy, `no-referrer`, browsers would send the form with `Origin: null`.
    exchange.response.setHeader('Referrer-Policy', 'same-origin');
    exchange.send(200, HTML, htmlPage({ title: 'Checkout', styles: STYLES, links, body: pageOf(purchase) }));
  }

  async function choose(db: Db, id: PurchaseId, form: string): Promise<void> {
    const choice = new URLSearchParams(form).get('choice');
    const [purchase] = await selectOrder(db, { id });
    if (purchase?.provider !== 'local' || purchase.sessionId === null) return;
    // Works like a bank transfer. The next lookup finds the payment.
    if (choice === 'later') return void (await choosePayment(db, { id, paymentId: localPaymentOf(purchase) }));
    const isOver = purchase.expiresAt.getTime() <= Date.now();
    const outcome = isOver ? 'expired' : choice === 'pay' ? 'paid' : choice === 'fail' ? 'failed' : 'open';
    const checkout = localCheckout({ ...purchase, title: '', sessionId: purchase.sessionId }, outcome);
    await settleAndTell(services, db, id, checkout, 'page');
  }

  return {
    handles: (path) => services.payments.provider?.name === 'local' && path.startsWith(LOCAL_CHECKOUT_PATH),
    send,
  };
}

const ONLY_HERE = 'Only a browser on this machine can open this page.';

/** Another site's page can't pay here, even if its name leads to this machine. */
function isSameOrigin(exchange: Exchange): boolean {
  const host = exchange.header('host') ?? '';
  const [own, origin] = [`http://${host}`, exchange.header('origin')];
  if (!URL.canParse(own) || !isLoopback(new URL(own).hostname)) return false;
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === host);
}

function pageOf(purchase: PurchaseRow): string {
  const { tokens, amount, currency, returnUrl, status, paymentId } = purchase;
  const format = new Intl.NumberFormat('en', { style: 'currency', currency });
  const price = format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
  const isOpen = status === 'pending' && paymentId === null;
  const buttons = CHOICES.map(([choice, label]) => `<button name="choice" value="${choice}">${label}</button>`);
  return `
    <main>
      <h1>Buy ${tokens} tokens</h1>
      <p class="price">${price}</p>
      ${
        isOpen
          ? `<form method="post">${buttons.join('\n        ')}</form>`
          : `<p role="status">${paymentId !== null && status === 'pending' ? LATER : OUTCOMES[status]}</p>`
      }
      <p><a href="${escapeHtml(returnUrl)}">${isOpen ? 'Cancel and go back' : 'Go back to the app'}</a></p>
      <p class="faint">During development, this page replaces the payment provider’s. Nothing is charged.</p>
    </main>`;
}

const CHOICES = [
  ['pay', 'Pay'],
  ['fail', 'Fail'],
  ['later', 'Pay later'],
] as const;

const LATER = 'Your payment is on its way. Your tokens will be credited within two minutes.';
const OUTCOMES: Readonly<Record<PurchaseRow['status'], string>> = {
  pending: 'You haven’t paid yet.',
  paid: 'You paid, and your tokens were credited.',
  failed: 'The payment failed. Nothing was charged.',
  expired: 'This checkout has expired. Nothing was charged.',
  refunding: 'This purchase is being refunded.',
  refunded: 'This purchase was refunded.',
  charged_back: 'This payment was charged back.',
};

const STYLES = `${TEXT_STYLES}
      main { max-width: 480px; }
      .price { font-size: 22px; font-weight: 600; margin: 0 0 12px; }
      button {
        margin: 12px 8px 12px 0; padding: 10px 18px; font: inherit; font-weight: 600; color: #fff; background: #b93a08;
        border: 0; border-radius: 6px; cursor: pointer;
      }
      button:not(:first-child) { color: var(--ink); background: var(--card); box-shadow: inset 0 0 0 1px var(--edge); }
`;
