/**
 * Whether somebody may do an operation to a job or a bid, from the facts that are known of it. Each policy answers with
 * its denial, or with undefined where nothing stands against the operation. The same policies refuse calls and answer
 * `availableActions`. Besides, `editing.ts` says what an edit may not change.
 */
import { BID_TRANSITION_LIST, type BidTransition } from './bids.js';
import { refuse, type RefusalCode } from './errors.js';
import type { RefusalFacts } from '../../platform/errors.js';
import { JOB_ACTION_KEYS, JOB_ACTION_LIST, JOB_ACTIONS, statesAllowing } from './lifecycle.js';
import { siblingOf, type EventId, type ProposalId, type UserId } from './ids.js';
import type { JobAction, JobActionKey, PartyWord } from './lifecycle.js';
import { REVIEW_DAYS_MAX } from './limits.js';
import {
  admitsParty,
  mayActOnBid,
  partyOf,
  PARTY_WORDS,
  type JobParties,
  type Party,
  type PartyViewer,
} from './parties.js';
import { missingToPublish, publishCost, type ToPublish } from './jobs/publishing.js';
import { BID_STATES, COUNTED_BID_STATES, JOB_STATES, LIVE_BID_STATES } from './states.js';
import type { BidState, JobState } from './states.js';
import { eitherOf } from './words.js';

/** What is known of a job, its viewer and the call. What no policy of an operation asks for may be left out. */
export interface JobFacts {
  readonly viewer: PartyViewer & { readonly userId?: UserId };
  readonly job: JobParties & Partial<ToPublish> & { readonly version?: number };
  /** The states of the viewer's own bids on the job, withdrawn ones among them. */
  readonly ownBids: readonly BidState[];
  /** The version that the caller has read; null if they don't say. */
  readonly expectedVersion?: number | null;
  /** Whether support has to decide who owns the viewer's account, because an email undo is pending. */
  readonly isEmailDisputed?: boolean;
  /** The viewer's own balance less what is held. */
  readonly availableTokens?: number;
  /** What the call takes from the balance, where that follows from the input: a stake, or a raise of the urgency. */
  readonly cost?: number;
  /** How many live bids of contractors who are not suspended there are: of those that the call names, or of all. */
  readonly bidsToAward?: number;
  /** The event and the author of the standing proposal in the dispute. Null if there is no proposal. */
  readonly standingProposal?: StandingProposal | null;
  /** The proposal ID in the call. */
  readonly proposalId?: ProposalId | undefined;
  readonly reviewWindow?: ReviewWindow | null;
  /** Whether the call gives the contractor credit for the work. */
  readonly creditContractor?: boolean | undefined;
}

export interface StandingProposal {
  readonly eventId: EventId;
  readonly by: UserId;
}

/** Whether an approved job can still be rated: it already has a rating, it's too late, or it can. */
export type ReviewWindow = 'used' | 'over' | 'open';

export interface BidFacts {
  readonly viewer: PartyViewer;
  readonly job: JobParties;
  readonly bid: { readonly contractorId: NonNullable<PartyViewer['contractorId']>; readonly status: BidState };
}

/** The first reason against an operation. The details are computed only for a refusal. */
export interface Denial extends Pick<RefusalFacts, 'message' | 'fields'> {
  readonly code: RefusalCode;
  details?(): Record<string, unknown>;
}

export function assertAllowed(denial: Denial | undefined): void {
  if (!denial) return;
  const { code, message, fields, details } = denial;
  throw refuse(code, {
    ...(message !== undefined && { message }),
    ...(fields && { fields }),
    details: details?.() ?? {},
  });
}

/**
 * Checks in this order: whether the caller may do this to the job and its proposal, whether their email is confirmed
 * and undisputed, whether they have the job's current version, whether its state allows it, and everything else.
 */
