import type { JobState } from '../../market/rules/states.js';
import { TOWNS, type Town } from '../../market/store/seed/seed-towns.js';

/** Every demo user's password. It isn't a secret. */
export const PASSWORD = 'demo password';

export const ADMIN = { email: 'ada@demo.example', password: PASSWORD };

const { austin, denver, portland, chicago, boston, miami, seattle } = TOWNS;

export const HOMEOWNERS = [
  homeowner('Hanna', 'Hill', austin, '1704 Oak Lane', '0142'),
  homeowner('Hugo', 'Hart', denver, '420 Blake Street', '0117'),
  homeowner('Helen', 'Hale', portland, '88 Salmon Street', '0163'),
  homeowner('Henry', 'Hughes', chicago, '233 Lake Street', '0178'),
  homeowner('Hazel', 'Howe', boston, '12 Beacon Street', '0109'),
  homeowner('Hector', 'Haro', miami, '561 Flagler Street', '0155'),
  homeowner('Hilda', 'Holm', seattle, '1920 Pike Street', '0131'),
];

export const CONTRACTORS = [
  contractor('Carl', 'Cook', 'Cook & Sons', ['plumbing', 'heating'], [austin, denver], 1998, '0120'),
  contractor('Cora', 'Crane', 'Crane Roofing', ['roofing', 'insulation'], [austin, portland, miami], 2007, '0186'),
  contractor('Cleo', 'Cole', 'Cole Electric', ['electrical', 'heating'], [denver, chicago], 2011, '0134'),
  contractor('Chris', 'Chase', 'Chase Painting', ['painting', 'tiling'], [portland, seattle], 2015, '0171'),
  contractor('Clara', 'Cruz', 'Cruz Remodeling', ['tiling', 'plumbing', 'painting'], [miami, austin], 2003, '0149'),
  contractor('Cyrus', 'Clark', 'Clark Brothers', ['landscaping', 'roofing'], [chicago, boston], 1989, '0106'),
  contractor('Coral', 'Conte', 'Bay State Interiors', ['painting', 'insulation'], [boston, denver], 2018, '0194'),
  contractor('Colin', 'Cho', 'Sound Home Services', ['electrical', 'plumbing'], [seattle, portland], 2012, '0128'),
];

/** The first contractor's search for work outside of their towns. Some of the jobs that match it stay open. */
export const SAVED_SEARCH = {
  name: 'Plumbing and heating in every town',
  filter: { categories: ['plumbing', 'heating'] },
  alert: 'now',
};

/** The first contractor's server loses the first event of this type. More follow, because they bid often. */
export const LOST_EVENT = 'bid.submitted';

/** A contractor who can't log in, because support has suspended the account. */
export const SUSPENDED = {
  ...person('Conrad', 'Crook'),
  company: 'Crook & Co',
  phone: phone(austin.areaCode, '0199'),
  reason: 'Asked three homeowners for money in advance.',
};

function homeowner(
  first: string,
  last: string,
  { city, state, zipCode, areaCode }: Town,
  street: string,
  line: string,
) {
  const lives = { address_line1: street, city, state, zip_code: zipCode };
  return { ...person(first, last), lives, phone: phone(areaCode, line) };
}

function contractor(
  first: string,
  last: string,
  company: string,
  trades: readonly string[],
  towns: readonly [Town, ...Town[]],
  since: number,
  line: string,
) {
  const areas = towns.map(({ city, state }) => `${city}, ${state}`);
  return { ...person(first, last), company, trades, areas, since, phone: phone(towns[0].areaCode, line) };
}

function person(first: string, last: string) {
  return { first, last, email: `${first.toLowerCase()}@demo.example` };
}

/** A fictional phone number. In every area code, 555-0100 to 555-0199 are reserved for fiction. */
function phone(areaCode: string, line: string): string {
  return `+1 ${areaCode} 555 ${line}`;
}

/** The work that jobs ask for, each with a fair price. */
export const WORKS = [
  work('Repair the porch roof', 'roofing', 'Two shingles are missing and it leaks.', 900),
  work('Replace the kitchen faucet', 'plumbing', 'It has been dripping for a week.', 180),
  work('Paint the hallway', 'painting', 'Forty feet of wall and the ceiling.', 650),
  work('Add two outlets in the study', 'electrical', 'One at each window.', 240),
  work('Replace the boiler with a heat pump', 'heating', 'The boiler is 28 years old.', 8_900),
  work('Insulate the attic', 'insulation', 'About 650 square feet.', 3_200),
  work('Tile the bathroom', 'tiling', 'The floor and the shower. We have the tiles.', 2_100),
  work('Build a fence along the street', 'landscaping', 'Fifty feet, cedar if possible.', 1_700),
];

