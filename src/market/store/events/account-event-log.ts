/** Reads account events. */
import { eq, getTableColumns, sql } from 'drizzle-orm';
import type { ACCOUNT_EVENT } from '../../rules/entities/account-event.js';
import type { RowOf } from '../../../platform/fields/entity.js';
import type { AccountEventId } from '../../rules/ids.js';
import { builder, statement, type Placeholders } from '../../../platform/db/statement.js';
import { LIVE } from '../../../platform/service-limits.js';
import { accountEvents } from '../tables/events.js';

/** Nobody is told who caused the event. */
const { actorId: _actor, ...shownColumns } = getTableColumns(accountEvents);
export const accountEventShape = shownColumns;

export type AccountEvent = RowOf<typeof ACCOUNT_EVENT, Omit<typeof accountEvents.$inferSelect, 'actorId'>>;

export const selectAccountEvent = statement(
  'selectAccountEvent',
  accountEventShape,
  ($: Placeholders<{ id: AccountEventId }>, fields) =>
    builder
      .select(fields)
      .from(accountEvents)
      .where(eq(accountEvents.id, $('id'))),
);

export const selectAccountBatch = statement(
  'selectAccountBatch',
  accountEventShape,
  ($: Placeholders<{ after: string; upTo: string }>, fields) =>
    builder
      .select(fields)
      .from(accountEvents)
      .where(
        sql`${accountEvents.position} > ${$('after')}::bigint and ${accountEvents.position} <= ${$('upTo')}::bigint`,
      )
      .orderBy(accountEvents.position)
      .limit(LIVE.batchEventsMax),
  'json',
);