export function jobDenial(key: JobActionKey, facts: JobFacts): Denial | undefined {
  const row: JobAction = JOB_ACTIONS[key];
  return (
    callerDenial(row.by, facts) ??
    ownProposalDenial(key, facts) ??
    emailDenial(key, facts) ??
    versionDenial(facts) ??
    stateDenial(key, facts) ??
    conditionDenial(key, facts)
  );
}

/** What an edit is asked before its fields: in a state without edits, the refusal names the fields that were sent. */
export function editDenial(facts: JobFacts): Denial | undefined {
  return callerDenial(JOB_ACTIONS.update.by, facts) ?? versionDenial(facts);
}

/** What is asked once the lifecycle's table allows the operation; its price comes last. */
export function conditionDenial(key: JobActionKey, facts: JobFacts): Denial | undefined {
  for (const { code, denial } of CONDITIONS[key] ?? []) {
    const explanation = denial(facts);
    if (explanation) return { code, ...explanation };
  }
  return undefined;
}

/** What a denial says besides its code; empty where the code says everything. */
type Explanation = Omit<Denial, 'code'>;

interface Condition {
  readonly code: RefusalCode;
  denial(this: void, facts: JobFacts): Explanation | undefined;
}

const CONDITIONS: { readonly [Key in JobActionKey]?: readonly Condition[] } = {
  publish: [
    { code: 'MISSING_FIELDS', denial: missingFieldsDenial },
    { code: 'INSUFFICIENT_TOKENS', denial: publishBalanceDenial },
  ],
  award: [{ code: 'UNKNOWN_BID', denial: bidToAwardDenial }],
  submitBid: [
    { code: 'FORBIDDEN', denial: suspendedOwnerDenial },
    { code: 'DUPLICATE_BID', denial: duplicateBidDenial },
    { code: 'INSUFFICIENT_TOKENS', denial: balanceDenial },
  ],
  complete: [{ code: 'VALIDATION_FAILED', denial: creditDenial }],
  update: [{ code: 'INSUFFICIENT_TOKENS', denial: balanceDenial }],
  acceptResolution: [
    { code: 'INVALID_TRANSITION', denial: noProposalDenial },
    { code: 'STALE_VERSION', denial: replacedProposalDenial },
  ],
  review: [{ code: 'INVALID_TRANSITION', denial: reviewDenial }],
};

/** The codes with which an operation can be refused once the caller is known to be one that it is for. */
export function codesOfDenials(key: JobActionKey): readonly RefusalCode[] {
  const states = [wrongStateCode(JOB_ACTIONS[key]), ...(CONDITIONS[key] ?? []).map(({ code }) => code)];
  return NEEDS_UNDISPUTED_EMAIL.includes(key) ? ['FORBIDDEN', ...states] : states;
}

function callerDenial(by: PartyWord, { viewer, job, ownBids }: JobFacts): Denial | undefined {
  return admitsParty(by, partyOf(viewer, job, ownBids.length > 0)) ? undefined : ONLY_FOR[by];
}

/** Party words of which there are many are in the plural. */
const ONLY_FOR = Object.fromEntries(
  Object.entries({ ...descriptionsOf(PARTY_WORDS), contractor: 'contractors', admin: 'admins' }).map(([by, people]) => [
    by,
    { code: 'FORBIDDEN', message: `Only ${people} may do this.` },
  ]),
) as Readonly<Record<PartyWord, Denial>>;

function descriptionsOf(words: typeof PARTY_WORDS): Record<string, string> {
  return Object.fromEntries(Object.entries(words).map(([by, { description }]) => [by, description]));
}

function ownProposalDenial(key: JobActionKey, { viewer, standingProposal }: JobFacts): Denial | undefined {
  const isOwn = standingProposal != null && standingProposal.by === viewer.userId;
  return key === 'acceptResolution' && isOwn ? OWN_PROPOSAL : undefined;
}

const OWN_PROPOSAL: Denial = {
  code: 'FORBIDDEN',
  message: 'You made the standing proposal. Only the other party can accept it.',
};

/** What somebody whose email is not confirmed may not do, where the operator asks for that. */
const NEEDS_VERIFIED_EMAIL: readonly JobActionKey[] = ['publish', 'submitBid'];

