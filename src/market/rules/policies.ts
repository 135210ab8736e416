/**
 * Decides whether someone may perform an operation on a job or a bid. The same policies refuse calls and fill in
 * `availableActions`. `editing.ts` decides what an edit can't change.
 */
import { BID_ACTION_LIST, OTHER_BID_ACTIONS, type BidAction } from './bids.js';
import { refuse, type RefusalCode } from './errors.js';
import type { RefusalOptions } from '../../platform/errors.js';
import { JOB_ACTION_KEYS, JOB_ACTIONS, statesAllowing } from './lifecycle.js';
import { siblingOf, type ProposalId, type UserId } from './ids.js';
import type { JobAction, JobActionKey, AllowedActor } from './lifecycle.js';
import {
  BID_REVISIONS_MAX,
  BIDS_ON_ONE_JOB_MAX,
  CHANGE_REQUESTS_MAX,
  JOB_VERSIONS_MAX,
  PROPOSALS_MAX,
  REOPENINGS_MAX,
  REVIEW_DAYS_MAX,
} from './market-limits.js';
import {
  admitsParty,
  allowedRoles,
  mayActOnBid,
  partyOf,
  ALLOWED_ACTORS,
  type JobParties,
  type PartyViewer,
} from './parties.js';
import type { FactName, JobFacts, ReviewWindow } from './jobs/facts.js';
import { extenderOf } from './jobs/deadlines.js';
import { missingToPublish, publishCost, type ToPublish } from './jobs/publishing.js';
import { COUNTED_BID_STATES, JOB_STATE_ROWS, JOB_STATES, LIVE_BID_STATES } from './states.js';
import type { BidState, JobState } from './states.js';
import type { Role } from './viewer.js';
import { eitherOf } from './words.js';

export interface PolicyInput extends Partial<JobFacts> {
  readonly viewer: PartyViewer & { readonly userId?: UserId };
  readonly job: JobParties & Partial<ToPublish> & Partial<JobCounters>;
  /** The job version that the caller has read. Null if the call doesn't name one. */
  readonly expectedVersion?: number | null;
  /** The cost in tokens, if it depends on the input, such as a stake or a raised urgency. */
  readonly cost?: number;
  /** The version of the bid that the call names. Undefined if the call doesn't name a live bid. */
  readonly bidVersion?: number | undefined;
  /** The bid version that the caller has read. Null if the call doesn't name one. */
  readonly expectedBidVersion?: number | null | undefined;
  readonly proposalId?: ProposalId | undefined;
  readonly creditContractor?: boolean | undefined;
}

/** The columns of a job that count its changes. */
export interface JobCounters {
  readonly version: number;
  readonly changeRequestCount: number;
  readonly reopeningCount: number;
}

export interface BidPolicyInput {
  readonly viewer: PartyViewer;
  readonly job: JobParties;
  readonly bid: BidToActOn;
  /** True if support has to decide who owns the bidder's account. */
  readonly isEmailUndoPending: boolean;
  /** The bid version that the caller has read. Null if the call doesn't name one. */
  readonly expectedVersion?: number | null | undefined;
}

interface BidToActOn {
  readonly contractorId: NonNullable<PartyViewer['contractorId']>;
  readonly status: BidState;
  readonly version: number;
}

/** The denial's details are computed only if a call is refused. */
export interface Denial extends Pick<RefusalOptions, 'message' | 'fields'> {
  readonly code: RefusalCode;
  details?(): Record<string, unknown>;
  /** If true, the refusal names the operations that the caller could use instead. */
  readonly namesAlternatives?: boolean;
}

/** Adds `more` to the denial's own details. */
export function assertAllowed(denial: Denial | undefined, more?: Record<string, unknown>): void {
  if (!denial) return;
  const { code, message, fields, details } = denial;
  throw refuse(code, {
    ...(message !== undefined && { message }),
    ...(fields && { fields }),
    details: { ...details?.(), ...more },
  });
}

/**
 * The order of the checks: who the caller is, personal conditions (such as the email), the job's version, its state,
 * and all other conditions.
 */
export function jobDenial(key: JobActionKey, input: PolicyInput): Denial | undefined {
  return (
    callerDenial(JOB_ACTIONS[key].actor, input) ??
    firstDenial(PERSONAL_CONDITIONS[key], input) ??
    versionDenial(input) ??
    stateDenial(key, input) ??
    conditionDenial(key, input)
  );
}

