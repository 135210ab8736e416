/**
 * Reads the effects that a transaction has written but not committed, for the response to a dry run. The caller gets
 * only what they could read after a real call: a released stake can pay another person's debt.
 */
import { and, eq, gte, sql, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { EventType } from '../rules/events.js';
import { lowestIdSince, type UserId } from '../rules/ids.js';
import type { JobState } from '../rules/states.js';
import type { TransferReason } from '../rules/tokens.js';
import type { EffectReader, RecordedEffects } from '../../platform/call/dry-run.js';
import type { Db } from '../../platform/db/database.js';
import { builder, statement, type Placeholders } from '../../platform/db/statement.js';
import { contractors } from './tables/accounts.js';
import { holds } from './tables/bids.js';
import { events } from './tables/events.js';
import { tokenTransfers } from './tables/ledger.js';

interface EffectRow {
  readonly id: string;
}

interface EffectRows {
  readonly charges: readonly (EffectRow & { userId: UserId; amount: number; reason: TransferReason })[];
  readonly stakes: readonly (EffectRow & { userId: UserId; amount: number })[];
  readonly events: readonly (EffectRow & { type: EventType; fromStatus: JobState | null; toStatus: JobState | null })[];
}

/**
 * The ID of the transaction that wrote a row. `xmin` has only its lower 32 bits. The upper bits come from the current
 * transaction's ID, which differs by less than half of the 32-bit range.
 */
const WRITER = sql`(pg_current_xact_id()::text::bigint
  + (xmin::text::bigint - pg_current_xact_id()::text::bigint % 4294967296 + 6442450944) % 4294967296 - 2147483648)`;

/**
 * True if this transaction or one of its savepoints wrote the row. The transaction can't see other transactions'
 * uncommitted rows.
 */
const IS_OWN = sql`pg_xact_status(${WRITER}::text::xid8) = 'in progress'`;

/**
 * Finds the transaction's own rows. Identifiers start with a time and are indexed, so only rows with newer identifiers
 * are read.
 */
const ownSince = (column: PgColumn, since: unknown) => and(gte(column, since), IS_OWN);

/** Transfers and events are never updated, and a hold is updated only when it's released. */
const IS_NEW_HOLD = eq(holds.status, 'active');

const listOf = (entry: SQL, order: SQL) => sql`coalesce(json_agg(json_build_object(${entry}) order by ${order}), '[]')`;

interface Since {
  transferId: string;
  holdId: string;
  eventId: string;
  userId: string | null;
  role: string | null;
}

/** People read only their own tokens. */
const isReaders = (column: PgColumn, $: Placeholders<Since>) =>
  sql`(${$('role')}::text = 'admin' or ${column} = ${$('userId')}::text)`;

/** Contractors don't read events of other contractors' bids. */
const isReadableEvent = ($: Placeholders<Since>) =>
  sql`(${$('role')}::text <> 'contractor' or ${events.bidderId} is null
    or ${events.bidderId} in (select id from ${contractors} where user_id = ${$('userId')}::text))`;

const { id, userId, amount, reason, fromAccount } = tokenTransfers;
const CHARGE = sql`'id', ${id}, 'userId', ${userId},
  'amount', case when ${fromAccount} = ${userId} then ${amount} else -${amount} end, 'reason', ${reason}`;
const STAKE = sql`'id', ${holds.id}, 'userId', ${holds.userId}, 'amount', ${holds.amount}`;
const EVENT = sql`'id', ${events.id}, 'type', ${events.type},
  'fromStatus', ${events.fromStatus}, 'toStatus', ${events.toStatus}`;
const EVENTS_IN_ORDER = sql`${events.occurredAt}, ${events.jobId}, ${events.sequence}`;

const selectOwn = statement(
  'selectOwn',
  ($: Placeholders<Since>) => ({
    charges: sql<EffectRows['charges']>`(select ${listOf(CHARGE, sql`${id}`)} from ${tokenTransfers}
      where ${ownSince(id, $('transferId'))} and ${isReaders(userId, $)})`,
    stakes: sql<EffectRows['stakes']>`(select ${listOf(STAKE, sql`${holds.id}`)} from ${holds}
      where ${ownSince(holds.id, $('holdId'))} and ${IS_NEW_HOLD} and ${isReaders(holds.userId, $)})`,
    events: sql<EffectRows['events']>`(select ${listOf(EVENT, EVENTS_IN_ORDER)} from ${events}
      where ${ownSince(events.id, $('eventId'))} and ${isReadableEvent($)})`,
  }),
  (_, fields) => builder.select(fields).from(sql`(values (1)) as one`),
);

async function recordedSince(tx: Db, beganAt: number, reader: EffectReader | null) {
  const [row] = await selectOwn(tx, {
    transferId: lowestIdSince('transfer', beganAt),
    holdId: lowestIdSince('hold', beganAt),
    eventId: lowestIdSince('event', beganAt),
    userId: reader?.userId ?? null,
    role: reader?.role ?? null,
  });
  return row ?? { charges: [], stakes: [], events: [] };
}

export const RECORDED_EFFECTS = {
  kinds: ['charges', 'stakes', 'events'],
  since: recordedSince,
} satisfies RecordedEffects;
