/** Generates the OpenAPI document from the routes and the operations' inputs. */
import { JSON_TYPE } from '../../platform/http/exchange.js';
import { openPages, type Pages } from '../../platform/http/pages/pages.js';
import { NOT_AMONG_OWN_EVENTS } from '../../market/operations/events/events.js';
import { audienceOf } from '../../market/operations/refusals.js';
import { DISPUTE_TRANSITIONS } from '../../market/rules/jobs/disputes.js';
import { sentenceOf } from '../../market/rules/jobs/effects.js';
import { isTransition, JOB_ACTION_LIST } from '../../market/rules/lifecycle.js';
import { BID_TRANSITION_LIST } from '../../market/rules/bids.js';
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
import { responseParts, responsesOf } from './responses.js';
import { type Route, hasBody } from '../../platform/openapi/route.js';
import { WEBHOOKS_SENT } from './webhooks.js';
import { ROUTES } from '../routes.js';
import { summaryOf } from './summaries.js';
import { SAMPLES_DESCRIPTION } from './samples.js';
import { BODY_BYTES_MAX } from '../../platform/caller-limits.js';

/**
 * The document at both its addresses, and the index that leads to it. The server's own URL is known once it listens.
 */
export function openDescription(serverUrl: () => string): Pages {
  const file = { contentType: JSON_TYPE, read: async () => JSON.stringify(openapi(serverUrl())) };
  const index = { contentType: JSON_TYPE, read: async () => JSON.stringify(addresses(), undefined, 2) };
  return openPages({ '/v1/openapi.json': file, '/openapi.json': file, '/v1': index, '/v1/': index });
}

/** Every address with its methods. */
function addresses() {
  const paths: Record<string, string[]> = {};
  for (const route of ROUTES) (paths[documentedPath(route)] ??= []).push(route.method);
  return { reference: '/v1/docs', openapi: '/v1/openapi.json', lifecycle: '/lifecycle', paths };
}

/** The address of a server started without settings. Linters report localhost as a mistake. */
const USUAL_SERVER = 'http://127.0.0.1:4000';

/** Programs that read the document from a file don't accept a server URL that is relative to it. */
export function openapi(serverUrl = USUAL_SERVER) {
  const { part, enums } = withNamedEnums({ paths: paths(), webhooks: WEBHOOKS_SENT, ...responseParts() });
  const { paths: pathItems, webhooks, schemas, ...parts } = part;
  return {
    openapi: '3.1.0',
    info: {
      title: 'Job Marketplace',
      version: VERSION,
      summary: 'Homeowners post jobs, contractors bid, disputes end fairly.',
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
            'The `token` of a log-in or sign-up, which lasts 15 minutes; `/v1/auth/refresh` gives the next one. Or ' +
            'the `secret` of an API key, for programs: it may do what its owner may, but for email, password, ' +
            'sessions and keys.',
        },
      },
      parameters: HEADER_PARAMETERS,
      schemas: { ...schemas, ...enums },
      ...parts,
    },
  };
}

const ABOUT = [
  'Bodies are JSON in `snake_case`, sent with `Content-Type: application/json` and at most ' +
    `${BODY_BYTES_MAX / 1024} KB. An empty ` +
    'body counts as `{}`.',
  '',
  '- **Input.** A name that an operation does not know is refused, in a body or in a query. White space around ' +
    'a text is removed, but for passwords and phone numbers; an optional text that is then empty counts as null. ' +
    'Text can’t contain NUL or lone surrogates. Names and other single-line strings can’t contain control ' +
    'characters, line breaks, or characters that change the text direction. Money has at most two ' +
    'decimals, tokens are whole.',
  '- **Answers.** Every field of a resource is always there: null where it is unset or not for the reader. ' +
    'Timestamps are ISO 8601 in UTC with milliseconds, dates are `YYYY-MM-DD`.',
  '- **Identifiers** are a prefix and 27 letters and digits, such as `job_2b9Xv0cJ5q7hT3nKz8LmRw4YdPe`. In a ' +
    'path, one that is malformed is simply not found.',
  '- **Lists** hold `data` and `pagination`, newest first unless described otherwise. Ask for a page by `page`, ' +
    'or follow the `Link` header, which stays fast however deep.',
  '- **Refusals** come in one order: who is it (401), how often (429), may such a person do this (403), is the ' +
    'input in shape (400), is the thing there (404), may this caller see it and do this to it (403), does its ' +
    'state allow it (400), and then all other rules (400), the price last. `details.code` is one of a closed ' +
    'list.',
  '- **Sending again.** A call without an answer, or with 503, may be sent again after a pause that doubles, a write ' +
    'with the same `Idempotency-Key`, and so may one with 409 IDEMPOTENCY_KEY_IN_USE; 429 after `Retry-After` ' +
    'seconds. After a 401 with the reason `expired` refresh the session, after STALE_VERSION read the job again. ' +
    'Any other refusal would be repeated.',
  '- **Methods.** An address refuses a method that it does not take with 405; every GET answers HEAD too.',
  SAMPLES_DESCRIPTION,
].join('\n');

