/**
 * The ledger: every movement of tokens is one row added and one balance changed, in one statement. The check constraint
 * on the balance prevents an overdraft, also when two calls spend at once.
 */
import { and, eq, getTableColumns, sql, type SQLWrapper } from 'drizzle-orm';
import type { TOKEN_BALANCE, TOKEN_TRANSFER } from '../rules/entities/tokens.js';
import type { RowOf, Shown } from '../rules/entity.js';
import type { BidId, JobId, TransferId, UserId } from '../rules/ids.js';
import { TRANSFER_REASONS, type SystemAccount, type TransferReason } from '../rules/tokens.js';
import type { Db } from './database.js';
import { newId } from './new-id.js';
import { listing, type SamePageRequest } from './page.js';
import { EACH_PARENT, pagesOfMany } from './pages-of-many.js';
import { asArray, columns, statement, type Values } from './statement.js';
import { users } from './tables/accounts.js';
import { holds } from './tables/bids.js';
import { tokenBalances, tokenTransfers, type TokenTransfer as TransferRow } from './tables/ledger.js';

export type TokenTransfer = RowOf<typeof TOKEN_TRANSFER, Omit<TransferRow, 'userId'>>;

const { userId: _person, ...transferColumns } = getTableColumns(tokenTransfers);

export type Balance = Shown<typeof TOKEN_BALANCE>;

/** Every account has a balance from its creation. */
export const balanceShape = {
  balance: tokenBalances.balance,
  held: tokenBalances.held,
  available: sql<number>`${tokenBalances.balance} - ${tokenBalances.held}`.as('available'),
};

export const openBalance = statement((db, $: Values<{ userId: UserId }>) =>
  db.insert(tokenBalances).values(columns($, ['userId'])),
);

export const selectBalance = statement((db, $: Values<{ userId: UserId }>) =>
  db.select(balanceShape).from(tokenBalances).where(eq(tokenBalances.userId, $.userId)),
);

export const selectBalances = statement((db, $: Values<{ ids: string }>) =>
  db
    .select({ userId: tokenBalances.userId, ...balanceShape })
    .from(tokenBalances)
    .where(sql`${tokenBalances.userId} = any(${$.ids}::text[])`),
);

/** Zero where no such user exists. */
export async function balanceOf(db: Db, userId: UserId): Promise<Balance> {
  const [row] = await selectBalance(db, { userId });
  return row ?? { balance: 0, held: 0, available: 0 };
}

/** A user's available tokens, as a column of another select. */
export const availableTo = ($: Values<{ userId: UserId }>) =>
  sql<number>`(select t.balance - t.held from token_balances t where t.user_id = ${$.userId})`;

export interface Movement {
  userId: UserId;
  /** A positive amount credits the person, a negative one debits them. */
  change: number;
  reason: TransferReason;
  jobId?: JobId;
  bidId?: BidId;
  referralUserId?: UserId;
  actorId?: UserId;
  note?: string | null;
}

/** The parameters of a statement that moves tokens. */
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
}

/** The other side is the system account of the reason. */
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

const ABOUT_NOTHING = { jobId: null, bidId: null, referralUserId: null, actorId: null, note: null };

/** Changes the balance and inserts the transfer with its reason; nothing where there is no such account. */
const insertTransfer = statement((db, $: Values<TransferValues>) => {
  const changed = db.$with('changed').as(
    db
      .update(tokenBalances)
      .set({ balance: sql`${tokenBalances.balance} + ${$.change}::int` })
      .where(eq(tokenBalances.userId, $.userId))
      .returning({
        userId: tokenBalances.userId,
        available: sql<number>`${tokenBalances.balance} - ${tokenBalances.held}`.as('available'),
      }),
  );
  const transfer = db.$with('transfer').as(
    db
      .insert(tokenTransfers)
      .select(
        sql`select ${$.transferId}::text, ${$.fromAccount}::text, ${$.toAccount}::text, ${$.amount}::int,
          ${$.reason}::transfer_reason, user_id, ${$.jobId}::text, ${$.bidId}::text, ${$.referralUserId}::text,
          ${$.actorId}::text, ${$.note}::text, now() from changed`,
      )
      .returning(transferColumns),
  );
  return db.with(changed, transfer).select().from(transfer).crossJoin(changed);
});

/** Moves tokens, and returns the available amount after it; undefined if there is no such person. */
export async function moveTokens(
  tx: Db,
  movement: Movement,
): Promise<{ transfer: TokenTransfer; available: number } | undefined> {
  const [moved] = await insertTransfer(tx, asTransfer(movement));
  return moved && { transfer: moved.transfer, available: moved.changed.available };
}

export const listTransfers = listing({
  keys: { createdAt: tokenTransfers.createdAt, id: tokenTransfers.id },
  order: 'newest first',
  rows: (db, $: Values<{ userId: UserId }>, within) =>
    db
      .select(transferColumns)
      .from(tokenTransfers)
      .where(and(eq(tokenTransfers.userId, $.userId), within))
      .$dynamic(),
});

const page = pagesOfMany<UserId, { ids: string }, TokenTransfer>({
  shape: transferColumns,
  partOf: ($, request) => listTransfers.partOf({ userId: EACH_PARENT }, $, request),
  totalOf: ($) => listTransfers.totalOf({ userId: EACH_PARENT }, $),
  pageOf: listTransfers.pageOf,
});

/** The same page of each person’s transfers. */
export function transfersOfMany(db: Db, userIds: readonly UserId[], request: SamePageRequest) {
  return page(db, { ids: asArray(userIds) }, request);
}

/** Every account whose stored balance differs from the sum of its transfers and active holds. */
export const selectMismatches = statement((db, _: Values<object>) => {
  const moved = db
    .select({
      userId: tokenTransfers.userId,
      total: sql<number>`sum(
        case when ${tokenTransfers.toAccount} = ${tokenTransfers.userId} then amount else -amount end)`.as(
        'moved_total',
      ),
    })
    .from(tokenTransfers)
    .groupBy(tokenTransfers.userId)
    .as('moved');
  const staked = db
    .select({ userId: holds.userId, total: sql<number>`sum(${holds.amount})`.as('staked_total') })
    .from(holds)
    .where(eq(holds.status, 'active'))
    .groupBy(holds.userId)
    .as('staked');
  const orNone = (figure: SQLWrapper) => sql<number>`coalesce(${figure}, 0)::float8`;
  const [kept, held, summed, summedHeld] = [
    orNone(tokenBalances.balance),
    orNone(tokenBalances.held),
    orNone(moved.total),
    orNone(staked.total),
  ];
  return db
    .select({ userId: sql<UserId>`${users.id}`, kept, summed, keptHeld: held, summedHeld })
    .from(users)
    .leftJoin(tokenBalances, eq(tokenBalances.userId, users.id))
    .leftJoin(moved, eq(moved.userId, users.id))
    .leftJoin(staked, eq(staked.userId, users.id))
    .where(sql`${kept} <> ${summed} or ${held} <> ${summedHeld}`)
    .orderBy(users.id);
});

export const countLedger = statement((db, _: Values<object>) =>
  db
    .select({
      accounts: sql<number>`(select count(*) from ${tokenBalances})::int`,
      transfers: sql<number>`(select count(*) from ${tokenTransfers})::int`,
    })
    .from(sql`(values (1)) as one`),
);

export const selectTransfer = statement((db, $: Values<{ id: TransferId }>) =>
  db.select(getTableColumns(tokenTransfers)).from(tokenTransfers).where(eq(tokenTransfers.id, $.id)),
);
