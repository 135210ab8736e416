/** Gives events their positions. Migration 0050 describes their order and why no event is skipped. */
import { sql } from 'drizzle-orm';
import { notifyOfSession } from '../sessions/sessions.js';
import { builder, statement, type Placeholders } from '../../../platform/db/statement.js';
import { accountEvents, events } from '../tables/events.js';
import { notificationCursor } from '../tables/notifications.js';
import { searchCursor } from '../tables/saved-searches.js';
import { NUMBERING } from '../../../platform/service-limits.js';

/** Announces positions whose notifications are stored. `number_events` uses an earlier channel. */
export const POSITIONS_CHANNEL = 'positions';

/** `number_events` takes this lock for its whole transaction. Waiting for it is fair, unlike waiting for a row. */
const NUMBERING_LOCK = sql.raw('7203119');

/** From here on, no event gets a position until this transaction ends. */
export const holdPositions = statement(
  'holdPositions',
  { held: sql`held` },
  (_: Placeholders<object>) => sql`select pg_advisory_xact_lock_shared(${NUMBERING_LOCK}) as held`,
);

/** Returns how many events got a position, the last position, and how long the oldest event waited. */
export const numberEvents = statement(
  'numberEvents',
  {
    numbered: sql<number>`n.numbered`,
    lastPosition: sql<string>`n.last_position::text`,
    lagSeconds: sql<number | null>`n.lag_seconds`,
  },
  ($: Placeholders<{ batch: number }>, fields) => builder.select(fields).from(sql`number_events(${$('batch')}::int) n`),
);

/** The last position of all job events and account events. */
export const LAST_POSITION = sql<string>`greatest((select coalesce(max(position), 0) from ${events}),
  (select coalesce(max(position), 0) from ${accountEvents}))`;

export const selectLastPosition = statement(
  'selectLastPosition',
  { last: sql<string>`${LAST_POSITION}::text`.as('last') },
  (_: Placeholders<object>, fields) => builder.select(fields).from(sql`(select 1) one`),
);

const withoutPosition = (table: typeof events | typeof accountEvents) =>
  sql`(select 1 from ${table} where position is null limit ${sql.raw(String(NUMBERING.eventsWaitingMax))})`;

/**
 * Counts waiting events up to a limit. The last position is the last one whose notifications are stored. Also sends a
 * heartbeat.
 */
export const pollEvents = statement(
  'pollEvents',
  ($: Placeholders<{ heartbeat: string }>) => ({
    waiting: sql<number>`count(*)::int`,
    lastPosition: sql<string>`(select stored_up_to::text from ${notificationCursor})`,
    delayedPosition: sql<string>`(select matched_up_to::text from ${searchCursor})`,
    isBehind: sql<boolean>`(select stored_up_to < ${LAST_POSITION} from ${notificationCursor})`,
    announced: notifyOfSession($('heartbeat')),
  }),
  (_, fields) =>
    builder.select(fields).from(sql`(${withoutPosition(events)} union all ${withoutPosition(accountEvents)}) waiting`),
);
