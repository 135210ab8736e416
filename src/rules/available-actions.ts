/** What a viewer may do with a job now and, for all the rest, which refusal the call would meet first. */
import { mayBid } from './bids.js';
import type { ErrorCode, RefusalCode } from './errors.js';
import { isAllowedIn, JOB_ACTION_LIST, JOB_ACTIONS } from './lifecycle.js';
import type { BidState, JobAction, JobActionKey, JobActionName, JobState } from './lifecycle.js';
import { isFor, partyOf, type JobParties, type Party } from './parties.js';
import { missingToPublish, publishCost, type RequiredToPublish, type ToPublish } from './publishing.js';
import type { Viewer } from './viewer.js';

export interface AvailableAction {
  readonly action: JobActionName;
  readonly allowed: boolean;
  readonly reason: ErrorCode | null;
  /** What must be filled in first; empty unless the job could otherwise be published. */
  readonly missingFields: readonly RequiredToPublish[];
  /** What the call would charge this viewer; null where that is nothing, or depends on what is sent. */
  readonly tokenCost: number | null;
}

export interface ActionFacts {
  readonly job: JobParties & ToPublish;
  /** The states of the viewer's own bids on this job, withdrawn ones among them. */
  readonly ownBids: readonly BidState[];
  /** How many bids on this job, anyone's, could be awarded. */
  readonly liveBids: number;
  /** The viewer's own balance less what is held. */
  readonly availableTokens: number;
}

/** One entry for every operation on a job, in the order of the table. */
export function availableActions(viewer: Viewer, facts: ActionFacts): AvailableAction[] {
  const party = partyOf(viewer, facts.job, facts.ownBids.length > 0);
  return JOB_ACTION_KEYS.map((key) => ({
    action: JOB_ACTIONS[key].action,
    ...(firstRefusal(JOB_ACTIONS[key], party, facts.job.status) ?? FURTHER_RULES[key]?.(facts) ?? ALLOWED),
  }));
}

/** Whether what the viewer may do hangs on their balance: it is charged for by publishing alone. */
export function dependsOnBalance(viewer: Viewer, { job, ownBids }: Pick<ActionFacts, 'job' | 'ownBids'>): boolean {
  return firstRefusal(JOB_ACTIONS.publish, partyOf(viewer, job, ownBids.length > 0), job.status) === undefined;
}

/** The operations that this party could call in this state, for a refused caller to choose from. */
export function operationsAllowedFrom(state: JobState, party: Party): string[] {
  return JOB_ACTION_LIST.filter((row) => isFor(row.by, party) && isAllowedIn(state, row)).map((row) => row.operation);
}

/** What being in the wrong state is called, for this operation. */
export function refusalElsewhere(row: JobAction): RefusalCode {
  return row.elsewhere ?? 'INVALID_TRANSITION';
}

type Verdict = Omit<AvailableAction, 'action'>;

const JOB_ACTION_KEYS = Object.keys(JOB_ACTIONS) as JobActionKey[];
const ALLOWED: Verdict = { allowed: true, reason: null, missingFields: [], tokenCost: null };

/** What follows once the state allows the call. Undefined where nothing stands in its way. */
const FURTHER_RULES: { readonly [Key in JobActionKey]?: (facts: ActionFacts) => Verdict | undefined } = {
  publish: judgePublishing,
  award: ({ liveBids }) => (liveBids === 0 ? refused('UNKNOWN_BID') : undefined),
  submitBid: ({ ownBids }) => (mayBid(ownBids) ? undefined : refused('DUPLICATE_BID')),
};

/** A wrong role and a wrong party answer alike, and come before the state. */
function firstRefusal(row: JobAction, party: Party, state: JobState): Verdict | undefined {
  if (!isFor(row.by, party)) return refused('FORBIDDEN');
  return isAllowedIn(state, row) ? undefined : refused(refusalElsewhere(row));
}

/** The price comes last: a draft with gaps is short of fields, however poor its owner. */
function judgePublishing({ job, availableTokens }: ActionFacts): Verdict {
  const missingFields = missingToPublish(job);
  const tokenCost = job.urgency === null ? null : publishCost(job.urgency);
  if (missingFields.length > 0) return { ...refused('MISSING_FIELDS'), missingFields, tokenCost };
  return {
    ...(tokenCost !== null && tokenCost > availableTokens ? refused('INSUFFICIENT_TOKENS') : ALLOWED),
    tokenCost,
  };
}

function refused(reason: ErrorCode): Verdict {
  return { allowed: false, reason, missingFields: [], tokenCost: null };
}
