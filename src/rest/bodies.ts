/** The bodies that aren't a single entity: sessions, the caller's own account, pages, plain success, and refusals. */
import type { Variants } from '../platform/openapi/route.js';
import { z } from 'zod';
import { JOB_EVENT } from '../market/rules/entities/event.js';
import { JOB, JOB_DISTANCE, JOB_WARNINGS } from '../market/rules/entities/job.js';
import { CONTRACTOR, CONTRACTOR_DISTANCE, HOMEOWNER, USER } from '../market/rules/entities/people.js';
import {
  CHANGED_PASSWORD as PASSWORD,
  PUBLICATION as PAYLOAD,
  SESSION as LOG_IN,
  UNDONE_EMAIL_CHANGE as UNDO,
  VIEWER,
} from '../market/rules/entities/session.js';
import { unredactedEntity, entity, type Entity, type Fields } from '../platform/fields/entity.js';
import { REASONS, reasonsOf, REST_ERROR_CODES } from '../market/rules/errors.js';
import { BID_TRANSITION_LIST } from '../market/rules/bids.js';
import {
  AVAILABLE_ACTION,
  AVAILABLE_BID_ACTION,
  JOB_COUNT,
  LIFECYCLE,
  LIFECYCLE_ACTION,
} from '../market/rules/entities/reference.js';
import { JOB_ACTION_LIST } from '../market/rules/lifecycle.js';
import { ERRORS, PAGE } from '../platform/caller-limits.js';
import { enumOf, position, integer, timestamp } from '../platform/fields/values.js';
import { idOf } from '../market/rules/id-fields.js';
import { exampleOf } from '../platform/openapi/answer-schema.js';

/** Users may read all fields of their own accounts. */
export const OWN_USER = unredactedEntity(USER);
export const OWN_HOMEOWNER = unredactedEntity(HOMEOWNER);
/**
 * The identifiers of a person's profiles. An admin needs them to verify a contractor, or to list a homeowner's jobs.
 */
const PROFILES = {
  homeownerId: { type: idOf('homeowner').nullable(), description: 'The homeowner’s profile; null for everyone else.' },
  contractorId: {
    type: idOf('contractor').nullable(),
    description: 'The contractor’s profile; null for everyone else.',
    example: null,
  },
} as const;

export const USER_LIST_ITEM = entity('UserListItem', 'A person with an account, and which profile is theirs.', {
  ...OWN_USER.fields,
  ...PROFILES,
});
/** A single job. Lists omit warnings, which each need a lookup in the places data set. */
export const SHOWN_JOB = entity(JOB.name, JOB.description, { ...JOB.fields, warnings: JOB_WARNINGS });
export const JOB_LIST_ITEM = entity('JobListItem', 'A job, and how far away it is.', {
  ...JOB.fields,
  distance: JOB_DISTANCE,
});

export const PUBLIC_USER = entity(
  'PublicUser',
  'A person with an account, as others read them, and which profile is theirs.',
  { ...USER.fields, ...PROFILES },
);
export const PUBLIC_HOMEOWNER = entity(
  'PublicHomeowner',
  'A homeowner’s profile, as others read it.',
  HOMEOWNER.fields,
);

export const CONTRACTOR_LIST_ITEM = entity(
  'ContractorListItem',
  'A contractor in a list, and how far away they work.',
  { ...CONTRACTOR.fields, distance: CONTRACTOR_DISTANCE },
);

/** A part, with the example values that differ, in REST's spelling. */
function part<E extends Entity>(component: E, differences: object = {}) {
  const type: E['schema'] = component.schema;
  return { type, description: component.description, example: { ...exampleOf(component), ...differences } };
}

const CARL = { user_type: 'contractor', first_name: 'Carl', last_name: 'Carver', email: 'carl@example.com' };
const { token, refreshToken, expiresAt, refreshExpiresAt } = LOG_IN.fields;
const TOKENS = { token, refreshToken, expiresAt, refreshExpiresAt };
const SIGN_UP = {
  tokensAwarded: { ...LOG_IN.fields.tokensAwarded, type: integer() },
  confirmationSent: { ...LOG_IN.fields.confirmationSent, type: z.boolean() },
};

export const REFRESHED_SESSION = entity('RefreshedSession', 'New tokens for a session that goes on.', TOKENS);
export const SESSION = entity('Session', 'A log-in.', { ...TOKENS, user: part(OWN_USER) });
export const NEW_HOMEOWNER_SESSION = entity(
  'NewHomeownerSession',
  'A homeowner’s first log-in, and what the sign-up made.',
  { ...TOKENS, user: part(OWN_USER), homeowner: part(OWN_HOMEOWNER), ...SIGN_UP },
);
export const NEW_CONTRACTOR_SESSION = entity(
  'NewContractorSession',
  'A contractor’s first log-in, and what the sign-up made.',
  {
    ...TOKENS,
    user: part(OWN_USER, CARL),
    contractor: part(CONTRACTOR),
    ...SIGN_UP,
    tokensAwarded: { ...SIGN_UP.tokensAwarded, example: 25 },
  },
);

