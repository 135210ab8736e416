/** The events of all jobs, in order of position: pages of a viewer's own events, and batches of all events. */
import { and, eq, sql, type SQL } from 'drizzle-orm';
import type { ContractorId, EventId, JobId } from '../../rules/ids.js';
import { MATCHED_EVENT } from '../../rules/notifications.js';
import type { EventOnJob } from '../../rules/reading/timeline.js';
import type { Viewer } from '../../rules/viewer.js';
import type { Db } from '../../../platform/db/database.js';
import { eventShape, type EventRow } from './events.js';
import { pagedList, startOf, type Page, type SamePageRequest } from '../../../platform/db/pages/page.js';
import { mayBeAbsent, type Fields } from '../../../platform/db/rows.js';
import {
  asArray,
  builder,
  cachedByKey,
  countedStatement,
  type Placeholders,
  selectFrom,
  mayBeStale,
  statement,
} from '../../../platform/db/statement.js';
import { LIVE } from '../../../platform/service-limits.js';
import { FEED_END, feedEndOf, searchersAmong } from '../searches/feed-end.js';
import { events } from '../tables/events.js';
import { jobs } from '../tables/jobs.js';
import { notifications } from '../tables/notifications.js';
import {
  idsOf,
  IS_ACCEPTED,
  isAwardedTo,
  isCountedBidOf,
  isNotEarlierAward,
  isNotHidden,
  visibleEventsOfBidder,
  visibleEventsOfJob,
  visibleEventsOfOwner,
  visibleJobs,
} from '../visibility.js';
import type { ViewerIds } from '../visibility.js';

/** An event, and whether the contractor reads it as the awarded contractor. */
export type OwnEvent = EventRow & { readonly isAwardee: boolean };

interface EventQuery extends SamePageRequest {
  /** The last position to include. Defaults to the end of the viewer's feed. */
  readonly upTo?: string | null | undefined;
}

type LogValues = ViewerIds & { upTo: string | null };

const asOther = { ...eventShape, isAwardee: sql<boolean>`false` };
const upToPosition = ($: Placeholders<{ upTo: string | null }>) =>
  sql`${events.position} <= coalesce(${$('upTo')}::bigint, ${FEED_END})`;
const inOwnFeed = ($: Placeholders<LogValues>) =>
  sql`${events.position} <= coalesce(${$('upTo')}::bigint, ${feedEndOf($('contractorId'))})`;
const BY_POSITION = { keys: { position: events.position }, direction: 'asc' } as const;

/** Events without a position aren't listed yet, because `position > …` is null for them. */
const listAllEvents = pagedList({
  name: 'listAllEvents',
  mayBeStale: true,
  ...BY_POSITION,
  fields: asOther,
  rows: ($: Placeholders<LogValues>, fields, condition) => selectFrom(events, fields, and(upToPosition($), condition)),
});

/** Finds events by the owner that each one names, because a deleted draft has no row in `jobs`. */
const listEventsOfHomeowner = pagedList({
  name: 'listEventsOfHomeowner',
  mayBeStale: true,
  ...BY_POSITION,
  fields: asOther,
  rows: ($: Placeholders<LogValues>, fields, condition) =>
    selectFrom(
      events,
      fields,
      and(eq(events.homeownerId, $('homeownerId')), visibleEventsOfOwner, upToPosition($), condition),
    ),
});

const asContractor = ($: Placeholders<LogValues>) => ({
  ...eventShape,
  isAwardee: sql<boolean>`(${isAwardedTo($('contractorId'))} and ${isNotEarlierAward(sql`${jobs.awardedBidId}`)})`,
});

function atPositions(fields: ReturnType<typeof asContractor>, positions: SQL) {
  return builder
    .select(fields)
    .from(events)
    .innerJoin(jobs, eq(jobs.id, events.jobId))
    .where(sql`${events.position} = any(array(${positions}))`)
    .$dynamic();
}

const rowsMax = (rows: number) => sql`limit ${sql.raw(String(rows))}`;

/** Reading the award from the job instead would read another row for each of the contractor's bids. */
const visibleByBid = ($: Placeholders<LogValues>) => visibleEventsOfBidder($('contractorId'), IS_ACCEPTED);

/** The matches of the contractor's saved searches, with the alias `events`, because the conditions use that name. */
function matchesFrom($: Placeholders<LogValues>, condition: SQL | undefined): SQL {
  return sql`${notifications} "events" join ${jobs} on "jobs"."id" = "events"."job_id"
    where "events"."user_id" = ${$('userId')} and "events"."match_alert" is not null
      and ${visibleJobs('contractor', $)} and ${and(inOwnFeed($), condition)}`;
}

/**
 * First reads the next event of each job that the contractor has a counted bid on. Only the jobs whose next events come
 * first can have events on the page. This takes one index lookup per bid, even if the jobs have long histories.
 */
