/** The sort orders of job lists, in SQL. `market/rules/jobs/orders.ts` defines their names. */
import { sql, type SQL } from 'drizzle-orm';
import type { JobOrder } from '../../rules/jobs/orders.js';
import { closenessOfJob, type PlaceValues } from './distance.js';
import { orderKey, type Direction } from '../../../platform/db/pages/keyset.js';
import type { Placeholders } from '../../../platform/db/statement.js';
import { jobs } from '../tables/jobs.js';

const $ = sql.placeholder as Placeholders<PlaceValues>;
const { id, createdAt, updatedAt, budgetRank, statusChangedAt } = jobs;
const BY_CREATION = { keys: { createdAt, id }, key: 'createdAt', column: 'created_at', isByState: false } as const;

/** If `isByState` is true, there is only one index per state, and a list of all jobs is gathered from these indexes. */
export const JOB_LIST_ORDERS = {
  newest: { ...BY_CREATION, direction: 'desc' },
  oldest: { ...BY_CREATION, direction: 'asc' },
  recently_updated: {
    keys: { updatedAt, id },
    key: 'updatedAt',
    column: 'updated_at',
    isByState: false,
    direction: 'desc',
  },
  highest_budget: {
    keys: { budgetRank, id },
    key: 'budgetRank',
    column: 'budget_rank',
    isByState: true,
    direction: 'desc',
  },
  longest_unchanged: {
    keys: { statusChangedAt, id },
    key: 'statusChangedAt',
    column: 'status_changed_at',
    isByState: true,
    direction: 'asc',
  },
  nearest: {
    keys: { closeness: orderKey(closenessOfJob($), 'integer'), id },
    key: 'id',
    column: 'closeness',
    isByState: false,
    direction: 'desc',
  },
} as const satisfies Record<JobOrder, object>;

export function inOrder(order: JobOrder, of: 'jobs' | 'g' | 'l', direction: Direction): SQL {
  const { column } = JOB_LIST_ORDERS[order];
  return sql.raw(`"${of}"."${column}" ${direction}, "${of}"."id" ${direction}`);
}
