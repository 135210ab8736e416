/** Contractors' saved searches. */
import { and, eq, getTableColumns, sql } from 'drizzle-orm';
import { MATCHED_EVENT } from '../../rules/notifications.js';
import type { ContractorId, SavedSearchId, UserId } from '../../rules/ids.js';
import { pagedList } from '../../../platform/db/pages/page.js';
import { builder, columns, selectFrom, statement, type Placeholders } from '../../../platform/db/statement.js';
import { LAST_POSITION } from '../events/positions.js';
import { notificationSettings } from '../tables/notifications.js';
import { savedSearches } from '../tables/saved-searches.js';

const { latitude: _latitude, longitude: _longitude, matchesAfter: _after, ...shape } = getTableColumns(savedSearches);
const { id, contractorId, createdAt } = savedSearches;

export type SavedSearchRow = Omit<typeof savedSearches.$inferSelect, 'latitude' | 'longitude' | 'matchesAfter'>;

export const listSavedSearches = pagedList({
  name: 'listSavedSearches',
  keys: { createdAt, id },
  direction: 'desc',
  fields: shape,
  rows: ($: Placeholders<{ contractorId: ContractorId | null }>, fields, condition) =>
    selectFrom(savedSearches, fields, and(eq(contractorId, $('contractorId')), condition)),
});

export const selectSavedSearch = statement(
  'selectSavedSearch',
  shape,
  ($: Placeholders<{ id: SavedSearchId }>, fields) => selectFrom(savedSearches, fields, eq(id, $('id'))),
);

export const lockSavedSearch = statement(
  'lockSavedSearch',
  getTableColumns(savedSearches),
  ($: Placeholders<{ id: SavedSearchId }>, fields) =>
    selectFrom(savedSearches, fields, eq(id, $('id'))).for('no key update'),
);

/** The caller must hold the account's lock. */
export const countSavedSearches = statement(
  'countSavedSearches',
  { count: sql<number>`count(*)::int` },
  ($: Placeholders<{ contractorId: ContractorId | null }>, fields) =>
    selectFrom(savedSearches, fields, eq(contractorId, $('contractorId'))),
);

export const FILTER_COLUMNS = [
  'search',
  'categories',
  'urgency',
  'budgetMin',
  'budgetMax',
  'nearZip',
  'nearCity',
  'nearState',
  'withinMiles',
  'latitude',
  'longitude',
] as const;
const WRITTEN = ['name', 'alert', ...FILTER_COLUMNS] as const;

type Row = typeof savedSearches.$inferSelect;
export type WrittenSearch = Pick<Row, (typeof WRITTEN)[number]>;

export const insertSavedSearch = statement(
  'insertSavedSearch',
  shape,
  ($: Placeholders<WrittenSearch & Pick<Row, 'id' | 'contractorId'>>, fields) =>
    builder
      .insert(savedSearches)
      .values({ ...columns($, ['id', 'contractorId', ...WRITTEN]), matchesAfter: LAST_POSITION })
      .returning(fields),
);

/** A changed filter doesn't match earlier events. */
export const updateSavedSearch = statement(
  'updateSavedSearch',
  shape,
  ($: Placeholders<WrittenSearch & { id: SavedSearchId; isFilterChanged: boolean }>, fields) =>
    builder
      .update(savedSearches)
      .set({
        ...columns($, WRITTEN),
        matchesAfter: sql`case when ${$('isFilterChanged')}::boolean then ${LAST_POSITION} else matches_after end`,
        updatedAt: sql`now()`,
      })
      .where(eq(id, $('id')))
      .returning(fields),
);

export const deleteSavedSearch = statement(
  'deleteSavedSearch',
  { id },
  ($: Placeholders<{ id: SavedSearchId }>, fields) =>
    builder
      .delete(savedSearches)
      .where(eq(id, $('id')))
      .returning(fields),
);

/** Call this if a person who has unsubscribed wants emails about matches again. */
export const allowMatchEmails = statement('allowMatchEmails', {}, ($: Placeholders<{ userId: UserId }>) =>
  builder
    .delete(notificationSettings)
    .where(
      and(eq(notificationSettings.userId, $('userId')), eq(notificationSettings.type, sql.raw(`'${MATCHED_EVENT}'`))),
    ),
);
