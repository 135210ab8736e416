/** Reads the notifications that are emailed next, and writes their emails. */
import { and, desc, eq, sql, type SQL } from 'drizzle-orm';
import type { JobId, MailId, UserId } from '../../rules/ids.js';
import { NOTIFICATION_EMAILS } from '../../rules/market-limits.js';
import { MATCHED_EVENT, type NotifiedType } from '../../rules/notifications.js';
import type { BidState } from '../../rules/states.js';
import { mayBeAbsent, type Row } from '../../../platform/db/rows.js';
import { builder, statement, type Placeholders } from '../../../platform/db/statement.js';
import { contractors, homeowners, users } from '../tables/accounts.js';
import { DEADLINE_NOW } from '../tables/deadline-clock.js';
import { accountEvents, events } from '../tables/events.js';
import { jobs } from '../tables/jobs.js';
import { notificationCursor, notifications, notificationSettings } from '../tables/notifications.js';
import { savedSearches, searchCursor } from '../tables/saved-searches.js';
import { isNotHidden } from '../visibility.js';

const NOW_UTC = sql`(${DEADLINE_NOW} at time zone 'UTC')`;
const isDigestTime = (
  $: Placeholders<{ digestHour: number }>,
) => sql`(${notificationCursor.digestedOn} < ${NOW_UTC}::date
  and extract(hour from ${NOW_UTC}) >= ${$('digestHour')}::int)`;

/** An idle server runs only this query. */
export const selectEmailState = statement(
  'selectEmailState',
  ($: Placeholders<{ digestHour: number }>) => ({
    isBehind: sql<boolean>`${notificationCursor.mailedUpTo} < ${notificationCursor.storedUpTo}`,
    isBehindMatches: sql<boolean>`(select mailed_up_to < matched_up_to from ${searchCursor})`,
    isDigestDue: sql<boolean>`(${notificationCursor.digestUpTo} is not null or ${isDigestTime($)})`,
  }),
  (_, fields) => builder.select(fields).from(notificationCursor),
);

/** Advisory locks, because a lock on the cursor's row would make the numbering of events wait. */
const EMAIL_KEY = sql.raw('7203121');
const DIGEST_LOCK = sql.raw('pg_try_advisory_xact_lock(7203122)');

/** Returns false if another instance is running a batch. */
export const lockEmails = statement(
  'lockEmails',
  { isLocked: sql<boolean>`is_locked` },
  (_: Placeholders<object>) => sql`select pg_try_advisory_xact_lock(${EMAIL_KEY}) as is_locked`,
);

/** Digests clear marks, so they wait until no other batch is setting any. */
export const waitForEmails = statement(
  'waitForEmails',
  { isLocked: sql`is_locked` },
  (_: Placeholders<object>) => sql`select pg_advisory_xact_lock(${EMAIL_KEY}) as is_locked`,
);

/**
 * Notifications are emailed in the order of their positions. Matches of saved searches are stored later than other
 * notifications, so they have their own cursor.
 */
const SOURCES = {
  events: { cursor: notificationCursor, end: notificationCursor.storedUpTo, isFrom: sql`match_alert is null` },
  matches: { cursor: searchCursor, end: searchCursor.matchedUpTo, isFrom: sql`match_alert is not null` },
} as const;
export type EmailSource = keyof typeof SOURCES;

/**
 * Finds the positions of the next batch. All rows of a position belong to the same batch. A statement sees only rows
 * that were committed before it began, so an earlier statement must take the lock.
 */
const emailBatchOf = ({ cursor, end, isFrom }: (typeof SOURCES)[EmailSource]) =>
  statement(
    'selectEmailBatch',
    {
      after: cursor.mailedUpTo,
      upTo: sql<string>`coalesce((select max(position) from (select position from notifications
        where position > ${cursor.mailedUpTo} and position <= ${end} and ${isFrom} order by position
        limit ${sql.raw(String(NOTIFICATION_EMAILS.rowsAtOnce))}) next), ${end})::text`,
    },
    (_: Placeholders<object>, fields) => builder.select(fields).from(cursor),
  );

export const selectEmailBatch = { events: emailBatchOf(SOURCES.events), matches: emailBatchOf(SOURCES.matches) };

