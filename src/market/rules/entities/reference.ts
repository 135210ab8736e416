/** The rules that a client may build its forms and buttons from. */
import { z } from 'zod';
import { BID_TRANSITION_LIST } from '../bids.js';
import { entity } from '../../../platform/fields/entity.js';
import { REST_ERROR_CODES } from '../errors.js';
import { JOB_ACTION_LIST } from '../lifecycle.js';
import { BID_STATES, JOB_STATES } from '../states.js';
import { PAGE } from '../../../platform/caller-limits.js';
import { REQUIRED_TO_PUBLISH, URGENCIES } from '../jobs/publishing.js';
import { enumOf, integer } from '../../../platform/fields/values.js';

const jobStatus = enumOf(JOB_STATES, 'JobStatus');
const bidStatus = enumOf(BID_STATES, 'BidStatus');
const jobAction = enumOf(
  JOB_ACTION_LIST.map(({ action }) => action),
  'JobAction',
);

export const AVAILABLE_ACTION = entity(
  'AvailableAction',
  'One operation on a job, and whether the caller may use it now.',
  {
    action: { type: jobAction, description: 'The operation.', example: 'PUBLISH' },
    allowed: { type: z.boolean(), description: 'Whether the call would be accepted now.', example: false },
    reason: {
      type: enumOf(REST_ERROR_CODES, 'ErrorCode').nullable(),
      description: 'The code that the call would be refused with first; null if it is allowed.',
      example: 'MISSING_FIELDS',
    },
    message: {
      type: z.string().nullable(),
      description: 'Why not, in a sentence for a person; null if it is allowed.',
      example: 'To publish the job, fill in the missing fields first.',
    },
    missingFields: {
      type: z.array(enumOf(REQUIRED_TO_PUBLISH)),
      description: 'What must be filled in before the job can be published.',
      example: ['category'],
    },
    tokenCost: {
      type: integer().nullable(),
      description: 'What the call would charge, where that is known beforehand.',
      example: 5,
    },
  },
);

export const AVAILABLE_BID_ACTION = entity(
  'AvailableBidAction',
  'One operation on a bid, and whether the caller may use it now.',
  {
    action: {
      type: enumOf(
        BID_TRANSITION_LIST.map(({ action }) => action),
        'BidAction',
      ),
      description: 'The operation.',
      example: 'SHORTLIST',
    },
    allowed: AVAILABLE_ACTION.fields.allowed,
    reason: { ...AVAILABLE_ACTION.fields.reason, example: 'INVALID_TRANSITION' },
    message: { ...AVAILABLE_ACTION.fields.message, example: 'The bid must be pending or viewed.' },
  },
);

export const JOB_COUNT = entity('JobCount', 'How many of the jobs that one may see are in a state.', {
  status: { type: jobStatus, description: 'The state.', example: 'open' },
  count: {
    type: integer(),
    description: `How many there are: exact up to ${PAGE.exactTotalMax}, where counting stops.`,
    example: 3,
  },
});

export const LIFECYCLE_ACTION = entity(
  'LifecycleAction',
  'An operation on a job, as the table of the lifecycle has it.',
  {
    action: { type: jobAction, description: 'The operation’s name among the actions.', example: 'AWARD' },
    operation: { type: z.string(), description: 'The mutation.', example: 'awardJob' },
    from: { type: z.array(jobStatus), description: 'The states that allow it.', example: ['open'] },
    to: {
      type: jobStatus.nullable(),
      description: 'The state that it leads to; null where the job stays, or is gone.',
      example: 'awarded',
    },
    by: { type: z.string(), description: 'Who may call it.', example: 'the job’s owner' },
    event: { type: z.string(), description: 'The type of its event.', example: 'job.awarded' },
    description: {
      type: z.string(),
      description: 'What it is for.',
      example: 'The homeowner gives the job to one bid.',
    },
    effects: {
      type: z.array(z.string()),
      description: 'What happens besides.',
      example: ['other live bids become rejected'],
    },
  },
);

export const LIFECYCLE_BID_ACTION = entity('LifecycleBidAction', 'What a person does with a bid.', {
  operation: { type: z.string(), description: 'The mutation.', example: 'viewBid' },
  from: { type: z.array(bidStatus), description: 'The states that allow it.', example: ['pending'] },
  to: { type: bidStatus, description: 'The state that it leads to.', example: 'viewed' },
  by: { type: z.string(), description: 'Who may call it.', example: 'the job’s owner' },
  description: { type: z.string(), description: 'What it is for.', example: 'The homeowner has read the bid.' },
});

export const LIFECYCLE_BID_CONSEQUENCE = entity(
  'LifecycleBidConsequence',
  'What happens to bids because of their job.',
  {
    from: { type: z.array(bidStatus), description: 'The states of the bids concerned.', example: ['pending'] },
    to: { type: bidStatus, description: 'What they become.', example: 'rejected' },
    when: { type: z.string(), description: 'When.', example: 'award names another bid' },
  },
);

export const LIFECYCLE = entity('Lifecycle', 'The life of a job and of its bids, as data.', {
  states: { type: z.array(jobStatus), description: 'Every state of a job.', example: JOB_STATES },
  initialState: { type: jobStatus, description: 'Where every job begins.', example: 'draft' },
  terminalStates: { type: z.array(jobStatus), description: 'Where a job ends.', example: ['completed', 'cancelled'] },
  requiredToPublish: {
    type: z.array(z.string()),
    description: 'The fields that must be filled in to publish.',
    example: REQUIRED_TO_PUBLISH,
  },
  actions: { type: z.array(LIFECYCLE_ACTION.schema), description: 'Every operation on a job.' },
  bidStates: { type: z.array(bidStatus), description: 'Every state of a bid.', example: BID_STATES },
  bidActions: { type: z.array(LIFECYCLE_BID_ACTION.schema), description: 'What people do with bids.' },
  bidConsequences: {
    type: z.array(LIFECYCLE_BID_CONSEQUENCE.schema),
    description: 'What happens to bids because of their job.',
  },
});

export const CATALOG_URGENCY = entity('CatalogUrgency', 'An urgency and its price.', {
  urgency: { type: enumOf(URGENCIES, 'Urgency'), description: 'The urgency.', example: 'standard' },
  publishCost: { type: integer(), description: 'What publishing costs, in tokens.', example: 5 },
});

export const CATALOG = entity('Catalog', 'Values that forms may suggest; any other text is as good.', {
  categories: { type: z.array(z.string()), description: 'Trades.', example: ['plumbing'] },
  businessTypes: { type: z.array(z.string()), description: 'Kinds of business.', example: ['llc'] },
  propertyTypes: { type: z.array(z.string()), description: 'Kinds of property.', example: ['condo'] },
  urgencies: { type: z.array(CATALOG_URGENCY.schema), description: 'Every urgency, from the least to the most.' },
});
