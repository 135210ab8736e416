/** What admins did to others, for admins. */
import { z } from 'zod';
import { entity, identifier } from '../entity.js';
import { TEXT } from '../limits.js';
import { idOf, moment, nullableText, requiredText } from '../values.js';

export const ADMIN_ACTION = entity(
  'AdminAction',
  'What an admin did to somebody. It is never changed or removed, but its reason and decision can be erased.',
  {
    id: identifier('adminAction'),
    action: {
      type: requiredText(TEXT.kind),
      description: 'The name of the operation, as GraphQL spells it.',
      example: 'unverifyContractor',
    },
    adminId: { type: idOf('user'), description: 'Who did it.' },
    userId: { type: idOf('user'), description: 'Whom it concerns; of a job, its owner.' },
    jobId: { type: idOf('job').nullable(), description: 'The job that was decided on.', example: null },
    reason: {
      type: nullableText(TEXT.note),
      description: 'The reason that the admin gave; null where none was given, and once it is erased.',
      example: 'The licence ran out in June.',
    },
    until: {
      type: moment.nullable(),
      description: 'The end of a suspension. Null for any other action and for a suspension without an end.',
      example: null,
    },
    amount: {
      type: z.int().nullable(),
      description: 'The tokens credited, or debited if below zero. Null for any action but an adjustment.',
      example: null,
    },
    decision: {
      type: nullableText(TEXT.note),
      description: 'The decision in a dispute or an appeal. Null for any other action, and once it is erased.',
      example: null,
    },
    createdAt: { type: moment, description: 'When.' },
  },
);
