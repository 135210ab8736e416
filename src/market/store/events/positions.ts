/** Gives events their positions. The migrations describe their order and why no event is skipped. */
import { sql } from 'drizzle-orm';
import { notifyOfSession } from '../sessions/sessions.js';
import { builder, statement, type Placeholders } from '../../../platform/db/statement.js';
import { events } from '../tables/events.js';
import { NUMBERING } from '../../../platform/service-limits.js';

export const POSITIONS_CHANNEL = 'events';

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

export const selectLastPosition = statement(
  'selectLastPosition',
  { last: sql<string>`coalesce(max(${events.position}), 0)::text`.as('last') },
  (_: Placeholders<object>, fields) => builder.select(fields).from(events),
);

/** Counts waiting events up to a limit. Also sends a heartbeat. */
export const pollEvents = statement(
  'pollEvents',
  ($: Placeholders<{ heartbeat: string }>) => ({
    waiting: sql<number>`count(*)::int`,
    lastPosition: sql<string>`(select coalesce(max(e.position), 0)::text from events e)`,
    announced: notifyOfSession($('heartbeat')),
  }),
  (_, fields) => {
    const waiting = builder
      .select({ one: sql`1`.as('one') })
      .from(events)
      .where(sql`${events.position} is null`)
      .limit(NUMBERING.eventsWaitingMax)
      .as('waiting');
    return builder.select(fields).from(waiting);
  },
);
