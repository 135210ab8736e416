/** A job's events, as the people who can see the job read them. */
import { z } from 'zod';
import { entity } from '../../../platform/fields/entity.js';
import { EVENT_TYPES } from '../events.js';
import { TEXT } from '../market-limits.js';
import { JOB_STATES } from '../states.js';
import {
  json,
  enumOf,
  timestamp,
  nullableText,
  position,
  rating,
  text,
  integer,
} from '../../../platform/fields/values.js';
import { idOf, identifier } from '../id-fields.js';
import { ROLES } from '../viewer.js';

/** The largest number of long texts in an event. Only the event of a decision has three. */
const TEXTS_MAX = 3;

const NAME_CHARACTERS_MAX = 2 * TEXT.name + 1;

export const EVENT_ACTOR = entity('JobEventActor', 'The user who caused an event.', {
  id: { type: idOf('user'), description: 'The user’s ID.' },
  name: { type: text(NAME_CHARACTERS_MAX), description: 'First and last name.', example: 'Hanna Hill' },
  role: { type: enumOf(ROLES, 'UserType'), description: 'The kind of account.', example: 'homeowner' },
});

/** The event data that has fields of its own. In the database, all event data is in the column `data`. */
const DETAILS = {
  bidId: {
    type: idOf('bid').nullable(),
    description: 'The bid that the event is about. Null for events about the job.',
    example: null,
  },
  rating: {
    type: rating.nullable(),
    description: 'The rating, from 1 to 5. Null if the event didn’t set one.',
    example: null,
  },
  review: {
    type: nullableText(TEXT.note),
    description: 'The homeowner’s review. Null if the event didn’t set one.',
    example: null,
  },
  fields: {
    type: z.array(z.string().describe('A field’s name.')).nullable(),
    description:
      'The fields that an edit of the job or a revision of a bid changed. Bidders see only the job’s public fields. ' +
      'Null for other events.',
    example: null,
  },
  tokensCharged: {
    type: integer().nullable(),
    description: 'The tokens that were charged. Null for everyone except the owner and admins.',
    example: 5,
  },
  tokensRefunded: {
    type: integer().nullable(),
    description: 'The tokens that were refunded. Null for everyone except the owner and admins.',
    example: null,
  },
} as const;

export const EVENT_DETAILS = Object.keys(DETAILS) as (keyof typeof DETAILS)[];
export type EventDetails = { -readonly [Name in keyof typeof DETAILS]: z.output<(typeof DETAILS)[Name]['type']> };

const NO_ACTOR = 'Null if the service caused it. For a contractor, also null if another contractor caused it.';

const STORED_FIELDS = {
  id: identifier('event'),
  jobId: { type: idOf('job'), description: 'The job.' },
  sequence: {
    type: integer(1),
    description:
      'The event’s number in the job’s timeline, starting at 1. Numbers are skipped for events that you can’t see.',
    example: 2,
  },
  position: {
    type: position.nullable(),
    description:
      'The event’s position among the events of all jobs, as digits. If you continue after the last position ' +
      'you’ve seen, you miss nothing. Null briefly, until the event is assigned a position.',
    example: '4711',
  },
  type: { type: enumOf(EVENT_TYPES, 'JobEventType'), description: 'The type of event.', example: 'job.published' },
  actorId: { type: idOf('user').nullable(), description: `The ID of the user who caused the event. ${NO_ACTOR}` },
  actor: { type: EVENT_ACTOR.schema.nullable(), description: `The user who caused the event. ${NO_ACTOR}` },
  fromStatus: {
    type: enumOf(JOB_STATES, 'JobStatus').nullable(),
    description: 'The job’s status before the event. Null if the event isn’t about the status.',
    example: 'draft',
  },
  toStatus: {
    type: enumOf(JOB_STATES, 'JobStatus').nullable(),
    description: 'The job’s status after the event. Null if the event isn’t about the status.',
    example: 'open',
  },
  occurredAt: { type: timestamp, description: 'When the event happened.' },
  data: {
    type: json(TEXTS_MAX * TEXT.note),
    description:
      'Other details, such as check-in notes or the statements in a dispute. Empty for everyone except the parties ' +
      'and admins. Bidders also get it for events on their own bid, and if they lose the award.',
    example: {},
  },
} as const;

export type StoredEventFields = typeof STORED_FIELDS;

export const JOB_EVENT = entity('JobEvent', 'An event on a job or on one of its bids.', {
  ...STORED_FIELDS,
  ...DETAILS,
});
