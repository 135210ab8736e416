/** The facts about a job, each as a column in a select of jobs. Only the requested facts are read. */
import { sql, type SQL } from 'drizzle-orm';
import { PROPOSAL_EVENT } from '../../rules/jobs/disputes.js';
import { CLOCK_TRANSITIONS } from '../../rules/jobs/deadlines.js';
import type { FactName, JobFacts } from '../../rules/jobs/facts.js';
import { JOB_ACTIONS, JOB_TRANSITIONS } from '../../rules/lifecycle.js';
import { REVIEW_DAYS_MAX } from '../../rules/market-limits.js';
import type { Role } from '../../rules/viewer.js';
import { bidsLimitingEdits, bidsToAwardOfJob, bidsToRestoreOfJob, liveBidsOfJob } from '../bids/bids.js';
import { disputeEventsOfJob } from '../events/events.js';
import { availableTo } from '../ledger/ledger.js';
import type { Placeholders } from '../../../platform/db/statement.js';
import { isOwnerSuspended, ownBidStates, type ViewerIds } from '../visibility.js';

/** In a call, the caller's balance is locked, so no other call can spend the tokens. */
interface FactQuery {
  readonly role: Role;
  readonly $: Placeholders<ViewerIds>;
  readonly locksBalance: boolean;
}

/** The work counts as approved if the homeowner approves it, or doesn't respond in time. */
const APPROVALS = sql.raw(`'${JOB_TRANSITIONS.approve.event}', '${CLOCK_TRANSITIONS.approve.event}'`);

const ownerUserId = sql`(select h.user_id from homeowners h where h.id = "jobs"."homeowner_id")`;

/** Null if the parties can no longer agree. The query reads only this job's events. */
const standingProposal = sql`case when "jobs"."status" = '${inState('acceptResolution')}'
  then (select json_build_object('eventId', e.id, 'by', e.actor_id, 'count', count(*) over ()) from events e
  where e.job_id = "jobs"."id" and e.type = '${sql.raw(PROPOSAL_EVENT)}' order by e.sequence desc limit 1) end`;

/**
 * A completed job's last status change is its completion. The query doesn't use EXISTS, because for a list of jobs
 * Postgres would evaluate it by reading all events.
 */
const reviewWindow = sql`case when "jobs"."status" = '${inState('review')}' and (
  select true from events e
  where e.job_id = "jobs"."id" and e.type in (${APPROVALS}) limit 1)
  then case when "jobs"."rating" is not null then 'used'
    when "jobs"."status_changed_at" < now() - interval '${sql.raw(String(REVIEW_DAYS_MAX))} days' then 'over'
    else 'open' end end`;

const isCredited = sql`exists (select from events e where e.job_id = "jobs"."id"
  and (e.type in (${APPROVALS})
    or e.type = '${sql.raw(JOB_TRANSITIONS.complete.event)}' and e.data ->> 'creditContractor' = 'true'))`;

const EXTENDABLE_STATES = JOB_ACTIONS.extendDeadline.from.map((state) => `'${state}'`).join(', ');
/** Without EXISTS, for the same reason. */
const isDeadlineExtended = sql`case when "jobs"."status" in (${sql.raw(EXTENDABLE_STATES)}) then coalesce((
  select true from events e where e.job_id = "jobs"."id" and e.type = '${sql.raw(JOB_ACTIONS.extendDeadline.event)}'
    and e.from_status = "jobs"."status" limit 1), false) else false end`;

const FACTS: Readonly<Record<FactName, (query: FactQuery) => SQL>> = {
  ownBids: ({ role, $ }) => ownBidStates(role, $),
  isOwnerSuspended: () => isOwnerSuspended,
  isEmailUndoPending: ({ $ }) =>
    sql`exists (select from users u where u.id = ${$('userId')} and u.email_undo = 'pending')`,
  ownerUserId: () => ownerUserId,
  // A homeowner sees only their own jobs, so in a list, their balance is read only once.
  availableTokens: ({ role, $, locksBalance }) =>
    availableTo(role === 'admin' ? ownerUserId : sql`${$('userId')}`, { isLocked: locksBalance }),
  bidsToAward: () => bidsToAwardOfJob,
  standingProposal: () => standingProposal,
  reviewWindow: () => reviewWindow,
  isCredited: () => isCredited,
  isDeadlineExtended: () => isDeadlineExtended,
  liveBids: () => liveBidsOfJob,
  bidsToRestore: () => bidsToRestoreOfJob,
  disputeEvents: () => disputeEventsOfJob,
  bidsLimitingEdits: () => bidsLimitingEdits,
};

/** Dispute events are still in the format that `disputeEventsOfJob` selects. */
export function factColumns<Name extends FactName>(names: readonly Name[], query: FactQuery) {
  const columns = names.map((name) => [name, FACTS[name](query)]);
  return Object.fromEntries(columns) as { readonly [Fact in Name]: SQL<JobFacts[Fact]> };
}

function inState(key: 'acceptResolution' | 'review') {
  return sql.raw(JOB_ACTIONS[key].from[0]);
}
