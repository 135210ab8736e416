/** Bids, and the tokens that some of them stake. */
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
  'A contractor’s offer to do a job. It is for the job’s owner, the contractor and admins.',
  {
    id: identifier('bid'),
    jobId: { type: idOf('job'), description: 'The job.' },
    contractorId: { type: idOf('contractor'), description: 'Who made it.' },
    status: {
      type: enumOf(BID_STATES, 'BidStatus'),
      description: 'Its state, which reading it never changes.',
      example: 'pending',
    },
    amount: { type: moneyAboveZero, description: 'What the work would cost.', example: 320, written: true },
    estimatedDurationDays: {
      type: z.int().min(1).max(BID_DURATION_DAYS_MAX).nullable(),
      description: 'How many days it would take.',
      example: 2,
      written: true,
    },
    message: {
      type: nullableText(TEXT.long),
      description: 'What the contractor has to say to the homeowner.',
      example: 'I can come on Monday morning.',
      written: true,
    },
    proposedStartDate: {
      type: nullableDay,
      description: 'When the work could begin.',
      example: '2026-03-09',
      written: true,
    },
    materialsIncluded: {
      type: z.boolean().nullable(),
      description: 'Whether the amount covers the materials.',
      example: true,
      written: true,
    },
    paymentTerms: {
      type: nullableText(TEXT.note),
      description: 'How and when to pay.',
      example: 'Half in advance, half when it is done.',
      written: true,
    },
    guaranteedView: {
      type: z.boolean(),
      description: 'Whether tokens were staked to be seen first.',
      inputDescription:
        `Stakes ${GUARANTEED_VIEW_STAKE} tokens, so that the bid comes first in the homeowner’s list. ` +
        'They are free again when the bid or the job ends.',
      example: true,
      written: true,
    },
    holdId: { type: idOf('hold').nullable(), description: 'The stake of a guaranteed view.' },
    suspended: {
      type: z.boolean(),
      description:
        'True while the contractor is suspended. The bid can’t be awarded and doesn’t block edits to the job.',
      example: false,
    },
    createdAt: { type: timestamp, description: 'When the bid was made.' },
    updatedAt: { type: timestamp, description: 'When the bid last changed.' },
    submittedAt: { type: timestamp, description: 'When the bid came before the homeowner.' },
  },
);

export const HOLD = entity(
  'Hold',
  'Tokens that a contractor has staked on a bid. They are free again when the bid or its job ends.',
  {
    id: identifier('hold'),
    bidId: { type: idOf('bid'), description: 'The bid.' },
    jobId: { type: idOf('job'), description: 'The job.' },
    amount: { type: integer(1), description: 'How many tokens.', example: GUARANTEED_VIEW_STAKE },
    status: { type: enumOf(HOLD_STATES, 'HoldStatus'), description: 'Whether they are still held.', example: 'active' },
    createdAt: { type: timestamp, description: 'When they were staked.' },
    releasedAt: { type: timestamp.nullable(), description: 'When they were freed.', example: null },
  },
);
