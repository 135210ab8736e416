/** The searches that contractors save. Each match is a row of `notifications`. */
import { sql } from 'drizzle-orm';
import { boolean, check, doublePrecision, index, pgTable, text } from 'drizzle-orm/pg-core';
import type { Channel } from '../../rules/notifications.js';
import { contractors } from './accounts.js';
import { createdAt, money, position, textList, updatedAt } from '../../../platform/db/tables/columns.js';
import { idColumn } from './id-column.js';
import { urgency } from './jobs.js';

export const savedSearches = pgTable(
  'saved_searches',
  {
    id: idColumn('savedSearch').primaryKey(),
    contractorId: idColumn('contractor')
      .notNull()
      .references(() => contractors.id),
    name: text().notNull(),
    alert: text().$type<Channel>().notNull(),

    // The filter. A null column or an empty list doesn't restrict the matches.
    search: text(),
    categories: textList().notNull(),
    urgency: urgency(),
    budgetMin: money(),
    budgetMax: money(),
    nearZip: text(),
    nearCity: text(),
    nearState: text(),
    withinMiles: doublePrecision(),
    /** The center of the place, which is looked up when the search is saved. */
    latitude: doublePrecision(),
    longitude: doublePrecision(),

    /** The last position when the search was saved or its filter was changed. Only later events can match. */
    matchesAfter: position().notNull(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (t) => [
    index('saved_searches_of_contractor').on(t.contractorId, t.createdAt, t.id),
    check('saved_searches_alert', sql`${t.alert} in ('now', 'daily', 'off')`),
    check(
      'saved_searches_are_narrow',
      sql`${t.categories} <> '{}' or ${t.latitude} is not null or ${t.search} is not null`,
    ),
    check('saved_searches_place_is_whole', sql`num_nulls(${t.latitude}, ${t.longitude}, ${t.withinMiles}) in (0, 3)`),
  ],
);

/** A table with a single row. */
export const searchCursor = pgTable(
  'search_cursor',
  {
    isOnlyRow: boolean().primaryKey().default(true),
    /** The events up to this position have been compared with the saved searches. */
    matchedUpTo: position().notNull(),
    /** A server has decided whether and when the matches up to this position are emailed. */
    mailedUpTo: position().notNull(),
  },
  (t) => [
    check('search_cursor_has_one_row', sql`${t.isOnlyRow}`),
    check('search_cursor_matches_before_it_mails', sql`${t.mailedUpTo} <= ${t.matchedUpTo}`),
  ],
);
