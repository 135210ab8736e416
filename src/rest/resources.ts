/**
 * The things that REST answers with, field by field. A field that the code's own type does not have, or lacks here,
 * does not compile.
 */
import type { ReadableContractor } from '../operations/accounts/people.js';
import type { ReadableJob } from '../operations/jobs/readable.js';
import type { AUDIENCES } from '../rules/audiences.js';
import type { Dispute } from '../rules/disputes.js';
import { EVENT_TYPES } from '../rules/events.js';
import { BID_STATES, JOB_STATES } from '../rules/lifecycle.js';
import { URGENCIES } from '../rules/publishing.js';
import { TRANSFER_REASONS, type TransferReason } from '../rules/tokens.js';
import { ROLES } from '../rules/viewer.js';
import type { Homeowner, User } from '../store/accounts.js';
import type { ApiKey } from '../store/api-keys.js';
import type { Bid } from '../store/bids.js';
import type { JobEvent } from '../store/events.js';
import type { Balance, TokenTransfer } from '../store/ledger.js';
import {
  amount,
  anything,
  choice,
  day,
  exampleId,
  flag,
  id,
  list,
  moment,
  object,
  orNone,
  orNull,
  resource,
  text,
  web,
  whole,
} from './schema.js';

/** What is sent of a job; what else its row holds is not for the wire. */
export type JobOnWire = Pick<ReadableJob, keyof (typeof AUDIENCES)['job']>;
export type EventOnWire = Omit<JobEvent, 'bidderId'>;

const PARTIES_ALONE = 'null for all but the owner, the awarded contractor and admins';

export const USER = resource<User>('User', 'A person with an account, as they read it themselves.', {
  id: id('user', 'The identifier.'),
  email: text('The address to log in with.', 'hanna@example.com'),
  userType: choice(ROLES, 'Which kind of account it is.', 'homeowner'),
  firstName: text('The given name.', 'Hanna'),
  lastName: text('The family name.', 'Hill'),
  phone: orNull(text('A phone number, as it was written.', '+1 512 555 0100')),
  profilePictureUrl: orNone(web('Where a picture of the person is.', 'https://example.com/hanna.jpg')),
  createdAt: moment('When the account was opened.'),
  updatedAt: moment('When the person’s fields last changed.'),
});

export const HOMEOWNER = resource<Homeowner>('Homeowner', 'A homeowner’s profile, as they read it themselves.', {
  id: id('homeowner', 'The identifier.'),
  userId: id('user', 'Whose profile this is.'),
  addressLine1: orNull(text('Street and number.', '1200 Barton Springs Road')),
  addressLine2: orNone(text('More of the address.', 'Apartment 4')),
  city: orNull(text('The city.', 'Austin')),
  state: orNull(text('The state.', 'TX')),
  zipCode: orNull(text('The postal code.', '78704')),
  country: orNull(text('The country.', 'US')),
  propertyType: orNull(text('What kind of property it is.', 'single_family')),
  createdAt: moment('When the profile was made.'),
  updatedAt: moment('When the profile last changed.'),
});

export const CONTRACTOR = resource<ReadableContractor>('Contractor', 'A contractor’s profile and record.', {
  id: id('contractor', 'The identifier.'),
  userId: id('user', 'Whose profile this is.'),
  companyName: orNull(text('The company.', 'Carl’s Pipes LLC')),
  businessType: orNull(text('What kind of business it is.', 'llc')),
  licenseNumber: orNull(
    text(
      'The licence; null for all but the contractor, homeowners on whose jobs they have bid, and admins.',
      'M-40417',
    ),
  ),
  licenseState: orNull(text('The state that gave the licence.', 'TX')),
  insuranceProvider: orNull(text('Who insures the work.', 'Lone Star Mutual')),
  insurancePolicyNumber: orNull(
    text(
      'The policy; null for all but the contractor, homeowners on whose jobs they have bid, and admins.',
      'LS-2210-77',
    ),
  ),
  yearsInBusiness: orNull(whole('For how many years the business exists.', 12)),
  serviceAreas: list(text('A place.', 'Austin'), 'Where the contractor works.'),
  specialties: list(text('A kind of work.', 'plumbing'), 'What the contractor is best at.'),
  bio: orNull(text('How the contractor presents the business.', 'Leaks found and fixed since 2014.')),
  website: orNull(web('The business on the web.', 'https://carlspipes.example.com')),
  verified: flag('Whether an admin has verified the contractor.', true),
  completedJobs: whole('How many jobs were done and approved.', 31),
  ratingAverage: orNull(amount('The mean of all ratings; null before the first.', 4.75, { minimum: 1, maximum: 5 })),
  ratingCount: whole('How many ratings there are.', 24),
  createdAt: moment('When the profile was made.'),
  updatedAt: moment('When the profile last changed.'),
});