/** What is blocked while support decides who owns the account: anything that spends tokens or binds someone else. */
const NEEDS_UNDISPUTED_EMAIL: readonly JobActionKey[] = [...NEEDS_VERIFIED_EMAIL, 'award'];

function emailDenial(key: JobActionKey, { viewer, isEmailDisputed = false }: JobFacts): Denial | undefined {
  if (viewer.mustVerifyEmail && NEEDS_VERIFIED_EMAIL.includes(key)) return EMAIL_UNVERIFIED;
  return isEmailDisputed && NEEDS_UNDISPUTED_EMAIL.includes(key) ? EMAIL_DISPUTED : undefined;
}

const EMAIL_UNVERIFIED: Denial = {
  code: 'FORBIDDEN',
  message: 'Confirm your email address first, by the link in a mail.',
  details: () => ({ reason: 'email_unverified' }),
};

export const EMAIL_DISPUTED: Denial = {
  code: 'FORBIDDEN',
  message: 'Someone asked to undo your email address change. You can’t do this until support decides. Contact support.',
  details: () => ({ reason: 'email_disputed' }),
};

function versionDenial({ job: { version }, expectedVersion = null }: JobFacts): Denial | undefined {
  if (expectedVersion === null || expectedVersion === version) return undefined;
  return { code: 'STALE_VERSION', details: () => ({ expectedVersion, version }) };
}

function stateDenial(key: JobActionKey, facts: JobFacts): Denial | undefined {
  const { states, code, message } = STATES_OF[key];
  return states.includes(facts.job.status) ? undefined : { code, message, details: () => alternativesTo(key, facts) };
}

/** What the caller could do in this state instead. */
function alternativesTo(key: JobActionKey, { viewer, job, ownBids }: JobFacts) {
  const allowed = operationsAllowedFrom(job.status, partyOf(viewer, job, ownBids.length > 0));
  return {
    fromState: job.status,
    allowedOperations: allowed.filter((operation) => operation !== JOB_ACTIONS[key].operation),
  };
}

const STATES_OF = Object.fromEntries(
  JOB_ACTION_KEYS.map((key) => {
    const row: JobAction = JOB_ACTIONS[key];
    const states = statesAllowing(row);
    return [key, { states, code: wrongStateCode(row), message: mustBe('job', states, JOB_STATES) }];
  }),
) as Record<JobActionKey, { states: readonly JobState[]; code: RefusalCode; message: string }>;

/** What being in the wrong state is called, for this operation. */
function wrongStateCode(row: JobAction): RefusalCode {
  return row.codeInOtherStates ?? 'INVALID_TRANSITION';
}

/** In which states the call is possible; where it is in most of them, in which it is not. */
function mustBe(noun: string, allowing: readonly string[], all: readonly string[]): string {
  const others = all.filter((state) => !allowing.includes(state));
  if (others.length < allowing.length) return `The ${noun} must not be ${eitherOf(others)}.`;
  return `The ${noun} must be ${eitherOf(allowing)}.`;
}

/** The operations that this party could call in this state, for a refused caller to choose from. */
export function operationsAllowedFrom(state: JobState, party: Party): string[] {
  const allowedRows = JOB_ACTION_LIST.filter(
    (row) => admitsParty(row.by, party) && statesAllowing(row).includes(state),
  );
  return allowedRows.map((row) => row.operation);
}

function missingFieldsDenial({ job }: JobFacts): Explanation | undefined {
  const missingFields = missingToPublish(job as ToPublish);
  if (missingFields.length === 0) return undefined;
  return {
    message: 'To publish the job, fill in the missing fields first.',
    fields: Object.fromEntries(missingFields.map((field) => [field, 'is required to publish'])),
  };
}

/** The price of publishing follows from the job; a draft that lacks its urgency has none yet. */
function publishBalanceDenial(facts: JobFacts): Explanation | undefined {
  return balanceDenial({ ...facts, cost: publishCost(facts.job.urgency ?? null) });
}

