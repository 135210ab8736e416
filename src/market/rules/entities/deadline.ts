/** What the service does with a job if nobody acts. */
import { z } from 'zod';
import { CLOCK_ACTIONS, DEADLINE_MODES } from '../jobs/deadlines.js';
import { entity } from '../../../platform/fields/entity.js';
import { enumOf, integer, timestamp } from '../../../platform/fields/values.js';
import { JOB_STATES } from '../states.js';

const clockAction = enumOf(CLOCK_ACTIONS, 'ClockAction');
const hours = { description: 'The number of hours after the deadline began.', example: 288 };

export const UPCOMING_ACTION = entity(
  'UpcomingAction',
  'An action that the service will take on a job if nobody responds.',
  {
    action: { type: clockAction, description: 'What the service does.', example: 'approve' },
    at: { type: timestamp, description: 'When the service does it, within a minute.' },
    unless: {
      type: z.string(),
      description: 'Who can prevent it, and how.',
      example: 'the homeowner approves or disputes the work, requests changes, or extends the deadline',
    },
  },
);

export const LIFECYCLE_REMINDER = entity('LifecycleReminder', 'A reminder of a deadline.', {
  to: { type: z.string(), description: 'The people who are reminded.', example: 'the homeowner who posted the job' },
  hours: { type: integer(), ...hours },
});

export const LIFECYCLE_DEADLINE = entity('LifecycleDeadline', 'A deadline in the lifecycle of a job.', {
  status: {
    type: enumOf(JOB_STATES, 'JobStatus'),
    description: 'The status in which the deadline applies.',
    example: 'in_review',
  },
  countedFrom: { type: z.string(), description: 'When the deadline begins.', example: 'the submission' },
  reminders: { type: z.array(LIFECYCLE_REMINDER.schema), description: 'The reminders, soonest first.' },
  action: {
    type: clockAction.nullable(),
    description: 'What the service does when the deadline passes. Null if it only sends reminders.',
    example: 'approve',
  },
  hours: {
    type: integer().nullable(),
    description: 'The number of hours until the service acts. Null if it only sends reminders.',
    example: 336,
  },
  to: {
    type: enumOf(JOB_STATES, 'JobStatus').nullable(),
    description: 'The job’s status after the action. Null if the status stays the same.',
    example: 'completed',
  },
  extendedBy: {
    type: z.string().nullable(),
    description: 'Who can extend the deadline. Null if nobody can.',
    example: 'the homeowner who posted the job',
  },
  description: {
    type: z.string(),
    description: 'What happens when the deadline passes.',
    example: 'The homeowner didn’t respond to the work in time, so it counts as approved, without a rating.',
  },
});

export const deadlineMode = {
  type: enumOf(DEADLINE_MODES, 'DeadlineMode'),
  description: 'What this server does about deadlines.',
  example: 'remind',
} as const;

export const TEST_CLOCK = entity('TestClock', 'The deadline clock, which tests and demos can move.', {
  now: { type: timestamp, description: 'The deadline clock’s current time.' },
});
