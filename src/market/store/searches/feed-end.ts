/**
 * Where a contractor's feed ends. People with saved searches read only events that have been compared with the
 * searches, so a match can't appear before a position that they've already read. Nobody else waits.
 */
import { sql, type Placeholder, type SQL } from 'drizzle-orm';
import type { ContractorId } from '../../rules/ids.js';
import type { Db } from '../../../platform/db/database.js';
import { builder, statement, type Placeholders } from '../../../platform/db/statement.js';
import { savedSearches, searchCursor } from '../tables/saved-searches.js';

/** A position higher than any event can have. */
export const FEED_END = sql.raw(`${2n ** 63n - 1n}`);

const isSearcher = (contractor: Placeholder | SQL) =>
  sql<boolean>`exists (select from ${savedSearches} where contractor_id = ${contractor})`;

export const feedEndOf = (contractor: Placeholder<'contractorId', ContractorId | null>): SQL => sql`(
  select case when ${isSearcher(contractor)} then (select matched_up_to from ${searchCursor}) else ${FEED_END} end)`;

/** The IDs of the contractors who have saved searches, and the IDs of their users. */
export const searchersAmong = (contractors: Placeholder) =>
  sql<string[] | null>`(
  select json_agg(ids.id) from contractors c cross join lateral (values (c.id), (c.user_id)) ids (id)
  where c.id = any(${contractors}::text[]) and ${isSearcher(sql`c.id`)})`.as('searchers');

const selectHasSearches = statement(
  'selectHasSearches',
  { has: isSearcher(sql`contractor`) },
  ($: Placeholders<{ contractorId: ContractorId }>, fields) =>
    builder.select(fields).from(sql`(select ${$('contractorId')}::text as contractor) one`),
);

export async function hasSavedSearches(db: Db, contractorId: ContractorId): Promise<boolean> {
  const [row] = await selectHasSearches(db, { contractorId });
  return row?.has === true;
}
