/**
 * The bodies that are more or less than one resource: sessions, one's own account, pages, plain success and refusals.
 */
import type { Me } from '../operations/accounts/me.js';
import type { Session } from '../operations/accounts/session.js';
import type { Publication } from '../operations/jobs/publish.js';
import { REST_ERROR_CODES, type ErrorCode } from '../rules/errors.js';
import { ERRORS, PAGE } from '../rules/limits.js';
import { REFERRAL_ALPHABET, REFERRAL_LENGTH } from '../rules/tokens.js';
import { CONTRACTOR, HOMEOWNER, JOB, TOKEN_BALANCE, USER, type JobOnWire } from './resources.js';
import {
  anything,
  choice,
  exampleId,
  flag,
  idPattern,
  list,
  object,
  oneOf,
  optional,
  resource,
  text,
  the,
  whole,
  type JsonSchema,
  type Named,
  type Resource,
  type Schema,
} from './schema.js';

type SessionWith<Part extends keyof Session = never> = Required<Pick<Session, 'token' | 'refreshToken' | Part>>;

const TOKENS = {
  token: text(
    'The access token: send it as `Authorization: Bearer …`. It lasts 15 minutes.',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1c3JfIn0.c2lnbmF0dXJl',
  ),
  refreshToken: text(
    'Exchange it once, at `/v1/auth/refresh`, for new tokens. It lasts 30 days.',
    exampleId('refreshToken'),
    { pattern: idPattern('refreshToken') },
  ),
};
const CARL = { user_type: 'contractor', first_name: 'Carl', last_name: 'Carver', email: 'carl@example.com' };
const tokensAwarded = whole('The tokens credited for the sign-up and its referral.', 10);

export const REFRESHED_SESSION = resource<SessionWith>(
  'RefreshedSession',
  'New tokens for a session that goes on.',
  TOKENS,
);
export const SESSION = resource<SessionWith<'user'>>('Session', 'A log-in.', { ...TOKENS, user: the(USER) });
export const NEW_HOMEOWNER_SESSION = resource<SessionWith<'user' | 'homeowner' | 'tokensAwarded'>>(
  'NewHomeownerSession',
  'A homeowner’s first log-in, and what the sign-up made.',
  { ...TOKENS, user: the(USER), homeowner: the(HOMEOWNER), tokensAwarded },
);
export const NEW_CONTRACTOR_SESSION = resource<SessionWith<'user' | 'contractor' | 'tokensAwarded'>>(
  'NewContractorSession',
  'A contractor’s first log-in, and what the sign-up made.',
  { ...TOKENS, user: the(USER, CARL), contractor: the(CONTRACTOR), tokensAwarded: { ...tokensAwarded, example: 25 } },
);

type AdminOnWire = Omit<Me, 'homeowner' | 'contractor'>;
type HomeownerOnWire = AdminOnWire & { homeowner: NonNullable<Me['homeowner']> };
type ContractorOnWire = AdminOnWire & { contractor: NonNullable<Me['contractor']> };
export type MeOnWire = HomeownerOnWire | ContractorOnWire | AdminOnWire;

const tokens = the(TOKEN_BALANCE);
const referralCode = text('The code to refer others with: both of you get 10 tokens.', 'K7QM2XPA', {
  pattern: `^[${REFERRAL_ALPHABET}]{${REFERRAL_LENGTH}}$`,
});

export const ME: Resource<MeOnWire> = oneOf('Me', 'One’s own account, with the profile that the role has.', [
  resource<HomeownerOnWire>('HomeownerMe', 'A homeowner’s own account.', {
    user: the(USER),
    homeowner: the(HOMEOWNER),
    tokens,
    referralCode,
  }),
  resource<ContractorOnWire>('ContractorMe', 'A contractor’s own account.', {
    user: the(USER, CARL),
    contractor: the(CONTRACTOR),
    tokens,
    referralCode,
  }),
  resource<AdminOnWire>('AdminMe', 'An admin’s own account.', {
    user: the(USER, { user_type: 'admin' }),
    tokens,
    referralCode,
  }),
]);

