/** Buying tokens, reading purchases, and refunding them. */
import { z } from 'zod';
import { invalidField } from '../../../platform/call/validation.js';
import { pageRequest, pageShape } from '../../../platform/call/paging.js';
import type { Db } from '../../../platform/db/database.js';
import { inWords } from '../../../platform/errors.js';
import type { Page, SamePageRequest } from '../../../platform/db/pages/page.js';
import { requiredText } from '../../../platform/fields/values.js';
import { isLoopback } from '../../../platform/security/address.js';
import { refuse } from '../../rules/errors.js';
import { idInPath } from '../../rules/id-fields.js';
import type { PurchaseId, UserId } from '../../rules/ids.js';
import { ADJUSTED_BALANCE_MAX, BALANCE_TOO_LARGE, PURCHASES, TEXT } from '../../rules/market-limits.js';
import { mayMove, PURCHASE_TRANSITIONS, refundAmount } from '../../rules/purchases.js';
import type { Viewer } from '../../rules/viewer.js';
import { recordAdminAction } from '../../store/accounts/admin-actions.js';
import { lockBalance, moveTokens } from '../../store/ledger/ledger.js';
import {
  countPurchases,
  insertPurchase,
  listPurchases as purchasesNewestFirst,
  lockPurchase,
  purchasesOfMany,
  selectLeft,
  selectOrder,
  selectPurchase,
  updatePurchase,
  type Purchase,
  type PurchaseRow,
} from '../../store/ledger/purchases.js';
import { newId } from '../../store/new-id.js';
import { assertUndisputed, lockOwnAccount, ownCredentials } from '../accounts/own-account.js';
import { operation } from '../operation.js';
import type { Services } from '../services.js';
import { ownerOf, seesTokensOf, tokenOwner } from '../tokens/tokens.js';
import { callProvider, orUnavailable, providerOf } from './provider-calls.js';

export const PURCHASES_NEWEST_FIRST = ['time', 'text'] as const;

export interface NewPurchase {
  readonly purchase: Purchase;
  readonly checkoutUrl: string | null;
}

export const buyTokens = operation({
  name: 'buyTokens',
  description:
    'Creates a purchase of a pack of tokens and returns the URL of its checkout page. You get the tokens when your ' +
    'payment arrives. If you repeat a call with the same Idempotency-Key, it returns the purchase’s current state.',
  allows: ['homeowner', 'contractor'],
  budget: 'write',
  refusals: ['NOT_CONFIGURED', 'PAYMENTS_UNAVAILABLE'],
  input: z.strictObject({
    pack: requiredText(TEXT.kind).describe('The ID of a pack in the catalog’s `tokenPacks`.'),
    returnUrl: requiredText(TEXT.url).describe(
      'The page that the checkout returns you to. It must be on this server or on an origin in CORS_ORIGINS.',
    ),
  }),
  run: ({ db, viewer, services }, input): Promise<NewPurchase> => {
    const { userId } = viewer;
    const { provider, packs, currency } = services.payments;
    if (!provider) throw notConfigured();
    return db.inTransaction(async (tx) => {
      // An undo of the email change waits until it can see the purchase.
      await lockOwnAccount(tx, viewer);
      assertUndisputed(await ownCredentials(tx, userId));
      const [account] = await lockBalance(tx, { userId });
      await assertWithinLimits(tx, userId);
      const pack = packs.find(({ id }) => id === input.pack);
      if (!pack) throw invalidField('pack', `must be one of ${packs.map(({ id }) => id).join(', ')}`);
      if (!account || account.balance + pack.tokens > ADJUSTED_BALANCE_MAX)
        throw invalidField('pack', BALANCE_TOO_LARGE);
      if (!mayReturnTo(services, input.returnUrl))
        throw invalidField(
          'returnUrl',
          'must be a URL on this server or on an origin that it allows, with at most 2,000 characters',
        );
      const { id, tokens, amount } = pack;
      const { name, livemode } = provider;
      const returnUrl = new URL(input.returnUrl).href;
      const order = { pack: id, tokens, amount, currency, returnUrl, provider: name, livemode };
      const [purchase] = await insertPurchase(tx, { id: newId('purchase'), userId, ...order });
      if (!purchase) throw new Error('A new purchase was not stored.');
      return { purchase: shownTo({ role: 'homeowner' }, purchase), checkoutUrl: null };
    });
  },
  finish: async ({ db, viewer, services }, { purchase: { id } }): Promise<NewPurchase> => {
    let purchase = await orderOf(db, id);
    if (purchase.status === 'pending' && purchase.sessionId === null) {
      if (!providerOf(services, purchase)) throw notConfigured();
      assertUndisputed(await ownCredentials(db, viewer.userId));
      await orUnavailable(callProvider(services, db, id, 'call'));
      purchase = await orderOf(db, id);
    }
    return { purchase: shownTo(viewer, purchase), checkoutUrl: purchase.checkoutUrl };
  },
});

