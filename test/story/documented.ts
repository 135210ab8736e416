/**
 * Checks every REST response of every test against the OpenAPI document: its status, its headers, and every field of
 * its body. Also checks every mutation's error against the codes that its description lists.
 */
import { Kind, parse, type FieldNode, type SelectionNode } from 'graphql';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { isRealDate } from '../../src/platform/fields/values.js';
import { openapi } from '../../src/rest/openapi/openapi.js';
import { ACCOUNT_EVENT_TYPES } from '../../src/market/rules/account-events.js';
import { TEST_EVENT_TYPE } from '../../src/market/rules/webhooks.js';
import { schema } from '../../src/graphql/schema.js';
import type { Answer, GraphqlAnswer, Json } from './answer.js';

interface Operation {
  readonly id: string;
  readonly at: readonly string[];
  readonly responses: Json;
}

/** Addresses of the APIs and pages that aren't REST operations. */
const ELSEWHERE =
  /^\/($|v1\/?$|favicon\.|front\.js$|graphql|healthz$|readyz$|metrics$|(v1\/)?docs|(v1\/)?openapi\.json$)/;
/** A page and an operation share this address. Browsers get the page, and also get errors as pages. */
const PAGES = /^\/lifecycle\/?$/;
const TRACKED_HEADERS = [
  'etag',
  'link',
  'location',
  'retry-after',
  'www-authenticate',
  'allow',
  'ratelimit',
  'ratelimit-policy',
  'idempotency-replayed',
  'dry-run',
  'dry-run-effects',
];

/** Each operation with each documented status that a test has seen: `readJob 200`. */
export const seen = new Set<string>();

export function expectAsDocumented(method: string, address: string, answer: Answer<Json>): void {
  const path = address.replace(/\?.*$/s, '');
  if (ELSEWHERE.test(path)) return;
  const isPage = answer.headers.get('content-type')?.startsWith('text/html');
  if (isPage && (PAGES.test(path) || answer.status >= 400)) return;
  const problems = problemsWith(method, path, answer);
  if (problems.length === 0) return;
  const body = JSON.stringify(answer.body)?.slice(0, 1_000);
  throw new Error(
    `${method} ${path} answered ${answer.status}, and not as src/rest/ documents ` +
      `it:\n  ${problems.join('\n  ')}\n  The body: ${body}`,
  );
}

function problemsWith(method: string, path: string, { status, headers, body }: Answer<Json>): string[] {
  const operation = operationAt(method, path);
  const response = operation ? responseFor(operation, status) : UNMATCHED.includes(status) ? ANY_REFUSAL : undefined;
  if (!response)
    return [
      operation
        ? `${status} is not among its responses (see src/rest/openapi/responses.ts)`
        : 'no route is documented here, and this is no refusal',
    ];
  const problems = [
    ...headerProblems(response.headers, headers),
    ...(status === 304 ? [] : bodyProblems(response.schemaAt, method, headers, body)),
  ];
  if (operation && problems.length === 0) seen.add(`${operation.id} ${status}`);
  return problems;
}

interface Documented {
  readonly schemaAt: string;
  readonly headers: Json;
}

/** The statuses of unknown addresses and wrong methods, and those that any request can get. */
const UNMATCHED = [404, 405, 500, 503];
const ANY_REFUSAL: Documented = { schemaAt: '#/components/schemas/Problem', headers: undefined };

let known: Json;

export function document(): Json {
  known ??= JSON.parse(JSON.stringify(openapi()));
  return known;
}

let addresses: readonly (readonly [address: string, pattern: RegExp])[] | undefined;

function operationAt(method: string, path: string): Operation | undefined {
  addresses ??= Object.keys(document().paths)
    .sort((one, other) => Number(one.includes('{')) - Number(other.includes('{')))
    .map((address) => [address, new RegExp(`^${address.replaceAll(/\{\w+\}/g, '[^/]+')}$`)]);
  const wanted = path.startsWith('/v1/') ? path : `/v1${path}`;
  const [address] = addresses.find(([, pattern]) => pattern.test(wanted)) ?? [];
  const verb = (method === 'HEAD' ? 'GET' : method).toLowerCase();
  const operation = address === undefined ? undefined : document().paths[address][verb];
  return (
    operation && {
      id: operation.operationId,
      at: ['paths', String(address), verb, 'responses'],
      responses: operation.responses,
    }
  );
}

function responseFor({ at, responses }: Operation, status: number): Documented | undefined {
  const response = responses[status];
  if (!response) return undefined;
  const place = response.$ref ?? pointer([...at, String(status)]);
  return { schemaAt: `${place}/content/application~1json/schema`, headers: resolve(place).headers };
}

