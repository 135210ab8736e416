/** Buying tokens, reading purchases, and refunding them. */
import { z } from 'zod';
import { invalidField } from '../../../platform/call/validation.js';
import { pageRequest, pageShape } from '../../../platform/call/paging.js';
import type { Db } from '../../../platform/db/database.js';
import type { Page, SamePageRequest } from '../../../platform/db/pages/page.js';
import { requiredText } from '../../../platform/fields/values.js';
import { isLoopback } from '../../../platform/security/address.js';
import { refuse } from '../../rules/errors.js';
import { idInPath } from '../../rules/id-fields.js';
import type { PurchaseId, UserId } from '../../rules/ids.js';
import { ADJUSTED_BALANCE_MAX, PURCHASES, TEXT } from '../../rules/market-limits.js';
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
import { operation } from '../operation.js';
import type { Services } from '../services.js';
import { ownerOf, seesTokensOf, whose } from '../tokens/tokens.js';
import { callProvider, orUnavailable, providerOf } from './provider-calls.js';

export const PURCHASES_NEWEST_FIRST = ['time', 'text'] as const;

export interface NewPurchase {
  readonly purchase: Purchase;
  readonly checkoutUrl: string | null;
}

export const buyTokens = operation({
  name: 'buyTokens',
  description:
    'Creates a purchase of a pack of tokens, and returns the page where you pay. You get the tokens once the payment ' +
    'has arrived. A repeat with the same Idempotency-Key returns the purchase as it is then.',
  allows: ['homeowner', 'contractor'],
  budget: 'write',
  refusals: ['NOT_CONFIGURED', 'PAYMENTS_UNAVAILABLE'],
  input: z.strictObject({
    pack: requiredText(TEXT.kind).describe('The ID of a pack in the catalog’s `tokenPacks`.'),
    returnUrl: requiredText(TEXT.url).describe(
      'The page to open after the payment. It must be on this server or on an origin in CORS_ORIGINS.',
    ),
  }),
  run: ({ db, viewer: { userId }, services }, input): Promise<NewPurchase> => {
    const { provider, packs, currency } = services.payments;
    if (!provider) throw notConfigured();
    const pack = packs.find(({ id }) => id === input.pack);
    if (!pack) throw invalidField('pack', `must be one of ${packs.map(({ id }) => id).join(', ')}`);
    if (!mayReturnTo(services, input.returnUrl))
      throw invalidField('returnUrl', 'must be on this server or on an origin that this server allows');
    return db.inTransaction(async (tx) => {
      await assertMayBuy(tx, userId, pack.tokens);
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
      await orUnavailable(callProvider(services, db, id, 'call'));
      purchase = await orderOf(db, id);
    }
    return { purchase: shownTo(viewer, purchase), checkoutUrl: purchase.checkoutUrl };
  },
});

function notConfigured() {
  return refuse('NOT_CONFIGURED', { message: 'Nobody can buy tokens on this server, because it has no payments.' });
}

/** A page elsewhere could look like ours, so the buyer returns only to known ones. */
function mayReturnTo({ payments, mail }: Pick<Services, 'payments' | 'mail'>, text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, origin } = new URL(text);
  if (!['http:', 'https:'].includes(protocol)) return false;
  return payments.returnOrigins.includes(origin) || isSameOrigin(origin, mail.addresses.origin);
}

/** In development, people open the same server as `localhost` and as `127.0.0.1`. */
function isSameOrigin(first: string, second: string): boolean {
  const [one, other] = [new URL(first), new URL(second)];
  const areLocal = isLoopback(one.hostname) && isLoopback(other.hostname);
  return areLocal ? one.protocol === other.protocol && one.port === other.port : one.origin === other.origin;
}

/** The balance's lock makes a person's purchases take turns. */
async function assertMayBuy(tx: Db, userId: UserId, tokens: number): Promise<void> {
  const [account] = await lockBalance(tx, { userId });
  const [counts] = await countPurchases(tx, { userId });
  if (!account || !counts) throw new Error('A user without a balance wants to buy tokens.');
  const { openMax, perDayMax, openMinutes } = PURCHASES;
  if (account.balance + tokens > ADJUSTED_BALANCE_MAX)
    throw invalidField('pack', 'would make the balance larger than the maximum, 2,000,000,000');
  if (counts.open >= openMax)
    throw refuse('VALIDATION_FAILED', {
      message: `You have ${openMax} open purchases, which is the maximum. They expire after ${openMinutes} minutes.`,
    });
  if (counts.today >= perDayMax)
    throw refuse('RATE_LIMITED', {
      message: `You can make ${perDayMax} purchases per day.`,
      details: { retryAfter: Math.max(1, counts.seconds), limit: 'purchases' },
    });
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
  description: 'Lists your purchases of tokens, newest first. Admins can list any user’s purchases.',
  allows: 'signed in',
  budget: 'read',
  refusals: ['FORBIDDEN'],
  input: z.strictObject({ ...whose, ...pageShape }),
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
  description: 'Returns a purchase. Only its user and admins can read it.',
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
    'Refunds a purchase, or a part of it. The tokens are taken back first. If the payment provider refuses the ' +
    'refund, the user gets them back. A repeat with the same Idempotency-Key returns the purchase as it is then.',
  allows: ['admin'],
  budget: 'write',
  refusals: ['INVALID_TRANSITION', 'INSUFFICIENT_TOKENS', 'NOT_CONFIGURED', 'PAYMENTS_UNAVAILABLE'],
  input: purchaseInput.extend({
    tokens: z
      .int()
      .min(1)
      .max(PURCHASES.packTokensMax)
      .nullish()
      .describe('The number of tokens to take back. By default, all that are left from the purchase and available.'),
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
        lookAfterSeconds: PURCHASES.lookEveryMinutes * 60,
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

/** What this refund takes back: at most the tokens that are left from the purchase and available. */
async function refundedNow(tx: Db, purchase: PurchaseRow, asked: number | null | undefined) {
  const [account] = await lockBalance(tx, { userId: purchase.userId });
  const [own] = await selectLeft(tx, { id: purchase.id });
  const available = Math.min(own?.left ?? 0, account?.available ?? 0);
  const tokens = asked ?? available;
  if (tokens === 0 || tokens > available)
    throw refuse('INSUFFICIENT_TOKENS', {
      message: `Only ${available} tokens are left from this purchase and available.`,
      details: { required: Math.max(1, tokens), available },
    });
  const amount = refundAmount(purchase, tokens);
  if (amount === 0) throw invalidField('tokens', 'are worth less than the currency’s smallest unit');
  return { tokens, amount };
}