const moveCursorOf = ({ cursor }: (typeof SOURCES)[EmailSource]) =>
  statement('moveEmailCursor', {}, ($: Placeholders<{ upTo: string }>) =>
    builder.update(cursor).set({ mailedUpTo: sql`${$('upTo')}::bigint` }),
  );

export const moveEmailCursor = { events: moveCursorOf(SOURCES.events), matches: moveCursorOf(SOURCES.matches) };

/** A notification, with the facts that decide if its recipient can still read it, and wants and can get an email. */
const notified = {
  userId: notifications.userId,
  position: notifications.position,
  role: users.userType,
  email: users.email,
  canGetEmail: sql<boolean>`(${users.emailVerified} and not ${users.emailUndeliverable}
    and ${users.suspendedAt} is null)`.as('can_get_email'),
  isRead: sql<boolean>`${notifications.position} <= ${users.notificationsReadUpTo}`.as('is_read'),
  isTooOld: sql<boolean>`coalesce(${events.occurredAt}, ${accountEvents.occurredAt})
    < now() - interval '${sql.raw(String(NOTIFICATION_EMAILS.eventHoursMax))} hours'`.as('is_too_old'),
  homeownerId: mayBeAbsent(homeowners.id),
  contractorId: mayBeAbsent(contractors.id),
  setting: mayBeAbsent(notificationSettings.channel),
  matchAlert: notifications.matchAlert,
  wantsMatches: sql<boolean>`(${notifications.matchAlert} is null or exists (select from ${savedSearches} s
    where s.contractor_id = "contractors"."id" and s.alert <> 'off'))`.as('wants_matches'),
  accountEvent: mayBeAbsent({ type: accountEvents.type, userId: accountEvents.userId }),
  event: mayBeAbsent({
    type: events.type,
    jobId: events.jobId,
    bidderId: events.bidderId,
    fromStatus: events.fromStatus,
    toStatus: events.toStatus,
    data: events.data,
    homeownerId: events.homeownerId,
  }),
  status: mayBeAbsent(jobs.status),
  awardedContractorId: jobs.awardedContractorId,
  awardedBidId: jobs.awardedBidId,
  isHidden: sql<boolean>`not ${isNotHidden}`.as('is_hidden'),
  ownBids: sql<BidState[]>`(select coalesce(json_agg(b.status), '[]') from bids b
    where b.job_id = "events"."job_id" and b.contractor_id = "contractors"."id")`.as('own_bids'),
};

export type NotifiedRow = Row<typeof notified>;

const selectNotified = (fields: typeof notified, condition: SQL | undefined) =>
  builder
    .select(fields)
    .from(notifications)
    .innerJoin(users, eq(users.id, notifications.userId))
    .leftJoin(homeowners, eq(homeowners.userId, users.id))
    .leftJoin(contractors, eq(contractors.userId, users.id))
    .leftJoin(events, eq(events.position, notifications.position))
    .leftJoin(jobs, eq(jobs.id, events.jobId))
    .leftJoin(accountEvents, eq(accountEvents.position, notifications.position))
    .leftJoin(
      notificationSettings,
      and(
        eq(notificationSettings.userId, users.id),
        sql`${notificationSettings.type} = coalesce(${events.type}, ${accountEvents.type})`,
      ),
    )
    .where(condition)
    .$dynamic();

const notificationsToEmail = ({ isFrom }: (typeof SOURCES)[EmailSource]) =>
  statement('selectNotificationsToEmail', notified, ($: Placeholders<{ after: string; upTo: string }>, fields) =>
    selectNotified(
      fields,
      sql`${notifications.position} > ${$('after')}::bigint and ${notifications.position} <= ${$('upTo')}::bigint
          and ${isFrom}`,
    ).orderBy(notifications.position),
  );

export const selectNotificationsToEmail = {
  events: notificationsToEmail(SOURCES.events),
  matches: notificationsToEmail(SOURCES.matches),
};

interface EventsOfOneKind {
  readonly userId: UserId | null;
  readonly type: NotifiedType | null;
  readonly jobId: JobId | null;
  readonly fromPosition: string | null;
  readonly upToPosition: string | null;
}