/** Runs before the fields are checked. In the wrong state, the refusal names the fields that the client sent. */
export function editDenial(input: PolicyInput): Denial | undefined {
  return callerDenial(JOB_ACTIONS.update.actor, input) ?? versionDenial(input);
}

/** Runs after the lifecycle's table has allowed the operation. The price is checked last. */
export function conditionDenial(key: JobActionKey, input: PolicyInput): Denial | undefined {
  return firstDenial(CONDITIONS[key], input);
}

function firstDenial(conditions: readonly Condition[] = [], input: PolicyInput): Denial | undefined {
  for (const { code, concerns = () => true, denial } of conditions) {
    if (!concerns(input)) continue;
    const explanation = denial(input);
    if (explanation) return { code, ...explanation };
  }
  return undefined;
}

/** With `isPlain`, leaves out the conditions that apply only to some calls. */
export function factsForPolicies(key: JobActionKey, role: Role, { isPlain = false } = {}): FactName[] {
  const conditions = [...(PERSONAL_CONDITIONS[key] ?? []), ...(CONDITIONS[key] ?? [])];
  const asked = conditions.filter(({ concerns }) => !(concerns && isPlain));
  return [...new Set([...FACTS_OF_VISIBILITY[role], ...asked.flatMap(({ facts }) => facts)])];
}

export function factsForAvailableActions(role: Role): FactName[] {
  const keys = JOB_ACTION_KEYS.filter((key) =>
    allowedRoles(JOB_ACTIONS[key].actor).some((allowed) => allowed === role),
  );
  return [...new Set(keys.flatMap((key) => factsForPolicies(key, role, { isPlain: true })))];
}

/**
 * These facts decide whether a contractor can see a job, and as which party. For other roles, the job's row is enough.
 */
export const FACTS_OF_VISIBILITY: Readonly<Record<Role, readonly FactName[]>> = {
  homeowner: [],
  contractor: ['ownBids', 'isOwnerSuspended'],
  admin: [],
};

/** Empty if the error code explains the denial. */
type Explanation = Omit<Denial, 'code'>;

interface Condition {
  readonly code: RefusalCode;
  readonly facts: readonly FactName[];
  /** If omitted, the condition applies to every call. */
  concerns?(this: void, input: PolicyInput): boolean;
  denial(this: void, input: PolicyInput): Explanation | undefined;
}

/** The condition's type lets the policy use only the facts that are named here. */
function condition<Name extends FactName = never>(
  code: RefusalCode,
  facts: readonly Name[],
  policy: (input: Given<Name>) => Explanation | undefined,
): Condition {
  return {
    code,
    facts,
    denial(input) {
      assertKnown(input, facts);
      return policy(input);
    },
  };
}

/** Throws if one of these facts wasn't read. Only the facts that a policy or effect names are read. */
export function assertKnown<Name extends FactName>(
  facts: Partial<JobFacts>,
  names: readonly Name[],
): asserts facts is Partial<JobFacts> & Pick<JobFacts, Name> {
  const missing = names.find((name) => facts[name] === undefined);
  if (missing) throw new Error(`The fact ${missing} was not read.`);
}

type Given<Name extends FactName = never> = Omit<PolicyInput, FactName> & Pick<JobFacts, Name>;

const verifiedEmail = condition('FORBIDDEN', [], unverifiedEmailDenial);
const noPendingUndo = condition('FORBIDDEN', ['isEmailUndoPending'], disputedEmailDenial);

/** These conditions are checked before the job's version and state. */
const PERSONAL_CONDITIONS: { readonly [Key in JobActionKey]?: readonly Condition[] } = {
  // While support decides who owns the account, the caller can't spend tokens or make commitments that bind someone
  // else.
  publish: [verifiedEmail, noPendingUndo],
  award: [noPendingUndo],
  submitBid: [verifiedEmail, noPendingUndo],
  acceptResolution: [condition('FORBIDDEN', ['standingProposal'], ownProposalDenial)],
  extendDeadline: [condition('FORBIDDEN', [], otherExtenderDenial)],
};

const costsTokens = ({ cost = 0 }: PolicyInput) => cost > 0;

const price: Condition = {
  ...condition('INSUFFICIENT_TOKENS', ['availableTokens'], balanceDenial),
  concerns: costsTokens,
};

