/** Purchases of tokens. To change a purchase, lock its row first, and then the balance. */
import { and, eq, getTableColumns, sql } from 'drizzle-orm';
import type { PURCHASE } from '../../rules/entities/purchase.js';
import type { PurchaseId, UserId } from '../../rules/ids.js';
import { PURCHASES } from '../../rules/market-limits.js';
import type { RowOf } from '../../../platform/fields/entity.js';
import type { Db } from '../../../platform/db/database.js';
import { pagedList, type SamePageRequest } from '../../../platform/db/pages/page.js';
import { EACH_PARENT, pagesOfMany } from '../../../platform/db/pages/pages-of-many.js';
import { asArray, builder, columns, type Placeholders, selectFrom, statement } from '../../../platform/db/statement.js';
import { purchases } from '../tables/purchases.js';

export type PurchaseRow = typeof purchases.$inferSelect;
export type Purchase = RowOf<typeof PURCHASE, Pick<PurchaseRow, keyof typeof shownColumns>>;

const all = getTableColumns(purchases);
const minutes = (count: number) => sql.raw(`interval '${count} minutes'`);

const shownColumns = {
  id: all.id,
  userId: all.userId,
  pack: all.pack,
  status: all.status,
  tokens: all.tokens,
  amount: all.amount,
  currency: all.currency,
  refundedTokens: all.refundedTokens,
  refundedAmount: all.refundedAmount,
  receiptUrl: all.receiptUrl,
  disputedAt: all.disputedAt,
  expiresAt: all.expiresAt,
  paidAt: all.paidAt,
  createdAt: all.createdAt,
};

/** The caller must hold the balance's lock. */
export const countPurchases = statement(
  'countPurchases',
  {
    open: sql<number>`count(*) filter (where status = 'pending' and expires_at > now())::int`,
    today: sql<number>`count(*) filter (where created_at > now() - interval '1 day')::int`,
    /** Until the oldest open one expires. */
    openSeconds: sql<number>`coalesce(ceil(extract(epoch from min(expires_at) filter (
      where status = 'pending' and expires_at > now()) - now())), 0)::int`,
    /** Until the oldest one in the last 24 hours is older. */
    todaySeconds: sql<number>`coalesce(ceil(extract(epoch from min(created_at) filter (
      where created_at > now() - interval '1 day') + interval '1 day' - now())), 0)::int`,
  },
  ($: Placeholders<{ userId: UserId }>, fields) => selectFrom(purchases, fields, eq(all.userId, $('userId'))),
);

const NEW = ['id', 'userId', 'pack', 'tokens', 'amount', 'currency', 'returnUrl', 'provider', 'livemode'] as const;

export const insertPurchase = statement(
  'insertPurchase',
  shownColumns,
  ($: Placeholders<Pick<PurchaseRow, (typeof NEW)[number]>>, fields) =>
    builder
      .insert(purchases)
      .values({
        ...columns($, NEW),
        expiresAt: sql`now() + ${minutes(PURCHASES.openMinutes)}`,
        lookAt: sql`now() + ${minutes(PURCHASES.firstCheckMinutes)}`,
      })
      .returning(fields),
);

export const selectPurchase = statement('selectPurchase', shownColumns, ($: Placeholders<{ id: PurchaseId }>, fields) =>
  selectFrom(purchases, fields, eq(all.id, $('id'))),
);

export const lockPurchase = statement('lockPurchase', all, ($: Placeholders<{ id: PurchaseId }>, fields) =>
  selectFrom(purchases, fields, eq(all.id, $('id'))).for('update'),
);

/** All columns, for calls to the provider. */
export const selectOrder = statement('selectOrder', all, ($: Placeholders<{ id: PurchaseId }>, fields) =>
  selectFrom(purchases, fields, eq(all.id, $('id'))),
);

export const selectPurchaseOfPayment = statement(
  'selectPurchaseOfPayment',
  { id: all.id },
  ($: Placeholders<{ paymentId: string }>, fields) => selectFrom(purchases, fields, eq(all.paymentId, $('paymentId'))),
);

const CHANGED = [
  'status',
  'sessionId',
  'checkoutUrl',
  'paymentId',
  'receiptUrl',
  'refundedTokens',
  'refundedAmount',
  'refundingTokens',
  'refundingAmount',
  'refundTransferId',
  'disputeId',
  'closedDisputes',
  'debt',
] as const;