const listEventsOfOwnBids = pagedList({
  name: 'listEventsOfOwnBids',
  mayBeStale: true,
  ...BY_POSITION,
  fields: asContractor,
  rows: ($: Placeholders<LogValues>, fields, condition, { atMost, rowsNeeded, direction }) => {
    const order = sql.raw(`position ${direction}`);
    const ofJob = (most: number) => sql`select events.position from events where events.job_id = own.job_id
      and ${visibleByBid($)} and ${and(inOwnFeed($), condition)} order by events.${order} ${rowsMax(most)}`;
    const next = sql`select own.job_id, own.status from bids own cross join lateral (${ofJob(1)}) g
      where ${isCountedBidOf($)} order by g.${order} ${rowsMax(rowsNeeded)}`;
    const byBid = sql`select g.position from (${next}) own cross join lateral (${ofJob(atMost)}) g
      order by g.${order} ${rowsMax(rowsNeeded)}`;
    const matched = sql`select "events".position from ${matchesFrom($, condition)}
      order by "events".${order} ${rowsMax(rowsNeeded)}`;
    return atPositions(
      fields,
      sql`select position from ((${byBid}) union (${matched})) g order by ${order} ${rowsMax(rowsNeeded)}`,
    );
  },
  // The rows aren't sorted, so the query can stop at the counting limit.
  rowsToCount: ($, { atMost }) => sql`(select from bids own
    join events on events.job_id = own.job_id and ${inOwnFeed($)} and ${visibleByBid($)} where ${isCountedBidOf($)})
    union all (select from ${matchesFrom($, undefined)}
      and not exists (select from bids own where own.job_id = "events"."job_id" and ${isCountedBidOf($)}))
    ${rowsMax(atMost)}`,
});

/** The number of events after the position that are scanned one by one before another query is used. */
const SCANNED_MAX = 500;

type FromPosition = LogValues & { key0: string };
type ListNextEvents = (db: Db, values: FromPosition) => Promise<{ rows: OwnEvent[]; count: string | number }>;

const ofSize = cachedByKey<ListNextEvents>();

/** The statement also returns the first position after the scanned events, if there is one. */
function listNextEvents(size: number): ListNextEvents {
  const next = ($: Placeholders<FromPosition>) => sql`select * from events where position > ${$('key0')}::bigint
    and ${inOwnFeed($)} order by position ${rowsMax(SCANNED_MAX)}`;
  const isNext = ($: Placeholders<FromPosition>) => sql`"events"."position" > ${$('key0')}::bigint
    and "events"."position" <= (select max(position) from next)`;
  return ofSize(String(size), () =>
    mayBeStale(
      countedStatement(
        'listNextEvents',
        ($: Placeholders<FromPosition>) => asContractor($),
        ($, fields) =>
          atPositions(
            fields,
            sql`with next as materialized (${next($)})
            (select events.position from next events join bids own on own.job_id = events.job_id
              where ${isCountedBidOf($)} and ${visibleByBid($)} order by events.position ${rowsMax(size + 1)})
            union (select "events".position from ${matchesFrom($, isNext($))}
              order by "events".position ${rowsMax(size + 1)})
            order by position ${rowsMax(size + 1)}`,
          ).orderBy(events.position),
        ($) => sql`select e.position from events e where e.position > ${$('key0')}::bigint
        order by e.position offset ${sql.raw(String(SCANNED_MAX))} limit 1`,
      ),
    ),
  );
}

/**
 * If the contractor missed only a few events, a scan of the next events is fast with any number of bids. Otherwise,
 * reading the next event of each of their jobs is fast with a log of any length.
 */
async function ofContractor(db: Db, values: LogValues, request: SamePageRequest) {
  const { size, after = ['0'], isBackward } = request;
  if (isBackward) return listEventsOfOwnBids(db, values, request);
  const { rows, count: beyond } = await listNextEvents(size)(db, { ...values, key0: String(after[0]) });
  if (beyond !== 0 && rows.length <= size) return listEventsOfOwnBids(db, values, request);
  return listEventsOfOwnBids.pageOf(rows, { size, start: startOf(request) }, () =>
    listEventsOfOwnBids.total(db, values),
  );
}

/** Lists the events that the viewer receives (`receivesJobEvents`), oldest first. */
export function listOwnEvents(
  db: Db,
  viewer: Viewer,
  { upTo = null, ...request }: EventQuery,
): Promise<Page<OwnEvent>> {
  const values = { ...idsOf(viewer), upTo };
  if (viewer.role === 'contractor') return ofContractor(db, values, request);
  const list = viewer.role === 'admin' ? listAllEvents : listEventsOfHomeowner;
  return list(db, values, request);
}

type OfOneJob = LogValues & { jobId: JobId };

