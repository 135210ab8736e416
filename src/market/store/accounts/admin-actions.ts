/** The log of admins' actions on other people. An action is recorded in the transaction that performs it. */
import { and, eq, getTableColumns, sql, type SQL } from 'drizzle-orm';
import type { ADMIN_ACTION } from '../../rules/entities/admin-action.js';
import type { RowOf } from '../../../platform/fields/entity.js';
import type { AdminActionId } from '../../rules/ids.js';
import type { Viewer } from '../../rules/viewer.js';
import type { Db } from '../../../platform/db/database.js';
import { newId } from '../new-id.js';
import { pagedList, type List, type Page, type PageRequest, type ScanLimit } from '../../../platform/db/pages/page.js';
import { cachedByKey, type Placeholders, selectFrom, statement } from '../../../platform/db/statement.js';
import { adminActions } from '../tables/admin-actions.js';

const { otherUserId: _otherParty, ...actionColumns } = getTableColumns(adminActions);

export type AdminAction = RowOf<typeof ADMIN_ACTION, Omit<typeof adminActions.$inferSelect, 'otherUserId'>>;

interface NewAction {
  readonly action: string;
  /** The ID of a user, contractor, or job. */
  readonly subjectId: string;
  readonly reason?: string | null | undefined;
  readonly until?: Date | null;
  readonly amount?: number;
  readonly decision?: string | undefined;
}

/** Call this in the transaction that performs the action. */
export async function recordAdminAction(tx: Db, { userId }: Pick<Viewer, 'userId'>, action: NewAction): Promise<void> {
  const { reason = null, until, amount = null, decision = null, ...what } = action;
  const details = { reason, until: until?.toISOString() ?? null, amount, decision };
  await insertAdminAction(tx, { ...what, ...details, id: newId('adminAction'), adminId: userId });
}

type NewRow = Pick<AdminAction, 'id' | 'adminId' | 'action' | 'reason' | 'amount' | 'decision'> & {
  readonly subjectId: string;
  readonly until: string | null;
};

const insertAdminAction = statement(
  'insertAdminAction',
  {},
  ($: Placeholders<NewRow>) => sql`insert into admin_actions
      (id, admin_id, action, user_id, job_id, reason, until, amount, decision)
    values (${$('id')}, ${$('adminId')}, ${$('action')},
      coalesce((select id from users where id = ${$('subjectId')}),
        (select user_id from contractors where id = ${$('subjectId')}),
        (select h.user_id from jobs j join homeowners h on h.id = j.homeowner_id where j.id = ${$('subjectId')})),
      (select id from jobs where id = ${$('subjectId')}), ${$('reason')}, ${$('until')}::timestamptz,
      ${$('amount')}::int, ${$('decision')})`,
);

const FILTERS = { adminId: adminActions.adminId, action: adminActions.action, jobId: adminActions.jobId };
type FilterName = keyof typeof FILTERS | 'userId';
const FILTER_NAMES = Object.keys(FILTERS) as (keyof typeof FILTERS)[];

type FilterValues = Readonly<Record<FilterName, string | null>>;

const lists = cachedByKey<List<FilterValues, AdminAction>>();

export function listAdminActions(
  db: Db,
  { adminId = null, userId = null, action = null, jobId = null }: Partial<FilterValues>,
  request: PageRequest,
): Promise<Page<AdminAction>> {
  const values = { adminId, userId, action, jobId };
  const names = FILTER_NAMES.filter((name) => values[name] !== null);
  const list = lists(`${names.join()} ${userId !== null}`, () => listOf(names, userId !== null));
  return list(db, values, request);
}

function listOf(names: readonly (keyof typeof FILTERS)[], isByUser: boolean): List<FilterValues, AdminAction> {
  const isEach = ($: Placeholders<FilterValues>) => and(...names.map((name) => sql`${FILTERS[name]} = ${$(name)}`));
  return pagedList({
    name: 'listAdminActions',
    keys: { createdAt: adminActions.createdAt, id: adminActions.id },
    direction: 'desc',
    fields: actionColumns,
    rows: ($: Placeholders<FilterValues>, fields, condition, scan) =>
      selectFrom(
        adminActions,
        fields,
        isByUser ? sql`id = any(array(${toEitherParty($, isEach($), scan)}))` : and(isEach($), condition),
      ),
    ...(isByUser && {
      rowsToCount: ($: Placeholders<FilterValues>, scan: ScanLimit) =>
        sql`select from (${toEitherParty($, isEach($), scan)}) found limit ${sql.raw(String(scan.atMost))}`,
    }),
  });
}

/** A decision about a job concerns both of its parties, and each party has its own index. */
function toEitherParty($: Placeholders<FilterValues>, isEach: SQL | undefined, scan: ScanLimit): SQL {
  const { atMost, direction, positionCondition } = scan;
  const order = sql.raw(`order by created_at ${direction}, id ${direction} limit ${atMost}`);
  const position = positionCondition([sql`created_at`, sql`id`]);
  const to = (party: 'user_id' | 'other_user_id') => {
    const condition = and(sql`${sql.raw(party)} = ${$('userId')}`, isEach, position);
    return sql`(select id from admin_actions where ${condition} ${order})`;
  };
  return sql`${to('user_id')} union all ${to('other_user_id')}`;
}

export const selectAdminAction = statement(
  'selectAdminAction',
  actionColumns,
  ($: Placeholders<{ id: AdminActionId }>, fields) => selectFrom(adminActions, fields, eq(adminActions.id, $('id'))),
);
