/** Writes account events. An event is written in the transaction of the change that it describes. */
import { sql } from 'drizzle-orm';
import type { AccountEventType } from '../../rules/account-events.js';
import type { UserId } from '../../rules/ids.js';
import type { Db } from '../../../platform/db/database.js';
import { builder, type Placeholders, statement } from '../../../platform/db/statement.js';
import { newId } from '../new-id.js';
import { accountEvents } from '../tables/events.js';

/** An event before it gets an ID and a time. */
export interface NewAccountEvent {
  readonly type: AccountEventType;
  readonly userId: UserId;
  /**
   * Set only if an admin caused the event. Otherwise, anyone with the account's password or mailbox may have caused it.
   */
  readonly actorId?: UserId;
  readonly data?: Record<string, unknown>;
}

const insertAccountEvents = statement('insertAccountEvents', {}, ($: Placeholders<{ rows: string }>) =>
  builder.insert(accountEvents).select(sql`
    select e.id, e.user_id, e.type, e.actor_id, clock_timestamp(), e.data, null::bigint
    from json_to_recordset(${$('rows')}::json) as e (id text, user_id text, type text, actor_id text, data jsonb)`),
);

export async function logAccountEvents(tx: Db, newEvents: readonly NewAccountEvent[]): Promise<void> {
  const rows = newEvents.map(({ type, userId, actorId = null, data = {} }) => ({
    id: newId('accountEvent'),
    user_id: userId,
    type,
    actor_id: actorId,
    data,
  }));
  if (rows.length > 0) await insertAccountEvents(tx, { rows: JSON.stringify(rows) });
}