/** The owner and admins can still read the events of a deleted draft. */
const ofOneJob = {
  admin: pagedList({
    name: 'listEventsOfOneJob',
    mayBeStale: true,
    ...BY_POSITION,
    fields: asOther,
    rows: ($: Placeholders<OfOneJob>, fields, condition) =>
      selectFrom(events, fields, and(eq(events.jobId, $('jobId')), upToPosition($), condition)),
  }),
  homeowner: pagedList({
    name: 'listEventsOfOneJob',
    mayBeStale: true,
    ...BY_POSITION,
    fields: asOther,
    rows: ($: Placeholders<OfOneJob>, fields, condition) =>
      selectFrom(
        events,
        fields,
        and(
          eq(events.jobId, $('jobId')),
          eq(events.homeownerId, $('homeownerId')),
          visibleEventsOfOwner,
          upToPosition($),
          condition,
        ),
      ),
  }),
  contractor: pagedList({
    name: 'listEventsOfOneJob',
    mayBeStale: true,
    ...BY_POSITION,
    fields: ($: Placeholders<OfOneJob>) => asContractor($),
    rows: ($, fields, condition) =>
      builder
        .select(fields)
        .from(events)
        .innerJoin(jobs, eq(jobs.id, events.jobId))
        .where(
          and(
            eq(events.jobId, $('jobId')),
            visibleJobs('contractor', $),
            visibleEventsOfJob('contractor', $('contractorId')),
            upToPosition($),
            condition,
          ),
        )
        .$dynamic(),
  }),
};

/** The list is empty if the viewer can't see the job. */
export function listEventsOfOneJob(
  db: Db,
  viewer: Viewer,
  jobId: JobId,
  { upTo = null, ...request }: EventQuery,
): Promise<Page<OwnEvent>> {
  return ofOneJob[viewer.role](db, { ...idsOf(viewer), jobId, upTo }, request);
}

export type EventWithParties = EventOnJob<EventRow>;

const isMatchable = sql`"events"."type" = ${sql.raw(`'${MATCHED_EVENT}'`)}`;

/** Which of these contractors have a saved search that the event matched. Only delayed streams need this. */
const matchesOf = ($: Placeholders<{ contractorIds: string }>) =>
  sql<ContractorId[] | null>`(case
  when ${isMatchable} then (
  select json_agg(c.id) from ${notifications} n join contractors c on c.user_id = n.user_id
  where n.position = "events"."position" and n.match_alert is not null
    and c.id = any(${$('contractorIds')}::text[])) end)`.as('matches');

const bidsOf = ($: Placeholders<{ contractorIds: string }>) => sql<EventWithParties['bids']>`(
  select coalesce(json_agg(json_build_object('contractorId', b.contractor_id, 'status', b.status)), '[]')
  from bids b where b.job_id = "events"."job_id" and b.contractor_id = any(${$('contractorIds')}::text[]))`;

const withParties = ($: Placeholders<{ contractorIds: string }>) => ({
  event: eventShape,
  homeownerId: events.homeownerId,
  status: mayBeAbsent(jobs.status),
  awardedContractorId: jobs.awardedContractorId,
  awardedBidId: jobs.awardedBidId,
  isHidden: sql<boolean>`not ${isNotHidden}`.as('is_hidden'),
  bids: bidsOf($),
});

const selectEvent = mayBeStale(
  statement(
    'selectEvent',
    ($: Placeholders<{ id: EventId; contractorIds: string }>) => withParties($),
    ($, fields) =>
      builder
        .select(fields)
        .from(events)
        .leftJoin(jobs, eq(jobs.id, events.jobId))
        .where(eq(events.id, $('id'))),
    'json',
  ),
);

/** Also returns the facts that decide whether the viewer can read the event. */
export async function findEvent(db: Db, { contractorId }: Viewer, id: EventId): Promise<EventWithParties | undefined> {
  const [row] = await selectEvent(db, { id, contractorIds: asArray(contractorId ? [contractorId] : []) });
  return row as EventWithParties | undefined;
}

type BatchValues = { after: string; upTo: string; contractorIds: string };

const batch = ($: Placeholders<BatchValues>, fields: Fields) =>
  builder
    .select(fields)
    .from(events)
    .leftJoin(jobs, eq(jobs.id, events.jobId))
    .where(sql`${events.position} > ${$('after')}::bigint and ${upToPosition($)}`)
    .orderBy(events.position)
    .limit(LIVE.batchEventsMax);

const selectBatch = statement(
  'selectBatch',
  ($: Placeholders<BatchValues>) => ({ ...withParties($), searchers: searchersAmong($('contractorIds')) }),
  batch,
  'json',
);

/** Every event in this batch has been compared with the saved searches. */
const selectMatchedBatch = statement(
  'selectMatchedBatch',
  ($: Placeholders<BatchValues>) => ({ ...withParties($), matches: matchesOf($) }),
  batch,
  'json',
);

export type BatchedEvent = EventWithParties & {
  /** The contractor IDs and user IDs of people with saved searches, whose streams must wait for matches. */
  readonly searchers?: readonly string[] | null;
};

/**
 * The batch is for all readers. Each event comes with its job's current state and these contractors' bids on the job.
 */
export function readBatch(
  db: Db,
  { after, upTo }: { after: bigint; upTo: bigint },
  contractorIds: readonly string[],
  isMatched: boolean,
): Promise<BatchedEvent[]> {
  const values = { after: String(after), upTo: String(upTo), contractorIds: asArray(contractorIds) };
  return (isMatched ? selectMatchedBatch : selectBatch)(db, values) as Promise<BatchedEvent[]>;
}
