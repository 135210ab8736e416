/** Mails, to be sent and sent, and the links in them. What a mail says is made from this when it is sent. */
import { sql } from 'drizzle-orm';
import { index, pgTable, text } from 'drizzle-orm/pg-core';
import type { MailKind, MailOutcome } from '../../rules/people/mail-kinds.js';
import { users } from './accounts.js';
import { createdAt, moment } from '../../../platform/db/tables/columns.js';
import { idColumn } from './id-column.js';

export const mails = pgTable(
  'mails',
  {
    id: idColumn('mail').primaryKey(),
    kind: text().$type<MailKind>().notNull(),
    /** Where it goes. */
    email: text().notNull(),
    /** Whose account it is about; null where somebody typed an address, which may have none. */
    userId: idColumn('user').references(() => users.id),
    createdAt: createdAt(),
    /** What became of it; null while it is still to be sent. */
    outcome: text().$type<MailOutcome>(),
    /** Of the token in its link, only the SHA-256 is stored. */
    tokenHash: text().unique('mails_by_token'),
    expiresAt: moment(),
    usedAt: moment(),
  },
  (t) => [
    index('mails_newest').on(t.createdAt, t.id),
    index('mails_of_user').on(t.userId),
    index('mails_to').on(t.email),
    index('mails_to_be_undone')
      .on(t.email)
      .where(sql`kind = 'email_changed' and used_at is null`),
  ],
);
