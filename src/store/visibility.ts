/**
 * Which jobs and bids a viewer may see. Lists, single rows and nested fields all use these conditions, so that they
 * cannot differ.
 */
import { sql, type SQL } from 'drizzle-orm';
import { IS_OPEN_TO_BIDS, SEES_BID, SEES_JOB } from '../rules/parties.js';
import { ROLES, type Role, type Viewer } from '../rules/viewer.js';
import { conditionForRole, conditionSql, type ConditionValues } from './conditions.js';
import type { Values } from './statement.js';

/** The parameters of every statement with a condition of visibility. */
export type ViewerIds = Pick<ConditionValues, 'role' | 'homeownerId' | 'contractorId'>;

export function idsOf({ role, homeownerId, contractorId }: Viewer): ViewerIds {
  return { role, homeownerId, contractorId };
}

/** Makes a statement for each role, which has only the conditions of that role. */
export function forEachRole<S>(make: (role: Role) => S): Record<Role, S> {
  return Object.fromEntries(ROLES.map((role) => [role, make(role)])) as Record<Role, S>;
}

/**
 * Open jobs, which every contractor sees. Lists read these and the jobs of own bids by two indexes; together they are
 * the jobs that meet `visibleJobs`.
 */
export const isOpenToBids = conditionSql(IS_OPEN_TO_BIDS, {});

/** The condition on the table `jobs`. */
export function visibleJobs(role: Role, $: Values<ViewerIds>): SQL {
  return conditionForRole(SEES_JOB[role], role, $);
}

/** The condition on the joined tables `bids` and `jobs`. */
export function visibleBids(role: Role, $: Values<ViewerIds>): SQL {
  return conditionForRole(SEES_BID[role], role, $);
}

/** The states of the viewer's own bids on the row of `jobs`. */
export function ownBidStates(role: Role, $: Values<ViewerIds>): SQL {
  if (role !== 'contractor') return sql`'[]'::json`;
  return sql`(select coalesce(json_agg(own.status), '[]') from bids own
    where own.job_id = "jobs"."id" and own.contractor_id = ${$.contractorId})`;
}
