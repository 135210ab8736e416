/** A record is committed together with its call's effects. */
import { and, eq, not, sql } from 'drizzle-orm';
import type { UserId } from '../rules/ids.js';
import { builder, columns, type Placeholders, selectFrom, statement } from '../../platform/db/statement.js';
import { idempotencyRecords } from './tables/idempotency.js';
import { IDEMPOTENCY_KEY } from '../../platform/caller-limits.js';

interface Claim {
  userId: UserId;
  operation: string;
  key: string;
}

/** Locks the key until the transaction ends. Returns false if another call with the same key is running. */
export const lockKey = statement(
  'lockKey',
  ($: Placeholders<Claim>) => ({
    locked: sql<boolean>`pg_try_advisory_xact_lock(hashtextextended(concat_ws(' ',
      ${$('userId')}::text, ${$('operation')}::text, ${$('key')}::text), 0))`,
  }),
  (_, fields) => builder.select(fields).from(sql`(values (1)) as one`),
);

/** How long a record is valid. The cleanup deletes older records later. */
const KEPT = sql.raw(`interval '${IDEMPOTENCY_KEY.keptHours} hours'`);
export const recordIsTooOld = sql`${idempotencyRecords.createdAt} <= now() - ${KEPT}`;

export const selectRecord = statement(
  'selectRecord',
  { inputHmac: idempotencyRecords.inputHmac, answer: idempotencyRecords.answer },
  ($: Placeholders<Claim>, fields) =>
    selectFrom(
      idempotencyRecords,
      fields,
      and(
        eq(idempotencyRecords.userId, $('userId')),
        eq(idempotencyRecords.operation, $('operation')),
        eq(idempotencyRecords.key, $('key')),
        not(recordIsTooOld),
      ),
    ),
);

/** Replaces a record that has expired. Returns no row if the key already has a valid record. */
export const insertRecord = statement(
  'insertRecord',
  { key: idempotencyRecords.key },
  ($: Placeholders<Claim & { inputHmac: string; answer: string }>, fields) => {
    const answered = columns($, ['inputHmac', 'answer']);
    const { userId, operation, key } = idempotencyRecords;
    return builder
      .insert(idempotencyRecords)
      .values({ ...columns($, ['userId', 'operation', 'key']), ...answered })
      .onConflictDoUpdate({
        target: [userId, operation, key],
        set: { ...answered, createdAt: sql`now()` },
        setWhere: recordIsTooOld,
      })
      .returning(fields);
  },
);
