/** Rules for every response: no server error, no internal details, and the documented form. */
import { readFileSync } from 'node:fs';
import type { Sql } from 'postgres';
import { ERROR_CODES } from '../../../src/market/rules/errors.js';
import { expectAsDocumented } from '../../story/documented.js';
import type { Json } from '../../setup/app.js';
import type { Request } from './requests/requests.js';
import type { Reply } from './wire.js';

/** Says in a sentence what is wrong with the response. Undefined if nothing is. */
export type Check = (request: Request, reply: Reply) => string | undefined;

export function checkWith(hidden: RegExp): Check {
  return (request, reply) => {
    try {
      assertAnswer(request, reply, hidden);
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  };
}

/** Names that only the database uses. No outsider has a reason to see one. */
export async function hiddenNames(sql: Sql): Promise<RegExp> {
  const rows = await sql<{ name: string }[]>`
    select column_name as name from information_schema.columns where table_schema = 'public'
    union select conname from pg_constraint union select relname from pg_class
      where relnamespace = 'public'::regnamespace`;
  const documented = ['openapi.json', 'api.graphql']
    .map((file) => readFileSync(new URL(`../../../schema/${file}`, import.meta.url), 'utf8'))
    .join('\n');
  const names = rows
    .map(({ name }) => name)
    .filter((name) => /^\w*[a-z]_\w+$/.test(name) && !new RegExp(`\\b${name}\\b`).test(documented));
  if (names.length < 20) throw new Error(`Only ${names.length} names of the database are hidden: that cannot be all.`);
  return new RegExp(`\\b(${names.join('|')})\\b`);
}

const INSIDE = [
  /\bat .{0,200}\.[cm]?[jt]s:\d+/,
  /node_modules|node:internal|file:\/\/\/|\/src\/|\/dist\//,
  /DrizzleQueryError|PostgresError|SQLSTATE|Failed query|ECONN|CONNECTION_/,
  /\b(select|insert into|update|delete from)\s+\\?"/i,
  /syntax error at or near|violates [\w-]+ constraint|invalid input syntax for/,
  /duplicate key value|does not exist.{0,20}relation/,
  /\$2[aby]\$\d\d\$/,
  /Cannot read propert|is not a function|is not iterable|undefined \(reading/,
];

function assertAnswer(request: Request, reply: Reply, hidden: RegExp): void {
  const faulty = reply.statuses.find((status) => status >= 500);
  if (faulty !== undefined) throw new Error(faulty === 999 ? 'The answer is no HTTP.' : `It answered ${faulty}.`);
  if (reply.status === 0) {
    if (request.raw) return;
    throw new Error('It hung up without an answer.');
  }
  if (reply.headers.has('transfer-encoding')) throw new Error('The answer has no length.');
  const path = request.target.replace(/\?.*$/s, '');
  if (request.raw) return showsNothing(reply, path, hidden);
  showsNothing(reply, path, hidden);
  if (reply.headers.get('x-request-id') === null) throw new Error('The answer has no X-Request-Id.');
  if (reply.status === 204 || reply.status === 304) return;
  // An unreadable request never reaches an API, so nothing sets a policy header.
  if (!reply.headers.has('content-security-policy')) return checkUnreadable(request, reply);
  if (path === '/graphql') checkGraphql(request, reply);
  else checkRest(request, reply, path);
}

function showsNothing({ body, headers }: Reply, path: string, hidden: RegExp): void {
  // The pages for people explain the service, and the operator's metrics are about its internals.
  if (!(headers.get('content-type') ?? '').includes('json') || /openapi\.json$|^\/metrics/.test(path)) return;
  const text = body.toString();
  const shown = [hidden, ...INSIDE].map((sign) => sign.exec(text)?.[0]).find((found) => found !== undefined);
  if (shown !== undefined) throw new Error(`The answer shows the inside: ${shown}`);
}

function checkUnreadable({ method }: Request, { status, headers, body }: Reply): void {
  // The server couldn't read the method, so even a HEAD gets a body, which HEAD clients ignore.
  if (method === 'HEAD' && [400, 413].includes(status) && headers.get('connection') === 'close') return;
  const { code, request_id: requestId } = parse(body).details ?? {};
  if (![400, 413].includes(status) || !['MALFORMED_REQUEST', 'PAYLOAD_TOO_LARGE'].includes(code))
    throw new Error(`Beneath the APIs it answered ${status} ${code}.`);
  if (requestId !== headers.get('x-request-id') || headers.get('connection') !== 'close')
    throw new Error('What was unreadable did not end as it should.');
}

function checkRest({ method }: Request, { status, headers, body }: Reply, path: string): void {
  const isJson = headers.get('content-type') === 'application/json; charset=utf-8';
  const parsed: Json = method !== 'HEAD' && isJson ? parse(body) : undefined;
  expectAsDocumented(method, path, { status, headers, body: parsed });
  if (status >= 400 && isJson && method !== 'HEAD') {
    if (parsed.details?.request_id !== headers.get('x-request-id'))
      throw new Error('The refusal names another request.');
    if (parsed.status !== status || !ERROR_CODES.includes(parsed.details.code))
      throw new Error(`The refusal says ${parsed.status} ${parsed.details.code}.`);
  }
}

const GRAPHQL_TYPES = ['application/json; charset=utf-8', 'application/graphql-response+json; charset=utf-8'];

function checkGraphql({ method, headers: sent }: Request, { status, headers, body }: Reply): void {
  const contentType = headers.get('content-type') ?? '';
  const wantsPage = sent.some(([name, value]) => name === 'Accept' && value.includes('text/html'));
  if (wantsPage && contentType.startsWith('text/html')) return;
  if (!GRAPHQL_TYPES.includes(contentType)) throw new Error(`The content type is ${contentType}.`);
  if (method === 'HEAD') return;
  const answer = parse(body);
  if (answer.data === undefined && answer.errors === undefined)
    throw new Error('The answer has neither data nor errors.');
  if (status >= 400 && answer.data !== undefined && answer.data !== null)
    throw new Error(`It answered ${status}, and with data.`);
  for (const { message, extensions } of answer.errors ?? []) {
    if (typeof message !== 'string' || message === '') throw new Error('An error says nothing.');
    if (!ERROR_CODES.includes(extensions?.code)) throw new Error(`The code ${extensions?.code} is not in the list.`);
    if (extensions.status >= 500) throw new Error(`An error is ${extensions.code}.`);
    if (extensions.requestId !== headers.get('x-request-id')) throw new Error('An error names another request.');
  }
}

function parse(body: Buffer): Json {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw new Error(`The body is no JSON: ${body.subarray(0, 200).toString()}`);
  }
}