const credit: Condition = {
  ...condition('VALIDATION_FAILED', ['isCredited'], creditDenial),
  concerns: ({ creditContractor = false }) => creditContractor,
};

const CONDITIONS: { readonly [Key in JobActionKey]?: readonly Condition[] } = {
  publish: [
    condition('MISSING_FIELDS', [], missingFieldsDenial),
    condition('INSUFFICIENT_TOKENS', ['availableTokens'], publishBalanceDenial),
  ],
  award: [
    condition('UNKNOWN_BID', ['bidsToAward'], bidToAwardDenial),
    condition('VALIDATION_FAILED', [], unreadRevisionDenial),
    condition('STALE_VERSION', [], changedBidDenial),
  ],
  submitBid: [
    condition('FORBIDDEN', ['isOwnerSuspended'], suspendedOwnerDenial),
    condition('DUPLICATE_BID', ['ownBids'], duplicateBidDenial),
    condition('INVALID_TRANSITION', ['ownBids'], bidsOnOneJobDenial),
    price,
  ],
  complete: [credit],
  update: [condition('INVALID_TRANSITION', [], editsDenial), { ...noPendingUndo, concerns: costsTokens }, price],
  acceptResolution: [
    condition('INVALID_TRANSITION', ['standingProposal'], noProposalDenial),
    condition('STALE_VERSION', ['standingProposal'], replacedProposalDenial),
  ],
  review: [condition('INVALID_TRANSITION', ['reviewWindow'], reviewDenial)],
  extendDeadline: [condition('INVALID_TRANSITION', ['isDeadlineExtended'], secondExtensionDenial)],
  requestChanges: [condition('INVALID_TRANSITION', [], changeRequestsDenial)],
  reopen: [condition('INVALID_TRANSITION', [], reopeningsDenial)],
};

/** The codes of the refusals that a caller can get even if they're one of the operation's allowed actors. */
export function codesOfDenials(key: JobActionKey): readonly RefusalCode[] {
  const [before = [], after = []] = [PERSONAL_CONDITIONS[key], CONDITIONS[key]];
  const codes = [...before.map(({ code }) => code), wrongStateCode(JOB_ACTIONS[key]), ...after.map(({ code }) => code)];
  return [...new Set(codes)];
}

function callerDenial(actor: AllowedActor, { viewer, job, ownBids = [], isOwnerSuspended = false }: PolicyInput) {
  const { status, homeownerId, awardedContractorId } = job;
  const party = partyOf(viewer, { status, homeownerId, awardedContractorId, isOwnerSuspended }, ownBids.length > 0);
  return admitsParty(actor, party) ? undefined : ONLY_FOR[actor];
}

/** A role as a whole is plural, as in “Only contractors can do this.” */
const ONLY_FOR = Object.fromEntries(
  Object.entries({ ...descriptionsOf(ALLOWED_ACTORS), contractor: 'contractors', admin: 'admins' }).map(
    ([actor, people]) => [actor, { code: 'FORBIDDEN', message: `Only ${people} can do this.` }],
  ),
) as Readonly<Record<AllowedActor, Denial>>;

function descriptionsOf(words: typeof ALLOWED_ACTORS): Record<string, string> {
  return Object.fromEntries(Object.entries(words).map(([actor, { description }]) => [actor, description]));
}

function ownProposalDenial({ viewer, standingProposal }: Given<'standingProposal'>): Explanation | undefined {
  return standingProposal !== null && standingProposal.by === viewer.userId ? OWN_PROPOSAL : undefined;
}

const OWN_PROPOSAL = { message: 'You made the current proposal. Only the other party can accept it.' };

/** The operator decides whether a confirmed email is required. */
function unverifiedEmailDenial({ viewer }: Given): Explanation | undefined {
  return viewer.mustVerifyEmail ? EMAIL_UNVERIFIED : undefined;
}

const EMAIL_UNVERIFIED = {
  message: 'Confirm your email address first. Use the link in the email that we sent you.',
  details: () => ({ reason: 'email_unverified' }),
};

function disputedEmailDenial({ isEmailUndoPending }: Given<'isEmailUndoPending'>): Explanation | undefined {
  return isEmailUndoPending ? EMAIL_DISPUTED : undefined;
}

export const EMAIL_DISPUTED = {
  code: 'FORBIDDEN',
  message: 'Someone asked to undo your email change. You can’t do this until support decides. Contact support.',
  details: () => ({ reason: 'email_disputed' }),
} as const satisfies Denial;