function notConfigured() {
  return refuse('NOT_CONFIGURED', { message: 'Payments aren’t set up on this server.' });
}

/** A page on another site could imitate ours, so buyers return only to known origins. */
function mayReturnTo({ payments, mail }: Pick<Services, 'payments' | 'mail'>, text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, origin, href } = new URL(text);
  // Escaping can make a URL several times as long.
  if (!['http:', 'https:'].includes(protocol) || href.length > TEXT.url) return false;
  return payments.returnOrigins.includes(origin) || leadsToSameServer(origin, mail.addresses.origin);
}

/** In development, people open the same server as `localhost` and as `127.0.0.1`. */
function leadsToSameServer(first: string, second: string): boolean {
  const [one, other] = [new URL(first), new URL(second)];
  const areLocal = isLoopback(one.hostname) && isLoopback(other.hostname);
  return areLocal ? one.protocol === other.protocol && one.port === other.port : one.origin === other.origin;
}

/**
 * The balance's lock prevents two purchases of the same user from passing at the same time. A repeat with the same key
 * returns its purchase before it gets here.
 */
async function assertWithinLimits(tx: Db, userId: UserId): Promise<void> {
  const [counts] = await countPurchases(tx, { userId });
  const { openMax, perDayMax } = PURCHASES;
  const limited = (what: string, seconds: number) => {
    const retryAfter = Math.max(1, seconds);
    const message = `${what} Try again in ${inWords(retryAfter)}.`;
    return refuse('RATE_LIMITED', { message, details: { retryAfter, limit: 'purchases' } });
  };
  if (counts && counts.open >= openMax)
    throw limited(`You have ${openMax} open purchases. Pay for one, or wait until one expires.`, counts.openSeconds);
  if (counts && counts.today >= perDayMax)
    throw limited(`You can make ${perDayMax} purchases in 24 hours.`, counts.todaySeconds);
}

async function orderOf(db: Db, id: PurchaseId): Promise<PurchaseRow> {
  const [row] = await selectOrder(db, { id });
  if (!row) throw new Error('A purchase could not be read back.');
  return row;
}

/** Only admins see that a chargeback is open. */
function shownTo({ role }: Pick<Viewer, 'role'>, purchase: Purchase): Purchase {
  return role === 'admin' ? purchase : { ...purchase, disputedAt: null };
}

export const listPurchases = operation({
  name: 'purchases',
  description: 'Lists your token purchases, newest first. Admins can list any user’s purchases.',
  allows: 'signed in',
  budget: 'read',
  refusals: ['FORBIDDEN'],
  input: z.strictObject({ ...tokenOwner, ...pageShape }),
  async run({ db, viewer, include }, input) {
    const request = pageRequest(input, PURCHASES_NEWEST_FIRST, include);
    const page = await purchasesNewestFirst(db, { userId: ownerOf(viewer, input) }, request);
    return { ...page, rows: page.rows.map((row) => shownTo(viewer, row)) };
  },
});

/** Leaves out users whose tokens the viewer can't see. */
export async function readPurchasesOfMany(db: Db, viewer: Viewer, ids: readonly UserId[], request: SamePageRequest) {
  const visibleIds = ids.filter((id) => seesTokensOf(viewer, id));
  const pages =
    visibleIds.length > 0 ? await purchasesOfMany(db, visibleIds, request) : new Map<UserId, Page<Purchase>>();
  return new Map([...pages].map(([id, page]) => [id, { ...page, rows: page.rows.map((row) => shownTo(viewer, row)) }]));
}

const purchaseInput = z.strictObject({ id: idInPath('purchase').describe('The purchase.') });