const { tokens, referralCode } = VIEWER.fields;

export const HOMEOWNER_ME = entity('HomeownerMe', 'A homeowner’s own account.', {
  user: part(OWN_USER),
  homeowner: part(OWN_HOMEOWNER),
  tokens,
  referralCode,
});
export const CONTRACTOR_ME = entity('ContractorMe', 'A contractor’s own account.', {
  user: part(OWN_USER, CARL),
  contractor: part(CONTRACTOR),
  tokens,
  referralCode,
});
export const ADMIN_ME = entity('AdminMe', 'An admin’s own account.', {
  user: part(OWN_USER, { user_type: 'admin' }),
  tokens,
  referralCode,
});

export const ME = {
  name: 'Me',
  description: 'One’s own account, with the profile that the role has.',
  variants: [HOMEOWNER_ME, CONTRACTOR_ME, ADMIN_ME],
  schema: z.union([HOMEOWNER_ME.schema, CONTRACTOR_ME.schema, ADMIN_ME.schema]),
} satisfies Variants;
export type MeOnWire = z.output<typeof ME.schema>;

/** A list without pages. */
function wholeList<F extends Fields>(name: string, { description, schema }: Entity<F>) {
  return entity(name, `${description.replace(/\.$/, '')}; all of them.`, {
    data: { type: z.array(schema), description: 'The entries.' },
  });
}

const actionOnWire = <Action extends string>(actions: readonly Action[], example: Action) => ({
  type: enumOf(actions.map((action) => action.toLowerCase())),
  description: 'The operation.',
  example: example.toLowerCase(),
});
const { missingFields, ...actionFields } = AVAILABLE_ACTION.fields;
const fieldNames = { type: z.array(z.string().describe('A field’s name.')) };

export const JOB_ACTIONS = wholeList(
  'JobActions',
  entity(AVAILABLE_ACTION.name, AVAILABLE_ACTION.description, {
    ...actionFields,
    action: actionOnWire(
      JOB_ACTION_LIST.map(({ action }) => action),
      'PUBLISH',
    ),
    missingFields: { ...missingFields, ...fieldNames },
  }),
);

export const BID_ACTIONS = wholeList(
  'BidActions',
  entity(AVAILABLE_BID_ACTION.name, AVAILABLE_BID_ACTION.description, {
    ...AVAILABLE_BID_ACTION.fields,
    action: actionOnWire(
      BID_TRANSITION_LIST.map(({ action }) => action),
      'SHORTLIST',
    ),
  }),
);

export const JOB_COUNTS = wholeList('JobCounts', JOB_COUNT);

const { action: _action, ...lifecycleAction } = LIFECYCLE_ACTION.fields;
const allActions = JOB_ACTION_LIST.map(({ action }) => action);

export const LIFECYCLE_ON_WIRE = entity(LIFECYCLE.name, LIFECYCLE.description, {
  ...LIFECYCLE.fields,
  requiredToPublish: { ...LIFECYCLE.fields.requiredToPublish, ...fieldNames, example: ['title', 'address_line1'] },
  actions: {
    type: z.array(
      entity(LIFECYCLE_ACTION.name, LIFECYCLE_ACTION.description, {
        action: actionOnWire(allActions, 'AWARD'),
        ...lifecycleAction,
      }).schema,
    ),
    description: LIFECYCLE.fields.actions.description,
  },
});

export const PUBLICATION = entity('Publication', PAYLOAD.description, {
  ...PAYLOAD.fields,
  job: { ...PAYLOAD.fields.job, type: SHOWN_JOB.schema },
});

/** The body of operations without a result. */
export const CONFIRMATION = entity('Confirmation', 'That it is done.', {
  status: {
    type: z.custom<200>().meta({ type: 'number', enum: [200] }),
    description: 'The status, once more.',
    example: 200,
  },
  message: { type: z.string(), description: 'What was done, for a person to read.', example: 'You are logged out.' },
  data: { type: entity('Nothing', 'Empty.', {}).schema, description: 'Empty.' },
});

export const CONFIRMED_EMAIL = entity('ConfirmedEmail', 'A confirmed email address.', {
  ...CONFIRMATION.fields,
  email: { ...USER.fields.email, description: 'The account’s current address.' },
});

export const CHANGED_PASSWORD = entity('ChangedPassword', 'The result of changing a password.', {
  ...CONFIRMATION.fields,
  noticeSent: PASSWORD.fields.noticeSent,
});