/** The newest come first. */
export const selectNotificationsOfKind = statement(
  'selectNotificationsOfKind',
  notified,
  ($: Placeholders<EventsOfOneKind>, fields) =>
    selectNotified(
      fields,
      sql`${notifications.userId} = ${$('userId')} and ${notifications.position} >= ${$('fromPosition')}::bigint
        and ${notifications.position} <= ${$('upToPosition')}::bigint
        and coalesce(${events.type}, ${accountEvents.type}) = ${$('type')}
        and ${events.jobId} is not distinct from ${$('jobId')}`,
    )
      .orderBy(desc(notifications.position))
      .limit(NOTIFICATION_EMAILS.digestItemsMax),
);

export const selectNotificationsAt = statement(
  'selectNotificationsAt',
  notified,
  ($: Placeholders<{ userId: UserId | null; positions: string }>, fields) =>
    selectNotified(
      fields,
      sql`${notifications.userId} = ${$('userId')} and ${notifications.position} = any(${$('positions')}::bigint[])`,
    ).orderBy(notifications.position),
);

/** How many emails about each type of notification these people got in the last day. */
export const countRecentEmails = statement(
  'countRecentEmails',
  { userId: sql<UserId>`user_id`, type: sql<NotifiedType>`type`, count: sql<number>`count(*)::int` },
  ($: Placeholders<{ userIds: string }>) => sql`select user_id, type, count(*)::int from mails
    where user_id = any(${$('userIds')}::text[]) and kind = 'notification' and created_at > now() - interval '1 day'
      and outcome is distinct from 'nobody'
    group by user_id, type`,
);

export interface NewNotificationEmail {
  readonly id: MailId;
  readonly userId: UserId;
  readonly email: string;
  readonly domain: string;
  readonly type: NotifiedType;
  readonly jobId: JobId | null;
  readonly fromPosition: string;
  readonly upToPosition: string;
  /** True if a waiting email of the same type about the same job can cover these events too. */
  readonly isHourly: boolean;
}

/**
 * Inserts emails and their tasks. If the newest email of the same type is still waiting for its hour, extends it
 * instead. An email that was already tried is never extended, because the mail server may have accepted it.
 */
export const insertNotificationEmails = statement(
  'insertNotificationEmails',
  {},
  ($: Placeholders<{ list: string }>) => sql`with list as (
      select * from json_to_recordset(${$('list')}::json) as list (id text, "userId" text, email text, domain text,
        type text, "jobId" text, "fromPosition" bigint, "upToPosition" bigint, "isHourly" boolean)
    ), waiting as (
      select list.id, list."upToPosition", m.id as mail_id from list cross join lateral (
        select newest.id from (
          select mails.id, mails.email from mails where list."isHourly" and mails.user_id = list."userId"
            and mails.kind = 'notification' and mails.type = list.type
            and mails.job_id is not distinct from list."jobId" and mails.outcome is null
          order by mails.from_position desc limit 1) newest
        join tasks on tasks.id = newest.id
        where newest.email = list.email and tasks.leased_until is null and tasks.attempts = 0 and tasks.run_at > now()
        for update of tasks skip locked) m
    ), extended as (
      update mails set up_to_position = waiting."upToPosition" from waiting where mails.id = waiting.mail_id
    ), added as (
      insert into mails (id, kind, email, user_id, type, job_id, from_position, up_to_position)
      select id, 'notification', email, "userId", type, "jobId", "fromPosition", "upToPosition" from list
      where id not in (select id from waiting)
      returning id
    )
    insert into tasks (id, kind, key) select id, 'notice', domain from list join added using (id)`,
);

interface Marked {
  /** The people and positions, in parallel arrays. */
  readonly userIds: string;
  readonly positions: string;
}

export const markEmailedLater = statement(
  'markEmailedLater',
  {},
  ($: Placeholders<Marked>) => sql`update notifications n set is_emailed_later = true
    from unnest(${$('userIds')}::text[], ${$('positions')}::bigint[]) as marked (user_id, position)
    where n.user_id = marked.user_id and n.position = marked.position`,
);

/**
 * Begins the day's digests if it's time. Returns the last position that they cover. Returns no row if none are due, or
 * if another instance is writing them. If they have just begun, the caller must commit immediately, because numbering
 * waits for the cursor's row.
 */