function work(title: string, category: string, about: string, price: number) {
  return { title, category, description: `${about} Please call before you come.`, price };
}

/** One step in a job's life: who performs it, the last part of its URL path, and the request body. */
export type DemoCall = readonly [by: 'owner' | 'contractor' | 'admin', path: string, body: object];

const CHECK_IN: DemoCall = ['contractor', 'checkin', { notes: 'My tools are on site.' }];
const SUBMIT: DemoCall = [
  'contractor',
  'submit-for-review',
  { completion_notes: 'Done and cleaned up. I emailed you pictures.' },
];
const REQUEST_CHANGES: DemoCall = [
  'owner',
  'request-changes',
  { reason: 'Almost done.', items: ['Paint the second coat.', 'Take the empty cans away.'] },
];
const APPROVE: DemoCall = ['owner', 'approve', { rating: 5, review: 'On time, tidy, and cheaper than quoted.' }];
const DISPUTE: DemoCall = [
  'owner',
  'dispute',
  { reason: 'It’s not what we agreed on.', details: 'You skipped one corner.' },
];
const PROPOSE: DemoCall = [
  'contractor',
  'resolve-dispute',
  { resolution: 'I’ll do the corner on Friday, free of charge.' },
];
const ESCALATE: DemoCall = ['owner', 'escalate', { escalation_reason: 'Friday came and went, and nobody showed up.' }];
const DECISION = { decision: 'For the homeowner', ruling: 'The bid includes the corner.' };
const DECIDE: DemoCall = [
  'admin',
  'reach-decision',
  { ...DECISION, resolution_terms: 'Finish the corner within a week.' },
];
const GROUNDS = { appeal_reason: 'My bid was for three walls.', supporting_evidence: 'My bid from May 3.' };
const APPEAL: DemoCall = ['contractor', 'file-appeal', GROUNDS];
const LAST_RULING = { final_decision: 'The decision stands', ruling: 'A message mentioned the corner.' };
const RULE: DemoCall = ['admin', 'finalize-appeal', LAST_RULING];
const CANCEL: DemoCall = ['owner', 'cancel', { reason: 'We’re selling the house.' }];

const ESCALATED = [CHECK_IN, SUBMIT, DISPUTE, ESCALATE];

/**
 * The steps that bring a job to each state. For states before publication, the job starts as a draft. For states before
 * the award, it starts as an open job with bids. For all others, it starts as an awarded job.
 */
export const WAYS: Readonly<Record<JobState, readonly DemoCall[]>> = {
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

export const REVIEWS: readonly Readonly<{ rating: number; review: string }>[] = [
  { rating: 5, review: 'On time, tidy, and explained everything.' },
  { rating: 4, review: 'Good work. It took a day longer than planned.' },
  { rating: 5, review: 'Would hire them again.' },
  { rating: 3, review: 'The work is fine, but we had to sweep the hall ourselves.' },
  { rating: 4, review: 'Careful with the old floor. A little late each morning.' },
  { rating: 5, review: 'Best price and best work.' },
  { rating: 2, review: 'They had to do it twice.' },
  { rating: 5, review: 'Quick response, fair price, no mess.' },
  { rating: 4, review: 'Friendly people who know what they’re doing.' },
  { rating: 5, review: 'Done in an afternoon.' },
  { rating: 3, review: 'Fine in the end, after a few phone calls.' },
  { rating: 4, review: 'Just as agreed.' },
];

export const reviewed = (review: object): readonly DemoCall[] => [CHECK_IN, SUBMIT, ['owner', 'approve', review]];

const ACCEPT: DemoCall = ['contractor', 'accept-decision', {}];
const RATE_LATER: DemoCall = ['owner', 'review', { rating: 4, review: 'Still no leaks after the first storm.' }];

/**
 * Four other endings: an admin's final ruling, a decision that the contractor accepts, a later rating, and work that
 * was sent back first.
 */
export const OTHER_ENDS: readonly (readonly DemoCall[])[] = [
  [...WAYS.appealed, RULE],
  [...WAYS.decision_reached, ACCEPT],
  [...reviewed({}), RATE_LATER],
  [CHECK_IN, SUBMIT, REQUEST_CHANGES, SUBMIT, APPROVE],
];

/** Awards that fall through and reopen the job. */
export const LOST_AWARDS: readonly DemoCall[] = [
  ['contractor', 'decline-award', { reason: 'My van broke down, and the repair takes two weeks.' }],
  ['owner', 'reopen', { reason: 'They can’t come before June.' }],
];

export const REVISION = { message: 'I looked at the pictures. It’s less work than I thought.' };
