/** Emails, both sent and unsent. An email's text is generated from its row when it's sent. */
import { sql } from 'drizzle-orm';
import { index, integer, pgTable, text } from 'drizzle-orm/pg-core';
import type { AccountEventType } from '../../rules/account-events.js';
import type { EventType } from '../../rules/events.js';
import type { MailKind, MailOutcome } from '../../rules/people/mail-kinds.js';
import { users } from './accounts.js';
import { createdAt, timestamp, position, positionList } from '../../../platform/db/tables/columns.js';
import { idColumn } from './id-column.js';

/** The expiry time of a link that waits for support's decision. */
export const FOREVER = sql`'infinity'::timestamptz`;

export const mails = pgTable(
  'mails',
  {
    id: idColumn('mail').primaryKey(),
    kind: text().$type<MailKind>().notNull(),
    email: text().notNull(),
    /** Null if the account is looked up by the address when the email is sent. */
    userId: idColumn('user').references(() => users.id),
    createdAt: createdAt(),
    /** Null until the email is sent or abandoned. */
    outcome: text().$type<MailOutcome>(),
    /** The SHA-256 hash of the token in the email's link. The token itself isn't stored. */
    tokenHash: text().unique('mails_by_token'),
    expiresAt: timestamp(),
    usedAt: timestamp(),
    /** For a notification, the type of its events. Null for other emails. */
    type: text().$type<EventType | AccountEventType>(),
    /** For a notification, its job. Null for account events and other emails. */
    jobId: idColumn('job'),
    /** A notification covers its events between these positions. Null for other emails. */
    fromPosition: position(),
    upToPosition: position(),
    /** The positions of the events that a digest lists, as a Postgres array. Null for other emails. */
    positions: positionList(),
    /** How many notifications a digest counts without listing them. */
    leftOutCount: integer(),
    /** When the mail server accepted the email. */
    sentAt: timestamp(),
  },
  (t) => [
    index('mails_newest').on(t.createdAt, t.id),
    index('mails_of_user').on(t.userId),
    index('mails_of_kind')
      .on(t.userId, t.type, t.jobId)
      .where(sql`kind = 'notification'`),
    index('mails_to').on(t.email),
    index('mails_to_be_undone')
      .on(t.email)
      .where(sql`kind = 'email_changed' and used_at is null`),
  ],
);
