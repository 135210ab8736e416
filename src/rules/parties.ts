/** Who a viewer is to one job, and which parties and roles each party word of the lifecycle admits. */
import type { ContractorId, HomeownerId } from './ids.js';
import type { JobState, PartyWord } from './lifecycle.js';
import type { Role, Viewer } from './viewer.js';

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

/** Roles may try the operation at all; parties may do it to this job. */
export const PARTY_WORDS = {
  owner: { roles: ['homeowner'], parties: ['owner'], says: 'the homeowner who posted the job' },
  awardee: { roles: ['contractor'], parties: ['awardee'], says: 'the awarded contractor' },
  parties: {
    roles: ['homeowner', 'contractor'],
    parties: ['owner', 'awardee'],
    says: 'the homeowner who posted the job or the awarded contractor',
  },
  bidder: { roles: ['contractor'], parties: ['bidder', 'awardee'], says: 'the contractor who made the bid' },
  contractor: {
    roles: ['contractor'],
    parties: ['onlooker', 'bidder', 'awardee'],
    says: 'any contractor who sees the job',
  },
  admin: { roles: ['admin'], parties: ['admin'], says: 'an admin' },
} as const satisfies Record<PartyWord, { roles: readonly Role[]; parties: readonly Party[]; says: string }>;

export function allowedRoles<By extends PartyWord>(by: By): (typeof PARTY_WORDS)[By]['roles'] {
  return PARTY_WORDS[by].roles;
}

/** `hasBid` counts withdrawn and rejected bids too: whoever has bid on a job goes on seeing it. */
export function partyOf(viewer: Viewer, job: JobParties, hasBid: boolean): Party {
  switch (viewer.role) {
    case 'admin':
      return 'admin';
    case 'homeowner':
      return viewer.homeownerId === job.homeownerId ? 'owner' : 'stranger';
    case 'contractor':
      if (viewer.contractorId === job.awardedContractorId) return 'awardee';
      if (hasBid) return 'bidder';
      return job.status === 'open' ? 'onlooker' : 'stranger';
  }
}

export function maySeeJob(party: Party): boolean {
  return party !== 'stranger';
}

export function isFor(by: PartyWord, party: Party): boolean {
  return PARTY_WORDS[by].parties.some((admitted) => admitted === party);
}

/** Bids know two parties only: the job's owner and the contractor who made the bid. */
export function mayActOnBid(
  by: PartyWord,
  viewer: Viewer,
  bid: { homeownerId: HomeownerId; contractorId: ContractorId },
): boolean {
  if (by === 'owner') return viewer.homeownerId === bid.homeownerId;
  return by === 'bidder' && viewer.contractorId === bid.contractorId;
}
