/** The bodies that aren't a single entity: sessions, the caller's account, pages, confirmations, and refusals. */
import type { Variants } from '../platform/openapi/route.js';
import { z } from 'zod';
import { JOB_EVENT } from '../market/rules/entities/event.js';
import { NOTIFICATION, UNREAD_COUNT } from '../market/rules/entities/notification.js';
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
import { BID_ACTION_LIST } from '../market/rules/bids.js';
import { UPCOMING_ACTION } from '../market/rules/entities/deadline.js';
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

/** The caller's own account, of which they can read every field. */
export const OWN_USER = unredactedEntity(USER);
export const OWN_HOMEOWNER = unredactedEntity(HOMEOWNER);
/** Admins need these IDs to verify a contractor, or to list a homeowner's jobs. */
const PROFILES = {
  homeownerId: {
    type: idOf('homeowner').nullable(),
    description: 'The ID of the homeowner’s profile. Null for everyone else.',
  },
  contractorId: {
    type: idOf('contractor').nullable(),
    description: 'The ID of the contractor’s profile. Null for everyone else.',
    example: null,
  },
} as const;

export const USER_LIST_ITEM = entity('UserListItem', 'A user in a list, with the ID of their profile.', {
  ...OWN_USER.fields,
  ...PROFILES,
});
/** A single job. Lists omit warnings, which need a lookup in the places data set for each job. */
export const JOB_WITH_WARNINGS = entity(JOB.name, JOB.description, { ...JOB.fields, warnings: JOB_WARNINGS });
export const JOB_LIST_ITEM = entity('JobListItem', 'A job in a list, with its distance.', {
  ...JOB.fields,
  distance: JOB_DISTANCE,
});

export const PUBLIC_USER = entity('PublicUser', 'A user as others see them, with the ID of their profile.', {
  ...USER.fields,
  ...PROFILES,
});
export const PUBLIC_HOMEOWNER = entity('PublicHomeowner', 'A homeowner’s profile as others see it.', HOMEOWNER.fields);

export const CONTRACTOR_LIST_ITEM = entity(
  'ContractorListItem',
  'A contractor in a list, with the distance to their service areas.',
  { ...CONTRACTOR.fields, distance: CONTRACTOR_DISTANCE },
);

/**
 * An entity inside a body. `differences` has the example values that differ from the entity's own, in REST's spelling.
 */
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

export const REFRESHED_SESSION = entity('RefreshedSession', 'New tokens for an existing session.', TOKENS);
export const SESSION = entity('Session', 'A new session.', { ...TOKENS, user: part(OWN_USER) });
export const NEW_HOMEOWNER_SESSION = entity('NewHomeownerSession', 'A new homeowner’s session, user, and profile.', {
  ...TOKENS,
  user: part(OWN_USER),
  homeowner: part(OWN_HOMEOWNER),
  ...SIGN_UP,
});
export const NEW_CONTRACTOR_SESSION = entity('NewContractorSession', 'A new contractor’s session, user, and profile.', {
  ...TOKENS,
  user: part(OWN_USER, CARL),
  contractor: part(CONTRACTOR),
  ...SIGN_UP,
  tokensAwarded: { ...SIGN_UP.tokensAwarded, example: 25 },
});

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
  description: 'Your own account, with the profile of your role.',
  variants: [HOMEOWNER_ME, CONTRACTOR_ME, ADMIN_ME],
  schema: z.union([HOMEOWNER_ME.schema, CONTRACTOR_ME.schema, ADMIN_ME.schema]),
} satisfies Variants;
export type MeOnWire = z.output<typeof ME.schema>;