function headerProblems(documented: Json, headers: Headers): string[] {
  if (!documented) return [];
  const names = new Map(
    Object.entries<Json>(documented).map(([name, header]) => [name.toLowerCase(), resolve(header.$ref)]),
  );
  const missing = [...names]
    .filter(([name, { required }]) => required && headers.get(name) === null)
    .map(([name]) => `the header ${name} is missing`);
  const unknown = TRACKED_HEADERS.filter((name) => headers.get(name) !== null && !names.has(name)).map(
    (name) => `the header ${name} is not documented`,
  );
  return [...missing, ...unknown];
}

function bodyProblems(schemaAt: string, method: string, headers: Headers, body: unknown): string[] {
  if (method === 'HEAD') return [];
  if (headers.get('content-type') !== 'application/json; charset=utf-8')
    return [`the content type is ${headers.get('content-type')}`];
  const validate = validatorAt(schemaAt);
  validate(body);
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath || 'the body'} ${message} ${JSON.stringify(params)}`,
  );
}

/** Checks mutations' errors against the codes that their descriptions list. */
export function expectAsDescribed(query: string, errors: GraphqlAnswer['errors'] = []): void {
  const refusals = errors.filter(({ path }) => path?.length === 1);
  if (refusals.length === 0) return;
  const mutation = parse(query).definitions.find((one) => 'operation' in one && one.operation === 'mutation');
  const calls = (mutation && 'selectionSet' in mutation ? mutation.selectionSet.selections : []).filter(isField);
  for (const { path, extensions } of refusals) {
    const call = calls.find(({ alias, name }) => (alias ?? name).value === path?.[0]);
    const codes = call && codesOfMutation(call.name.value);
    if (codes && !codes.includes(extensions.code))
      throw new Error(`${call.name.value} refused with ${extensions.code}, which its description does not list.`);
  }
}

const mutations = schema.getMutationType()?.getFields() ?? {};

export function codesOfMutation(name: string): string[] {
  return [...(/Error codes: (.*)\.$/.exec(mutations[name]?.description ?? '')?.[1] ?? '').matchAll(/\w+/g)].map(String);
}

function isField(selection: SelectionNode): selection is FieldNode {
  return selection.kind === Kind.FIELD;
}

/** Checks a webhook request against the document's webhooks. One of them must describe it. */
export function expectAsSent(headers: Readonly<Record<string, unknown>>, body: Json): void {
  const isOfAccount = ACCOUNT_EVENT_TYPES.some((type) => type === body.type);
  const name = body.type === TEST_EVENT_TYPE ? 'testEvent' : isOfAccount ? 'accountEvent' : 'jobEvent';
  const { parameters } = document().webhooks[name].post;
  const missing = parameters.filter((one: Json) => one.required && headers[one.name] === undefined);
  const validate = validatorAt(
    `${pointer(['webhooks', name, 'post', 'requestBody'])}/content/application~1json/schema`,
  );
  validate(body);
  if (missing.length > 0 || validate.errors)
    throw new Error(`${name} is not sent as documented: ${JSON.stringify([missing, validate.errors, body])}`);
}

/** Resolves a `#/…` reference. */
export function resolve(ref: string): Json {
  return ref
    .slice(2)
    .split('/')
    .reduce<Json>((at, part) => at?.[part.replaceAll('~1', '/').replaceAll('~0', '~')], document());
}

function pointer(parts: readonly string[]): string {
  return `#/${parts.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}`;
}

let validators: Ajv2020 | undefined;

/** Compiled on first use, once per process. */
export function validatorAt(ref: string): ValidateFunction {
  validators ??= new Ajv2020({ allErrors: true, strict: false, formats: FORMATS }).addSchema(
    document(),
    'openapi.json',
  );
  const validate = validators.getSchema(`openapi.json${ref}`);
  if (!validate) throw new Error(`The document has no schema at ${ref}.`);
  return validate as ValidateFunction;
}

export const FORMATS = {
  date: isRealDate,
  'date-time': (text: string) => !Number.isNaN(Date.parse(text)),
  email: /^\S+@\S+$/,
  uri: (text: string) => URL.canParse(text),
  'uri-reference': true,
  regex: (text: string) => new RegExp(text, 'u') instanceof RegExp,
  'media-range': true,
  password: true,
  int32: { type: 'number', validate: (value: number) => Number.isInteger(value) && Math.abs(value) <= 2 ** 31 },
} as const;
