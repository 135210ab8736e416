/**
 * Compares published jobs with the saved searches. A match is a notification, which also makes the event part of the
 * contractor's own events. One server at a time locks a cursor, and inserts the matches as it moves the cursor.
 */
import { and, sql, type SQL } from 'drizzle-orm';
import { SAVED_SEARCHES } from '../../rules/market-limits.js';
import { CHANNELS, MATCHED_EVENT } from '../../rules/notifications.js';
import type { Db } from '../../../platform/db/database.js';
import { isStatementTimeout } from '../../../platform/db/database-errors.js';
import { builder, statement, type Placeholders } from '../../../platform/db/statement.js';
import { milesBetween } from '../jobs/distance.js';
import { allowsAtLeast, allowsAtMost, isInTrade } from '../jobs/job-filters.js';
import { events } from '../tables/events.js';
import { jobs, openJobSearch } from '../tables/jobs.js';
import { notificationCursor, notifications } from '../tables/notifications.js';
import { savedSearches, searchCursor } from '../tables/saved-searches.js';
import { isOpenToBids } from '../visibility.js';

/** Announces up to which position events have been compared with the searches. */
export const MATCHES_CHANNEL = 'matches';

/** An idle server runs only this query. */
export const selectMatchState = statement(
  'selectMatchState',
  {
    hasSearches: sql<boolean>`exists (select from ${savedSearches})`,
    isBehind: sql<boolean>`${searchCursor.matchedUpTo} < (select stored_up_to from ${notificationCursor})`,
  },
  (_: Placeholders<object>, fields) => builder.select(fields).from(searchCursor),
);

/** Returns no row if another instance has locked the cursor. */
const lockSearchCursor = statement(
  'lockSearchCursor',
  { matchedUpTo: searchCursor.matchedUpTo },
  (_: Placeholders<object>, fields) => builder.select(fields).from(searchCursor).for('update', { skipLocked: true }),
);

const EVENTS_AT_ONCE = sql.raw('1000');
const IS_PUBLICATION = sql.raw(`type = '${MATCHED_EVENT}'`);

/** One email covers all of a person's searches that match a job, so the most urgent alert counts. */
const ALERTS = sql.raw(`array['${CHANNELS.join("', '")}']`);

/** The published jobs, under the name that the filters of lists use. */
const PUBLISHED = sql`published "jobs"`;

const unlessNull = (column: SQL, condition: SQL) => sql`(${column} is null or ${condition})`;

/** Compares the latitudes first, because most towns are too far north or south. */
const isNear = sql`abs("jobs".town[1] - s.latitude) <= (s.within_miles + 1) / 69
  and ${milesBetween(sql`"jobs".town`, { latitude: sql`s.latitude`, longitude: sql`s.longitude` })} <= s.within_miles`;

/**
 * For a long text of repeated characters, `strpos` can take the product of both lengths. A regular expression can't.
 * With `***=`, the rest of it is plain text.
 */
const containsWords = sql`case when octet_length(s.search) <= 40 then strpos("jobs".words, lower(s.search)) > 0
  else "jobs".words ~ ('***=' || lower(s.search)) end`;

const MATCHES = and(
  sql`s.matches_after < "jobs"."position"`,
  sql`(s.categories = '{}' or ${isInTrade(sql`any(s.categories)`)})`,
  unlessNull(sql`s.urgency`, sql`"jobs"."urgency" = s.urgency`),
  unlessNull(sql`s.budget_min`, allowsAtLeast(sql`s.budget_min`)),
  unlessNull(sql`s.budget_max`, allowsAtMost(sql`s.budget_max`)),
  unlessNull(sql`s.latitude`, isNear),
  unlessNull(sql`s.search`, containsWords),
);

/**
 * Moves the cursor, inserts the matches up to it, and announces it. A job that nobody can find anymore doesn't match.
 * If a job has been edited since it was published, the searches are compared with the edited job.
 */