export const UNDONE_EMAIL_CHANGE = entity('UndoneEmailChange', 'The result of undoing an email change.', {
  ...CONFIRMATION.fields,
  ...UNDO.fields,
});

export const EVENT_LOG = entity('EventLog', 'What happened to one’s jobs, the oldest first, from one position on.', {
  data: { type: z.array(JOB_EVENT.schema), description: 'The entries.' },
  nextAfter: {
    type: position,
    description:
      'The position to ask for next, as `after`. It stays the same while nothing happens; a page that is not full is ' +
      'the last one for now.',
    example: '4711',
  },
});

export const PAGINATION = entity('Pagination', 'Which part of the list the page is.', {
  page: { type: integer(1), description: 'Which page, from 1; 1 if it was asked for by `after`.', example: 1 },
  perPage: { type: integer(1), description: 'How many entries a page holds.', example: PAGE.perPageDefault },
  total: {
    type: integer(),
    description:
      `How many entries there are in all: exact up to ${PAGE.exactTotalMax}, ` +
      `or ${PAGE.exactSearchTotalMax} of a search, where counting stops.`,
    example: 1,
  },
  totalPages: {
    type: integer(),
    description:
      'How many pages the counted entries fill. Where `total_capped` is true there are more: read on by the `Link` ' +
      'header, until it has no `next`.',
    example: 1,
  },
  totalCapped: { type: z.boolean(), description: 'Whether there are more than were counted.', example: false },
});

export function pageOf({ name, schema }: Entity): Entity {
  return entity(`${name}Page`, 'A page of a list. What comes after it is where the `Link` header leads.', {
    data: { type: z.array(schema), description: 'The entries.' },
    pagination: { type: PAGINATION.schema, description: PAGINATION.description },
  });
}

const REASONS_IN_WORDS = REST_ERROR_CODES.flatMap((code) => {
  const reasons = Object.entries(reasonsOf(code)).map(([reason, meaning]) => `\`${reason}\`, ${meaning}`);
  return reasons.length > 0 ? [`${code}: ${reasons.join('; ')}.`] : [];
}).join(' ');

export const ERROR_DETAILS = entity('ErrorDetails', 'What a program needs to know.', {
  code: {
    type: enumOf(REST_ERROR_CODES, 'ErrorCode'),
    description: 'Why, for a program to read.',
    example: 'VALIDATION_FAILED',
  },
  requestId: {
    type: z.string(),
    description: 'The same as the `X-Request-Id` header.',
    example: '0f8fad5b-d9cb-469f-a165-70867728950e',
  },
  fields: {
    type: z
      .custom<Record<string, unknown>>()
      .meta({ type: 'object', additionalProperties: { type: 'string' } })
      .optional(),
    description: 'What is wrong with each field, by name; a nested one as `user.phone`.',
  },
  reason: {
    type: enumOf(REASONS, 'RefusalReason').optional(),
    description: `Why, where the code alone does not say it. ${REASONS_IN_WORDS}`,
  },
  fieldsLeftOut: {
    type: integer().optional(),
    description: `How many more fields are wrong, where there are more than ${ERRORS.perAnswerMax}.`,
  },
  fromState: { type: z.string().optional(), description: 'The state that does not allow the call.' },
  allowedOperations: {
    type: z.array(z.string().describe('An operation’s name.')).optional(),
    description: 'The operations that the caller can call instead.',
  },
  required: { type: integer().optional(), description: 'How many tokens it takes.' },
  available: { type: integer().optional(), description: 'How many tokens are free to spend.' },
  retryAfter: { type: integer().optional(), description: 'After how many seconds to try again.' },
  limit: {
    type: z.string().optional(),
    description: 'Which limit was reached: a budget, as the `RateLimit` header names it, or a share.',
  },
  until: {
    type: timestamp.nullable().optional(),
    description: 'When the suspension of the account ends. Null if it has no end.',
  },
  allowedMethods: {
    type: z.array(z.string().describe('A method.')).optional(),
    description: 'What the address takes.',
  },
  expectedVersion: { type: integer().optional(), description: 'The version that was expected.' },
  version: { type: integer().optional(), description: 'The version that the job has.' },
});
export type ErrorDetails = z.output<typeof ERROR_DETAILS.schema>;

export const PROBLEM = entity(
  'Problem',
  'Why a call was refused. `details.code` is one of a closed list, and determines which further keys there are.',
  {
    status: { type: integer(400), description: 'The status, once more.', example: 400 },
    error: {
      type: z.string(),
      description: 'A sentence for a person to read.',
      example: 'Some of what was sent is not valid.',
    },
    details: { type: ERROR_DETAILS.schema, description: ERROR_DETAILS.description },
    blockedFields: {
      type: z.array(z.string().describe('A field’s name.')),
      description: 'The submitted fields that would change and may not, in this state.',
      example: ['category'],
    },
  },
);
