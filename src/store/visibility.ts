/**
 * Which jobs and bids a viewer may see. Lists, single rows and nested fields all ask here, so they cannot disagree.
 * The names are written out, with their tables, because Drizzle drops a table's name where it selects from one alone.
 */
import { sql, type Placeholder, type SQL } from 'drizzle-orm';
import type { ContractorId, HomeownerId } from '../rules/ids.js';
import { ROLES, type Role, type Viewer } from '../rules/viewer.js';
import type { Values } from './statement.js';

/** What every statement that asks for visibility is given. */
export interface ViewerIds {
  homeownerId: HomeownerId | null;
  contractorId: ContractorId | null;
}

export function idsOf({ homeownerId, contractorId }: Viewer): ViewerIds {
  return { homeownerId, contractorId };
}

/** A statement for each role: none carries conditions that are not its own. */
export function forEachRole<S>(make: (role: Role) => S): Record<Role, S> {
  return Object.fromEntries(ROLES.map((role) => [role, make(role)])) as Record<Role, S>;
}

/**
 * Seen by every contractor. Lists read these and the jobs of own bids by two indexes; what is in either is what
 * `visibleJobs` lets through.
 */
export const isOpenToBids = sql`"jobs"."status" = 'open'`;

/** Of the table `jobs`. */
export function visibleJobs(role: Role, $: Values<ViewerIds>): SQL {
  return {
    admin: sql`true`,
    homeowner: sql`"jobs"."homeowner_id" = ${$.homeownerId}`,
    contractor: sql`(${isOpenToBids} or ${hasBidOn(sql`"jobs"."id"`, $.contractorId)})`,
  }[role];
}

/** Of the tables `bids` and `jobs`, joined. */
export function visibleBids(role: Role, $: Values<ViewerIds>): SQL {
  return {
    admin: sql`true`,
    homeowner: sql`"jobs"."homeowner_id" = ${$.homeownerId}`,
    contractor: sql`"bids"."contractor_id" = ${$.contractorId}`,
  }[role];
}

/** Withdrawn and rejected bids count: whoever has bid on a job goes on seeing it. */
function hasBidOn(jobId: SQL, contractorId: Placeholder): SQL {
  return sql`exists (select 1 from bids own where own.job_id = ${jobId} and own.contractor_id = ${contractorId})`;
}

/** The states of the viewer's own bids on the row of `jobs`. */
export function ownBidStates(role: Role, $: Values<ViewerIds>): SQL {
  if (role !== 'contractor') return sql`'[]'::json`;
  return sql`(select coalesce(json_agg(own.status), '[]') from bids own where own.job_id = "jobs"."id" and own.contractor_id = ${$.contractorId})`;
}