const matchSearches = statement(
  'matchSearches',
  { matchedUpTo: sql<string>`matched_up_to::text`, isBehind: sql<boolean>`is_behind`, announced: sql`announced` },
  ($: Placeholders<{ publications: number }>) => sql`with cursor as materialized (
      select matched_up_to, (select stored_up_to from ${notificationCursor}) as last,
        exists (select from ${savedSearches}) as has_searches
      from ${searchCursor}
    ),
    next_events as materialized (
      select position, job_id, ${IS_PUBLICATION} as is_publication,
        count(*) filter (where ${IS_PUBLICATION}) over (order by position) as publications
      from ${events} where position > (select matched_up_to from cursor) and position <= (select last from cursor)
        and (select has_searches from cursor)
      order by position limit ${EVENTS_AT_ONCE}
    ),
    batch as materialized (
      select last, case when (select count(*) from next_events) < ${EVENTS_AT_ONCE}
          and coalesce((select max(publications) from next_events), 0) <= ${$('publications')}::int then last
        else (select max(position) from next_events where publications <= ${$('publications')}::int) end as up_to
      from cursor
    ),
    published as materialized (
      select e.position, "jobs"."id" as job_id, "jobs"."category", "jobs"."urgency", "jobs"."budget_min",
        "jobs"."budget_rank", t.words, t.town
      from next_events e join ${jobs} on "jobs"."id" = e.job_id join ${openJobSearch} t on t.job_id = e.job_id
      where e.is_publication and e.position <= (select up_to from batch) and ${isOpenToBids}
    ),
    matched as (
      select s.contractor_id, "jobs"."position", "jobs".job_id, min(array_position(${ALERTS}, s.alert)) as place
      from ${PUBLISHED} join ${savedSearches} s on ${MATCHES}
      group by s.contractor_id, "jobs"."position", "jobs".job_id
    ),
    stored as (
      insert into ${notifications} (user_id, position, job_id, match_alert)
      select c.user_id, m.position, m.job_id, (${ALERTS})[m.place]
      from matched m join contractors c on c.id = m.contractor_id on conflict do nothing
    )
    update ${searchCursor} set matched_up_to = batch.up_to from batch where batch.up_to > ${searchCursor.matchedUpTo}
    returning matched_up_to, batch.up_to < batch.last as is_behind,
      pg_notify('${sql.raw(MATCHES_CHANNEL)}', matched_up_to::text) as announced`,
);

/** A batch takes this lock, and so do deletions. Waiting for it is fair, unlike waiting for a row. */
const MATCHING_LOCK = sql.raw('7203123');

const waitForDeletions = statement(
  'waitForDeletions',
  { isLocked: sql`is_locked` },
  (_: Placeholders<object>) => sql`select pg_advisory_xact_lock(${MATCHING_LOCK}) as is_locked`,
);

/**
 * Waits for the batch that's running. Otherwise, the owner of the last search could read past a match of it that isn't
 * committed yet.
 */
export const waitForMatches = statement(
  'waitForMatches',
  { isLocked: sql`is_locked` },
  (_: Placeholders<object>) => sql`select pg_advisory_xact_lock_shared(${MATCHING_LOCK}) as is_locked`,
);

/** Returns true if there is more to match. If a batch takes too long, the next one has only one publication. */
export async function matchNext(db: Db): Promise<boolean> {
  try {
    return await matchBatch(db, SAVED_SEARCHES.publicationsAtOnce);
  } catch (error) {
    if (isStatementTimeout(error)) return matchBatch(db, 1);
    throw error;
  }
}

function matchBatch(db: Db, publications: number): Promise<boolean> {
  return db.inTransaction(async (tx) => {
    const [cursor] = await lockSearchCursor(tx, {});
    if (!cursor) return false;
    const [, [batch]] = await tx.commitWith(waitForDeletions(tx, {}), matchSearches(tx, { publications }));
    return batch?.isBehind === true;
  });
}