type Changes = Partial<Pick<PurchaseRow, (typeof CHANGED)[number]>> & {
  /** The time until the next lookup. Null stops lookups, and undefined changes nothing. */
  readonly lookAfterSeconds?: number | null;
};

const writePurchase = statement(
  'writePurchase',
  {},
  (
    $: Placeholders<
      Pick<PurchaseRow, 'id' | (typeof CHANGED)[number]> & { lookChanges: boolean; lookAfterSeconds: number | null }
    >,
  ) =>
    builder
      .update(purchases)
      .set({
        ...columns($, CHANGED),
        paidAt: sql`case when ${$('status')}::purchase_status = 'paid' then coalesce(paid_at, now()) else paid_at end`,
        disputedAt: sql`case when ${$('disputeId')}::text is null then null
          when dispute_id = ${$('disputeId')}::text then disputed_at else now() end`,
        lookAt: sql`case when ${$('lookChanges')}::boolean
          then now() + make_interval(secs => ${$('lookAfterSeconds')}::int) else look_at end`,
      })
      .where(eq(all.id, $('id'))),
);

/** The caller must have read the row under its lock. */
export async function updatePurchase(tx: Db, row: PurchaseRow, changes: Changes): Promise<void> {
  const { lookAfterSeconds, ...values } = changes;
  const look = { lookChanges: lookAfterSeconds !== undefined, lookAfterSeconds: lookAfterSeconds ?? null };
  await writePurchase(tx, { ...row, ...values, ...look });
}

/**
 * The tokens that are left from a purchase. The caller must hold the locks of the purchase and the balance. The oldest
 * purchase is spent first, so the tokens that are left are from the newest purchases.
 */
export const selectLeft = statement(
  'selectLeft',
  { left: sql<number>`"left"` },
  ($: Placeholders<{ id: PurchaseId }>) => sql`select greatest(0, least(
      p.tokens - p.refunded_tokens - p.refunding_tokens, b.bought - coalesce((
        select sum(newer.tokens - newer.refunded_tokens - newer.refunding_tokens) from purchases newer
        where newer.user_id = p.user_id and newer.status in ('paid', 'refunding')
          and (newer.paid_at, newer.id) > (p.paid_at, p.id)), 0)))::int as "left"
    from purchases p join token_balances b on b.user_id = p.user_id where p.id = ${$('id')}`,
);

/** Records "Pay later" on the local page. The next lookup finds that the payment has arrived. */
export const choosePayment = statement('choosePayment', {}, ($: Placeholders<{ id: PurchaseId; paymentId: string }>) =>
  builder
    .update(purchases)
    .set({ paymentId: sql`${$('paymentId')}`, lookAt: sql`now() + ${minutes(1)}` })
    .where(and(eq(all.id, $('id')), eq(all.status, 'pending'), sql`expires_at > now()`)),
);

interface Due {
  readonly provider: string;
  readonly livemode: boolean;
}

/** Claims the purchases whose lookup is due. Two servers never claim the same purchase. */
export const claimPurchases = statement(
  'claimPurchases',
  { id: all.id },
  ($: Placeholders<Due>) => sql`update purchases set look_at = now() + ${minutes(PURCHASES.checkEveryMinutes)}
    where id in (select id from purchases where look_at <= now() and provider = ${$('provider')}
      and livemode = ${$('livemode')}::boolean order by look_at limit ${sql.raw(String(PURCHASES.atOnce))}
      for update skip locked)
    returning id`,
);

export const listPurchases = pagedList({
  name: 'listPurchases',
  keys: { createdAt: all.createdAt, id: all.id },
  direction: 'desc',
  fields: shownColumns,
  rows: ($: Placeholders<{ userId: UserId }>, fields, condition) =>
    selectFrom(purchases, fields, and(eq(all.userId, $('userId')), condition)),
});

const page = pagesOfMany<UserId, { ids: string }, Purchase>({
  name: 'purchasesOfMany',
  shape: shownColumns,
  partOf: ($, request) => listPurchases.partOf({ userId: EACH_PARENT }, $, request),
  totalOf: ($) => listPurchases.totalOf({ userId: EACH_PARENT }, $),
  pageOf: listPurchases.pageOf,
});

export function purchasesOfMany(db: Db, userIds: readonly UserId[], request: SamePageRequest) {
  return page(db, { ids: asArray(userIds) }, request);
}