export const lockDigest = statement(
  'lockDigest',
  { upTo: sql<string>`digest_up_to`, hasBegun: sql<boolean>`has_begun` },
  ($: Placeholders<{ digestHour: number }>) => sql`with begun as (
      update notification_cursor set digested_on = ${NOW_UTC}::date, digest_up_to = mailed_up_to
      where digest_up_to is null and ${isDigestTime($)} and ${DIGEST_LOCK}
      returning digest_up_to
    )
    select digest_up_to::text, true as has_begun from begun
    union all select digest_up_to::text, false from notification_cursor
      where digest_up_to is not null and ${DIGEST_LOCK}`,
);

/** The next people with marked notifications. Only the last person can exceed the row limit. */
export const selectDigestRecipients = statement(
  'selectDigestRecipients',
  { userId: sql<UserId>`user_id` },
  ($: Placeholders<{ upTo: string }>) => sql`select user_id from (
      select user_id, sum(count(*)) over (order by user_id) - count(*) as count_before
      from notifications where is_emailed_later and position <= ${$('upTo')}::bigint
      group by user_id order by user_id limit ${sql.raw(String(NOTIFICATION_EMAILS.digestsAtOnce))}) next
    where count_before < ${sql.raw(String(NOTIFICATION_EMAILS.rowsAtOnce))}`,
);

interface Recipients {
  readonly userIds: string;
  readonly upTo: string;
}

/** The latest marked notifications of these people. */
export const selectNotificationsForDigests = statement(
  'selectNotificationsForDigests',
  notified,
  ($: Placeholders<Recipients>, fields) =>
    selectNotified(
      fields,
      sql`(${notifications.userId}, ${notifications.position}) in (
        select person.user_id, latest.position from unnest(${$('userIds')}::text[]) as person (user_id)
        cross join lateral (select n.position from notifications n where n.user_id = person.user_id
          and n.is_emailed_later and n.position <= ${$('upTo')}::bigint
          order by n.position desc limit ${sql.raw(String(NOTIFICATION_EMAILS.digestRowsMax))}) latest)`,
    ).orderBy(notifications.position),
);

export interface NewDigest {
  readonly id: MailId;
  readonly userId: UserId;
  readonly email: string;
  readonly domain: string;
  /** The notifications that the digest lists, as a Postgres array. */
  readonly positions: string;
  readonly leftOutCount: number;
}

export const insertDigests = statement(
  'insertDigests',
  {},
  ($: Placeholders<{ list: string }>) => sql`with list as (
      select * from json_to_recordset(${$('list')}::json) as list (id text, "userId" text, email text, domain text,
        positions text, "leftOutCount" int)
    ), added as (
      insert into mails (id, kind, email, user_id, positions, left_out_count)
      select id, 'digest', email, "userId", positions::bigint[], "leftOutCount" from list
      returning id
    )
    insert into tasks (id, kind, key) select id, 'notice', domain from list join added using (id)`,
);

export const clearMarks = statement(
  'clearMarks',
  {},
  ($: Placeholders<Recipients & { from: string }>) => sql`update notifications n set is_emailed_later = false
    from unnest(${$('userIds')}::text[], ${$('from')}::bigint[]) as person (user_id, from_position)
    where n.user_id = person.user_id and n.is_emailed_later
      and n.position between person.from_position and ${$('upTo')}::bigint`,
);

export const endDigest = statement('endDigest', {}, (_: Placeholders<object>) =>
  builder.update(notificationCursor).set({ digestUpTo: null }),
);

/** Each saved search says when its matches are emailed, so the searches' alerts are turned off too. */
export const turnOffEmails = statement(
  'turnOffEmails',
  {},
  ($: Placeholders<{ userId: UserId; types: string }>) => sql`with silenced as (
      update ${savedSearches} set alert = 'off', updated_at = now() from contractors c
      where c.user_id = ${$('userId')} and contractor_id = c.id and alert <> 'off'
        and ${sql.raw(`'${MATCHED_EVENT}'`)} = any(${$('types')}::text[])
    )
    insert into notification_settings (user_id, type, channel)
    select id, type, 'off' from users cross join unnest(${$('types')}::text[]) as type where id = ${$('userId')}
    on conflict (user_id, type) do update set channel = 'off' where notification_settings.channel <> 'off'`,
);
