/** What admins did to others, and why: rows are only added, and of one only the reason can be erased. */
import { index, pgTable, text } from 'drizzle-orm/pg-core';
import { users } from './accounts.js';
import { createdAt, idColumn } from './columns.js';

export const adminActions = pgTable(
  'admin_actions',
  {
    id: idColumn('adminAction').primaryKey(),
    adminId: idColumn('user')
      .notNull()
      .references(() => users.id),
    /** The name of the operation. */
    action: text().notNull(),
    /** To whom; what is done to a job is done to its owner. */
    userId: idColumn('user')
      .notNull()
      .references(() => users.id),
    jobId: idColumn('job'),
    reason: text(),
    createdAt: createdAt(),
  },
  (t) => [
    index('admin_actions_newest').on(t.createdAt, t.id),
    index('admin_actions_of_admin').on(t.adminId, t.createdAt, t.id),
    index('admin_actions_to_user').on(t.userId, t.createdAt, t.id),
    index('admin_actions_by_name').on(t.action, t.createdAt, t.id),
  ],
);
