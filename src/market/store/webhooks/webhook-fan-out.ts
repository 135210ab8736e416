/**
 * Inserts the deliveries of new events in the transaction that moves a cursor. Only one server does this at a time. The
 * endpoints of people with saved searches wait until events have been compared with the searches. They have their own
 * cursor.
 */
import { eq, sql, type SQL } from 'drizzle-orm';
import type { ContractorId, HomeownerId, UserId, WebhookEndpointId } from '../../rules/ids.js';
import type { BidState } from '../../rules/states.js';
import { readEvent } from '../../rules/reading/timeline.js';
import type { Role } from '../../rules/viewer.js';
import { pipelined, type Db } from '../../../platform/db/database.js';
import type { EventWithParties } from '../events/event-log.js';
import { eventShape } from '../events/events.js';
import { LAST_POSITION } from '../events/positions.js';
import { mayBeAbsent } from '../../../platform/db/rows.js';
import { builder, statement, type Placeholders } from '../../../platform/db/statement.js';
import { accountEvents, events } from '../tables/events.js';
import { jobs } from '../tables/jobs.js';
import { searchCursor } from '../tables/saved-searches.js';
import { webhookCursor, webhookEndpoints } from '../tables/webhooks.js';
import { isAwardedTo, isInOpenState, isOwnerSuspended, visibleEventsOfBidder } from '../visibility.js';
import { deliveryTo, enqueue } from './enqueue-deliveries.js';
import { stopWaiting } from './webhooks.js';

export interface Receiver {
  readonly userId: UserId;
  readonly role: Role;
  readonly homeownerId: HomeownerId | null;
  readonly contractorId: ContractorId | null;
}

export const insertCursor = statement(
  'insertCursor',
  { position: webhookCursor.position },
  (_: Placeholders<object>, fields) =>
    builder
      .insert(webhookCursor)
      .values({ position: sql`0` })
      .onConflictDoNothing()
      .returning(fields),
);

/** The last position that the second cursor can move to. It never gets ahead of the first cursor. */
const MATCHED_POSITION = sql<string>`least(${webhookCursor.position}, (select ${searchCursor.matchedUpTo}
  from ${searchCursor}))`;

/** An idle server runs only this query. If there are no new events, it doesn't need to lock the cursors. */
export const selectFanOutState = statement(
  'selectFanOutState',
  {
    hasEndpoints: sql<boolean>`exists (select from webhook_endpoints where deleted_at is null)`,
    isBehind: sql<boolean | null>`(${webhookCursor.position} < ${LAST_POSITION}
      or ${webhookCursor.matchedPosition} < ${MATCHED_POSITION})`,
  },
  (_: Placeholders<object>, fields) => builder.select(fields).from(webhookCursor),
);

/** True for the endpoints that wait for matching, and for their cursor. */
interface OfCursor {
  readonly waits: boolean;
}

/** Returns no row if another instance has locked the cursors. */
const lockCursors = statement('lockCursors', { position: webhookCursor.position }, (_: Placeholders<object>, fields) =>
  builder.select(fields).from(webhookCursor).for('update', { skipLocked: true }),
);

/** Not part of `lockCursors`, which would read endpoints as they were before the last batch. */
const selectRange = statement(
  'selectRange',
  ($: Placeholders<OfCursor>) => {
    const after = sql`case when ${$('waits')} then ${webhookCursor.matchedPosition} else ${webhookCursor.position} end`;
    const end = sql`case when ${$('waits')} then ${MATCHED_POSITION} else ${LAST_POSITION} end`;
    return {
      after: sql<string>`(${after})::text`,
      end: sql<string>`(${end})::text`,
      isBehind: sql<boolean>`${after} < ${end}`,
      hasEndpoints: sql<boolean>`exists (select from webhook_endpoints
        where deleted_at is null and waits_for_matching = ${$('waits')})`,
    };
  },
  (_, fields) => builder.select(fields).from(webhookCursor),
);

const EVENTS_AT_ONCE = sql.raw('500');
/**
 * The maximum number of bidders and matches in a batch, added up over its events. An event that has more of them gets a
 * batch of its own.
 */
const READERS_AT_ONCE = sql.raw('500');

