/**
 * The ledger. A single statement adds a movement's row and changes the balance. The balance's check constraint prevents
 * an overdraft, even if two calls spend tokens at the same time.
 *
 * A part of each balance was bought. Granted tokens are spent first. A credit or a released stake first pays the debt
 * that a lost chargeback left.
 */
import { and, eq, getTableColumns, sql, type SQL } from 'drizzle-orm';
import type { TOKEN_BALANCE, TOKEN_TRANSFER } from '../../rules/entities/tokens.js';
import type { RowOf, ShownRow } from '../../../platform/fields/entity.js';
import type { BidId, JobId, PurchaseId, TransferId, UserId } from '../../rules/ids.js';
import { TRANSFER_REASONS, type SystemAccount, type TransferReason } from '../../rules/tokens.js';
import type { Db } from '../../../platform/db/database.js';
import { newId } from '../new-id.js';
import { pagedList, type SamePageRequest } from '../../../platform/db/pages/page.js';
import { EACH_PARENT, pagesOfMany } from '../../../platform/db/pages/pages-of-many.js';
import { asArray, builder, columns, type Placeholders, selectFrom, statement } from '../../../platform/db/statement.js';
import { users } from '../tables/accounts.js';
import { tokenBalances, tokenTransfers, type TokenTransfer as TransferRow } from '../tables/ledger.js';

export type TokenTransfer = RowOf<typeof TOKEN_TRANSFER, Omit<TransferRow, 'userId'>>;

const { userId: _person, ...transferColumns } = getTableColumns(tokenTransfers);

export type Balance = ShownRow<typeof TOKEN_BALANCE>;

/** Every account has a balance from the start. */
export const balanceShape = {
  balance: tokenBalances.balance,
  held: tokenBalances.held,
  available: sql<number>`${tokenBalances.balance} - ${tokenBalances.held}`.as('available'),
  bought: tokenBalances.bought,
  debt: tokenBalances.debt,
};

export const openBalance = statement('openBalance', {}, ($: Placeholders<{ userId: UserId }>) =>
  builder.insert(tokenBalances).values(columns($, ['userId'])),
);

export const selectBalance = statement('selectBalance', balanceShape, ($: Placeholders<{ userId: UserId }>, fields) =>
  selectFrom(tokenBalances, fields, eq(tokenBalances.userId, $('userId'))),
);

export const selectBalances = statement(
  'selectBalances',
  { userId: tokenBalances.userId, ...balanceShape },
  ($: Placeholders<{ ids: string }>, fields) =>
    selectFrom(tokenBalances, fields, sql`${tokenBalances.userId} = any(${$('ids')}::text[])`),
);

/** Zero if the user doesn't exist. */
export async function balanceOf(db: Db, userId: UserId): Promise<Balance> {
  const [row] = await selectBalance(db, { userId });
  return row ?? { balance: 0, held: 0, available: 0, bought: 0, debt: 0 };
}

/** Keeps other transactions from spending the tokens until this transaction ends. */
export const lockBalance = statement('lockBalance', balanceShape, ($: Placeholders<{ userId: UserId }>, fields) =>
  selectFrom(tokenBalances, fields, eq(tokenBalances.userId, $('userId'))).for('update'),
);

export function availableTo(userId: SQL, { isLocked }: { isLocked: boolean }): SQL<number> {
  const lock = isLocked ? sql`for update` : sql``;
  return sql`(select t.balance - t.held from token_balances t where t.user_id = ${userId} ${lock})`;
}

export interface Movement {
  userId: UserId;
  /** A positive number is a credit to the person, and a negative number is a debit. */
  change: number;
  reason: TransferReason;
  jobId?: JobId;
  bidId?: BidId;
  referralUserId?: UserId;
  actorId?: UserId;
  note?: string | null;
  externalReference?: string | null;
  purchaseId?: PurchaseId;
  /** The bought tokens that this movement must include. For the rest, a debit takes granted tokens first. */
  bought?: number;
}

export interface TransferValues {
  transferId: TransferId;
  userId: UserId;
  fromAccount: UserId | SystemAccount;
  toAccount: UserId | SystemAccount;
  amount: number;
  change: number;
  reason: TransferReason;
  jobId: JobId | null;
  bidId: BidId | null;
  referralUserId: UserId | null;
  actorId: UserId | null;
  note: string | null;
  externalReference: string | null;
  purchaseId: PurchaseId | null;
  bought: number;
  debtPaymentId: TransferId;
}

/** The other side of the transfer is the reason's system account. */
function asTransfer({ userId, change, reason, ...about }: Movement): TransferValues {
  const { systemAccount } = TRANSFER_REASONS[reason];
  const [fromAccount, toAccount] = change > 0 ? [systemAccount, userId] : [userId, systemAccount];
  return {
    transferId: newId('transfer'),
    userId,
    fromAccount,
    toAccount,
    amount: Math.abs(change),
    change,
    reason,
    debtPaymentId: newId('transfer'),
    ...ABOUT_NOTHING,
    ...about,
  };
}

