/** Records of admins' actions on other people, which only admins can read. */
import { z } from 'zod';
import { entity } from '../../../platform/fields/entity.js';
import { TEXT } from '../market-limits.js';
import { timestamp, nullableText, requiredText } from '../../../platform/fields/values.js';
import { idOf, identifier } from '../id-fields.js';

/** The operations that are recorded. */
export const RECORDED_OPERATIONS: readonly string[] = [
  'adjustTokens',
  'completeJob',
  'endUserSessions',
  'extendDeadline',
  'finalizeAppeal',
  'reachDecision',
  'refundPurchase',
  'resendEmailVerification',
  'restoreUser',
  'sendPasswordReset',
  'settleEmailUndo',
  'suspendUser',
  'unverifyContractor',
  'verifyContractor',
];

export const ADMIN_ACTION = entity(
  'AdminAction',
  'An admin’s action on a user or a job. It’s never changed or deleted, but its reason and decision can be erased.',
  {
    id: identifier('adminAction'),
    action: {
      type: requiredText(TEXT.kind),
      description: 'The name of the GraphQL operation.',
      example: 'unverifyContractor',
    },
    adminId: { type: idOf('user'), description: 'The admin who performed the action.' },
    userId: {
      type: idOf('user'),
      description: 'The user that the action concerns. For an action on a job, this is the job’s owner.',
    },
    jobId: {
      type: idOf('job').nullable(),
      description: 'The job that the action concerns. Null for actions on a user.',
      example: null,
    },
    reason: {
      type: nullableText(TEXT.note),
      description: 'The admin’s reason. Null if none was given, or if it was erased.',
      example: 'The license expired in June.',
    },
    until: {
      type: timestamp.nullable(),
      description:
        'When the suspension or the extended deadline ends. Null for other actions and for a suspension with no end.',
      example: null,
    },
    amount: {
      type: z.int().nullable(),
      description:
        'The number of tokens credited, or debited if negative. Null for actions other than adjustments and refunds.',
      example: null,
    },
    decision: {
      type: nullableText(TEXT.note),
      description:
        'The decision in a dispute or an appeal. For `completeJob`, `credit` or `no_credit`. For `settleEmailUndo`, ' +
        'the address that keeps the account: `current` or `former`. Null for other actions, or if it was erased.',
      example: null,
    },
    createdAt: { type: timestamp, description: 'When the action was performed.' },
  },
);
