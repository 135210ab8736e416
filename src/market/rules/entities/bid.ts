/** Bids, and the holds on the tokens that some bids stake. */
import { z } from 'zod';
import { entity } from '../../../platform/fields/entity.js';
import { BID_DURATION_DAYS_MAX, TEXT } from '../market-limits.js';
import { BID_STATES } from '../states.js';
import { GUARANTEED_VIEW_STAKE, HOLD_STATES } from '../tokens.js';
import {
  enumOf,
  timestamp,
  moneyAboveZero,
  nullableDay,
  nullableText,
  integer,
} from '../../../platform/fields/values.js';
import { idOf, identifier } from '../id-fields.js';

export const BID = entity(
  'Bid',
  'A contractor’s offer to do a job. Only the job’s owner, the contractor, and admins can see it.',
  {
    id: identifier('bid'),
    jobId: { type: idOf('job'), description: 'The job.' },
    contractorId: { type: idOf('contractor'), description: 'The contractor who made the bid.' },
    status: {
      type: enumOf(BID_STATES, 'BidStatus'),
      description: 'The bid’s status. Reading the bid doesn’t change it.',
      example: 'pending',
    },
    amount: {
      type: moneyAboveZero,
      description: 'The price of the work, in the market’s currency.',
      example: 320,
      written: true,
    },
    estimatedDurationDays: {
      type: z.int().min(1).max(BID_DURATION_DAYS_MAX).nullable(),
      description: 'The number of days that the work would take.',
      example: 2,
      written: true,
    },
    message: {
      type: nullableText(TEXT.long),
      description: 'The contractor’s message to the homeowner.',
      example: 'I can come on Monday morning.',
      written: true,
    },
    proposedStartDate: {
      type: nullableDay,
      description: 'The date when the contractor could start.',
      example: '2026-03-09',
      written: true,
    },
    materialsIncluded: {
      type: z.boolean().nullable(),
      description: 'True if the amount includes materials.',
      example: true,
      written: true,
    },
    paymentTerms: {
      type: nullableText(TEXT.note),
      description: 'How and when the homeowner would pay.',
      example: 'Half in advance, half when the work is done.',
      written: true,
    },
    guaranteedView: {
      type: z.boolean(),
      description: 'True if the contractor staked tokens so that the homeowner sees this bid first.',
      inputDescription:
        `If true, stakes ${GUARANTEED_VIEW_STAKE} tokens to put the bid first in the homeowner’s list. The tokens ` +
        'are released when the bid is rejected or withdrawn, when the job ends, or, if the server acts on deadlines, ' +
        'when the homeowner doesn’t look at the bid in time.',
      example: true,
      written: true,
    },
    holdId: {
      type: idOf('hold').nullable(),
      description: 'The tokens staked for a guaranteed view. Null for other bids.',
    },
    suspended: {
      type: z.boolean(),
      description:
        'True while the contractor is suspended. The bid can’t be awarded and doesn’t block edits to the job.',
      example: false,
    },
    version: {
      type: integer(1),
      description:
        'The version of the offer. It increases only when the contractor revises it. In REST, it’s the `ETag`.',
      example: 1,
    },
    isOutdated: {
      type: z.boolean(),
      description: 'True if the homeowner has edited the job’s public fields since the contractor made this offer.',
      example: false,
    },
    createdAt: { type: timestamp, description: 'When the bid was created.' },
    updatedAt: { type: timestamp, description: 'When the bid last changed.' },
    submittedAt: { type: timestamp, description: 'When the contractor submitted the bid.' },
  },
);

const { amount, estimatedDurationDays, message, proposedStartDate, materialsIncluded, paymentTerms } = BID.fields;

export const BID_REVISION = entity('BidRevision', 'An earlier offer of a bid, which the contractor has replaced.', {
  version: { type: integer(1), description: 'The bid’s version at the time.', example: 1 },
  amount,
  estimatedDurationDays,
  message,
  proposedStartDate,
  materialsIncluded,
  paymentTerms,
  replacedAt: { type: timestamp, description: 'When the contractor replaced this offer.' },
});

export const HOLD = entity(
  'Hold',
  'Tokens that a contractor has staked on a bid. They’re released when the bid or its job ends, or when the ' +
    'homeowner doesn’t look at the bid in time.',
  {
    id: identifier('hold'),
    bidId: { type: idOf('bid'), description: 'The bid.' },
    jobId: { type: idOf('job'), description: 'The job.' },
    amount: { type: integer(1), description: 'The number of tokens.', example: GUARANTEED_VIEW_STAKE },
    status: { type: enumOf(HOLD_STATES, 'HoldStatus'), description: 'The hold’s status.', example: 'active' },
    createdAt: { type: timestamp, description: 'When the tokens were staked.' },
    releasedAt: {
      type: timestamp.nullable(),
      description: 'When the tokens were released. Null while they’re held.',
      example: null,
    },
  },
);