export const API_KEY = resource<ApiKey>('ApiKey', 'A key for a program, without its secret.', {
  id: id('apiKey', 'The identifier.'),
  name: text('What the key is for.', 'Nightly export'),
  createdAt: moment('When the key was made.'),
  expiresAt: orNone(moment('When the key ends by itself; null if it holds until it is revoked.')),
  lastUsedAt: orNull(
    moment('When the key was last used, to the minute; null before that.', '2026-03-02T09:41:00.000Z'),
  ),
});

export const JOB = resource<JobOnWire>('Job', 'A piece of work that a homeowner wants done.', {
  id: id('job', 'The identifier.'),
  title: text('What is to be done, in a line.', 'Repair the kitchen sink'),
  description: text('What is to be done, in full.', 'It drips day and night, and the cabinet below is wet.'),
  status: choice(JOB_STATES, 'Where the job stands.', 'open'),
  category: orNull(text('The trade. It cannot change after publishing.', 'plumbing')),
  budgetMin: orNull(amount('The least the homeowner expects to pay.', 150)),
  budgetMax: orNull(amount('The most the homeowner wants to pay.', 400.5)),
  urgency: orNull(choice(URGENCIES, 'How soon.', 'standard')),
  addressLine1: orNull(text(`Street and number; ${PARTIES_ALONE}.`, '1200 Barton Springs Road')),
  addressLine2: orNone(text(`More of the address; ${PARTIES_ALONE}.`, 'Apartment 4')),
  city: orNull(text('The city.', 'Austin')),
  state: orNull(text('The state.', 'TX')),
  zipCode: orNull(text(`The postal code; ${PARTIES_ALONE}.`, '78704')),
  country: orNull(text('The country.', 'US')),
  latitude: orNull(
    amount(`Found by the service from the postal code or the city; ${PARTIES_ALONE}.`, 30.2428, {
      minimum: -90,
      maximum: 90,
    }),
  ),
  longitude: orNull(
    amount(`Found by the service from the postal code or the city; ${PARTIES_ALONE}.`, -97.7658, {
      minimum: -180,
      maximum: 180,
    }),
  ),
  desiredStartDate: orNull(day('When the work should begin.', '2026-03-09')),
  desiredCompletionDate: orNull(day('When the work should be done.', '2026-03-20')),
  requirements: orNull(text('What a contractor must bring or know.', 'Bring a replacement tap.')),
  homeownerId: id('homeowner', 'Whose job it is.'),
  awardedBidId: orNone(id('bid', 'The bid that got the job.')),
  version: whole('Rises with every change; it is the answer’s ETag too.', 3, { min: 1 }),
  createdAt: moment('When the draft was written.'),
  updatedAt: moment('When the job last changed.'),
});

export const BID = resource<Bid>(
  'Bid',
  'A contractor’s offer to do a job. It is for the job’s owner, the contractor and admins.',
  {
    id: id('bid', 'The identifier.'),
    jobId: id('job', 'The job.'),
    contractorId: id('contractor', 'Who made it.'),
    status: choice(BID_STATES, 'Where the bid stands. Reading it never changes that.', 'pending'),
    amount: amount('What the work would cost.', 320, { minimum: 0.01 }),
    estimatedDurationDays: orNull(whole('How many days it would take.', 2, { min: 1 })),
    message: orNull(text('What the contractor has to say.', 'I can come on Monday morning.')),
    proposedStartDate: orNull(day('When the work could begin.', '2026-03-09')),
    materialsIncluded: orNull(flag('Whether the amount covers the materials.', true)),
    paymentTerms: orNull(text('How and when to pay.', 'Half in advance, half when it is done.')),
    guaranteedView: flag('Whether tokens were staked to be seen first.', true),
    holdId: orNull(id('hold', 'The stake of a guaranteed view.')),
    createdAt: moment('When the bid was made.'),
    updatedAt: moment('When the bid last changed.'),
    submittedAt: moment('When the bid came before the homeowner.'),
  },
);

