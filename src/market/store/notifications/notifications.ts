/**
 * A person's notifications, newest first. Only the recipients are stored. Each read decides what they can see, and
 * leaves out notifications of events that they can't read.
 */
import { and, eq, getTableName, sql, type SQL } from 'drizzle-orm';
import { ACCOUNT_EVENT_TYPES_FOR_ADMINS } from '../../rules/account-events.js';
import { UNREAD_COUNTED_MAX } from '../../rules/market-limits.js';
import { NOTIFICATIONS, NOTIFIED_TYPES, notifiedTypesOf } from '../../rules/notifications.js';
import type { UserId } from '../../rules/ids.js';
import type { Role, Viewer } from '../../rules/viewer.js';
import type { Db } from '../../../platform/db/database.js';
import { pagedList, type Page, type SamePageRequest } from '../../../platform/db/pages/page.js';
import { mayBeAbsent, type Fields } from '../../../platform/db/rows.js';
import { asArray, builder, mayBeStale, statement, type Placeholders } from '../../../platform/db/statement.js';
import { accountEventShape, type AccountEvent } from '../events/account-event-log.js';
import { eventShape, type EventRow } from '../events/events.js';
import { FEED_END, feedEndOf } from '../searches/feed-end.js';
import { users } from '../tables/accounts.js';
import { accountEvents, events } from '../tables/events.js';
import { notifications } from '../tables/notifications.js';
import {
  forEachRole,
  idsOf,
  isCountedBidOf,
  isNotEarlierAward,
  visibleEventsOfBidder,
  visibleEventsOfOwner,
  visibleJobs,
  type ViewerIds,
} from '../visibility.js';

/** Exactly one of the two events is present. */
export interface StoredNotification {
  readonly position: string;
  readonly isRead: boolean;
  /** True if the viewer reads the event as the awarded contractor. */
  readonly isAwardee: boolean;
  readonly jobEvent: EventRow | null;
  readonly accountEvent: AccountEvent | null;
}

type FeedValues = ViewerIds & { isUnread: boolean; upTo: string | null };

const readUpTo = ($: Placeholders<{ userId: UserId }>) =>
  sql`(select reader.notifications_read_up_to from users reader where reader.id = ${$('userId')})`;

/** An accepted bid is equivalent to an award. The comparison is false instead of null if there is no bid. */
const IS_AWARDEE = sql<boolean>`own.status is not distinct from 'accepted'`;

const oneOf = (types: readonly string[]) => sql.raw(`in (${types.map((type) => `'${type}'`).join(', ')})`);

/** All other events are about someone else's work, even though bidders can read some of them. */
const BIDDER_TYPES = NOTIFIED_TYPES.filter((type) => 'bidder' in NOTIFICATIONS[type]);

function isVisibleJobEvent(role: Role, $: Placeholders<ViewerIds>): SQL {
  switch (role) {
    case 'admin':
      return sql`true`;
    case 'homeowner':
      return sql`"events"."homeowner_id" = ${$('homeownerId')} and ${visibleEventsOfOwner}`;
    case 'contractor':
      // With `offset 0`, Postgres looks up a match's job instead of reading all jobs.
      return sql`case when "notifications"."match_alert" is null then own.id is not null
          and ${visibleEventsOfBidder($('contractorId'), IS_AWARDEE)}
          and (${IS_AWARDEE} or "events"."bidder_id" is not null or "events"."type" ${oneOf(BIDDER_TYPES)})
        else exists (select from jobs where "jobs"."id" = "events"."job_id" and ${visibleJobs('contractor', $)}
          offset 0) end`;
  }
}

function isVisible(role: Role, $: Placeholders<ViewerIds>): SQL {
  // After an upgrade, rows may exist for types that this build doesn't know.
  const types = oneOf(notifiedTypesOf(role).map(({ type }) => type));
  const isOwnAccount = sql`"account_events"."user_id" = ${$('userId')}`;
  const isAccountEvent =
    role === 'admin'
      ? sql`(${isOwnAccount} or "account_events"."type" ${oneOf(ACCOUNT_EVENT_TYPES_FOR_ADMINS)})`
      : isOwnAccount;
  return sql`(("events"."type" ${types} and ${isVisibleJobEvent(role, $)})
    or ("account_events"."type" ${types} and ${isAccountEvent}))`;
}

const shapeFor = (role: Role) => ($: Placeholders<FeedValues>) => ({
  position: notifications.position,
  isRead: sql<boolean>`${notifications.position} <= ${readUpTo($)}`.as('is_read'),
  isAwardee: (role === 'contractor'
    ? sql<boolean>`(${IS_AWARDEE} and ${isNotEarlierAward(sql`own.id`)})`
    : sql<boolean>`false`
  ).as('is_awardee'),
  jobEvent: mayBeAbsent(eventShape),
  accountEvent: mayBeAbsent(accountEventShape),
});

