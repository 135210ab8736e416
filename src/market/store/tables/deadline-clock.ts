/** The clock of deadlines: one row. */
import { sql } from 'drizzle-orm';
import { boolean, check, integer, pgEnum, pgTable } from 'drizzle-orm/pg-core';

export const deadlineMode = pgEnum('deadline_mode', ['off', 'remind', 'act']);

export const deadlineClock = pgTable(
  'deadline_clock',
  {
    isOnlyRow: boolean().primaryKey().default(true),
    /** How far deadline time is ahead of real time. Only CLOCK=adjustable changes it. */
    aheadSeconds: integer().notNull().default(0),
    /** The mode at the last look. After a change, every deadline is looked at again. */
    mode: deadlineMode().notNull().default('remind'),
  },
  (t) => [
    check('deadline_clock_has_one_row', sql`${t.isOnlyRow}`),
    check('deadline_clock_never_goes_back', sql`${t.aheadSeconds} >= 0`),
  ],
);
