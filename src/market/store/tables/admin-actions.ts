/** Admins' actions on other people. Rows are never changed, except that a row's text can be erased. */
import { sql } from 'drizzle-orm';
import { index, integer, pgTable, text } from 'drizzle-orm/pg-core';
import { users } from './accounts.js';
import { createdAt, timestamp } from '../../../platform/db/tables/columns.js';
import { idColumn } from './id-column.js';

export const adminActions = pgTable(
  'admin_actions',
  {
    id: idColumn('adminAction').primaryKey(),
    adminId: idColumn('user')
      .notNull()
      .references(() => users.id),
    action: text().notNull(),
    /** The user that the action affects. For an action on a job, this is the job's owner. */
    userId: idColumn('user')
      .notNull()
      .references(() => users.id),
    jobId: idColumn('job'),
    /** A trigger sets this column to the job's awarded contractor, the other party to the admin's decision. */
    otherUserId: idColumn('user'),
    reason: text(),
    until: timestamp(),
    amount: integer(),
    decision: text(),
    createdAt: createdAt(),
  },
  (t) => [
    index('admin_actions_newest').on(t.createdAt, t.id),
    index('admin_actions_of_admin').on(t.adminId, t.createdAt, t.id),
    index('admin_actions_to_user').on(t.userId, t.createdAt, t.id),
    index('admin_actions_to_other_user')
      .on(t.otherUserId, t.createdAt, t.id)
      .where(sql`other_user_id is not null`),
    index('admin_actions_on_job')
      .on(t.jobId, t.createdAt, t.id)
      .where(sql`job_id is not null`),
    index('admin_actions_by_name').on(t.action, t.createdAt, t.id),
  ],
);