function balanceDenial({ availableTokens = 0, cost = 0 }: JobFacts): Explanation | undefined {
  if (availableTokens >= cost) return undefined;
  return { details: () => ({ required: cost, available: availableTokens }) };
}

/** `awardJob` refuses a wrong bid with this sentence, and `availableActions` a job without a bid to award. */
function bidToAwardDenial({ bidsToAward = 0 }: JobFacts): Explanation | undefined {
  return bidsToAward > 0 ? undefined : NO_BID_TO_AWARD;
}

const NO_BID_TO_AWARD = {
  message:
    `There is no bid to award: it must be one on this job that is ${eitherOf(LIVE_BID_STATES)}, and its contractor ` +
    'not suspended.',
  fields: { bidId: 'is no bid on this job that could be awarded' },
};

function creditDenial({ job, creditContractor }: JobFacts): Explanation | undefined {
  return creditContractor && job.status !== 'in_review' ? NO_WORK_TO_CREDIT : undefined;
}

const NO_WORK_TO_CREDIT = {
  message: 'You can give credit only for a job in review.',
  fields: { creditContractor: 'must be false unless the job is in review' },
};

/** Whoever has bid on the job goes on seeing it, and bids no more. */
function suspendedOwnerDenial({ job }: JobFacts): Explanation | undefined {
  return job.isOwnerSuspended ? { message: 'The homeowner is suspended: the job takes no bids.' } : undefined;
}

/** A contractor has at most one bid on a job. Withdrawing it allows another; a rejected bid does not. */
function duplicateBidDenial({ ownBids }: JobFacts): Explanation | undefined {
  return ownBids.some((state) => COUNTED_BID_STATES.includes(state)) ? {} : undefined;
}

function noProposalDenial(facts: JobFacts): Explanation | undefined {
  if (facts.standingProposal != null) return undefined;
  return {
    message: 'There is no proposal to accept. Propose a resolution yourself.',
    details: () => alternativesTo('acceptResolution', facts),
  };
}

/** Nobody can accept a proposal that they haven't read. */
function replacedProposalDenial({ standingProposal, proposalId }: JobFacts): Explanation | undefined {
  if (proposalId === undefined || standingProposal == null) return undefined;
  if (proposalId === siblingOf('proposal', standingProposal.eventId)) return undefined;
  return {
    message: 'Another proposal has replaced this one. Read the dispute again.',
    fields: { proposalId: 'is not the standing proposal' },
  };
}

function reviewDenial(facts: JobFacts): Explanation | undefined {
  const window = facts.reviewWindow ?? 'never';
  if (window === 'open') return undefined;
  return { message: NO_REVIEW[window], details: () => alternativesTo('review', facts) };
}

const NO_REVIEW: Readonly<Record<Exclude<ReviewWindow, 'open'> | 'never', string>> = {
  never: 'Only a job that you approved can be rated.',
  used: 'You have already rated this job. A rating is final.',
  over: `You can rate a job only within ${REVIEW_DAYS_MAX} days of its completion.`,
};

/** The same of what people do with bids: may this caller do this to this bid, and does its state allow it. */
export function bidDenial({ by, from }: BidTransition, { viewer, job, bid }: BidFacts): Denial | undefined {
  if (!mayActOnBid(by, viewer, bid, job)) return ONLY_FOR[by];
  if (from.includes(bid.status)) return undefined;
  return {
    code: 'INVALID_TRANSITION',
    message: mustBe('bid', from, BID_STATES),
    details: () => ({ fromState: bid.status, allowedOperations: bidOperationsAllowed({ viewer, job, bid }) }),
  };
}

function bidOperationsAllowed({ viewer, job, bid }: BidFacts): string[] {
  const allowedRows = BID_TRANSITION_LIST.filter(
    ({ by, from }) => from.includes(bid.status) && mayActOnBid(by, viewer, bid, job),
  );
  return allowedRows.map((row) => row.operation);
}
