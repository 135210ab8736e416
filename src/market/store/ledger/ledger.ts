/**
 * The ledger. A single statement adds a movement's row and changes the balance. The balance's check constraint prevents
 * an overdraft, even if two calls spend tokens at the same time.
 */
import { and, eq, getTableColumns, sql, type SQL } from 'drizzle-orm';
import type { TOKEN_BALANCE, TOKEN_TRANSFER } from '../../rules/entities/tokens.js';
import type { RowOf, ShownRow } from '../../../platform/fields/entity.js';
import type { BidId, JobId, TransferId, UserId } from '../../rules/ids.js';
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
  return row ?? { balance: 0, held: 0, available: 0 };
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
};

/** If the account doesn't exist, the statement does nothing. */
const insertTransfer = statement('insertTransfer', transferColumns, ($: Placeholders<TransferValues>, fields) => {
  const changed = builder.$with('changed').as(
    builder
      .update(tokenBalances)
      .set({ balance: sql`${tokenBalances.balance} + ${$('change')}::int` })
      .where(eq(tokenBalances.userId, $('userId')))
      .returning({ userId: tokenBalances.userId }),
  );
  const transfer = builder.$with('transfer').as(
    builder
      .insert(tokenTransfers)
      .select(
        sql`select ${$('transferId')}::text, ${$('fromAccount')}::text, ${$('toAccount')}::text, ${$('amount')}::int,
          ${$('reason')}::transfer_reason, user_id, ${$('jobId')}::text, ${$('bidId')}::text,
          ${$('referralUserId')}::text, ${$('actorId')}::text, ${$('note')}::text,
          ${$('externalReference')}::text, now() from changed`,
      )
      .returning(fields),
  );
  return builder.with(changed, transfer).select().from(transfer);
});

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

/** Finds every account whose stored balance differs from the sum of its transfers or active holds. */
export const selectMismatches = statement(
  'selectMismatches',
  {
    userId: users.id,
    kept: sql<number>`kept`,
    summed: sql<number>`summed`,
    keptHeld: sql<number>`kept_held`,
    summedHeld: sql<number>`summed_held`,
  },
  () => sql`select * from (
      select u.id, coalesce(b.balance, 0)::float8 as kept, coalesce(moved.total, 0)::float8 as summed,
        coalesce(b.held, 0)::float8 as kept_held, coalesce(staked.total, 0)::float8 as summed_held
      from users u
        left join token_balances b on b.user_id = u.id
        left join (select user_id, sum(case when to_account = user_id then amount else -amount end) as total
          from token_transfers group by user_id) moved on moved.user_id = u.id
        left join (select user_id, sum(amount) as total
          from holds where status = 'active' group by user_id) staked on staked.user_id = u.id
    ) account
    where kept <> summed or kept_held <> summed_held order by id`,
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
