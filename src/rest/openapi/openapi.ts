/** Generates the OpenAPI document from the routes and the operations' inputs. */
import { JSON_TYPE } from '../../platform/http/exchange.js';
import { openPages, type Pages } from '../../platform/http/pages/pages.js';
import { NOT_AMONG_OWN_EVENTS } from '../../market/operations/events/events.js';
import { audienceOf } from '../../market/operations/documented-refusals.js';
import { DISPUTE_TRANSITIONS } from '../../market/rules/jobs/disputes.js';
import { sentenceOf } from '../../market/rules/jobs/effects.js';
import { JOB_ACTION_LIST } from '../../market/rules/lifecycle.js';
import { BID_ACTION_LIST } from '../../market/rules/bids.js';
import { eitherOf } from '../../market/rules/words.js';
import { VERSION } from '../../platform/version.js';
import { requestExample } from './examples.js';
import { withNamedEnums, refTo, type JsonSchema } from '../../platform/openapi/json-schema.js';
import {
  bodySchema,
  documentedPath,
  HEADER_PARAMETERS,
  parameters,
  requestName,
} from '../../platform/openapi/requests.js';
import { responseComponents, responsesOf } from './responses.js';
import { type Route, hasBody } from '../../platform/openapi/route.js';
import { WEBHOOKS_SENT } from './webhooks.js';
import { ROUTES } from '../routes.js';
import { summaryOf } from './summaries.js';
import { SAMPLES_DESCRIPTION } from './samples.js';
import { BODY_BYTES_MAX } from '../../platform/caller-limits.js';

/** Serves the document, and an index that links to it. The server's URL is known only once it listens. */
export function openDescription(serverUrl: () => string): Pages {
  const file = { contentType: JSON_TYPE, read: async () => JSON.stringify(openapi(serverUrl())) };
  const index = { contentType: JSON_TYPE, read: async () => JSON.stringify(addresses(), undefined, 2) };
  return openPages({ '/v1/openapi.json': file, '/openapi.json': file, '/v1': index, '/v1/': index });
}

function addresses() {
  const paths: Record<string, string[]> = {};
  for (const route of ROUTES) (paths[documentedPath(route)] ??= []).push(route.method);
  return { reference: '/v1/docs', openapi: '/v1/openapi.json', lifecycle: '/lifecycle', paths };
}

/** The URL of a server with default settings. Linters reject localhost. */
const USUAL_SERVER = 'http://127.0.0.1:4000';

/** Programs that read the document from a file reject a relative server URL. */
export function openapi(serverUrl = USUAL_SERVER) {
  const { part, enums } = withNamedEnums({ paths: paths(), webhooks: WEBHOOKS_SENT, ...responseComponents() });
  const { paths: pathItems, webhooks, schemas, ...parts } = part;
  return {
    openapi: '3.1.0',
    info: {
      title: 'Job Marketplace',
      version: VERSION,
      summary: 'Homeowners post jobs, contractors bid, and admins decide disputes.',
      description: ABOUT,
      contact: { name: 'The operator of this server' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: serverUrl, description: 'This server. Every path is also served without /v1.' }],
    security: [{ bearer: [] }],
    tags: TAGS.map(([name, , description]) => ({ name, description })),
    paths: pathItems,
    webhooks,
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description:
            'The `token` from a login or signup. It lasts 15 minutes. To get the next one, call ' +
            '`/v1/auth/refresh`. Programs can send the `secret` of an API key instead. A key with ' +
            'full access can do everything that its owner can, except manage the email address, password, sessions, ' +
            'and API keys. A read-only key can only read.',
        },
      },
      parameters: HEADER_PARAMETERS,
      schemas: { ...schemas, ...enums },
      ...parts,
    },
  };
}