const ABOUT_NOTHING = {
  jobId: null,
  bidId: null,
  referralUserId: null,
  actorId: null,
  note: null,
  externalReference: null,
  purchaseId: null,
  bought: 0,
};

const DEBT_PAYMENT = 'debt_payment' satisfies TransferReason;
const TAKEN_BY_PUBLISHING = ['publish', 'urgency_raise'] satisfies TransferReason[];

/** The part of `amount` that bought tokens must cover after all granted tokens are spent. */
function boughtPart(amount: SQL, { balance, bought }: { balance: SQL; bought: SQL }): SQL {
  return sql`greatest(0, ${amount} - (${balance} - ${bought}))`;
}

const OF_ACCOUNT = { balance: sql`account.balance`, bought: sql`account.bought` };
const AFTER_CREDIT = { balance: sql`credited.balance`, bought: sql`credited.bought` };

/** A part of a statement that Drizzle has no builder for. */
function part(name: string, query: SQL) {
  return builder.$with(name, {}).as(query);
}

/**
 * The end of a statement whose part `credited` locks balances and contains their new values. If `may_pay` is true,
 * available tokens pay the debt, with a separate transfer. Then the balances are written.
 */
export function payDebts(transferId: SQL) {
  const { systemAccount } = TRANSFER_REASONS[DEBT_PAYMENT];
  return [
    part(
      'paid',
      sql`select credited.*, pays, ${boughtPart(sql`pays`, AFTER_CREDIT)} as pays_bought
        from credited cross join lateral (select case when may_pay
          then least(credited.debt, credited.balance - credited.held) else 0 end as pays) payment`,
    ),
    part(
      'changed',
      sql`update ${tokenBalances} set balance = paid.balance - paid.pays, held = paid.held,
          bought = paid.bought - paid.pays_bought, debt = paid.debt - paid.pays
        from paid where ${tokenBalances.userId} = paid.user_id`,
    ),
    part(
      'debt_payment',
      sql`insert into token_transfers (id, from_account, to_account, amount, reason, user_id, bought)
        select ${transferId}, user_id, ${sql.raw(`'${systemAccount}'`)}, pays, ${sql.raw(`'${DEBT_PAYMENT}'`)},
          user_id, pays_bought from paid where pays > 0`,
    ),
  ] as const;
}

/** A refund of the publishing cost restores the bought tokens that were spent on the job. */
const boughtOnJob = ($: Placeholders<TransferValues>) => sql`(select coalesce(sum(bought), 0)::int from token_transfers
  where job_id = ${$('jobId')}::text and bought > 0
    and reason in (${sql.raw(TAKEN_BY_PUBLISHING.map((reason) => `'${reason}'`).join(', '))}))`;

/** If the account doesn't exist, the statement does nothing. */
const insertTransfer = statement('insertTransfer', transferColumns, ($: Placeholders<TransferValues>, fields) => {
  const [change, reason] = [sql`${$('change')}::int`, sql`${$('reason')}::transfer_reason`];
  const given = sql`case when ${reason} = 'publish_refund' then ${boughtOnJob($)} else ${$('bought')}::int end`;
  const account = part(
    'account',
    sql`select user_id, balance, held, bought, debt, ${given} as given
      from token_balances where user_id = ${$('userId')} for update`,
  );
  const credited = part(
    'credited',
    sql`select user_id, balance + ${change} as balance, held, debt, ${change} > 0 as may_pay, part,
        bought + sign(${change})::int * part as bought
      from account cross join lateral (select case when ${change} > 0 then given
        else given + ${boughtPart(sql`-${change} - given`, OF_ACCOUNT)} end as part) counted`,
  );
  const transfer = builder.$with('transfer').as(
    builder
      .insert(tokenTransfers)
      .select(
        sql`select ${$('transferId')}::text, ${$('fromAccount')}::text, ${$('toAccount')}::text, ${$('amount')}::int,
          ${reason}, user_id, ${$('jobId')}::text, ${$('bidId')}::text,
          ${$('referralUserId')}::text, ${$('actorId')}::text, ${$('note')}::text,
          ${$('externalReference')}::text, now(), part, ${$('purchaseId')}::text from paid`,
      )
      .returning(fields),
  );
  const payment = payDebts(sql`${$('debtPaymentId')}::text`);
  return builder
    .with(account, credited, ...payment, transfer)
    .select()
    .from(transfer);
});

/** Adds the tokens that a lost chargeback couldn't take from the balance. */
export const addDebt = statement('addDebt', {}, ($: Placeholders<{ userId: UserId; debt: number }>) =>
  builder
    .update(tokenBalances)
    .set({ debt: sql`${tokenBalances.debt} + ${$('debt')}::int` })
    .where(eq(tokenBalances.userId, $('userId'))),
);

/**
 * To debit an account, first lock its balance and check that it's large enough. Otherwise, the balance's check
 * constraint fails the transaction.
 */
export async function moveTokens(tx: Db, movement: Movement): Promise<TokenTransfer> {
  const [transfer] = await insertTransfer(tx, asTransfer(movement));
  if (!transfer) throw new Error('Tokens were transferred for a user without a balance.');
  return transfer;
}