function versionDenial({ job: { version }, expectedVersion = null }: PolicyInput): Denial | undefined {
  if (expectedVersion === null || expectedVersion === version) return undefined;
  return { code: 'STALE_VERSION', details: () => ({ expectedVersion, version }) };
}

function stateDenial(key: JobActionKey, { job }: PolicyInput): Denial | undefined {
  const { states, code, message } = (hasChangeRequest(job) ? STATES_AFTER_CHANGES : STATES_BEFORE_CHANGES)[key];
  if (states.includes(job.status)) return undefined;
  const wasAllowed = STATES_BEFORE_CHANGES[key].states.includes(job.status);
  return { code, message: wasAllowed ? notAfterChanges(key, job.status) : message, namesAlternatives: true };
}

function notAfterChanges(key: JobActionKey, status: JobState): string {
  const noun = JOB_STATE_ROWS[status].noun.replace(/^a/, 'A');
  return `${noun} can’t be ${JOB_ACTIONS[key].participle} after changes were requested.`;
}

function hasChangeRequest({ changeRequestCount = 0 }: PolicyInput['job']): boolean {
  return changeRequestCount > 0;
}

const STATES_BEFORE_CHANGES = statesOfActions({ afterChanges: false });
const STATES_AFTER_CHANGES = statesOfActions({ afterChanges: true });

function statesOfActions(when: { afterChanges: boolean }) {
  const states = JOB_ACTION_KEYS.map((key) => {
    const row: JobAction = JOB_ACTIONS[key];
    const allowing = statesAllowing(row, when);
    return [key, { states: allowing, code: wrongStateCode(row), message: onlyInStates(row.participle, allowing) }];
  });
  return Object.fromEntries(states) as Record<
    JobActionKey,
    { states: readonly JobState[]; code: RefusalCode; message: string }
  >;
}

function wrongStateCode(row: JobAction): RefusalCode {
  return row.codeInOtherStates ?? 'INVALID_TRANSITION';
}

/** Names the states that allow the operation or, if most states allow it, the states that don't. */
function onlyInStates(participle: string, allowing: readonly JobState[]): string {
  const others = JOB_STATES.filter((state) => !allowing.includes(state));
  const jobs = (states: readonly JobState[]) => eitherOf(states.map((state) => JOB_STATE_ROWS[state].noun));
  if (others.length >= allowing.length) return `Only ${jobs(allowing)} can be ${participle}.`;
  return `${jobs(others).replace(/^a/, 'A')} can’t be ${participle}.`;
}

function missingFieldsDenial({ job }: Given): Explanation | undefined {
  const missingFields = missingToPublish(job as ToPublish);
  if (missingFields.length === 0) return undefined;
  return {
    message: 'To publish the job, fill in the missing fields first.',
    fields: Object.fromEntries(missingFields.map((field) => [field, 'is required to publish'])),
  };
}

/** The price depends on the urgency, so a draft without one has no price yet. */
function publishBalanceDenial(input: Given<'availableTokens'>): Explanation | undefined {
  return balanceDenial({ ...input, cost: publishCost(input.job.urgency ?? null) });
}

function balanceDenial({ availableTokens, cost = 0 }: Given<'availableTokens'>): Explanation | undefined {
  if (availableTokens >= cost) return undefined;
  return {
    message: `You need ${cost} tokens and have ${availableTokens}.`,
    details: () => ({ required: cost, available: availableTokens }),
  };
}

/**
 * `awardJob` fails with this message if the bid can't be awarded. `availableActions` uses the message for a job without
 * a bid that can be awarded.
 */
function bidToAwardDenial({ bidsToAward }: Given<'bidsToAward'>): Explanation | undefined {
  return bidsToAward > 0 ? undefined : NO_BID_TO_AWARD;
}

const NO_BID_TO_AWARD = {
  message:
    `Only a ${eitherOf(LIVE_BID_STATES)} bid on this job can be awarded, and its contractor must not be ` +
    'suspended.',
  fields: { bidId: 'can’t be awarded' },
};

/** Denies the award of a revised bid by someone who may have read only an earlier offer. */
function unreadRevisionDenial({ bidVersion = 1, expectedBidVersion = null }: Given): Explanation | undefined {
  if (bidVersion === 1 || expectedBidVersion !== null) return undefined;
  return {
    message: 'The contractor has revised this bid. Read it again, and send its version.',
    fields: { expectedBidVersion: 'is required because the bid was revised' },
  };
}

