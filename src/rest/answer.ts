/** Writes an operation's result or refusal as a status, headers, and a body. */
import { sendErrorPage } from '../platform/http/pages/look.js';
import type { Exchange } from '../platform/http/exchange.js';
import { setRefusalHeaders, setRateLimitHeaders } from '../platform/http/rate-limit-headers.js';
import type { Caller } from '../market/operations/operation.js';
import { cursorOf } from '../platform/call/paging.js';
import { refuse } from '../market/rules/errors.js';
import { Refusal } from '../platform/errors.js';
import type { Page } from '../platform/db/pages/page.js';
import type { Input } from './input.js';
import type { Route } from '../platform/openapi/route.js';
import { toWire, wireName } from '../platform/openapi/wire.js';
import { LINK_HEADER_BYTES_MAX } from '../platform/caller-limits.js';

export async function sendResult(
  exchange: Exchange,
  route: Route,
  input: Input,
  result: unknown,
  caller: Caller,
): Promise<void> {
  const body = isPage(result)
    ? await pageBody(exchange, result, input, route, caller)
    : await route.write(result, caller);
  setRateLimitHeaders(exchange.response, caller.rateLimitResults);
  setETag(exchange, body);
  if (route.location) exchange.response.setHeader('Location', route.location(body));
  if (isUnchanged(exchange, route)) return exchange.sendNothing(304);
  exchange.sendJson(route.status, body);
}

/** True if the client already has the job's current version (If-None-Match). */
function isUnchanged(exchange: Exchange, { isVersioned }: Route): boolean {
  const tag = exchange.response.getHeader('ETag');
  return isVersioned === true && typeof tag === 'string' && exchange.clientHas(tag);
}

function isPage(result: unknown): result is Page<unknown> {
  return isObject(result) && 'rows' in result && 'positionOf' in result;
}

async function pageBody(exchange: Exchange, page: Page<unknown>, input: Input, route: Route, caller: Caller) {
  const number = typeof input.page === 'number' ? input.page : 1;
  const { count, isCapped } = await page.total();
  const pagination = {
    page: number,
    per_page: page.size,
    total: count,
    total_pages: Math.ceil(count / page.size),
    total_capped: isCapped,
  };
  link(exchange, route, input, page, pagination);
  return { data: await Promise.all(page.rows.map((row) => route.write(row, caller))), pagination };
}

interface PageNumbers {
  readonly page: number;
  readonly total_pages: number;
  readonly total_capped: boolean;
}

/**
 * Links the next page by its cursor, which is fast at any depth. The link also has the page's number, so the next
 * response can link back. The last page is linked only if the total is exact.
 */
function link(
  { path, response }: Exchange,
  route: Route,
  input: Input,
  page: Page<unknown>,
  { page: number, total_pages: pages, total_capped: isCapped }: PageNumbers,
): void {
  const address = path.startsWith('/v1/') ? path : `/v1${path}`;
  const parameters = parsedQuery(route, input);
  const to = (rel: string, more: Readonly<Record<string, string | number>>) => {
    const query = new URLSearchParams(parameters);
    for (const [name, value] of Object.entries(more)) query.set(name, String(value));
    return `<${address}${query.size > 0 ? `?${query.toString()}` : ''}>; rel="${rel}"`;
  };
  const isNumbered = typeof input.page === 'number' || input.after === undefined;
  const pageQuery = (at: number): Readonly<Record<string, number>> => (at === 1 ? {} : { page: at });
  const last = page.rows.at(-1);
  const next =
    page.hasNext && last !== undefined
      ? [to('next', { ...(isNumbered && { page: number + 1 }), after: cursorOf(page.positionOf(last)) })]
      : [];
  const links = [
    to('first', {}),
    ...(isNumbered && number > 1
      ? [to('prev', pageQuery(isCapped ? number - 1 : Math.max(1, Math.min(number - 1, pages))))]
      : []),
    ...next,
    ...(isCapped ? [] : [to('last', pageQuery(Math.max(1, pages)))]),
  ].join(', ');
  const header = [links, ...next].find(({ length }) => length <= LINK_HEADER_BYTES_MAX);
  if (header !== undefined) response.setHeader('Link', header);
}

/**
 * Rebuilds the query from its parsed values. The original may have thousands of needless spaces or zeros, and clients
 * would fail on such a header.
 */
function parsedQuery({ query = [], several = {} }: Route, input: Input): [name: string, value: string][] {
  const fields = query.filter((field) => !PAGE_FIELDS.includes(field) && input[field] !== undefined);
  // A list's values may contain commas, so each is sent under the name that may repeat.
  const nameOf = new Map(Object.entries(several).map(([name, list]) => [list, name]));
  return fields.flatMap((field) =>
    [input[field]]
      .flat()
      .map((value): [string, string] => [wireName(nameOf.get(field) ?? field), String(value).trim()]),
  );
}

const PAGE_FIELDS: readonly string[] = ['page', 'after'];

/** The ETag is the version of the returned bid or job, even if the job is only part of the response. */
function setETag({ response }: Exchange, body: unknown): void {
  const job = isObject(body) && isObject(body.job) ? body.job : body;
  if (isObject(job) && typeof job.version === 'number') response.setHeader('ETag', `"${job.version}"`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

export function sendFailure(exchange: Exchange, error: unknown, { services }: Pick<Caller, 'services'>): void {
  const { requestId } = exchange;
  if (!(error instanceof Refusal))
    services.log.error({ err: error, requestId, route: exchange.route }, 'a request failed');
  const refusal = error instanceof Refusal ? error : refuse('INTERNAL');
  exchange.record.addRefusal(refusal);
  setRefusalHeaders(exchange, refusal);
  if (exchange.wantsPage) return sendErrorPage(exchange, refusal);
  exchange.sendJson(refusal.status, errorBody(refusal, requestId));
}

export function errorBody({ code, status, message, fields, blockedFields, details }: Refusal, requestId: string) {
  const wireFields = fields && {
    fields: Object.fromEntries(Object.entries(fields).map(([field, problem]) => [wireName(field), problem])),
  };
  return {
    status,
    error: message,
    details: Object.assign({ code, request_id: requestId, ...wireFields }, toWire(details)),
    blocked_fields: blockedFields.map(wireName),
  };
}
