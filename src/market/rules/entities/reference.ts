/** The rules from which a client can build its forms and buttons. */
import { z } from 'zod';
import { BID_ACTION_LIST } from '../bids.js';
import { entity } from '../../../platform/fields/entity.js';
import { REST_ERROR_CODES } from '../errors.js';
import { JOB_ACTION_LIST } from '../lifecycle.js';
import { BID_STATES, JOB_STATES } from '../states.js';
import { PAGE } from '../../../platform/caller-limits.js';
import { REQUIRED_TO_PUBLISH, URGENCIES } from '../jobs/publishing.js';
import { deadlineMode, LIFECYCLE_DEADLINE } from './deadline.js';
import { TOKEN_PACK } from './purchase.js';
import { enumOf, integer, timestamp } from '../../../platform/fields/values.js';

const jobStatus = enumOf(JOB_STATES, 'JobStatus');
const bidStatus = enumOf(BID_STATES, 'BidStatus');
const jobAction = enumOf(
  JOB_ACTION_LIST.map(({ action }) => action),
  'JobAction',
);

export const AVAILABLE_ACTION = entity('AvailableAction', 'An operation on a job, and whether you can call it now.', {
  action: { type: jobAction, description: 'The operation.', example: 'PUBLISH' },
  allowed: { type: z.boolean(), description: 'True if you can call the operation now.', example: false },
  reason: {
    type: enumOf(REST_ERROR_CODES, 'ErrorCode').nullable(),
    description: 'The error code that the call would return. Null if the operation is allowed.',
    example: 'MISSING_FIELDS',
  },
  message: {
    type: z.string().nullable(),
    description: 'A message that says why you can’t call the operation. Null if the operation is allowed.',
    example: 'To publish the job, fill in the missing fields first.',
  },
  missingFields: {
    type: z.array(enumOf(REQUIRED_TO_PUBLISH)),
    description: 'The fields that must be filled in before the job can be published.',
    example: ['category'],
  },
  tokenCost: {
    type: integer().nullable(),
    description:
      'How many tokens publishing the job costs, even if fields are missing or you don’t have enough tokens. Null ' +
      'for other operations, if the job has no urgency yet, or if you can’t publish it for another reason.',
    example: 5,
  },
  until: {
    type: timestamp.nullable(),
    description:
      'Until when you can call the operation. Then the service acts on the job or the bid. Null if you can’t call ' +
      'it, if it has no deadline, or if the server doesn’t act on deadlines.',
    example: null,
  },
});

export const AVAILABLE_BID_ACTION = entity(
  'AvailableBidAction',
  'An operation on a bid, and whether you can call it now.',
  {
    action: {
      type: enumOf(
        BID_ACTION_LIST.map(({ action }) => action),
        'BidAction',
      ),
      description: 'The operation.',
      example: 'SHORTLIST',
    },
    allowed: AVAILABLE_ACTION.fields.allowed,
    reason: { ...AVAILABLE_ACTION.fields.reason, example: 'INVALID_TRANSITION' },
    message: { ...AVAILABLE_ACTION.fields.message, example: 'Only a pending or viewed bid can be shortlisted.' },
  },
);

export const JOB_COUNT = entity('JobCount', 'The number of jobs in one status, among the jobs that you can see.', {
  status: { type: jobStatus, description: 'The status.', example: 'open' },
  count: {
    type: integer(),
    description: `The number of jobs. Counting stops at ${PAGE.exactTotalMax.toLocaleString('en-US')}.`,
    example: 3,
  },
});