function changedBidDenial({ bidVersion = 1, expectedBidVersion = null }: Given): Explanation | undefined {
  return expectedBidVersion === null ? undefined : revisedSinceDenial(bidVersion, expectedBidVersion);
}

function revisedSinceDenial(version: number, expectedVersion: number): Explanation | undefined {
  if (expectedVersion === version) return undefined;
  return {
    message: 'The bid has been revised since you read it. Read it again, then retry.',
    details: () => ({ expectedVersion, version }),
  };
}

/**
 * If the contractor already has the credit, a repeated call changes nothing and succeeds, just like a call without
 * credit.
 */
function creditDenial({ job, isCredited }: Given<'isCredited'>): Explanation | undefined {
  if (job.status === 'in_review' || isCredited) return undefined;
  return job.status === 'completed' ? COMPLETED_WITHOUT_CREDIT : NO_WORK_TO_CREDIT;
}

const NO_WORK_TO_CREDIT = {
  message: 'You can give credit only for a job in review.',
  fields: { creditContractor: 'must be false unless the job is in review' },
};

const COMPLETED_WITHOUT_CREDIT = {
  message: 'This job was already completed without credit. Credit can’t be added later.',
  fields: { creditContractor: 'must be false because the job is already completed' },
};

/**
 * Contractors who have already bid can still see a suspended homeowner's job, but can't bid again. Only admins may
 * know that the homeowner is suspended.
 */
function suspendedOwnerDenial({ isOwnerSuspended }: Given<'isOwnerSuspended'>): Explanation | undefined {
  return isOwnerSuspended ? { message: 'This job isn’t accepting bids at the moment.' } : undefined;
}

/** A contractor who withdraws a bid can bid again, but a contractor whose bid was rejected can't. */
function duplicateBidDenial({ ownBids }: Given<'ownBids'>): Explanation | undefined {
  return ownBids.some((state) => COUNTED_BID_STATES.includes(state)) ? {} : undefined;
}

function bidsOnOneJobDenial({ ownBids }: Given<'ownBids'>): Explanation | undefined {
  return ownBids.length < BIDS_ON_ONE_JOB_MAX ? undefined : TOO_MANY_BIDS;
}

const TOO_MANY_BIDS = {
  message: `You have already bid on this job ${BIDS_ON_ONE_JOB_MAX} times.`,
  namesAlternatives: true,
};

function editsDenial({ job: { version = 1 } }: Given): Explanation | undefined {
  return version < JOB_VERSIONS_MAX ? undefined : TOO_MANY_EDITS;
}

const TOO_MANY_EDITS = {
  message: `This job has already changed ${JOB_VERSIONS_MAX.toLocaleString('en-US')} times.`,
  namesAlternatives: true,
};

/** Doesn't apply to a party that agrees, or repeats its own proposal. */
export function newProposalDenial({ standingProposal }: Pick<JobFacts, 'standingProposal'>): Denial | undefined {
  return standingProposal !== null && standingProposal.count >= PROPOSALS_MAX ? TOO_MANY_PROPOSALS : undefined;
}

const TOO_MANY_PROPOSALS: Denial = {
  code: 'INVALID_TRANSITION',
  message: `This dispute has already had ${PROPOSALS_MAX} proposals. Agree to the last one, or escalate the dispute.`,
  namesAlternatives: true,
};

function noProposalDenial({ standingProposal }: Given<'standingProposal'>): Explanation | undefined {
  return standingProposal === null ? NO_PROPOSAL : undefined;
}

const NO_PROPOSAL = {
  message: 'There is no proposal to accept. Propose a resolution yourself.',
  namesAlternatives: true,
};

/** Keeps a party from accepting a proposal that they haven't read. */
function replacedProposalDenial({ standingProposal, proposalId }: Given<'standingProposal'>): Explanation | undefined {
  if (proposalId === undefined || standingProposal === null) return undefined;
  if (proposalId === siblingOf('proposal', standingProposal.eventId)) return undefined;
  return {
    message: 'Another proposal has replaced this one. Read the dispute again.',
    fields: { proposalId: 'isn’t the current proposal' },
  };
}

function changeRequestsDenial({ job: { changeRequestCount = 0 } }: Given): Explanation | undefined {
  return changeRequestCount < CHANGE_REQUESTS_MAX ? undefined : TOO_MANY_CHANGE_REQUESTS;
}