/** The notifications of contractors whose saved searches an event matched. */
const matchesOf = (event: SQL) => sql`from notifications n where n.job_id = ${event}.job_id
  and n.position = ${event}.position and n.match_alert is not null`;

interface Range {
  readonly after: string;
  readonly upTo: string;
}

const nextPositions = ($: Placeholders<{ after: string; end: string }>, table: SQL, job: SQL) => sql`(
  select position, ${job} as job_id from ${table}
  where position > ${$('after')}::bigint and position <= ${$('end')}::bigint
  order by position limit ${EVENTS_AT_ONCE})`;

/** Finds the last position of the next batch. A batch has a limited number of events and of their readers. */
const selectBatchEnd = statement(
  'selectBatchEnd',
  ($: Placeholders<{ after: string; end: string }>) => ({
    upTo: sql<string | null>`(select max(position) from (
      select position, row_number() over following as place, sum(readers) over following as readers
      from (select position, coalesce((select bids_ever from jobs where id = next.job_id), 0)
          + (select count(*) ${matchesOf(sql`next`)}) as readers
        from (${nextPositions($, sql`events`, sql`job_id`)}
          union all ${nextPositions($, sql`account_events`, sql`null`)}
          order by position limit ${EVENTS_AT_ONCE}) next) next
      window following as (order by position)) batch
      where place = 1 or readers <= ${READERS_AT_ONCE})::text`.as('up_to'),
  }),
  (_, fields) => builder.select(fields).from(sql`(select 1) one`),
);

interface Candidate extends Receiver {
  readonly endpointId: WebhookEndpointId;
  readonly ownBids: readonly BidState[];
  /** True if the event matched one of the receiver's saved searches. */
  readonly isMatch: boolean;
}

/** Covers the awarded contractor too, because they have bid on the job. */
const isVisibleToBidder = visibleEventsOfBidder(sql`bid.contractor_id`, isAwardedTo(sql`bid.contractor_id`));

/** The query around this expression has the event in `events`. */
export const isMatchOf = (user: SQL) =>
  sql<boolean>`exists (select ${matchesOf(sql`"events"`)} and n.user_id = ${user})`;

/** The query around this expression has the event in `events` and the event's job in `jobs`. */
const candidates = ($: Placeholders<OfCursor>) => sql<Candidate[]>`(
  select coalesce(json_agg(json_build_object('endpointId', w.id, 'userId', u.id, 'role', u.user_type,
    'homeownerId', h.id, 'contractorId', c.id,
    'ownBids', (select coalesce(json_agg(b.status), '[]') from bids b where b.job_id = "events"."job_id"
      and b.contractor_id = c.id),
    'isMatch', ${isMatchOf(sql`u.id`)})), '[]')
  from webhook_endpoints w
    join users u on u.id = w.user_id
    left join homeowners h on h.user_id = u.id
    left join contractors c on c.user_id = u.id
  where w.deleted_at is null and w.created_at <= "events"."occurred_at"
    and w.waits_for_matching = ${$('waits')}
    and (w.event_types = '{}' or "events"."type" = any(w.event_types))
    and w.user_id in (
      select user_id from homeowners where id = "events"."homeowner_id"
      union all select bidder.user_id from bids bid join contractors bidder on bidder.id = bid.contractor_id
        where bid.job_id = "events"."job_id" and ${isVisibleToBidder}
      union all select n.user_id ${matchesOf(sql`"events"`)}
      union all select id from users where user_type = 'admin'))`;

export const jobVisibility = {
  status: mayBeAbsent(jobs.status),
  awardedContractorId: jobs.awardedContractorId,
  awardedBidId: jobs.awardedBidId,
  isHidden: sql<boolean>`coalesce(${isInOpenState} and ${isOwnerSuspended}, false)`.as('is_hidden'),
};

const selectCandidates = statement(
  'selectCandidates',
  ($: Placeholders<Range & OfCursor>) => ({
    event: eventShape,
    homeownerId: events.homeownerId,
    ...jobVisibility,
    candidates: candidates($).as('candidates'),
  }),
  ($, fields) =>
    builder
      .select(fields)
      .from(events)
      .leftJoin(jobs, eq(jobs.id, events.jobId))
      .where(sql`${events.position} > ${$('after')}::bigint and ${events.position} <= ${$('upTo')}::bigint`),
);