const endOf = (role: Role, $: Placeholders<ViewerIds>): SQL =>
  role === 'contractor' ? feedEndOf($('contractorId')) : FEED_END;

const ALWAYS = sql`true`;

/** Looks up one event. With plain joins, Postgres could prefer to scan a whole table of events. */
function atPosition(table: typeof events | typeof accountEvents) {
  const name = getTableName(table);
  return builder
    .select()
    .from(table)
    .where(sql.raw(`"${name}"."position" = "notifications"."position"`))
    .limit(1)
    .as(name);
}

function visibleNotifications(role: Role, $: Placeholders<ViewerIds>, fields: Fields, condition: SQL | undefined) {
  const isOwnBid = role === 'contractor' ? sql`own.job_id = "events"."job_id" and ${isCountedBidOf($)}` : sql`false`;
  return builder
    .select(fields)
    .from(notifications)
    .leftJoinLateral(atPosition(events), ALWAYS)
    .leftJoinLateral(atPosition(accountEvents), ALWAYS)
    .leftJoinLateral(sql`(select own.id, own.status from bids own where ${isOwnBid} limit 1) own`, ALWAYS)
    .where(and(eq(notifications.userId, $('userId')), isVisible(role, $), condition))
    .$dynamic();
}

const listFor = forEachRole((role) =>
  pagedList({
    name: 'listNotifications',
    // Their jobs and bids may be stale, too. A notification of a job that's missing would lead nowhere.
    mayBeStale: true,
    keys: { position: notifications.position },
    direction: 'desc',
    fields: shapeFor(role),
    rows: ($: Placeholders<FeedValues>, fields, condition) =>
      visibleNotifications(
        role,
        $,
        fields,
        and(
          sql`${notifications.position} > case when ${$('isUnread')}::boolean then ${readUpTo($)} else 0 end`,
          sql`${notifications.position} <= coalesce(${$('upTo')}::bigint, ${endOf(role, $)})`,
          condition,
        ),
      ),
  }),
);

interface FeedRequest extends SamePageRequest {
  readonly isUnread?: boolean;
  /** The last position to include. Defaults to the end of the viewer's feed. */
  readonly upTo?: string;
}

export function listNotifications(
  db: Db,
  viewer: Viewer,
  { isUnread = false, upTo, ...request }: FeedRequest,
): Promise<Page<StoredNotification>> {
  return listFor[viewer.role](db, { ...idsOf(viewer), isUnread, upTo: upTo ?? null }, request);
}

const countFor = forEachRole((role) =>
  mayBeStale(
    statement('countUnread', { count: sql<number>`count(*)::int` }, ($: Placeholders<ViewerIds>, fields) =>
      builder.select(fields).from(
        visibleNotifications(
          role,
          $,
          { position: notifications.position },
          sql`${notifications.position} > ${readUpTo($)} and ${notifications.position} <= ${endOf(role, $)}`,
        )
          .orderBy(sql`${notifications.position} desc`)
          .limit(UNREAD_COUNTED_MAX)
          .as('unread'),
      ),
    ),
  ),
);

/** Stops counting at `UNREAD_COUNTED_MAX`. */
export async function countUnread(db: Db, viewer: Viewer): Promise<number> {
  const [row] = await countFor[viewer.role](db, idsOf(viewer));
  return row?.count ?? 0;
}

/** A read position never goes back, even if two tabs send theirs at the same time. */
export const markRead = statement(
  'markRead',
  { readUpTo: users.notificationsReadUpTo },
  ($: Placeholders<{ userId: UserId; upTo: string }>, fields) =>
    builder
      .update(users)
      .set({ notificationsReadUpTo: sql`greatest(${users.notificationsReadUpTo}, ${$('upTo')}::bigint)` })
      .where(eq(users.id, $('userId')))
      .returning(fields),
);

export interface NotifiedUser {
  readonly position: string;
  readonly userId: UserId;
}

const selectNotifiedUsers = statement(
  'selectNotifiedUsers',
  { position: notifications.position, userId: notifications.userId },
  ($: Placeholders<{ after: string; upTo: string; userIds: string }>, fields) =>
    builder
      .select(fields)
      .from(notifications)
      .where(
        sql`${notifications.userId} = any(${$('userIds')}::text[]) and ${notifications.position} > ${$('after')}::bigint
          and ${notifications.position} <= ${$('upTo')}::bigint`,
      ),
  'json',
);

/** Returns which of these users are notified of the events in this range. */
export function notifiedUsers(
  db: Db,
  { after, upTo }: { after: bigint; upTo: bigint },
  userIds: readonly UserId[],
): Promise<NotifiedUser[]> {
  return selectNotifiedUsers(db, { after: String(after), upTo: String(upTo), userIds: asArray(userIds) });
}
