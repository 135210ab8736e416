/** Decides which party a viewer is to a job or bid, and which roles and parties each kind of allowed actor includes. */
import type { ContractorId, HomeownerId } from './ids.js';
import { OTHER_JOB_ACTIONS, type AllowedActor } from './lifecycle.js';
import { COUNTED_BID_STATES, type BidState, type JobState } from './states.js';
import type { Relation } from './reading/readers.js';
import type { Role } from './viewer.js';

/** An onlooker is a contractor who hasn't bid on an open job. A stranger can't see the job at all. */
export const PARTIES = ['owner', 'awardee', 'bidder', 'onlooker', 'admin', 'stranger'] as const;
export type Party = (typeof PARTIES)[number];

export interface PartyViewer {
  readonly mustVerifyEmail?: boolean;
  readonly role: Role;
  readonly homeownerId: HomeownerId | null;
  readonly contractorId: ContractorId | null;
}

export interface JobParties {
  readonly status: JobState;
  readonly homeownerId: HomeownerId;
  readonly awardedContractorId: ContractorId | null;
  /** May be omitted if it doesn't matter whether the job is open to bids. */
  readonly isOwnerSuspended?: boolean;
}

interface BidParties {
  readonly contractorId: ContractorId;
}

/** In these states, all contractors can see a job, even if they have never bid on it. */
export const STATES_OPEN_TO_BIDS: readonly JobState[] = OTHER_JOB_ACTIONS.submitBid.from;

function isOpenToBids({ status, isOwnerSuspended }: JobParties): boolean {
  return STATES_OPEN_TO_BIDS.includes(status) && !isOwnerSuspended;
}

function isOwner({ homeownerId }: PartyViewer, job: JobParties): boolean {
  return homeownerId !== null && homeownerId === job.homeownerId;
}

function isAwardee({ contractorId }: PartyViewer, job: JobParties): boolean {
  return contractorId !== null && contractorId === job.awardedContractorId;
}

function isBidder({ contractorId }: PartyViewer, bid: BidParties): boolean {
  return contractorId !== null && contractorId === bid.contractorId;
}

/**
 * If several parties apply, the first one counts. A contractor with a withdrawn or rejected bid is still a bidder, and
 * still sees the job.
 */
export function partyOf(viewer: PartyViewer, job: JobParties, hasBid: boolean): Party {
  if (viewer.role === 'admin') return 'admin';
  if (isOwner(viewer, job)) return 'owner';
  if (isAwardee(viewer, job)) return 'awardee';
  if (viewer.role !== 'contractor') return 'stranger';
  if (hasBid) return 'bidder';
  return isOpenToBids(job) ? 'onlooker' : 'stranger';
}

/** The roles that may call an operation at all, and the parties that may perform it on a given job. */
export const ALLOWED_ACTORS = {
  owner: { roles: ['homeowner'], parties: ['owner'], description: 'the homeowner who posted the job' },
  awardee: { roles: ['contractor'], parties: ['awardee'], description: 'the awarded contractor' },
  parties: {
    roles: ['homeowner', 'contractor'],
    parties: ['owner', 'awardee'],
    description: 'the homeowner who posted the job or the awarded contractor',
  },
  bidder: { roles: ['contractor'], parties: ['bidder', 'awardee'], description: 'the contractor who made the bid' },
  contractor: {
    roles: ['contractor'],
    parties: ['onlooker', 'bidder', 'awardee'],
    description: 'any contractor who can see the job',
  },
  admin: { roles: ['admin'], parties: ['admin'], description: 'an admin' },
  extender: {
    roles: ['homeowner', 'admin'],
    parties: ['owner', 'admin'],
    description: 'the homeowner who posted the job or, once there is a decision, an admin',
  },
} as const satisfies Record<
  AllowedActor,
  { roles: readonly Role[]; parties: readonly Exclude<Party, 'stranger'>[]; description: string }
>;

export function allowedRoles<Actor extends AllowedActor>(actor: Actor): (typeof ALLOWED_ACTORS)[Actor]['roles'] {
  return ALLOWED_ACTORS[actor].roles;
}

export function admitsParty(actor: AllowedActor, party: Party): boolean {
  return ALLOWED_ACTORS[actor].parties.some((allowedParty) => allowedParty === party);
}

/** Decides which of the job's restricted fields the viewer can read. */
export function relationsToJob(viewer: PartyViewer, job: JobParties): readonly Relation[] {
  if (viewer.role === 'admin') return AS_ADMIN;
  if (isOwner(viewer, job)) return AS_OWNER;
  return isAwardee(viewer, job) ? AS_AWARDEE : NO_RELATION;
}

const AS_ADMIN: readonly Relation[] = ['admin'];
const AS_OWNER: readonly Relation[] = ['owner'];
const AS_AWARDEE: readonly Relation[] = ['awardee'];
const NO_RELATION: readonly Relation[] = [];

/** The awarded contractor always sees the job, because they have bid on it. */
export function seesJob(viewer: PartyViewer, job: JobParties, hasBid: boolean): boolean {
  return partyOf(viewer, job, hasBid) !== 'stranger';
}

/**
 * True if the viewer receives a job's events without asking for that job. A contractor receives them only if they have
 * a bid on the job that they haven't withdrawn.
 */
export function receivesJobEvents(viewer: PartyViewer, job: JobParties, ownBids: readonly BidState[]): boolean {
  if (viewer.role === 'contractor') return ownBids.some((state) => COUNTED_BID_STATES.includes(state));
  return viewer.role === 'admin' || isOwner(viewer, job);
}

/** Call this only for a job whose events the viewer receives. */
export function partyToOwn(role: Role, isAwardedTo: boolean): Party {
  if (role === 'contractor') return isAwardedTo ? 'awardee' : 'bidder';
  return role === 'admin' ? 'admin' : 'owner';
}

/** A bid has two parties: the job's owner and the contractor who made the bid. Admins can see every bid. */
export function seesBid(viewer: PartyViewer, bid: BidParties, job: JobParties): boolean {
  return viewer.role === 'admin' || isOwner(viewer, job) || isBidder(viewer, bid);
}

/** Only owners and bidders can act on a bid. */
export function mayActOnBid(actor: AllowedActor, viewer: PartyViewer, bid: BidParties, job: JobParties): boolean {
  if (actor === 'owner') return isOwner(viewer, job);
  return actor === 'bidder' && isBidder(viewer, bid);
}
