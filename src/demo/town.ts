/** Who lives in the demonstration's town, and what is being done there. */
import type { JobState } from '../rules/states.js';

/** For everybody of the town; a demonstration is no secret. */
export const PASSWORD = 'demo password';

export const ADMIN = { name: 'Ada', email: 'ada@demo.example', password: PASSWORD } as const;

export const HOMEOWNERS = [
  { name: 'Hanna', email: 'hanna@demo.example', last: 'Hill', city: 'Austin', state: 'TX', zip: '78701' },
  { name: 'Hugo', email: 'hugo@demo.example', last: 'Hart', city: 'Denver', state: 'CO', zip: '80202' },
  { name: 'Helen', email: 'helen@demo.example', last: 'Hale', city: 'Portland', state: 'OR', zip: '97205' },
] as const;

export const CONTRACTORS = [
  {
    name: 'Carl',
    email: 'carl@demo.example',
    last: 'Cook',
    company: 'Cook & Sons',
    trades: ['plumbing', 'heating'],
    areas: ['Austin', 'Denver'],
  },
  {
    name: 'Cora',
    email: 'cora@demo.example',
    last: 'Crane',
    company: 'Crane Roofing',
    trades: ['roofing'],
    areas: ['Austin', 'Portland'],
  },
  {
    name: 'Cleo',
    email: 'cleo@demo.example',
    last: 'Cole',
    company: 'Cole Electric',
    trades: ['electrical'],
    areas: ['Denver'],
  },
  {
    name: 'Chris',
    email: 'chris@demo.example',
    last: 'Chase',
    company: 'Chase Painting',
    trades: ['painting'],
    areas: ['Portland', 'Austin'],
  },
] as const;

/** What is to be done, and the price that a fair offer is about. */
export const WORKS = [
  {
    title: 'Mend the roof above the porch',
    category: 'roofing',
    about: 'Two shingles are gone and it drips.',
    price: 900,
  },
  { title: 'Replace the kitchen tap', category: 'plumbing', about: 'It has not closed for a week.', price: 180 },
  { title: 'Paint the hallway', category: 'painting', about: 'Twelve metres of wall and the ceiling.', price: 650 },
  { title: 'Two more sockets in the study', category: 'electrical', about: 'One at each window.', price: 240 },
  {
    title: 'A heat pump in place of the boiler',
    category: 'heating',
    about: 'The boiler is 28 years old.',
    price: 8_900,
  },
  { title: 'Insulate the attic', category: 'insulation', about: 'About 60 square metres.', price: 3_200 },
  { title: 'Tile the bathroom', category: 'tiling', about: 'Floor and shower; tiles are here.', price: 2_100 },
  {
    title: 'A new fence to the street',
    category: 'landscaping',
    about: 'Fifteen metres, cedar if possible.',
    price: 1_700,
  },
] as const;

/** One step of a job's way: who takes it, with what. */
export interface Step {
  readonly by: 'owner' | 'contractor' | 'admin';
  readonly path: string;
  readonly body?: object;
}

const CHECK_IN: Step = { by: 'contractor', path: 'checkin', body: { notes: 'Tools are on the spot.' } };
const SUBMIT: Step = {
  by: 'contractor',
  path: 'submit-for-review',
  body: { completion_notes: 'Done and cleaned up; pictures by mail.' },
};
const APPROVE: Step = {
  by: 'owner',
  path: 'approve',
  body: { rating: 5, review: 'On time, tidy, and cheaper than offered.' },
};
const DISPUTE: Step = {
  by: 'owner',
  path: 'dispute',
  body: { reason: 'It is not what we agreed upon.', details: 'One corner was left out.' },
};
const PROPOSE: Step = {
  by: 'contractor',
  path: 'resolve-dispute',
  body: { resolution: 'The corner is done on Friday, for nothing.', agreed_by: 'contractor' },
};
const ESCALATE: Step = {
  by: 'owner',
  path: 'escalate',
  body: { escalation_reason: 'Friday has passed and nobody came.' },
};
const DECIDE: Step = {
  by: 'admin',
  path: 'reach-decision',
  body: {
    decision: 'For the homeowner',
    ruling: 'The corner is part of the offer.',
    resolution_terms: 'Within a week.',
  },
};
const APPEAL: Step = {
  by: 'contractor',
  path: 'file-appeal',
  body: { appeal_reason: 'The offer names three walls.', supporting_evidence: 'The offer of 3 May.' },
};
const RULE: Step = {
  by: 'admin',
  path: 'finalize-appeal',
  body: { final_decision: 'The decision stands', ruling: 'The corner was named in a message.' },
};
const CANCEL: Step = { by: 'owner', path: 'cancel', body: { reason: 'We sell the house.' } };

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
  escalated: [CHECK_IN, SUBMIT, DISPUTE, ESCALATE],
  decision_reached: [CHECK_IN, SUBMIT, DISPUTE, ESCALATE, DECIDE],
  appealed: [CHECK_IN, SUBMIT, DISPUTE, ESCALATE, DECIDE, APPEAL],
  cancelled: [CANCEL],
};

/** The admin's last word on one more job, so that each operation has happened once. */
export const LAST_WORD: readonly Step[] = [...WAYS.appealed, RULE];