/** In the order of the reference. The last one that matches a path is its tag. */
const TAGS: readonly (readonly [name: string, paths: RegExp, description: string])[] = [
  ['Jobs', /^\/jobs\b/, 'Jobs from the draft to the end.'],
  ['Bids', /\/bids\b/, 'Offers to do a job, and what becomes of them.'],
  [
    'Disputes',
    new RegExp(`/(${DISPUTE_TRANSITIONS.map((transition) => transition.path).join('|')})$`),
    'When the homeowner does not accept the work.',
  ],
  ['Events', /^\/events\b/, 'What happened to one’s jobs, in one list that is read on from a position.'],
  ['Contractors', /^\/contractors\b/, 'Contractors as others see them.'],
  ['Sessions', /^\/(auth\/|sessions\b)/, 'Joining, logging in, staying in, logging out, here and elsewhere.'],
  ['Own account', /^\/me\b/, 'Oneself: the person, the profile, the password.'],
  ['Tokens', /^\/tokens\b/, 'Prepaid tokens: publishing spends them, a guaranteed view of a bid stakes them.'],
  [
    'People',
    /^\/(users|homeowners|admin-actions)\b/,
    'People as others see them; for admins every account, and what admins did to others.',
  ],
  ['API keys', /^\/api-keys\b/, 'Keys for programs, which act as their owner.'],
  ['Webhooks', /^\/webhooks\b/, 'What happens to one’s jobs and bids, sent to an address as it happens.'],
  ['Reference', /^\/(catalog|lifecycle)$/, 'The rules and the usual words, for forms and buttons.'],
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

const FOR_REAL = ' `Idempotency-Key` and `Dry-Run` have no effect here.';
const WITH_SECRET = ' `Idempotency-Key` has no effect here, and `Dry-Run: true` is refused: no secret can be shown.';

function whoAndWhen({ operation, path }: Route): string {
  const ofJob = JOB_ACTION_LIST.find((one) => one.operation === operation.name);
  const row = ofJob ?? BID_TRANSITION_LIST.find((one) => one.operation === operation.name);
  if (!row) return `For ${READERS[path] ?? audienceOf(operation)}.`;
  const states = (list: readonly string[]) => list.map((state) => `\`${state}\``).join(', ');
  const to = ofJob && !isTransition(ofJob) ? '' : ` to \`${row.to}\``;
  return `For ${audienceOf(operation)}. From ${states(row.from)}${to}.${ofJob ? sentenceOf(ofJob.effects) : ''}`;
}

const WHO_SEES_THE_JOB =
  'those who see the job: the homeowner who posted it, contractors while it is open or if they have bid on it, and ' +
  'admins';
const THEMSELVES = 'admins and the contractor';
const READERS: Readonly<Record<string, string>> = {
  '/jobs/{id}': WHO_SEES_THE_JOB,
  '/jobs/{id}/actions': WHO_SEES_THE_JOB,
  '/jobs/{id}/events': WHO_SEES_THE_JOB,
  '/contractors/{id}/jobs': THEMSELVES,
  '/contractors/{id}/bids': THEMSELVES,
};

const JOB_FIELDS_AGREE =
  ' `budget_min` must not be more than `budget_max`, nor `desired_start_date` after `desired_completion_date`.';
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
