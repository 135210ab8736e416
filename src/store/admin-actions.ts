/** What admins did to others: recorded in the transaction that does it, and listed. */
import { and, eq, getTableColumns, sql, type SQL } from 'drizzle-orm';
import type { AdminActionId } from '../rules/ids.js';
import type { Viewer } from '../rules/viewer.js';
import type { Db } from './database.js';
import { newId } from './new-id.js';
import { pagedList, type List, type Page, type PageRequest } from './page.js';
import { builder, cachedByKey, statement, type Placeholders } from './statement.js';
import { adminActions } from './tables/admin-actions.js';

export type AdminAction = typeof adminActions.$inferSelect;

interface NewAction {
  /** The name of the operation. */
  readonly action: string;
  /** A user, a contractor or a job. */
  readonly subjectId: string;
  readonly reason?: string | null | undefined;
}

/** Records what an admin does to somebody, among the last statements of the transaction that does it. */
export async function recordAdminAction(tx: Db, { userId }: Pick<Viewer, 'userId'>, action: NewAction): Promise<void> {
  await insertAdminAction(tx, { reason: null, ...action, id: newId('adminAction'), adminId: userId });
}

const insertAdminAction = statement(
  'insertAdminAction',
  {},
  (
    $: Placeholders<NewAction & Pick<AdminAction, 'id' | 'adminId'>>,
  ) => sql`insert into admin_actions (id, admin_id, action, user_id, job_id, reason)
    values (${$('id')}, ${$('adminId')}, ${$('action')},
      coalesce((select id from users where id = ${$('subjectId')}),
        (select user_id from contractors where id = ${$('subjectId')}),
        (select h.user_id from jobs j join homeowners h on h.id = j.homeowner_id where j.id = ${$('subjectId')})),
      (select id from jobs where id = ${$('subjectId')}), ${$('reason')})`,
);

const FILTERS = { adminId: adminActions.adminId, userId: adminActions.userId, action: adminActions.action };
type FilterName = keyof typeof FILTERS;
const FILTER_NAMES = Object.keys(FILTERS) as FilterName[];

type FilterValues = Readonly<Record<FilterName, string | null>>;

const lists = cachedByKey<List<FilterValues, AdminAction>>();

export function listAdminActions(
  db: Db,
  { adminId = null, userId = null, action = null }: Partial<FilterValues>,
  request: PageRequest,
): Promise<Page<AdminAction>> {
  const values = { adminId, userId, action };
  const names = FILTER_NAMES.filter((name) => values[name] !== null);
  return lists(names.join(), () => listOf(names))(db, values, request);
}

const listOf = (names: readonly FilterName[]): List<FilterValues, AdminAction> =>
  pagedList({
    name: 'listAdminActions',
    keys: { createdAt: adminActions.createdAt, id: adminActions.id },
    direction: 'desc',
    fields: getTableColumns(adminActions),
    rows: ($: Placeholders<FilterValues>, fields, condition) =>
      builder
        .select(fields)
        .from(adminActions)
        .where(and(...names.map((name): SQL => sql`${FILTERS[name]} = ${$(name)}`), condition))
        .$dynamic(),
  });

export const selectAdminAction = statement(
  'selectAdminAction',
  getTableColumns(adminActions),
  ($: Placeholders<{ id: AdminActionId }>, fields) =>
    builder
      .select(fields)
      .from(adminActions)
      .where(eq(adminActions.id, $('id'))),
);
