/** Documents the responses: each path's success, its refusals by status, and their shared components. */
import { isRepeatable } from '../../platform/call/operation.js';
import {
  ERROR_CODES,
  REFUSALS,
  UNAUTHORIZED_MESSAGES,
  type ErrorCode,
  type UnauthorizedCode,
} from '../../market/rules/errors.js';
import { BID } from '../../market/rules/entities/bid.js';
import { pageOf, PROBLEM, PUBLICATION, JOB_WITH_WARNINGS } from '../bodies.js';
import { componentSchemas } from './components.js';
import { answerExample, refusalExample } from './examples.js';
import { refTo, type JsonSchema } from '../../platform/openapi/json-schema.js';
import { canRunDry, isList, type Route, rowOf, hasBody, shapeOf } from '../../platform/openapi/route.js';
import { ROUTES } from '../routes.js';
import { refusalCodesOf } from '../../market/operations/documented-refusals.js';

export function responsesOf(route: Route) {
  const refusals = [...refusalsOf(route)].map(([status, codes]) => [status, refusal(route, codes)] as const);
  return {
    [route.status]: success(route),
    ...(route.isVersioned && { 304: NOT_MODIFIED }),
    ...Object.fromEntries(refusals),
  };
}

const NOT_MODIFIED = {
  description: 'The job hasn’t changed. There is no body.',
  headers: headers('X-Request-Id', 'RateLimit', 'RateLimit-Policy', 'ETag', 'Dry-Run', 'Dry-Run-Effects'),
};

export function responseComponents() {
  const codeLists = ROUTES.flatMap((route) => [...refusalsOf(route).values()]);
  const aloneCodes = ERROR_CODES.filter((code) => codeLists.some((codes) => codes.length === 1 && codes[0] === code));
  const usedCodes = ERROR_CODES.filter((code) => codeLists.some((codes) => codes.includes(code)));
  return {
    headers: HEADERS,
    schemas: componentSchemas(),
    responses: Object.fromEntries(
      aloneCodes.map((code) => [nameOf(code), refusalResponse([code], { type: 'string', const: code })]),
    ),
    examples: Object.fromEntries(usedCodes.map((code) => [code, { summary: code, value: refusalExample(code) }])),
  };
}

function success(route: Route) {
  const body = bodyOf(route);
  return {
    description: body.description,
    headers: headers(
      'X-Request-Id',
      'RateLimit',
      'RateLimit-Policy',
      ...(isList(route) ? ['Link'] : []),
      ...(hasETag(route) ? ['ETag'] : []),
      ...(route.location ? ['Location'] : []),
      ...(isRepeatable(route.operation) ? ['Idempotency-Replayed'] : []),
      ...(canRunDry(route) ? ['Dry-Run', 'Dry-Run-Effects'] : []),
    ),
    content: { 'application/json': { schema: { $ref: refTo('schemas', body.name) }, example: answerExample(route) } },
  };
}

function bodyOf(route: Route): Route['shows'] {
  return isList(route) ? pageOf(rowOf(route)) : route.shows;
}

/** True if the response has an ETag. A page has no version. */
function hasETag(route: Route): boolean {
  return !isList(route) && [JOB_WITH_WARNINGS, PUBLICATION, BID].some((shown) => shown === route.shows);
}

/** Documents a refusal. A refusal with only one code is the same for all paths. */
function refusal(route: Route, codes: readonly ErrorCode[]) {
  const [first, ...others] = codes;
  return first !== undefined && others.length === 0
    ? { $ref: refTo('responses', nameOf(first)) }
    : refusalResponse(codes, { type: 'string', enum: codes, enumName: listName(route, codes) });
}

/** Code generators read `const` and `enum` only next to a `type`. */
function refusalResponse(codes: readonly ErrorCode[], code: JsonSchema) {
  const [status = 500] = codes.map((code) => REFUSALS[code][0]);
  const ofTheseCodes = {
    type: 'object',
    properties: { status: { type: 'integer', const: status }, details: ofDetails(status, codes, code) },
    additionalProperties: true,
  };
  return {
    description: codes.map((code) => `\`${code}\`: ${REFUSALS[code][1]}`).join('\n\n'),
    headers: headers('X-Request-Id', 'RateLimit', 'RateLimit-Policy', 'Dry-Run', ...(HEADERS_OF_STATUS[status] ?? [])),
    content: {
      'application/json': {
        schema: { allOf: [{ $ref: refTo('schemas', PROBLEM.name) }, ofTheseCodes] },
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: refTo('examples', code) }])),
      },
    },
  };
}

