/** Records what an admin does to somebody, in the transaction that does it. */
import { builder, columns, statement, type Placeholders } from './statement.js';
import { adminActions } from './tables/admin-actions.js';

const NEW_ACTION = ['id', 'adminId', 'action', 'userId', 'reason'] as const;
type NewAction = Pick<typeof adminActions.$inferSelect, (typeof NEW_ACTION)[number]>;

export const insertAdminAction = statement('insertAdminAction', {}, ($: Placeholders<NewAction>) =>
  builder.insert(adminActions).values(columns($, NEW_ACTION)),
);