export type PublicationOnWire = Omit<Publication, 'job'> & { job: JobOnWire };

export const PUBLICATION = resource<PublicationOnWire>('Publication', 'A job that was published, and what that cost.', {
  job: the(JOB),
  tokensCharged: whole('The tokens that were charged.', 5),
  remainingBalance: whole('The tokens that are free to spend after it.', 5),
});

/** The body of operations that have nothing to show. */
export interface Done {
  status: 200;
  message: string;
  data: Record<string, never>;
}

export const DONE = resource<Done>('Done', 'That it is done.', {
  status: choice([200], 'The status, once more.', 200),
  message: text('What was done, for a person to read.', 'You are logged out.'),
  data: object<Done['data']>('Empty.', {}),
});

interface PageOnWire {
  data: unknown[];
  pagination: { page: number; perPage: number; total: number; totalPages: number; totalCapped: boolean };
}

export function pageOf(row: Named): Named {
  return resource<PageOnWire>(
    `${row.name}Page`,
    'A page of a list. What comes after it is where the `Link` header leads.',
    {
      data: list(the(row), 'The entries.'),
      pagination: object('Where the page stands.', {
        page: whole('Which page, from 1; 1 if it was asked for by `after`.', 1, { min: 1 }),
        perPage: whole('How many entries a page holds.', PAGE.perPageDefault, { min: 1 }),
        total: whole(`How many entries there are in all: exact up to ${PAGE.exactTotalMax}, where counting stops.`, 1),
        totalPages: whole('How many pages they fill.', 1),
        totalCapped: flag('Whether there are more than were counted.', false),
      }),
    },
  );
}

interface ErrorOnWire {
  status: number;
  error: string;
  details: ErrorDetails;
  blockedFields: string[];
}

export interface ErrorDetails {
  code: ErrorCode;
  requestId: string;
  fields?: Record<string, unknown>;
  fieldsLeftOut?: number;
  fromState?: string;
  allowedOperations?: string[];
  required?: number;
  available?: number;
  retryAfter?: number;
  allowedMethods?: string[];
  expectedVersion?: number;
  version?: number;
}

const NAMES: JsonSchema = { type: 'object', additionalProperties: { type: 'string' } };
const fields: Schema<Record<string, unknown>> = anything(
  'What is wrong with each field, by name; a nested one as `user.phone`.',
  { title: 'is required' },
  NAMES,
);

export const ERROR = resource<ErrorOnWire>(
  'Error',
  'Why a call was refused. `details.code` is one of a closed list, and says which further keys there are.',
  {
    status: whole('The status, once more.', 400, { min: 400 }),
    error: text('A sentence for a person to read.', 'Some of what was sent is not valid.'),
    details: object<ErrorDetails>('What a program needs to know.', {
      code: choice(REST_ERROR_CODES, 'Why, for a program to read.', 'VALIDATION_FAILED'),
      requestId: text('The same as the `X-Request-Id` header.', '0f8fad5b-d9cb-469f-a165-70867728950e'),
      fields: optional(fields),
      fieldsLeftOut: optional(
        whole(`How many more fields are wrong, where there are more than ${ERRORS.perAnswerMax}.`, 3),
      ),
      fromState: optional(text('The state that does not allow the call.', 'draft')),
      allowedOperations: optional(
        list(text('An operation’s name.', 'publishJob'), 'What the caller could call in that state.'),
      ),
      required: optional(whole('How many tokens it takes.', 30)),
      available: optional(whole('How many tokens are free to spend.', 5)),
      retryAfter: optional(whole('After how many seconds to try again.', 12)),
      allowedMethods: optional(list(text('A method.', 'GET'), 'What the address takes.')),
      expectedVersion: optional(whole('The version that was expected.', 3)),
      version: optional(whole('The version that the job has.', 4)),
    }),
    blockedFields: list(
      text('A field’s name.', 'category'),
      'The submitted fields that would change and may not, in this state.',
    ),
  },
);