function wholeList<F extends Fields>(name: string, { schema }: Entity<F>) {
  return entity(name, 'A complete, unpaginated list.', {
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

export const AVAILABLE_JOB_ACTIONS = wholeList(
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

export const AVAILABLE_BID_ACTIONS = wholeList(
  'BidActions',
  entity(AVAILABLE_BID_ACTION.name, AVAILABLE_BID_ACTION.description, {
    ...AVAILABLE_BID_ACTION.fields,
    action: actionOnWire(
      BID_ACTION_LIST.map(({ action }) => action),
      'SHORTLIST',
    ),
  }),
);

export const JOB_COUNTS = wholeList('JobCounts', JOB_COUNT);
export const UPCOMING_ACTIONS = wholeList('UpcomingActions', UPCOMING_ACTION);

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
  job: { ...PAYLOAD.fields.job, type: JOB_WITH_WARNINGS.schema },
});

export const CONFIRMATION = entity('Confirmation', 'Confirmation that the operation succeeded.', {
  status: {
    type: z.custom<200>().meta({ type: 'number', enum: [200] }),
    description: 'Same as the HTTP status.',
    example: 200,
  },
  message: {
    type: z.string(),
    description: 'A sentence that says what was done. You can show it to the user.',
    example: 'You’re logged out.',
  },
  data: { type: entity('Nothing', 'An empty object.', {}).schema, description: 'An empty object.' },
});

export const CONFIRMED_EMAIL = entity('ConfirmedEmail', 'A confirmed email address.', {
  ...CONFIRMATION.fields,
  email: { ...USER.fields.email, description: 'The account’s current address.' },
});

export const REQUESTED_EMAIL = entity('RequestedEmail', 'An email sent to a user at an admin’s request.', {
  ...CONFIRMATION.fields,
  requested: {
    type: z.boolean(),
    description: 'True if an email is on its way. False if the address is already confirmed.',
    example: true,
  },
});

export const CHANGED_PASSWORD = entity('ChangedPassword', 'The result of changing a password.', {
  ...CONFIRMATION.fields,
  noticeSent: PASSWORD.fields.noticeSent,
});

export const UNDONE_EMAIL_CHANGE = entity('UndoneEmailChange', 'The result of undoing an email change.', {
  ...CONFIRMATION.fields,
  ...UNDO.fields,
});

export const EVENT_LOG = entity('EventLog', 'Events on your jobs, oldest first, after a position.', {
  data: { type: z.array(JOB_EVENT.schema), description: 'The entries.' },
  nextAfter: {
    type: position,
    description:
      'The position to pass as `after` for the next page. It stays the same while there are no new events. If a page ' +
      'isn’t full, it’s the last one for now.',
    example: '4711',
  },
});

export const NOTIFICATION_FEED = entity('NotificationFeed', 'Your notifications, newest first.', {
  data: { type: z.array(NOTIFICATION.schema), description: 'The entries.' },
  unreadCount: UNREAD_COUNT,
  nextAfter: {
    type: position.nullable(),
    description: 'The position to pass as `after` for the next page. Null on the last page.',
    example: '4711',
  },
});

export const PAGINATION = entity('Pagination', 'The position of a page in its list.', {
  page: {
    type: integer(1),
    description: 'The page number, starting at 1. With `after` but without `page`, it’s 1.',
    example: 1,
  },
  perPage: { type: integer(1), description: 'The maximum number of entries per page.', example: PAGE.perPageDefault },
  total: {
    type: integer(),
    description:
      `The total number of entries. Counting stops at ${PAGE.exactTotalMax.toLocaleString('en-US')}, or at ` +
      `${PAGE.exactSearchTotalMax.toLocaleString('en-US')} for a search.`,
    example: 1,
  },
  totalPages: {
    type: integer(),
    description:
      'The number of pages for the counted entries. If `total_capped` is true, there are more pages. Follow the ' +
      '`Link` header until it has no `next`.',
    example: 1,
  },
  totalCapped: { type: z.boolean(), description: 'True if there are more entries than `total`.', example: false },
});

export function pageOf({ name, schema }: Entity): Entity {
  return entity(`${name}Page`, 'A page of a list. The `Link` header links to the next page.', {
    data: { type: z.array(schema), description: 'The entries.' },
    pagination: { type: PAGINATION.schema, description: PAGINATION.description },
  });
}

const REASONS_IN_WORDS = REST_ERROR_CODES.flatMap((code) => {
  const reasons = Object.entries(reasonsOf(code)).map(([reason, meaning]) => `\n  - \`${reason}\`: ${meaning}`);
  return reasons.length > 0 ? [`\n- \`${code}\`${reasons.join('')}`] : [];
}).join('');

export const ERROR_DETAILS = entity('ErrorDetails', 'Details for programs.', {
  code: { type: enumOf(REST_ERROR_CODES, 'ErrorCode'), description: 'The error code.', example: 'VALIDATION_FAILED' },
  requestId: {
    type: z.string(),
    description: 'Same as the `X-Request-Id` header.',
    example: '0f8fad5b-d9cb-469f-a165-70867728950e',
  },
  fields: {
    type: z
      .custom<Record<string, unknown>>()
      .meta({ type: 'object', additionalProperties: { type: 'string' } })
      .optional(),
    description: 'What’s wrong with each field, by field name. A nested field looks like `user.phone`.',
  },
  reason: {
    type: enumOf(REASONS, 'RefusalReason').optional(),
    description: `The reason, for codes that have reasons:\n${REASONS_IN_WORDS}`,
  },
  fieldsLeftOut: {
    type: integer().optional(),
    description: `The number of omitted fields. Present only if more than ${ERRORS.perAnswerMax} fields are invalid.`,
  },
  fromState: { type: z.string().optional(), description: 'The current status, which doesn’t allow the operation.' },
  allowedOperations: {
    type: z.array(z.string().describe('An operation’s name.')).optional(),
    description: 'The operations that you can call instead.',
  },
  required: { type: integer().optional(), description: 'The number of tokens that the operation needs.' },
  available: { type: integer().optional(), description: 'The number of tokens available to spend.' },
  pack: {
    type: z.string().nullable().optional(),
    description: 'The ID of the smallest pack that would be enough. Null if no pack is large enough.',
  },
  retryAfter: { type: integer().optional(), description: 'The number of seconds to wait before you retry.' },
  limit: { type: z.string().optional(), description: 'The name of the rate limit or quota that was reached.' },
  until: {
    type: timestamp.nullable().optional(),
    description: 'When the suspension of the account ends. Null if it has no end.',
  },
  allowedMethods: {
    type: z.array(z.string().describe('An HTTP method.')).optional(),
    description: 'The methods that this URL supports.',
  },
  expectedVersion: { type: integer().optional(), description: 'The version that you sent.' },
  version: { type: integer().optional(), description: 'The current version of the job or bid.' },
});
export type ErrorDetails = z.output<typeof ERROR_DETAILS.schema>;

export const PROBLEM = entity(
  'Problem',
  'An error. `details.code` is from a closed list and determines which other keys `details` has.',
  {
    status: { type: integer(400), description: 'Same as the HTTP status.', example: 400 },
    error: {
      type: z.string(),
      description: 'A message that you can show to the user.',
      example: 'Some fields need attention.',
    },
    details: { type: ERROR_DETAILS.schema, description: ERROR_DETAILS.description },
    blockedFields: {
      type: z.array(z.string().describe('A field’s name.')),
      description: 'The submitted fields that can’t be changed in the current status.',
      example: ['category'],
    },
  },
);
