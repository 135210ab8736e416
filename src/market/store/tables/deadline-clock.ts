/** The clock for deadlines. The table has one row. */
import { sql } from 'drizzle-orm';
import { boolean, check, integer, pgTable, text } from 'drizzle-orm/pg-core';
import { timestamp } from '../../../platform/db/tables/columns.js';

export const deadlineClock = pgTable(
  'deadline_clock',
  {
    isOnlyRow: boolean().primaryKey().default(true),
    /** How far deadline time is ahead of real time. Only CLOCK=adjustable changes it. */
    aheadSeconds: integer().notNull().default(0),
    /** The settings of the last server that started with other settings. A prefix says that they're being applied. */
    settings: text(),
    /** Since when the clock acts with these settings and without an outage. Only later reminders are warnings. */
    actingSince: timestamp(),
    /** When a server's clock last ran, in real time. */
    ranAt: timestamp(),
  },
  (t) => [
    check('deadline_clock_has_one_row', sql`${t.isOnlyRow}`),
    check('deadline_clock_never_goes_back', sql`${t.aheadSeconds} >= 0`),
  ],
);

/** The current time for deadlines: real time plus the clock's offset. */
export const DEADLINE_NOW = sql`(clock_timestamp()
  + (select make_interval(secs => dc.ahead_seconds) from deadline_clock dc))::timestamptz(3)`;
