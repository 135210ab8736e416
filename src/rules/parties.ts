/** Who a viewer is to one job or bid, and which parties and roles each party word of the lifecycle admits. */
import { all, any, bid, constant, equal, hasBid, holds, job, oneOf, ownBidIn, viewer } from './conditions.js';
import type { Condition, ConditionedJob, ConditionedViewer } from './conditions.js';
import type { ContractorId, HomeownerId } from './ids.js';
import { OTHER_JOB_ACTIONS, type PartyWord } from './lifecycle.js';
import { COUNTED_BID_STATES, type BidState, type JobState } from './states.js';
import type { Relation } from './readers.js';
import type { Role } from './viewer.js';

/**
 * What a viewer can be to a job. An onlooker is a contractor without a bid before an open job; a stranger may not see
 * the job at all.
 */
export const PARTIES = ['owner', 'awardee', 'bidder', 'onlooker', 'admin', 'stranger'] as const;
export type Party = (typeof PARTIES)[number];

/** What must be known of a job to say who someone is to it. */
export interface JobParties {
  readonly status: JobState;
  readonly homeownerId: HomeownerId;
  readonly awardedContractorId: ContractorId | null;
}

/** While contractors may bid on a job, all of them see it, also those who have never bid on it. */
export const STATES_OPEN_TO_BIDS: readonly JobState[] = OTHER_JOB_ACTIONS.submitBid.from;
export const IS_OPEN_TO_BIDS = oneOf(job('status'), STATES_OPEN_TO_BIDS);

const isRole = (role: Role) => equal(viewer('role'), constant(role));

/**
 * What makes somebody a party; of those that hold, the first counts. Withdrawn and rejected bids make a bidder too:
 * a contractor who has bid on a job goes on seeing it.
 */
export const IS_PARTY = {
  admin: isRole('admin'),
  owner: equal(job('homeownerId'), viewer('homeownerId')),
  awardee: equal(job('awardedContractorId'), viewer('contractorId')),
  bidder: all(isRole('contractor'), hasBid),
  onlooker: all(isRole('contractor'), IS_OPEN_TO_BIDS),
} as const satisfies Record<Exclude<Party, 'stranger'>, Condition>;

/** Roles may try the operation at all; parties may do it to this job. */
export const PARTY_WORDS = {
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
    description: 'any contractor who sees the job',
  },
  admin: { roles: ['admin'], parties: ['admin'], description: 'an admin' },
} as const satisfies Record<
  PartyWord,
  { roles: readonly Role[]; parties: readonly Exclude<Party, 'stranger'>[]; description: string }
>;

export function allowedRoles<By extends PartyWord>(by: By): (typeof PARTY_WORDS)[By]['roles'] {
  return PARTY_WORDS[by].roles;
}

export function partyOf(viewer: ConditionedViewer, job: ConditionedJob, hasBid: boolean): Party {
  const facts = { viewer, job, ownBids: hasBid ? ANY_BID : NO_BID };
  return IN_ORDER.find((party) => holds(IS_PARTY[party], facts)) ?? 'stranger';
}

const IN_ORDER = Object.keys(IS_PARTY) as (keyof typeof IS_PARTY)[];
const ANY_BID = ['pending'] as const;
const NO_BID = [] as const;

export function isFor(by: PartyWord, party: Party): boolean {
  return PARTY_WORDS[by].parties.some((admitted) => admitted === party);
}

/** As whom a viewer reads the fields of a job that are not for everyone. */
export function relationsToJob(viewer: ConditionedViewer, job: ConditionedJob): readonly Relation[] {
  const facts = { viewer, job, ownBids: NO_BID };
  const relation = READERS.find((party) => holds(IS_PARTY[party], facts));
  return relation ? [relation] : [];
}

const READERS = ['admin', 'owner', 'awardee'] as const satisfies readonly Relation[];

/** The same as `isFor`, as a condition. */
export function isOneOfThe(by: PartyWord): Condition {
  return any(...PARTY_WORDS[by].parties.map((party) => IS_PARTY[party]));
}

/** What a viewer of each role must be to a job to see it. The awarded contractor has bid on it. */
export const SEES_JOB = {
  admin: IS_PARTY.admin,
  homeowner: IS_PARTY.owner,
  contractor: any(IS_PARTY.onlooker, IS_PARTY.bidder),
} as const satisfies Record<Role, Condition>;

/**
 * Whose events come to somebody who names no job: those of jobs that are theirs, or on which they have a bid that is
 * not withdrawn, as the awarded contractor has; an admin hears of every job.
 */
export const IS_MINE = {
  admin: IS_PARTY.admin,
  homeowner: IS_PARTY.owner,
  contractor: ownBidIn(COUNTED_BID_STATES),
} as const satisfies Record<Role, Condition>;

export function isMine(viewer: ConditionedViewer, job: ConditionedJob, ownBids: readonly BidState[]): boolean {
  return holds(IS_MINE[viewer.role], { viewer, job, ownBids });
}

/** What a viewer is to a job that is theirs in the sense of `IS_MINE`, by whether it was awarded to them. */
export function partyToOwn(role: Role, isAwardee: boolean): Party {
  if (role === 'contractor') return isAwardee ? 'awardee' : 'bidder';
  return role === 'admin' ? 'admin' : 'owner';
}

const madeTheBid = equal(bid('contractorId'), viewer('contractorId'));

/** Bids know two parties only: the job's owner and the contractor who made the bid. Admins see all. */
export const SEES_BID = {
  admin: IS_PARTY.admin,
  homeowner: IS_PARTY.owner,
  contractor: madeTheBid,
} as const satisfies Record<Role, Condition>;

const ACTS_ON_BID: { readonly [By in PartyWord]?: Condition } = { owner: IS_PARTY.owner, bidder: madeTheBid };

/** Never true for a word that names no party of a bid. */
export function mayActOnBid(by: PartyWord): Condition {
  return ACTS_ON_BID[by] ?? any();
}
