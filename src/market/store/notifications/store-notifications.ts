/**
 * Stores who is notified of new events, in the transaction that assigns their positions. When a position is announced,
 * its notifications are already stored. Only one server stores them at a time.
 */
import { sql, type SQL } from 'drizzle-orm';
import { BID_TRANSITIONS } from '../../rules/bids.js';
import type { EventType } from '../../rules/events.js';
import { REMINDER_EVENT } from '../../rules/jobs/deadlines.js';
import { MATCHED_EVENT, NOTIFICATIONS, REMINDED_ADMIN, type NotificationReader } from '../../rules/notifications.js';
import { COUNTED_BID_STATES, statesIn } from '../../rules/states.js';
import { statement, type Placeholders } from '../../../platform/db/statement.js';
import { LAST_POSITION, POSITIONS_CHANNEL } from '../events/positions.js';
import { accountEvents, events } from '../tables/events.js';
import { notificationCursor, notifications } from '../tables/notifications.js';
import { IS_ACCEPTED, visibleEventsOfBidder, visibleEventsOfOwner } from '../visibility.js';

/** A batch covers at most this many positions after the cursor. Positions have no gaps. */
const POSITIONS_AT_ONCE = sql.raw('1000');
/** The most work that a batch's events may add up to. An event that needs more work gets its own batch. */
const WORK_AT_ONCE = sql.raw('10000');
/** An edit less than this long after the previous one notifies only the contractors who have bid since that one. */
const EDITS_APART = sql.raw("interval '1 hour'");
/** How many of the job's events are read to find the previous edit. */
const LOOKED_BACK = sql.raw('20');
/** How many notifications each kind of event deletes in a batch. Reads hide the others. */
const DELETED_AT_ONCE = sql.raw('10000');

function isForAny(...readers: readonly NotificationReader[]): SQL {
  const types = Object.entries<object>(NOTIFICATIONS)
    .filter(([, entries]) => readers.some((reader) => reader in entries))
    .map(([type]) => `'${type}'`);
  return sql.raw(`in (${types.join(', ')})`);
}

const IS_COUNTED = sql.raw(`own.status in (${COUNTED_BID_STATES.map((state) => `'${state}'`).join(', ')})`);

/** A batch's new job events, under the name that the visibility conditions use. */
const NEW_EVENTS = sql`new_events "events"`;

const IS_WITHDRAWAL = sql`"events"."type" = ${sql.raw(`'${BID_TRANSITIONS.withdraw.event}'`)}`;

const EDIT = 'job.updated' satisfies EventType;
const EDIT_TYPE = sql.raw(`'${EDIT}'`);
const IS_NOT_REPEATED_EDIT = sql`("events"."type" <> ${EDIT_TYPE} or own.created_at > coalesce((
  select max(previous.occurred_at) from ${events} previous
  where previous.job_id = "events"."job_id" and previous.type = ${EDIT_TYPE}
    and previous.sequence between "events"."sequence" - ${LOOKED_BACK} and "events"."sequence" - 1
    and previous.occurred_at > "events"."occurred_at" - ${EDITS_APART}), '-infinity'))`;

/**
 * Each event looks up its own recipients. With plain joins, a batch of one event could scan all homeowners, because
 * Postgres plans the statement for the largest batch.
 */
const owners = sql`select h.user_id, "events"."position", "events"."job_id" from ${NEW_EVENTS}
  cross join lateral (select user_id from homeowners where id = "events"."homeowner_id" limit 1) h
  where "events"."type" ${isForAny('owner')} and ${visibleEventsOfOwner}
    and h.user_id is distinct from "events"."actor_id"`;

/** Events of one bid are for that bid's contractor only, so the other bids on the job aren't read. */
const contractors = (
  bid: SQL,
  isForBidder: SQL,
) => sql`select own.user_id, "events"."position", "events"."job_id" from ${NEW_EVENTS}
  cross join lateral (
    select own.contractor_id, own.status,
      (select c.user_id from contractors c where c.id = own.contractor_id) as user_id
    from bids own where own.job_id = "events"."job_id" and ${bid} and ${IS_COUNTED} offset 0) own
  where ("events"."type" ${isForAny('bidder')} or "events"."type" ${isForAny('awardee')} and ${isForBidder})
    and ${visibleEventsOfBidder(sql`own.contractor_id`, IS_ACCEPTED)}
    and own.user_id is distinct from "events"."actor_id"
    and not exists (select from withdrawals w where w.user_id = own.user_id and w.job_id = "events"."job_id"
      and w.position > "events"."position")`;

const isForAdmins = sql`("events"."type" ${isForAny('admin')} and ("events"."type" <> ${sql.raw(`'${REMINDER_EVENT}'`)}
  or "events"."data" ->> 'to' = ${sql.raw(`'${REMINDED_ADMIN}'`)}))`;