export const readPurchase = operation({
  name: 'purchase',
  description: 'Returns a purchase. Only its buyer and admins can read it.',
  allows: 'signed in',
  budget: 'read',
  input: purchaseInput,
  async run({ db, viewer }, { id }): Promise<Purchase> {
    const [purchase] = await selectPurchase(db, { id });
    if (!purchase) throw notFound();
    if (!seesTokensOf(viewer, purchase.userId))
      throw refuse('FORBIDDEN', { message: 'You don’t have access to this purchase.' });
    return shownTo(viewer, purchase);
  },
});

function notFound() {
  return refuse('NOT_FOUND', { message: 'Purchase not found.' });
}

export const refundPurchase = operation({
  name: 'refundPurchase',
  description:
    'Refunds a purchase, fully or partially. The tokens are taken back first. If the payment provider refuses the ' +
    'refund, the user gets the tokens back. If you repeat a call with the same Idempotency-Key, it returns the ' +
    'purchase’s current state.',
  allows: ['admin'],
  budget: 'write',
  refusals: ['INVALID_TRANSITION', 'INSUFFICIENT_TOKENS', 'NOT_CONFIGURED', 'PAYMENTS_UNAVAILABLE'],
  input: purchaseInput.extend({
    tokens: z
      .int()
      .min(1)
      .max(PURCHASES.packTokensMax)
      .nullish()
      .describe(
        'The number of tokens to take back. By default, all of the purchase’s tokens that are still available.',
      ),
    reason: requiredText(TEXT.note).describe(
      'The reason. It’s stored permanently with the transfer, so don’t include private information.',
    ),
  }),
  run: ({ db, viewer, services }, { id, tokens, reason }): Promise<Purchase> =>
    db.inTransaction(async (tx) => {
      const [purchase] = await lockPurchase(tx, { id });
      if (!purchase) throw notFound();
      if (!providerOf(services, purchase)) throw notConfigured();
      assertRefundable(purchase);
      const { userId } = purchase;
      const refund = await refundedNow(tx, purchase, tokens);
      const transfer = await moveTokens(tx, {
        userId,
        change: -refund.tokens,
        bought: refund.tokens,
        reason: 'purchase_refund',
        purchaseId: id,
        actorId: viewer.userId,
        note: reason,
      });
      await updatePurchase(tx, purchase, {
        status: PURCHASE_TRANSITIONS.beginRefund.to,
        refundingTokens: refund.tokens,
        refundingAmount: refund.amount,
        refundTransferId: transfer.id,
        // If this call can't reach the provider, the server tries again later.
        lookAfterSeconds: PURCHASES.checkEveryMinutes * 60,
      });
      const action = { action: 'refundPurchase', subjectId: userId, reason, amount: -refund.tokens };
      const [[changed]] = await tx.commitWith(selectPurchase(tx, { id }), recordAdminAction(tx, viewer, action));
      return changed ?? purchase;
    }),
  finish: async ({ db, services }, { id }): Promise<Purchase> => {
    if ((await orderOf(db, id)).refundingTokens > 0) await orUnavailable(callProvider(services, db, id, 'call'));
    return orderOf(db, id);
  },
});

function assertRefundable({ status, disputeId }: PurchaseRow): void {
  const message = !mayMove('beginRefund', status)
    ? 'Only a paid purchase can be refunded.'
    : 'The purchase has an open chargeback, so it can’t be refunded.';
  if (!mayMove('beginRefund', status) || disputeId !== null)
    throw refuse('INVALID_TRANSITION', { message, details: { fromState: status } });
}

/**
 * The tokens that this refund takes back, and the money that it returns. It takes back only tokens that are left from
 * the purchase and available.
 */
async function refundedNow(tx: Db, purchase: PurchaseRow, asked: number | null | undefined) {
  const [account] = await lockBalance(tx, { userId: purchase.userId });
  const [own] = await selectLeft(tx, { id: purchase.id });
  const available = Math.min(own?.left ?? 0, account?.available ?? 0);
  const tokens = asked ?? available;
  if (tokens === 0 || tokens > available)
    throw refuse('INSUFFICIENT_TOKENS', {
      message: `Only ${available} of this purchase’s tokens are still available.`,
      details: { required: Math.max(1, tokens), available },
    });
  const amount = refundAmount(purchase, tokens);
  if (amount === 0) throw invalidField('tokens', 'are worth less than the currency’s smallest unit');
  return { tokens, amount };
}
