/** Who lives in the demonstration's town, and what is done there. */
import type { JobState } from '../rules/states.js';

/** For everybody; a demonstration is no secret. */
export const PASSWORD = 'demo password';

export const ADMIN = { email: 'ada@demo.example', password: PASSWORD };

export const HOMEOWNERS = [
  {
    ...person('Hanna', 'Hill'),
    lives: { address_line1: '17 Oak Lane', city: 'Austin', state: 'TX', zip_code: '78701' },
  },
  {
    ...person('Hugo', 'Hart'),
    lives: { address_line1: '4 Elm Street', city: 'Denver', state: 'CO', zip_code: '80202' },
  },
  {
    ...person('Helen', 'Hale'),
    lives: { address_line1: '88 Hill Road', city: 'Portland', state: 'OR', zip_code: '97205' },
  },
];

export const CONTRACTORS = [
  { ...person('Carl', 'Cook'), company: 'Cook & Sons', trades: ['plumbing', 'heating'], areas: ['Austin', 'Denver'] },
  { ...person('Cora', 'Crane'), company: 'Crane Roofing', trades: ['roofing'], areas: ['Austin', 'Portland'] },
  { ...person('Cleo', 'Cole'), company: 'Cole Electric', trades: ['electrical'], areas: ['Denver'] },
  { ...person('Chris', 'Chase'), company: 'Chase Painting', trades: ['painting'], areas: ['Portland', 'Austin'] },
];

function person(first: string, last: string) {
  return { first, last, email: `${first.toLowerCase()}@demo.example` };
}

/** What is to be done, and the price that a fair offer is about. */
export const WORKS = [
  work('Mend the roof above the porch', 'roofing', 'Two shingles are gone and it drips.', 900),
  work('Replace the kitchen tap', 'plumbing', 'It has not closed for a week.', 180),
  work('Paint the hallway', 'painting', 'Twelve metres of wall and the ceiling.', 650),
  work('Two more sockets in the study', 'electrical', 'One at each window.', 240),
  work('A heat pump in place of the boiler', 'heating', 'The boiler is 28 years old.', 8_900),
  work('Insulate the attic', 'insulation', 'About 60 square metres.', 3_200),
  work('Tile the bathroom', 'tiling', 'Floor and shower; tiles are here.', 2_100),
  work('A new fence to the street', 'landscaping', 'Fifteen metres, cedar if possible.', 1_700),
];

function work(title: string, category: string, about: string, price: number) {
  return { title, category, description: `${about} Please call before you come.`, price };
}

/** One step of a job's way: who takes it, the end of its path, and with what. */
export type Step = readonly [by: 'owner' | 'contractor' | 'admin', path: string, body: object];

const CHECK_IN: Step = ['contractor', 'checkin', { notes: 'Tools are on the spot.' }];
const SUBMIT: Step = [
  'contractor',
  'submit-for-review',
  { completion_notes: 'Done and cleaned up; pictures by mail.' },
];
const APPROVE: Step = ['owner', 'approve', { rating: 5, review: 'On time, tidy, and cheaper than offered.' }];
const DISPUTE: Step = ['owner', 'dispute', { reason: 'It is not as agreed.', details: 'One corner was left out.' }];
const PROPOSE: Step = ['contractor', 'resolve-dispute', { resolution: 'The corner is done on Friday, for nothing.' }];
const ESCALATE: Step = ['owner', 'escalate', { escalation_reason: 'Friday has passed and nobody came.' }];
const DECISION = { decision: 'For the homeowner', ruling: 'The corner is part of the offer.' };
const DECIDE: Step = ['admin', 'reach-decision', { ...DECISION, resolution_terms: 'Within a week.' }];
const GROUNDS = { appeal_reason: 'The offer names three walls.', supporting_evidence: 'The offer of 3 May.' };
const APPEAL: Step = ['contractor', 'file-appeal', GROUNDS];
const LAST_RULING = { final_decision: 'The decision stands', ruling: 'The corner was named in a message.' };
const RULE: Step = ['admin', 'finalize-appeal', LAST_RULING];
const CANCEL: Step = ['owner', 'cancel', { reason: 'We sell the house.' }];

const ESCALATED = [CHECK_IN, SUBMIT, DISPUTE, ESCALATE];

/**
 * The way of a job to each state: from its creation for a state before publication, from its bids for one before the
 * award, and from the award for all others.
 */
export const WAYS: Readonly<Record<JobState, readonly Step[]>> = {
  draft: [],
  open: [],
  awarded: [],
  in_progress: [CHECK_IN],
  in_review: [CHECK_IN, SUBMIT],
  completed: [CHECK_IN, SUBMIT, APPROVE],
  disputed: [CHECK_IN, SUBMIT, DISPUTE, PROPOSE],
  escalated: ESCALATED,
  decision_reached: [...ESCALATED, DECIDE],
  appealed: [...ESCALATED, DECIDE, APPEAL],
  cancelled: [CANCEL],
};

/** The admin's last word on one more job, so that each operation has happened once. */
export const LAST_WORD: readonly Step[] = [...WAYS.appealed, RULE];