/** Account events go only to their user's own endpoints, and only to those that list the type. */
const selectAccountDeliveries = statement(
  'selectAccountDeliveries',
  {
    event: { id: accountEvents.id, type: accountEvents.type, position: accountEvents.position },
    endpointId: webhookEndpoints.id,
  },
  ($: Placeholders<Range & OfCursor>, fields) =>
    builder
      .select(fields)
      .from(accountEvents)
      .innerJoin(webhookEndpoints, eq(webhookEndpoints.userId, accountEvents.userId))
      .where(
        sql`${accountEvents.position} > ${$('after')}::bigint and ${accountEvents.position} <= ${$('upTo')}::bigint
          and ${webhookEndpoints.deletedAt} is null and ${webhookEndpoints.createdAt} <= ${accountEvents.occurredAt}
          and ${webhookEndpoints.waitsForMatching} = ${$('waits')}
          and ${accountEvents.type} = any(${webhookEndpoints.accountEventTypes})`,
      ),
);

const moveCursor = statement('moveCursor', {}, ($: Placeholders<{ upTo: string } & OfCursor>) =>
  builder
    .update(webhookCursor)
    .set({
      position: sql`case when ${$('waits')} then ${webhookCursor.position} else ${$('upTo')}::bigint end`,
      matchedPosition: sql`case when ${$('waits')} then ${$('upTo')}::bigint else ${webhookCursor.matchedPosition} end`,
    }),
);

/** After this many candidates, a pause lets the event loop do other work. */
const CANDIDATES_A_TURN = 200;

/**
 * The deliveries and the cursor are committed together, so no delivery is lost or created twice. Returns false if there
 * are no new events or another instance has locked the cursors. If no endpoint uses the cursor, it moves to the end.
 */
export function enqueueNextBatch(db: Db, cursor: OfCursor): Promise<boolean> {
  return db.inTransaction(async (tx) => {
    const [[locked], [range]] = await pipelined(lockCursors(tx, {}), selectRange(tx, cursor));
    if (!locked || !range?.isBehind) return false;
    const upTo = range.hasEndpoints ? await enqueueBatch(tx, { ...range, ...cursor }) : range.end;
    await moveCursor(tx, { upTo, ...cursor });
    if (range.hasEndpoints && cursor.waits) await stopWaiting(tx, {});
    return true;
  });
}

/** Returns the last position of the batch. */
async function enqueueBatch(tx: Db, { after, end, waits }: { after: string; end: string } & OfCursor): Promise<string> {
  const [batch] = await selectBatchEnd(tx, { after, end });
  const upTo = batch?.upTo ?? end;
  const [rows, ofAccounts] = await pipelined(
    selectCandidates(tx, { after, upTo, waits }),
    selectAccountDeliveries(tx, { after, upTo, waits }),
  );
  const ofJobs = rows.flatMap(({ candidates: receivers, ...rest }) =>
    receivers.map((receiver) => ({
      endpointId: receiver.endpointId,
      event: rest.event,
      isReadable: () => readEvent(receiver, forReceiver(rest, receiver), 'mine') !== undefined,
    })),
  );
  const inOrder = [...ofJobs, ...ofAccounts.map((row) => ({ ...row, isReadable: () => true }))].toSorted(
    (one, other) => Number(one.event.position) - Number(other.event.position),
  );
  for (let at = 0; at < inOrder.length; at += CANDIDATES_A_TURN) {
    const readable = inOrder.slice(at, at + CANDIDATES_A_TURN).filter(({ isReadable }) => isReadable());
    await enqueue(
      tx,
      readable.map(({ endpointId, event }) => deliveryTo(endpointId, event)),
    );
  }
  return upTo;
}

/** The receiver's own bids and saved searches decide what they can read. */
export function forReceiver(
  event: Omit<EventWithParties, 'bids' | 'matches'>,
  { contractorId, ownBids, isMatch }: Pick<Candidate, 'contractorId' | 'ownBids' | 'isMatch'>,
): EventWithParties {
  if (contractorId === null) return { ...event, bids: [] };
  const bids = ownBids.map((status) => ({ contractorId, status }));
  return { ...event, bids, matches: isMatch ? [contractorId] : [] };
}