const TOO_MANY_CHANGE_REQUESTS = {
  message: `You have already requested changes ${CHANGE_REQUESTS_MAX} times. Approve or dispute the work.`,
  namesAlternatives: true,
};

function reopeningsDenial({ job: { reopeningCount = 0 } }: Given): Explanation | undefined {
  return reopeningCount < REOPENINGS_MAX ? undefined : TOO_MANY_REOPENINGS;
}

const TOO_MANY_REOPENINGS = {
  message: `You have already reopened this job ${REOPENINGS_MAX} times. You can cancel it instead.`,
  namesAlternatives: true,
};

function otherExtenderDenial({ viewer, job: { status } }: Given): Explanation | undefined {
  const extender = extenderOf(status);
  if (!extender || allowedRoles(extender).some((role) => role === viewer.role)) return undefined;
  return OTHER_EXTENDER[extender];
}

const OTHER_EXTENDER = {
  owner: { message: 'Only the homeowner who posted the job can extend this deadline.' },
  admin: { message: 'Only an admin can extend the deadline of a decision.' },
};

function secondExtensionDenial({ isDeadlineExtended }: Given<'isDeadlineExtended'>): Explanation | undefined {
  return isDeadlineExtended ? ALREADY_EXTENDED : undefined;
}

const ALREADY_EXTENDED = {
  message: 'This deadline was already extended. It can be extended only once in each status.',
  namesAlternatives: true,
};

function reviewDenial({ reviewWindow }: Given<'reviewWindow'>): Explanation | undefined {
  if (reviewWindow === 'open') return undefined;
  return { message: NO_REVIEW[reviewWindow ?? 'never'], namesAlternatives: true };
}

const NO_REVIEW: Readonly<Record<Exclude<ReviewWindow, 'open'> | 'never', string>> = {
  never: 'Only a job that you approved can be rated.',
  used: 'You have already rated this job. A rating is final.',
  over: `You can rate a job only within ${REVIEW_DAYS_MAX} days of its completion.`,
};

/**
 * Returns the first denial of an operation on a bid. The order of the checks is: who the caller is, personal conditions
 * (email), the bid's version, the bid's state, and the number of revisions.
 */
export function bidDenial(row: BidAction, input: BidPolicyInput): Denial | undefined {
  const { viewer, job, bid } = input;
  if (!mayActOnBid(row.actor, viewer, bid, job)) return ONLY_FOR[row.actor];
  return (
    offerDenial(row, input) ?? bidVersionDenial(input) ?? bidStateDenial(row, input) ?? revisionsDenial(row, input)
  );
}

/** A revision is a new offer, so it has the personal conditions of a bid. */
function offerDenial(row: BidAction, { viewer, job, isEmailUndoPending }: BidPolicyInput): Denial | undefined {
  return isRevision(row) ? firstDenial(PERSONAL_CONDITIONS.submitBid, { viewer, job, isEmailUndoPending }) : undefined;
}

function isRevision({ operation }: BidAction): boolean {
  return operation === OTHER_BID_ACTIONS.revise.operation;
}

function bidVersionDenial({ bid, expectedVersion = null }: BidPolicyInput): Denial | undefined {
  const explanation = expectedVersion === null ? undefined : revisedSinceDenial(bid.version, expectedVersion);
  return explanation && { code: 'STALE_VERSION', ...explanation };
}

function bidStateDenial({ from, participle }: BidAction, input: BidPolicyInput): Denial | undefined {
  if (from.includes(input.bid.status)) return undefined;
  return {
    code: 'INVALID_TRANSITION',
    message: `Only a ${eitherOf(from)} bid can be ${participle}.`,
    details: () => detailsOfBid(input),
  };
}

function revisionsDenial(row: BidAction, input: BidPolicyInput): Denial | undefined {
  if (!isRevision(row) || input.bid.version <= BID_REVISIONS_MAX) return undefined;
  return {
    code: 'INVALID_TRANSITION',
    message: `You have already revised this bid ${BID_REVISIONS_MAX} times.`,
    details: () => detailsOfBid(input),
  };
}

function detailsOfBid({ expectedVersion: _, ...input }: BidPolicyInput) {
  return {
    fromState: input.bid.status,
    allowedOperations: BID_ACTION_LIST.filter((row) => !bidDenial(row, input)).map((row) => row.operation),
  };
}