/** A 401 has a reason: one that belongs to its codes. */
function ofDetails(status: number, codes: readonly ErrorCode[], code: JsonSchema) {
  if (status !== 401) return { type: 'object', properties: { code }, additionalProperties: true };
  const reasons = codes.flatMap((one) => Object.keys(UNAUTHORIZED_MESSAGES[one as UnauthorizedCode]));
  return {
    type: 'object',
    properties: { code, reason: { type: 'string', enum: [...new Set(reasons)] } },
    required: ['reason'],
    additionalProperties: true,
  };
}

function nameOf(code: ErrorCode): string {
  return code.toLowerCase().replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

const HEADERS_OF_STATUS: Readonly<Record<number, readonly string[]>> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

const EFFECTS =
  'The charges, stakes, and events that the call would have caused and that you could read, as JSON. If they take ' +
  'more than 4 KB, the header has only their counts, as in `{"charges":1,"stakes":0,"events":120,"complete":false}`. ' +
  'GraphQL’s `extensions.dryRun` always has all of them.';

const HEADERS = {
  'X-Request-Id': header(
    'The ID of this request in our logs. You can choose it by sending the same header.',
    '0f8fad5b-d9cb-469f-a165-70867728950e',
  ),
  RateLimit: header(
    'The remaining calls in each rate limit that this call counted against, and the seconds until the limit resets.',
    '"read";r=599;t=60',
    false,
  ),
  'RateLimit-Policy': header(
    'The rate limits: the number of calls and the window in seconds.',
    '"read";q=600;w=60',
    false,
  ),
  'Retry-After': header('The number of seconds to wait before you retry.', '12'),
  'WWW-Authenticate': header('The authentication scheme to use.', 'Bearer'),
  ETag: header(
    'The version of the job or bid. To change only the version you’ve read, send it as `If-Match`. A bid’s version ' +
      'covers its offer, but not its status.',
    '"3"',
  ),
  Location: header('The URL of the new object.', '/v1/jobs/job_2b9Xv0cJ5q7hT3nKz8LmRw4YdPe'),
  Link: header(
    'Links to the first, previous, next, and last pages. `prev` and `next` are present only if those pages exist, ' +
      'and `last` only while the total is exact. `next` stays fast at any depth.',
    '</v1/jobs>; rel="first", </v1/jobs?page=2&after=WzE3N10>; rel="next", </v1/jobs?page=3>; rel="last"',
    false,
  ),
  'Idempotency-Replayed': header('True if this is a replay of the first response.', 'true', false),
  'Dry-Run': header('The call was a dry run. Nothing was saved.', 'true', false),
  'Dry-Run-Effects': header(EFFECTS, '{"charges":[],"stakes":[],"events":[]}', false),
};

function header(description: string, example: string, required = true) {
  return { description, required, schema: { type: 'string' }, example };
}

function headers(...names: readonly string[]) {
  return Object.fromEntries(names.map((name) => [name, { $ref: refTo('headers', name) }]));
}

/**
 * The operation's own refusals, and those that any body can cause. Each status lists its codes in the order of
 * `ERROR_CODES`.
 */
export function refusalsOf(route: Route): Map<number, ErrorCode[]> {
  const codes = new Set(refusalCodesOf(route.operation));
  if (hasBody(route)) for (const code of OF_BODIES) codes.add(code);
  // A malformed If-Match causes this refusal.
  if (shapeOf(route).has('expectedVersion')) codes.add('MALFORMED_REQUEST');
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of ERROR_CODES.filter((one) => codes.has(one))) {
    const [status] = REFUSALS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return new Map([...byStatus].sort(([one], [other]) => one - other));
}

const OF_BODIES: readonly ErrorCode[] = ['MALFORMED_REQUEST', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'];

/** Names a list of codes. Code generators create an enum from each list. */
export function listName({ operation: { name } }: Route, codes: readonly ErrorCode[]): string {
  return SHARED_LISTS.get(codes.join(' ')) ?? `${name.charAt(0).toUpperCase()}${name.slice(1)}ErrorCode`;
}

const OF_INPUT = 'VALIDATION_FAILED MALFORMED_REQUEST';

const SHARED_LISTS: ReadonlyMap<string, string> = new Map([
  [OF_INPUT, 'InputErrorCode'],
  [`${OF_INPUT} INVALID_TRANSITION`, 'TransitionErrorCode'],
  ['OVERLOADED PAYMENTS_UNAVAILABLE', 'PaymentErrorCode'],
  [`${OF_INPUT} EMAIL_TAKEN UNKNOWN_REFERRAL_CODE`, 'SignUpErrorCode'],
]);
