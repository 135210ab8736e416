/**
 * The actions that a viewer can currently perform on a job. A forbidden action has the error code and message that a
 * call would get.
 */
import { BID_ACTION_LIST, type BidAction } from '../bids.js';
import { REFUSALS, type ErrorCode } from '../errors.js';
import { JOB_ACTION_KEYS, JOB_ACTIONS, statesAllowing, type JobActionKey, type JobActionName } from '../lifecycle.js';
import type { JobState } from '../states.js';
import type { DeadlineEnd } from './deadlines.js';
import type { JobFacts } from './facts.js';
import type { JobParties } from '../parties.js';
import { bidDenial, jobDenial, type BidPolicyInput, type Denial, type JobCounters } from '../policies.js';
import { missingToPublish, publishCost, type RequiredToPublish, type ToPublish } from './publishing.js';
import type { Viewer } from '../viewer.js';

export interface AvailableAction {
  readonly action: JobActionName;
  readonly allowed: boolean;
  readonly reason: ErrorCode | null;
  readonly message: string | null;
  /**
   * The required fields that are still missing. Empty unless only missing fields or a lack of tokens prevent
   * publication.
   */
  readonly missingFields: readonly RequiredToPublish[];
  /** What publishing costs. Null for other operations, and if `priceOf` returns no price. */
  readonly tokenCost: number | null;
  /** When the clock moves the job to a state that doesn't allow the action. */
  readonly until: Date | null;
}

type ActionJob = JobParties & ToPublish & JobCounters;

/** The actions are in the order of the lifecycle table. */
export function availableActions(
  viewer: Viewer,
  job: ActionJob,
  facts: Partial<JobFacts>,
  end: DeadlineEnd | null = null,
): AvailableAction[] {
  return JOB_ACTION_KEYS.map((key) => {
    const denial = jobDenial(key, { ...facts, viewer, job });
    const until = !denial && end && !allows(key, end.to, job) ? end.at : null;
    return { action: JOB_ACTIONS[key].action, ...answerFor(denial), ...priceOf(key, job, denial), until };
  });
}

function allows(key: JobActionKey, state: JobState, { changeRequestCount }: ActionJob): boolean {
  return statesAllowing(JOB_ACTIONS[key], { afterChanges: changeRequestCount > 0 }).includes(state);
}

/** The operations that a refused caller can use instead. */
export function allowedOperations(viewer: Viewer, job: ActionJob, facts: Partial<JobFacts>): string[] {
  const allowedKeys = JOB_ACTION_KEYS.filter((key) => !jobDenial(key, { ...facts, viewer, job }));
  return allowedKeys.map((key) => JOB_ACTIONS[key].operation);
}

export interface AvailableBidAction {
  readonly action: BidActionName;
  readonly allowed: boolean;
  readonly reason: ErrorCode | null;
  readonly message: string | null;
}

export type BidActionName = BidAction['action'];

/** The actions are in the order of the table of bid transitions. */
export function availableBidActions(
  viewer: Viewer,
  known: Omit<BidPolicyInput, 'viewer' | 'expectedVersion'>,
): AvailableBidAction[] {
  return BID_ACTION_LIST.map((row) => ({ action: row.action, ...answerFor(bidDenial(row, { ...known, viewer })) }));
}

function answerFor(denial: Denial | undefined) {
  if (!denial) return { allowed: true, reason: null, message: null };
  return { allowed: false, reason: denial.code, message: denial.message ?? REFUSALS[denial.code][1] };
}

const NO_PRICE: Pick<AvailableAction, 'missingFields' | 'tokenCost'> = { missingFields: [], tokenCost: null };

/**
 * Returns a price only to viewers who can publish the job once its required fields are filled in and they have enough
 * tokens. A draft without an urgency has no price yet.
 */
function priceOf(key: JobActionKey, job: ToPublish, denial: Denial | undefined) {
  if (key !== 'publish' || (denial && !BEYOND_THE_TABLE.includes(denial.code))) return NO_PRICE;
  return { missingFields: missingToPublish(job), tokenCost: job.urgency && publishCost(job.urgency) };
}

const BEYOND_THE_TABLE: readonly ErrorCode[] = ['MISSING_FIELDS', 'INSUFFICIENT_TOKENS'];
