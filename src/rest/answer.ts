/** Writing an answer: what an operation returned, or why it refused, as a status, headers and a body. */
import type { Exchange } from '../http/exchange.js';
import type { Caller } from '../operations/caller.js';
import { cursorOf } from '../operations/paging.js';
import { Refusal, refuse } from '../rules/errors.js';
import { rateLimitHeaders } from '../security/rate-limit-headers.js';
import type { Page } from '../store/page.js';
import type { Input } from './input.js';
import type { Route } from './routes.js';
import { toWire, wireName } from './wire.js';

export async function sendResult(
  exchange: Exchange,
  route: Route,
  input: Input,
  result: unknown,
  caller: Caller,
): Promise<void> {
  const body = isPage(result) ? await pageBody(exchange, result, input, route) : route.write(result);
  setRateLimitHeaders(exchange, caller);
  setETag(exchange, body);
  exchange.sendJson(route.status, body);
}

function isPage(result: unknown): result is Page<unknown> {
  return isObject(result) && 'rows' in result && 'positionOf' in result;
}

async function pageBody(exchange: Exchange, page: Page<unknown>, input: Input, route: Route) {
  const { page: number } = input;
  const { count, capped } = await page.total();
  const last = page.rows.at(-1);
  if (page.hasNext && last !== undefined) linkNext(exchange, route, input, cursorOf(page.positionOf(last)));
  const pagination = {
    page: typeof number === 'number' ? number : 1,
    per_page: page.size,
    total: count,
    total_pages: Math.ceil(count / page.size),
    total_capped: capped,
  };
  return { data: page.rows.map(route.write), pagination };
}

/**
 * The query as it was read: sixteen thousand spaces around a word, or zeros before a number, would make a header that
 * clients refuse.
 */
function linkNext({ path, response }: Exchange, route: Route, input: Input, cursor: string): void {
  const query = new URLSearchParams();
  const given = (route.query ?? []).filter((field) => field !== 'page' && input[field] !== undefined);
  for (const field of given) query.set(wireName(field), String(input[field]).trim());
  query.set('after', cursor);
  const address = path.startsWith('/v1/') ? path : `/v1${path}`;
  response.setHeader('Link', `<${address}?${query.toString()}>; rel="next"`);
}

/** A job's version is its tag, also where the job is a part of what is answered. */
function setETag({ response }: Exchange, body: unknown): void {
  const job = isObject(body) && isObject(body.job) ? body.job : body;
  if (isObject(job) && typeof job.version === 'number') response.setHeader('ETag', `"${job.version}"`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function setRateLimitHeaders({ response }: Exchange, { taken }: Caller): void {
  for (const [name, value] of Object.entries(rateLimitHeaders(taken))) response.setHeader(name, value);
}

/** Whoever called; a failure outside every route has only the house. */
export function sendFailure(exchange: Exchange, error: unknown, caller: Caller | Pick<Caller, 'house'>): void {
  const { response, requestId } = exchange;
  if (!(error instanceof Refusal))
    caller.house.log.error({ err: error, requestId, route: exchange.route }, 'a request failed');
  const refusal = error instanceof Refusal ? error : refuse('INTERNAL');
  exchange.record.refused(refusal);
  const { retryAfter, allowedMethods } = refusal.details;
  if ('taken' in caller) setRateLimitHeaders(exchange, caller);
  if (refusal.status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
  if (typeof retryAfter === 'number') response.setHeader('Retry-After', String(retryAfter));
  if (Array.isArray(allowedMethods)) response.setHeader('Allow', allowedMethods.join(', '));
  exchange.sendJson(refusal.status, errorBody(refusal, requestId));
}

export function errorBody({ code, status, message, fields, blockedFields, details }: Refusal, requestId: string) {
  const named = fields && {
    fields: Object.fromEntries(Object.entries(fields).map(([field, problem]) => [wireName(field), problem])),
  };
  return {
    status,
    error: message,
    details: Object.assign({ code, request_id: requestId, ...named }, toWire(details)),
    blocked_fields: blockedFields.map(wireName),
  };
}