const ABOUT = [
  'Request bodies are JSON in `snake_case`, sent with `Content-Type: application/json`. A body can have at most ' +
    `${BODY_BYTES_MAX / 1024} KB. An empty body counts as \`{}\`.`,
  '',
  '- **Input.** Unknown fields and query parameters are rejected. Surrounding white space is removed, except from ' +
    'passwords and phone numbers. An optional string that’s empty after trimming counts as null. Text can’t contain ' +
    'NUL or lone surrogates. Names and other single-line strings can’t contain control characters, line breaks, or ' +
    'characters that change the text direction. Money has at most two decimal places. Token amounts are whole numbers.',
  '- **Responses.** Every field of a resource is always present. A field is null if it’s unset, or if you can’t ' +
    'see it. ' +
    'Timestamps are ISO 8601 in UTC with milliseconds. Dates are `YYYY-MM-DD`.',
  '- **IDs** are a prefix followed by 27 letters and digits, such as `job_2b9Xv0cJ5q7hT3nKz8LmRw4YdPe`. A request ' +
    'with a malformed ID in its path returns 404.',
  '- **Lists** have `data` and `pagination`. The order is newest first unless described otherwise. Request a page ' +
    'with `page`, or follow the `Link` header, which stays fast at any depth.',
  '- **Errors.** Each request is checked in this order: authentication (401), rate limits (429), the caller’s role ' +
    '(403), the shape of the input (400), whether the resource exists (404), the caller’s access to it (403), its ' +
    'status (400), and all other rules (400), with the token cost last. You get the first error. `details.code` is ' +
    'from a closed list. `details.allowed_operations` lists `operationId`s from this document.',
  '- **Retries.** If a response is lost, or it’s a 503 or a 409 `IDEMPOTENCY_KEY_IN_USE`, retry with exponential ' +
    'backoff. Send writes with the same `Idempotency-Key`. After a 429, wait `Retry-After` seconds. After a 401 with ' +
    'the reason `expired`, refresh the session. After `STALE_VERSION`, read the job or the bid again. Don’t retry ' +
    'other errors.',
  '- **Methods.** A method that a URL doesn’t support returns 405. Every GET URL also supports HEAD.',
  SAMPLES_DESCRIPTION,
].join('\n');

/** The tags in the reference's order. A path gets the last one that matches it. */
const TAGS: readonly (readonly [name: string, paths: RegExp, description: string])[] = [
  ['Jobs', /^\/jobs\b/, 'Jobs, from draft to completion.'],
  ['Bids', /\/bids\b/, 'Contractors’ offers to do a job.'],
  [
    'Disputes',
    new RegExp(`/(${DISPUTE_TRANSITIONS.map((transition) => transition.path).join('|')})$`),
    'Disagreements about the work.',
  ],
  ['Events', /^\/events\b/, 'The events on your jobs, as one list that you read from a position.'],
  ['Notifications', /^(\/me)?\/notification/, 'Your notifications, and when you’re emailed about them.'],
  ['Saved searches', /^\/saved-searches\b/, 'Saved searches that notify contractors of new jobs.'],
  ['Contractors', /^\/contractors\b/, 'Contractors’ public profiles, reviews, jobs, and bids.'],
  ['Sessions', /^\/(auth\/|sessions\b)/, 'Sign up, log in, refresh tokens, and log out.'],
  ['Own account', /^\/me\b(?!\/notification)/, 'Your user, profile, email address, and password.'],
  [
    'Tokens',
    /^\/(tokens|purchases)\b/,
    'Prepaid tokens. You buy them in packs. Publishing a job spends them, and a guaranteed view of a bid stakes them.',
  ],
  [
    'People',
    /^\/(users|homeowners|admin-actions)\b/,
    'Users as others see them. Admins can also list accounts and admin actions.',
  ],
  ['API keys', /^\/api-keys\b/, 'Keys for programs. A program with a key acts as the key’s owner.'],
  ['Webhooks', /^\/webhooks\b/, 'Events on your jobs and bids, sent to your URL as they happen.'],
  ['Reference', /^\/(catalog|lifecycle|test-clock)$/, 'The lifecycle, suggested values for forms, and the test clock.'],
];

function paths(): Record<string, Record<string, unknown>> {
  const pathItems: Record<string, Record<string, unknown>> = {};
  for (const route of ROUTES.toSorted((one, other) => tagIndex(one) - tagIndex(other))) {
    const path = documentedPath(route);
    pathItems[path] = { ...pathItems[path], [route.method.toLowerCase()]: operationObject(route) };
  }
  return pathItems;
}

function tagIndex({ path }: Route): number {
  return TAGS.findLastIndex(([, paths]) => paths.test(path));
}

function operationObject(route: Route) {
  const { operation } = route;
  const parameterObjects = parameters(route);
  const body = bodySchema(route);
  return {
    operationId: operation.name,
    summary: summaryOf(operation),
    description: `${operation.description}\n\n${describe(route)}`,
    tags: TAGS.slice(tagIndex(route), tagIndex(route) + 1).map(([name]) => name),
    ...(operation.allows === 'anyone' && { security: [] }),
    ...(parameterObjects.length > 0 && { parameters: parameterObjects }),
    ...(body && { requestBody: requestBody(route, body) }),
    responses: responsesOf(route),
  };
}

