/** What policies ask about a job and its viewer besides the job's own row, as columns of a select of jobs. */
import { sql } from 'drizzle-orm';
import { PROPOSAL_EVENT } from '../../rules/jobs/disputes.js';
import { JOB_ACTIONS, JOB_TRANSITIONS } from '../../rules/lifecycle.js';
import { REVIEW_DAYS_MAX } from '../../rules/limits.js';
import type { ReviewWindow, StandingProposal } from '../../rules/policies.js';
import type { BidState } from '../../rules/states.js';
import type { Role } from '../../rules/viewer.js';
import { bidsToAwardOfJob } from '../bids/bids.js';
import { availableTo } from '../ledger/ledger.js';
import type { Placeholders } from '../../../platform/db/statement.js';
import { isOwnerSuspended, ownBidStates, type ViewerIds } from '../visibility.js';

export interface ViewerFacts {
  /** The viewer's own balance less what is held. */
  readonly availableTokens: number;
  /** The states of the viewer's own bids, withdrawn ones among them. */
  readonly ownBids: readonly BidState[];
  readonly isOwnerSuspended: boolean;
  /** Whether support has to decide who owns the viewer's account. */
  readonly isEmailDisputed: boolean;
  /** How many bids, anyone’s, could be awarded. */
  readonly bidsToAward: number;
  readonly standingProposal: StandingProposal | null;
  /** Null unless the job was approved. */
  readonly reviewWindow: ReviewWindow | null;
}

export function viewerFacts(role: Role, $: Placeholders<ViewerIds>) {
  return {
    availableTokens: availableTo($),
    ownBids: sql<BidState[]>`${ownBidStates(role, $)}`,
    isOwnerSuspended,
    isEmailDisputed: sql<boolean>`exists (select from users u
      where u.id = ${$('userId')} and u.email_undo = 'pending')`,
    bidsToAward: bidsToAwardOfJob,
    standingProposal,
    reviewWindow,
  };
}

/** The latest proposal, while the parties can still agree. The events of other jobs aren't read. */
const standingProposal = sql<StandingProposal | null>`case when "jobs"."status" = '${inState('acceptResolution')}'
  then (select json_build_object('eventId', e.id, 'by', e.actor_id) from events e
  where e.job_id = "jobs"."id" and e.type = '${sql.raw(PROPOSAL_EVENT)}' order by e.sequence desc limit 1) end`;

/**
 * No state follows completion, so the last status change of a completed job is its completion. For a list of jobs,
 * Postgres would answer EXISTS by reading all events once.
 */
const reviewWindow = sql<ReviewWindow | null>`case when "jobs"."status" = '${inState('review')}' and (
  select true from events e
  where e.job_id = "jobs"."id" and e.type = '${sql.raw(JOB_TRANSITIONS.approve.event)}' limit 1)
  then case when "jobs"."rating" is not null then 'used'
    when "jobs"."status_changed_at" < now() - interval '${sql.raw(String(REVIEW_DAYS_MAX))} days' then 'over'
    else 'open' end end`;

/** The one state in which the operation is possible. */
function inState(key: 'acceptResolution' | 'review') {
  return sql.raw(JOB_ACTIONS[key].from[0]);
}
