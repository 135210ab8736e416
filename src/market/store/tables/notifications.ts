/**
 * The recipients of each event's notifications, and how they want to be emailed. Titles and visibility aren't stored.
 * They're derived when a notification is read or emailed.
 */
import { sql } from 'drizzle-orm';
import { boolean, check, date, index, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import type { AccountEventType } from '../../rules/account-events.js';
import type { EventType } from '../../rules/events.js';
import type { Channel } from '../../rules/notifications.js';
import { users } from './accounts.js';
import { position } from '../../../platform/db/tables/columns.js';
import { idColumn } from './id-column.js';

/** Rows are inserted in bulk while events are numbered, and users are never deleted, so there's no foreign key. */
export const notifications = pgTable(
  'notifications',
  {
    userId: idColumn('user').notNull(),
    position: position().notNull(),
    /** Null for account events. */
    jobId: idColumn('job'),
    /** True while the notification waits for a digest. */
    isEmailedLater: boolean().notNull().default(false),
    /** When to email the person about a job that matched a search. Null if they're notified for another reason. */
    matchAlert: text().$type<Channel>(),
  },
  (t) => [
    primaryKey({ columns: [t.userId, t.position] }),
    index('notifications_to_email_later')
      .on(t.userId, t.position)
      .where(sql`${t.isEmailedLater}`),
    index('notifications_by_position').on(t.position),
    // Excludes matches. There are many, no query finds them by job, and each index on them slows down matching.
    index('notifications_of_job_unmatched')
      .on(t.userId, t.jobId)
      .where(sql`${t.jobId} is not null and ${t.matchAlert} is null`),
    index('notifications_own_matches')
      .on(t.userId, t.position)
      .where(sql`${t.matchAlert} is not null`),
    check('notifications_match_alert', sql`${t.matchAlert} in ('now', 'daily', 'off')`),
  ],
);

/** A table with a single row. */
export const notificationCursor = pgTable(
  'notification_cursor',
  {
    isOnlyRow: boolean().primaryKey().default(true),
    /** Notifications are stored for the events up to this position. Only the holder of the numbering lock moves it. */
    storedUpTo: position().notNull(),
    /** A server has decided whether and when the notifications up to this position are emailed. */
    mailedUpTo: position().notNull(),
    /** The last day, in UTC, on which digests were sent. */
    digestedOn: date()
      .notNull()
      .default(sql`(now() at time zone 'UTC')::date`),
    /** The digests that are being written cover the notifications up to this position. Null once all are written. */
    digestUpTo: position(),
  },
  (t) => [
    check('notification_cursor_has_one_row', sql`${t.isOnlyRow}`),
    check('notification_cursor_stores_before_it_mails', sql`${t.mailedUpTo} <= ${t.storedUpTo}`),
  ],
);

/** How a person wants to be emailed about a type of event. Without a row, the type's default applies. */
export const notificationSettings = pgTable(
  'notification_settings',
  {
    userId: idColumn('user')
      .notNull()
      .references(() => users.id),
    type: text().$type<EventType | AccountEventType>().notNull(),
    channel: text().$type<Channel>().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.userId, t.type] }),
    check('notification_settings_channel', sql`${t.channel} in ('now', 'daily', 'off')`),
  ],
);