function describe(route: Route): string {
  const { ignoresKeyAndDryRun, answersSecret } = route.operation;
  const forReal = ignoresKeyAndDryRun ? FOR_REAL : answersSecret ? WITH_SECRET : '';
  const rules = hasBody(route) ? (RULES_ACROSS_FIELDS[route.path] ?? '') : '';
  return whoAndWhen(route) + rules + (MORE_ABOUT[route.path] ?? '') + forReal;
}

const FOR_REAL = ' `Idempotency-Key` and `Dry-Run` have no effect on this operation.';
const WITH_SECRET =
  ' `Idempotency-Key` has no effect on this operation. `Dry-Run: true` is rejected, because a dry run doesn’t ' +
  'create a secret.';

function whoAndWhen({ operation, path }: Route): string {
  const ofJob = JOB_ACTION_LIST.find((one) => one.operation === operation.name);
  const row = ofJob ?? BID_ACTION_LIST.find((one) => one.operation === operation.name);
  if (!row) return `Available to ${READERS[path] ?? audienceOf(operation)}.`;
  const quoted = (states: readonly string[]) => eitherOf(states, (state) => `\`${state}\``);
  const later = ofJob?.fromAfterChanges;
  const from = quoted(row.from) + (later ? ` or, after changes were requested, ${quoted(later)},` : '');
  const states =
    row.to === 'stays' || row.to === 'gone'
      ? `Allowed while the ${ofJob ? 'job' : 'bid'} is ${from}.`
      : 'mayKeepState' in row
        ? `The status stays ${from} until ${row.mayKeepState?.until}. Then it changes to \`${row.to}\`.`
        : `Changes the status from ${from} to \`${row.to}\`.`;
  return `Available to ${audienceOf(operation)}. ${states}${ofJob ? sentenceOf(ofJob.effects) : ''}`;
}

const WHO_SEES_THE_JOB =
  'everyone who can see the job: the homeowner who posted it, contractors while it’s open or if they’ve bid on it, ' +
  'and admins';
const THEMSELVES = 'admins and the contractor';
const WHO_SEES_THE_BID = 'the homeowner who posted the job, the contractor who made the bid, and admins';
const READERS: Readonly<Record<string, string>> = {
  '/jobs/{id}': WHO_SEES_THE_JOB,
  '/jobs/{id}/actions': WHO_SEES_THE_JOB,
  '/jobs/{id}/events': WHO_SEES_THE_JOB,
  '/contractors/{id}/jobs': THEMSELVES,
  '/contractors/{id}/bids': THEMSELVES,
  '/jobs/{id}/upcoming': WHO_SEES_THE_JOB,
  '/jobs/{id}/bids': WHO_SEES_THE_JOB,
  '/jobs/{id}/dispute': 'the homeowner who posted the job, the contractor it was awarded to, and admins',
  '/bids/{id}': WHO_SEES_THE_BID,
  '/bids/{id}/hold': WHO_SEES_THE_BID,
  '/bids/{id}/actions': WHO_SEES_THE_BID,
  '/bids/{id}/revisions': WHO_SEES_THE_BID,
  '/tokens/transfers/{id}': 'the users whose tokens were transferred and admins',
  '/purchases/{id}': 'the buyer and admins',
};

const JOB_FIELDS_AGREE =
  ' `budget_min` can’t be greater than `budget_max`. `desired_start_date` can’t be after `desired_completion_date`.';
const RULES_ACROSS_FIELDS: Readonly<Record<string, string>> = {
  '/jobs': JOB_FIELDS_AGREE,
  '/jobs/{id}': JOB_FIELDS_AGREE,
};
const MORE_ABOUT: Readonly<Record<string, string>> = { '/events': ` ${NOT_AMONG_OWN_EVENTS}` };

function requestBody(route: Route, schema: JsonSchema) {
  const isRequired = Array.isArray(schema.required) && schema.required.length > 0;
  return {
    required: isRequired,
    content: {
      'application/json': { schema: { $ref: refTo('schemas', requestName(route)) }, example: requestExample(route) },
    },
  };
}