const admins = sql`select u.id, "events"."position", "events"."job_id" from ${NEW_EVENTS}
  join users u on u.user_type = 'admin' where ${isForAdmins} and u.id is distinct from "events"."actor_id"`;

const accountHolders = sql`select a.user_id, a.position, null from new_account_events a
  where a.type ${isForAny('user')} and a.user_id is distinct from a.actor_id`;

const adminsOfAccounts = sql`select u.id, a.position, null from new_account_events a
  join users u on u.user_type = 'admin' where a.type ${isForAny('admin')} and u.id is distinct from a.actor_id`;

const recipients = sql.join(
  [
    owners,
    contractors(sql`"events"."bidder_id" is null and ${IS_NOT_REPEATED_EDIT}`, IS_ACCEPTED),
    contractors(sql`own.contractor_id = "events"."bidder_id"`, sql`true`),
    admins,
    accountHolders,
    adminsOfAccounts,
  ],
  sql` union all `,
);

/**
 * A contractor who withdraws can't read the job's earlier notifications anymore, and doesn't get them back with another
 * bid. They're deleted, because otherwise the feed and the counter would have to skip any number of them.
 */
const withdrawals = sql`select c.user_id, "events"."job_id", "events"."position"
  from ${NEW_EVENTS} join contractors c on c.id = "events"."bidder_id" where ${IS_WITHDRAWAL}`;

/** After a job has ended, only its bidders can still see it. The matches of others would only slow down their feeds. */
const HAS_ENDED = sql.raw(
  `"events"."to_status" in (${statesIn('end')
    .map((state) => `'${state}'`)
    .join(', ')})`,
);
const endedMatches = sql`select n.user_id, n.position from ${NEW_EVENTS}
  join ${events} published on published.job_id = "events"."job_id" and published.type = ${sql.raw(`'${MATCHED_EVENT}'`)}
  join ${notifications} n on n.position = published.position and n.match_alert is not null
  where ${HAS_ENDED} and not exists (select from contractors c
    join bids own on own.contractor_id = c.id and own.job_id = n.job_id where c.user_id = n.user_id)`;

/** How many people an event may notify. */
const workFor = (type: SQL, ofJob: SQL) => sql`${ofJob} + case when ${type} ${isForAny('admin')}
  then (select count(*) from users where user_type = 'admin') else 1 end`;

/** Deleted drafts have no row, and had no bids. */
const workForJob = sql`case when "events"."bidder_id" is not null then 0
  else coalesce((select bids_ever from jobs where id = "events"."job_id"), 0) end`;

const nextOnes = (table: typeof events | typeof accountEvents, work: SQL) => sql`
  select *, ${work} as work from ${table} where position > (select stored_up_to from cursor)
    and position <= (select stored_up_to + ${POSITIONS_AT_ONCE} from cursor)
  limit ${POSITIONS_AT_ONCE}`;

/**
 * Announces the position up to which notifications are stored, and returns it. Returns no row if there was no event.
 */
export const storeNotifications = statement(
  'storeNotifications',
  { storedUpTo: sql<string>`stored_up_to`, isBehind: sql<boolean>`is_behind`, announced: sql`announced` },
  (_: Placeholders<object>) => sql`with cursor as materialized (
      select stored_up_to, ${LAST_POSITION} as last from ${notificationCursor}
    ),
    next_events as materialized (${nextOnes(events, workFor(sql`"events"."type"`, workForJob))}),
    next_account_events as materialized (
      ${nextOnes(accountEvents, workFor(sql`"account_events"."type"`, sql`0`))}
    ),
    batch as materialized (
      select stored_up_to, last, (select max(position) from (
        select position, row_number() over following as place, sum(work) over following as work
        from (select position, work from next_events union all select position, work from next_account_events) next
        window following as (order by position)) next
        where place = 1 or work <= ${WORK_AT_ONCE}) as up_to
      from cursor
    ),
    new_events as materialized (
      select * from next_events where position <= (select up_to from batch)
    ),
    new_account_events as materialized (
      select * from next_account_events where position <= (select up_to from batch)
    ),
    withdrawals as materialized (${withdrawals}),
    stored as (
      insert into ${notifications} (user_id, position, job_id) ${recipients} on conflict do nothing
    ),
    deleted as (
      delete from ${notifications} where (user_id, position) in (
        select n.user_id, n.position from withdrawals w
        join ${notifications} n on n.user_id = w.user_id and n.job_id = w.job_id and n.position < w.position
          and n.match_alert is null
        limit ${DELETED_AT_ONCE})
    ),
    deleted_matches as (
      delete from ${notifications} where (user_id, position) in (${endedMatches} limit ${DELETED_AT_ONCE})
    )
    update ${notificationCursor} set stored_up_to = batch.up_to from batch where batch.up_to > batch.stored_up_to
    returning batch.up_to::text as stored_up_to, batch.up_to < batch.last as is_behind,
      pg_notify('${sql.raw(POSITIONS_CHANNEL)}', batch.up_to::text) as announced`,
);
