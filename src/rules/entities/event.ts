/** What happened to a job, as those who see the job read it. */
import { entity, identifier } from '../entity.js';
import { EVENT_TYPES } from '../events.js';
import { TEXT } from '../limits.js';
import { JOB_STATES } from '../lifecycle.js';
import { anything, choice, idOf, moment, whole } from '../values.js';

/** A decision has three texts, and no other event has more. */
const TEXTS_MAX = 3;

export const JOB_EVENT = entity('JobEvent', 'Something that happened to a job or to a bid on it.', {
  id: identifier('event'),
  jobId: { type: idOf('job'), description: 'The job.' },
  sequence: {
    type: whole(1),
    description: 'The place among the job’s events, from 1. Numbers are missing where an event is not for the reader.',
    example: 2,
  },
  type: {
    type: choice(EVENT_TYPES),
    description: 'What happened, such as `job.published` or `bid.submitted`.',
    example: 'job.published',
  },
  actorId: { type: idOf('user').nullable(), description: 'Whose call it was.' },
  fromStatus: {
    type: choice(JOB_STATES, 'JobStatus').nullable(),
    description: 'The job’s state before; null for what did not concern it.',
    example: 'draft',
  },
  toStatus: {
    type: choice(JOB_STATES, 'JobStatus').nullable(),
    description: 'The job’s state after.',
    example: 'open',
  },
  occurredAt: { type: moment, description: 'When.' },
  data: {
    type: anything(TEXTS_MAX * TEXT.note),
    description:
      'What was said or chosen, as far as the reader may know it. The texts are for the parties and admins; ' +
      'reviews are for everyone.',
    example: { tokens_charged: 5 },
  },
});
