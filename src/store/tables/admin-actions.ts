/** What admins did to others, and why: rows are only added, and of one only the reason can be erased. */
import { pgTable, text } from 'drizzle-orm/pg-core';
import { users } from './accounts.js';
import { createdAt, idColumn } from './columns.js';

export const adminActions = pgTable('admin_actions', {
  id: idColumn('adminAction').primaryKey(),
  adminId: idColumn('user')
    .notNull()
    .references(() => users.id),
  /** The name of the operation. */
  action: text().notNull(),
  /** To whom. */
  userId: idColumn('user')
    .notNull()
    .references(() => users.id),
  reason: text(),
  createdAt: createdAt(),
});
