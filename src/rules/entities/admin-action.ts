/** What admins did to others, for admins. */
import { entity, identifier } from '../entity.js';
import { TEXT } from '../limits.js';
import { idOf, moment, nullableText, requiredText } from '../values.js';

export const ADMIN_ACTION = entity(
  'AdminAction',
  'What an admin did to somebody. It is never changed or removed, but for its reason, which can be erased.',
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
    createdAt: { type: moment, description: 'When.' },
  },
);