export const JOB_EVENT = resource<EventOnWire>('JobEvent', 'Something that happened to a job or to a bid on it.', {
  id: id('event', 'The identifier.'),
  jobId: id('job', 'The job.'),
  sequence: whole(
    'The place among the job’s events, from 1. Numbers are missing where an event is not for the reader.',
    2,
    { min: 1 },
  ),
  type: choice(EVENT_TYPES, 'What happened.', 'job.published'),
  actorId: orNull(id('user', 'Whose call it was.')),
  fromStatus: orNull(choice(JOB_STATES, 'The job’s state before; null for what did not concern it.', 'draft')),
  toStatus: orNull(choice(JOB_STATES, 'The job’s state after.', 'open')),
  occurredAt: moment('When.'),
  data: anything(
    'What was said or chosen, as far as the reader may know it. The texts are for the parties and admins; reviews are for everyone.',
    { tokensCharged: 5 },
  ),
});

type Part<Key extends keyof Dispute> = NonNullable<Dispute[Key]>;

const by = orNull(id('user', 'Whose call it was.'));
const at = moment('When.');

export const DISPUTE = resource<Dispute>(
  'Dispute',
  'A disagreement about the work, from its beginning to its end. For the parties and admins.',
  {
    reason: text('What is wrong, in the homeowner’s words.', 'The sink still drips.'),
    details: orNull(text('More about it.', 'A bucket fills in two hours.')),
    openedBy: orNull(id('user', 'Who began it.')),
    openedAt: moment('When it began.'),
    proposal: orNull(
      object<Part<'proposal'>>('The one standing proposal, which can still be agreed to.', {
        resolution: text('How to settle it.', 'A tenth of the price is paid back.'),
        proposedBy: orNull(id('user', 'Whose proposal it is.')),
        agreedBy: orNone(text('Who agrees, as the proposer wrote it.', 'Hanna Hill')),
        proposedAt: moment('When it was proposed.'),
      }),
    ),
    escalation: orNone(
      object<Part<'escalation'>>('That an admin was asked to decide.', {
        reason: text('Why the parties could not settle it.', 'We cannot agree.'),
        by,
        at,
      }),
    ),
    decision: orNone(
      object<Part<'decision'>>('What an admin decided.', {
        decision: text('What was decided.', 'The work is to be redone.'),
        ruling: text('The ruling in full.', 'The joint was not sealed.'),
        resolutionTerms: orNull(text('What the parties have to do.', 'Carl returns within a week.')),
        by,
        at,
      }),
    ),
    appeal: orNone(
      object<Part<'appeal'>>('The contractor’s appeal against the decision.', {
        reason: text('Why the decision is wrong.', 'The tap was faulty.'),
        supportingEvidence: orNull(text('What supports the appeal.', 'The maker has recalled it.')),
        by,
        at,
      }),
    ),
    finalDecision: orNone(
      object<Part<'finalDecision'>>('The last word on the appeal.', {
        finalDecision: text('What was decided for good.', 'The decision stands.'),
        ruling: text('The ruling in full.', 'The recall came later.'),
        by,
        at,
      }),
    ),
    ending: orNone(
      object<Part<'ending'>>('How it ended; null while it goes on.', {
        how: choice(['agreement', 'final_decision', 'completed_by_admin'], 'In which way.', 'agreement'),
        text: orNull(
          text(
            'The agreed resolution, the final decision, or the admin’s reason.',
            'A tenth of the price is paid back.',
          ),
        ),
        by,
        at,
      }),
    ),
  },
);

export const TOKEN_BALANCE = resource<Balance>(
  'TokenBalance',
  'An account’s prepaid tokens: a credit unit, not the log-in’s token.',
  {
    balance: whole('All of them.', 25),
    held: whole('Those staked on bids.', 5),
    available: whole('Those free to spend: `balance` less `held`.', 20),
  },
);

const account = (says: string, example: TokenTransfer['toAccount']) =>
  text<TokenTransfer['toAccount']>(`${says}: a user, or one of the house accounts \`issuance\` and \`fees\`.`, example);

export const TOKEN_TRANSFER = resource<TokenTransfer>(
  'TokenTransfer',
  'One movement of tokens from one account to another. It is never changed or removed.',
  {
    id: id('transfer', 'The identifier.'),
    fromAccount: account('Who gave', 'issuance'),
    toAccount: account('Who got', exampleId('user')),
    amount: whole('How many tokens.', 10, { min: 1 }),
    reason: choice(Object.keys(TRANSFER_REASONS) as TransferReason[], 'Why they moved.', 'signup_bonus'),
    jobId: orNone(id('job', 'The job that caused it.')),
    bidId: orNone(id('bid', 'The bid that caused it.')),
    referralUserId: orNone(id('user', 'The other party of a referral.')),
    actorId: orNone(id('user', 'The admin who made an adjustment.')),
    note: orNone(text('The reason that the admin gave.', 'Sorry for the trouble.')),
    createdAt: moment('When.'),
  },
);