export const LIFECYCLE_ACTION = entity('LifecycleAction', 'An operation in the lifecycle of a job.', {
  action: { type: jobAction, description: 'The action.', example: 'AWARD' },
  operation: { type: z.string(), description: 'The name of the mutation.', example: 'awardJob' },
  from: {
    type: z.array(jobStatus),
    description: 'The statuses that allow the operation if no changes were requested.',
    example: ['open'],
  },
  to: {
    type: jobStatus.nullable(),
    description: 'The status that the operation leads to. Null if the status stays the same or the job is deleted.',
    example: 'awarded',
  },
  by: { type: z.string(), description: 'Who can call the operation.', example: 'the homeowner who posted the job' },
  event: { type: z.string(), description: 'The type of event that the operation records.', example: 'job.awarded' },
  description: {
    type: z.string(),
    description: 'What the operation does.',
    example: 'The homeowner awards the job to one bid.',
  },
  effects: {
    type: z.array(z.string()),
    description: 'The operation’s other effects, with a sentence for each one.',
    example: ['Active holds are released.'],
  },
});

export const LIFECYCLE_BID_ACTION = entity('LifecycleBidAction', 'An operation on a bid.', {
  operation: { type: z.string(), description: 'The name of the mutation.', example: 'viewBid' },
  from: { type: z.array(bidStatus), description: 'The statuses that allow the operation.', example: ['pending'] },
  to: { type: bidStatus, description: 'The status that the operation leads to.', example: 'viewed' },
  by: { type: z.string(), description: 'Who can call the operation.', example: 'the homeowner who posted the job' },
  description: {
    type: z.string(),
    description: 'What the operation does.',
    example: 'The homeowner marks the bid as viewed.',
  },
});

export const LIFECYCLE_BID_CONSEQUENCE = entity(
  'LifecycleBidConsequence',
  'A change to bids that an operation on their job causes.',
  {
    from: { type: z.array(bidStatus), description: 'The statuses of the bids that change.', example: ['pending'] },
    to: { type: bidStatus, description: 'The new status.', example: 'rejected' },
    when: { type: z.string(), description: 'When the change happens.', example: 'another bid is awarded' },
  },
);

export const LIFECYCLE = entity('Lifecycle', 'The lifecycle of jobs and bids, as data.', {
  states: { type: z.array(jobStatus), description: 'The statuses of a job.', example: JOB_STATES },
  initialState: { type: jobStatus, description: 'The status of a new job.', example: 'draft' },
  terminalStates: {
    type: z.array(jobStatus),
    description: 'The statuses in which a job ends.',
    example: ['completed', 'cancelled'],
  },
  requiredToPublish: {
    type: z.array(z.string()),
    description: 'The fields that a job needs before it can be published.',
    example: REQUIRED_TO_PUBLISH,
  },
  actions: { type: z.array(LIFECYCLE_ACTION.schema), description: 'The operations on a job.' },
  deadlines: { type: z.array(LIFECYCLE_DEADLINE.schema), description: 'The deadlines of a job.' },
  deadlineMode,
  bidStates: { type: z.array(bidStatus), description: 'The statuses of a bid.', example: BID_STATES },
  bidActions: { type: z.array(LIFECYCLE_BID_ACTION.schema), description: 'The operations on a bid.' },
  bidConsequences: {
    type: z.array(LIFECYCLE_BID_CONSEQUENCE.schema),
    description: 'The changes to bids that operations on their jobs cause.',
  },
});

export const CATALOG_URGENCY = entity('CatalogUrgency', 'An urgency and its price.', {
  urgency: { type: enumOf(URGENCIES, 'Urgency'), description: 'The urgency.', example: 'standard' },
  publishCost: { type: integer(), description: 'The price of publishing, in tokens.', example: 5 },
});

export const CATALOG = entity('Catalog', 'Suggested values for forms. Other values are accepted, too.', {
  categories: { type: z.array(z.string()), description: 'The trades.', example: ['plumbing'] },
  businessTypes: { type: z.array(z.string()), description: 'The types of business.', example: ['llc'] },
  propertyTypes: { type: z.array(z.string()), description: 'The types of property.', example: ['condo'] },
  urgencies: { type: z.array(CATALOG_URGENCY.schema), description: 'The urgencies, from least to most urgent.' },
  tokenPacks: {
    type: z.array(TOKEN_PACK.schema),
    description: 'The packs of tokens that you can buy. Empty if payments aren’t set up on this server.',
  },
});
