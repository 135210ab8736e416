/** A job's events, as those who see the job read them. */
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

/** A decision has three texts. No other event has more. */
const TEXTS_MAX = 3;

const NAME_CHARACTERS_MAX = 2 * TEXT.name + 1;

export const EVENT_ACTOR = entity('JobEventActor', 'Whose call it was, for everyone who sees the event.', {
  id: { type: idOf('user'), description: 'The person.' },
  name: { type: text(NAME_CHARACTERS_MAX), description: 'First and last name.', example: 'Hanna Hill' },
  role: { type: enumOf(ROLES, 'UserType'), description: 'The kind of account.', example: 'homeowner' },
});

/** The event data that has its own fields. In the database, all of it is in the column `data`. */
const DETAILS = {
  bidId: {
    type: idOf('bid').nullable(),
    description: 'The bid concerned; null for what concerns the job alone.',
    example: null,
  },
  rating: { type: rating.nullable(), description: 'From 1 to 5, where the work was approved with one.', example: null },
  review: {
    type: nullableText(TEXT.note),
    description: 'What the homeowner wrote for others when approving the work.',
    example: null,
  },
  fields: {
    type: z.array(z.string().describe('A field’s name.')).nullable(),
    description: 'The fields of the job that an edit changed; for a bidder the public ones.',
    example: null,
  },
  tokensCharged: {
    type: integer().nullable(),
    description: 'The tokens that were charged; for the owner and admins.',
    example: 5,
  },
  tokensRefunded: {
    type: integer().nullable(),
    description: 'The tokens that were given back; for the owner and admins.',
    example: null,
  },
} as const;

export const EVENT_DETAILS = Object.keys(DETAILS) as (keyof typeof DETAILS)[];
export type EventDetails = { -readonly [Name in keyof typeof DETAILS]: z.output<(typeof DETAILS)[Name]['type']> };

/** An event's fields in the database. */
const STORED_FIELDS = {
  id: identifier('event'),
  jobId: { type: idOf('job'), description: 'The job.' },
  sequence: {
    type: integer(1),
    description: 'The place among the job’s events, from 1. Numbers are missing where an event is not for the reader.',
    example: 2,
  },
  position: {
    type: position.nullable(),
    description:
      'The place among the events of all jobs, as digits. Ask for what is after the last one you have seen, and you ' +
      'miss nothing. Null in the moment before the event has its place.',
    example: '4711',
  },
  type: { type: enumOf(EVENT_TYPES, 'JobEventType'), description: 'What happened.', example: 'job.published' },
  actorId: { type: idOf('user').nullable(), description: 'Whose call it was.' },
  actor: {
    type: EVENT_ACTOR.schema.nullable(),
    description: 'Whose call it was, for everyone who sees the event; null for the service.',
  },
  fromStatus: {
    type: enumOf(JOB_STATES, 'JobStatus').nullable(),
    description: 'The job’s state before; null for what did not concern it.',
    example: 'draft',
  },
  toStatus: {
    type: enumOf(JOB_STATES, 'JobStatus').nullable(),
    description: 'The job’s state after.',
    example: 'open',
  },
  occurredAt: { type: timestamp, description: 'When.' },
  data: {
    type: json(TEXTS_MAX * TEXT.note),
    description:
      'What else was said or chosen, such as the notes of a check-in and the texts of a dispute. For the parties and ' +
      'admins; empty for others.',
    example: {},
  },
} as const;

export type StoredEventFields = typeof STORED_FIELDS;

export const JOB_EVENT = entity('JobEvent', 'Something that happened to a job or to a bid on it.', {
  ...STORED_FIELDS,
  ...DETAILS,
});