export const listTransfers = pagedList({
  name: 'listTransfers',
  keys: { createdAt: tokenTransfers.createdAt, id: tokenTransfers.id },
  direction: 'desc',
  fields: transferColumns,
  rows: ($: Placeholders<{ userId: UserId }>, fields, condition) =>
    selectFrom(tokenTransfers, fields, and(eq(tokenTransfers.userId, $('userId')), condition)),
});

/** There is at most one transfer with this external reference. */
export const listTransfersByReference = pagedList({
  name: 'listTransfersByReference',
  keys: { createdAt: tokenTransfers.createdAt, id: tokenTransfers.id },
  direction: 'desc',
  fields: transferColumns,
  rows: ($: Placeholders<{ externalReference: string }>, fields, condition) =>
    selectFrom(tokenTransfers, fields, and(eq(tokenTransfers.externalReference, $('externalReference')), condition)),
});

const page = pagesOfMany<UserId, { ids: string }, TokenTransfer>({
  name: 'transfersOfMany',
  shape: transferColumns,
  partOf: ($, request) => listTransfers.partOf({ userId: EACH_PARENT }, $, request),
  totalOf: ($) => listTransfers.totalOf({ userId: EACH_PARENT }, $),
  pageOf: listTransfers.pageOf,
});

export function transfersOfMany(db: Db, userIds: readonly UserId[], request: SamePageRequest) {
  return page(db, { ids: asArray(userIds) }, request);
}

/**
 * Finds every account whose stored numbers differ from the sums of its transfers, active holds, and purchases. A
 * purchase's transfers must add up to the tokens that it has credited and not taken back.
 */
export const selectMismatches = statement(
  'selectMismatches',
  {
    userId: users.id,
    kept: sql<number>`kept`,
    summed: sql<number>`summed`,
    keptHeld: sql<number>`kept_held`,
    summedHeld: sql<number>`summed_held`,
    keptBought: sql<number>`kept_bought`,
    summedBought: sql<number>`summed_bought`,
    keptDebt: sql<number>`kept_debt`,
    summedDebt: sql<number>`summed_debt`,
    keptPurchased: sql<number>`kept_purchased`,
    summedPurchased: sql<number>`summed_purchased`,
  },
  () => sql`select * from (
      select u.id, coalesce(b.balance, 0)::float8 as kept, coalesce(moved.total, 0)::float8 as summed,
        coalesce(b.held, 0)::float8 as kept_held, coalesce(staked.total, 0)::float8 as summed_held,
        coalesce(b.bought, 0)::float8 as kept_bought, coalesce(moved.bought, 0)::float8 as summed_bought,
        coalesce(b.debt, 0)::float8 as kept_debt,
        (coalesce(bought.debt, 0) - coalesce(moved.debt_paid, 0))::float8 as summed_debt,
        coalesce(bought.tokens, 0)::float8 as kept_purchased, coalesce(moved.purchased, 0)::float8 as summed_purchased
      from users u
        left join token_balances b on b.user_id = u.id
        left join (select user_id, sum(amount * direction) as total, sum(bought * direction) as bought,
            sum(amount * direction) filter (where purchase_id is not null) as purchased,
            sum(amount) filter (where reason::text = ${sql.raw(`'${DEBT_PAYMENT}'`)}) as debt_paid
          from (select *, case when to_account = user_id then 1 else -1 end as direction from token_transfers) directed
          group by user_id) moved on moved.user_id = u.id
        left join (select user_id, sum(amount) as total
          from holds where status = 'active' group by user_id) staked on staked.user_id = u.id
        left join (select user_id, sum(debt) as debt, sum(case when status = 'charged_back' then debt
            when status in ('paid', 'refunding', 'refunded') then tokens - refunded_tokens - refunding_tokens
            else 0 end) as tokens
          from purchases group by user_id) bought on bought.user_id = u.id
    ) account
    where kept <> summed or kept_held <> summed_held or kept_bought <> summed_bought or kept_debt <> summed_debt
      or kept_purchased <> summed_purchased order by id`,
);

export const countLedger = statement(
  'countLedger',
  {
    accounts: sql<number>`(select count(*) from ${tokenBalances})::int`,
    transfers: sql<number>`(select count(*) from ${tokenTransfers})::int`,
  },
  (_: Placeholders<object>, fields) => builder.select(fields).from(sql`(values (1)) as one`),
);

export const selectTransfer = statement(
  'selectTransfer',
  getTableColumns(tokenTransfers),
  ($: Placeholders<{ id: TransferId }>, fields) => selectFrom(tokenTransfers, fields, eq(tokenTransfers.id, $('id'))),
);

/** Runs under a balance's lock. If two calls use the same reference, the second one finds the first one's transfer. */
export const selectTransferByReference = statement(
  'selectTransferByReference',
  getTableColumns(tokenTransfers),
  ($: Placeholders<{ externalReference: string }>, fields) =>
    selectFrom(tokenTransfers, fields, eq(tokenTransfers.externalReference, $('externalReference'))),
);
