/** The REST door: finds the route, hands its parts to the operation, and writes what comes back. It holds no rule. */
import { parseJson, readBody } from '../http/body.js';
import type { Exchange } from '../http/exchange.js';
import type { Caller } from '../operations/caller.js';
import { perform } from '../operations/operation.js';
import { cursorOf } from '../operations/paging.js';
import { kindOf, metaOf, type ShapeKind } from '../operations/shape-kinds.js';

import { Refusal, refuse } from '../rules/errors.js';
import { rateLimitHeaders } from '../security/rate-limit.js';
import type { Page } from '../store/page.js';
import { isPage, ROUTES, type Route } from './routes.js';
import { fieldName, fromWire, toWire, unknownName, wireName } from './wire.js';

const BODY_BYTES_MAX = 64 * 1024;

export interface RestDoor {
  /** False if no route has this path at all. */
  handles(path: string): boolean;
  handle(exchange: Exchange, caller: Caller): Promise<void>;
}

export function openRestDoor(): RestDoor {
  const find = finder(ROUTES);

  async function handle(exchange: Exchange, caller: Caller): Promise<void> {
    try {
      const { route, parameters } = choose(find(exchange.path), exchange);
      exchange.route = `${route.method} /v1${route.path}`;
      const body = hasBody(route) ? await readBody(exchange.request, BODY_BYTES_MAX) : undefined;
      let input: Record<string, unknown> = {};
      const readInput = () => (input = inputOf(route, parameters, exchange, body));
      const result: unknown = await perform(route.operation, readInput, caller);
      const show = (one: unknown) => toWire(route.answer ? route.answer(one) : one);
      const answer = isPage(result) ? await pageAnswer(result, show, exchange, input) : show(result);
      setRateLimitHeaders(exchange, caller);
      setETag(exchange, answer);
      exchange.sendJson(route.status, answer);
    } catch (error) {
      setRateLimitHeaders(exchange, caller);
      sendFailure(exchange, error, caller);
    }
  }

  return { handles: (path) => find(path) !== undefined, handle };
}

interface Found {
  routes: readonly Route[];
  /** What stands where the path has its parameters, in their order. */
  given: readonly string[];
}

/** Paths are few: those without parameters are looked up, the others are tried one after another. */
function finder(routes: readonly Route[]): (path: string) => Found | undefined {
  const addresses = new Map<string, Route[]>();
  for (const route of routes) {
    const address = route.path.replaceAll(PARAMETER, '([^/]+)');
    addresses.set(address, [...(addresses.get(address) ?? []), route]);
  }
  const patterns = [...addresses].filter(([address]) => address.includes('(')).map(([address, those]) => ({ pattern: new RegExp(`^${address}$`), those }));
  return (fullPath) => {
    const path = fullPath.startsWith('/v1/') ? fullPath.slice(3) : fullPath;
    const exact = addresses.get(path);
    if (exact) return { routes: exact, given: [] };
    for (const { pattern, those } of patterns) {
      const match = pattern.exec(path);
      if (match) return { routes: those, given: match.slice(1) };
    }
    return undefined;
  };
}

const PARAMETER = /\{(\w+)\}/g;

function choose(found: Found | undefined, exchange: Exchange): { route: Route; parameters: Record<string, string> } {
  if (!found) throw refuse('NOT_FOUND', { message: `There is nothing at ${exchange.path.slice(0, 200)}.` });
  const method = exchange.method === 'HEAD' ? 'GET' : exchange.method;
  const route = found.routes.find((one) => one.method === method);
  if (route) {
    const names = [...route.path.matchAll(PARAMETER)].map(([, name]) => String(name));
    return { route, parameters: Object.fromEntries(names.map((name, at) => [name, found.given[at] ?? ''])) };
  }
  const allow = found.routes.flatMap((one) => (one.method === 'GET' ? ['GET', 'HEAD'] : [one.method]));
  exchange.response.setHeader('Allow', allow.join(', '));
  throw refuse('METHOD_NOT_ALLOWED', { details: { allowedMethods: allow } });
}

function hasBody({ method }: Route): boolean {
  return method === 'POST' || method === 'PUT';
}

/**
 * Body, path, query and precondition as one input. What stands in the path may be repeated in a PUT, but not be said
 * otherwise.
 */
function inputOf(route: Route, parameters: Record<string, string>, exchange: Exchange, body: Buffer | undefined): Record<string, unknown> {
  const shape = shapeOf(route);
  return {
    ...bodyOf(route, shape, parameters, body, exchange.header('content-type')),
    ...queryOf(route, shape, exchange.search),
    ...('expectedVersion' in shape && { expectedVersion: expectedVersionIn(exchange.header('if-match')) }),
    ...parameters,
  };
}

type Shape = Readonly<Record<string, Parameters<typeof kindOf>[0]>>;

function shapeOf(route: Route): Shape {
  const kind = kindOf(route.operation.input);
  return kind.is === 'object' ? kind.schema.shape : {};
}

function bodyOf(route: Route, shape: Shape, parameters: Record<string, string>, body: Buffer | undefined, contentType: string | undefined) {
  const sent = body ? fromWire(parseJson(body, contentType)) : {};
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) {
    throw refuse('MALFORMED_REQUEST', { message: 'The body must be a JSON object.' });
  }
  const given: Record<string, unknown> = {};
  const problems: Record<string, string> = {};
  for (const [name, value] of Object.entries(sent)) {
    const field = route.aliases?.[name] ?? name;
    if (field in parameters) {
      if (route.method !== 'PUT' || value !== parameters[field]) problems[field] = 'is set by the path and cannot be sent';
    } else if (shape[field] && metaOf(shape[field]).parameter) given[unknownName(wireName(field))] = value;
    else if (field in given && given[field] !== value) problems[name] = `says something else than ${wireName(field)}, which it is another name for`;
    else given[field] = value;
  }
  if (Object.keys(problems).length > 0) throw refuse('VALIDATION_FAILED', { fields: problems });
  return given;
}

/** The version that the caller has read. A tag that is none of ours fits no version. */
function expectedVersionIn(ifMatch: string | undefined): number | null {
  if (ifMatch === undefined || ifMatch.trim() === '*') return null;
  if (ifMatch.includes(',')) throw refuse('MALFORMED_REQUEST', { message: 'If-Match takes one ETag.' });
  return Number(/^\s*"(\d{1,9})"\s*$/.exec(ifMatch)?.[1] ?? 0);
}

/** A name that the address does not take is handed on as it was spelled, for the shape to refuse with the other bad fields. */
function queryOf(route: Route, shape: Shape, search: string): Record<string, unknown> {
  if (search === '') return {};
  const query: Record<string, unknown> = {};
  for (const [name, value] of new URLSearchParams(search)) {
    const field = fieldName(name);
    const known = route.query?.includes(field) ? shape[field] : undefined;
    if (!known) query[unknownName(name)] = value;
    else query[field] = field in query ? [query[field], value] : readText(value, kindOf(known));
  }
  return query;
}

/** A query holds text alone; what looks like the wanted kind becomes it, and the rest is for the shape to refuse. */
function readText(value: string, kind: ShapeKind): unknown {
  if ((kind.is === 'whole number' || kind.is === 'number') && /^-?\d+(\.\d+)?$/.test(value)) return Number(value);
  if (kind.is === 'flag' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}

async function pageAnswer(page: Page<unknown>, show: (row: unknown) => unknown, exchange: Exchange, { page: number }: { page?: unknown }): Promise<unknown> {
  const { count, capped } = await page.total();
  const last = page.rows.at(-1);
  if (page.hasNext && last !== undefined) linkNext(exchange, cursorOf(page.positionOf(last)));
  const pagination = {
    page: typeof number === 'number' ? number : 1,
    per_page: page.size,
    total: count,
    total_pages: Math.ceil(count / page.size),
    total_capped: capped,
  };
  return { data: page.rows.map(show), pagination };
}

function linkNext(exchange: Exchange, cursor: string): void {
  const query = new URLSearchParams(exchange.search);
  query.delete('page');
  query.set('after', cursor);
  const path = exchange.path.startsWith('/v1/') ? exchange.path : `/v1${exchange.path}`;
  exchange.response.setHeader('Link', `<${path}?${query.toString()}>; rel="next"`);
}

/** A job's version is its tag. */
function setETag({ response }: Exchange, answer: unknown): void {
  const job = isObject(answer) && isObject(answer.job) ? answer.job : answer;
  if (isObject(job) && typeof job.version === 'number') response.setHeader('ETag', `"${job.version}"`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function setRateLimitHeaders(exchange: Exchange, caller: Caller): void {
  for (const [name, value] of Object.entries(rateLimitHeaders(caller.taken))) exchange.response.setHeader(name, value);
}

export function sendFailure(exchange: Exchange, error: unknown, caller: Pick<Caller, 'house'>): void {
  if (!(error instanceof Refusal)) caller.house.log.error({ err: error, requestId: exchange.requestId, route: exchange.route }, 'a request failed');
  const refusal = error instanceof Refusal ? error : refuse('INTERNAL');
  const { response, requestId } = exchange;
  if (refusal.status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
  if (typeof refusal.details.retryAfter === 'number') response.setHeader('Retry-After', String(refusal.details.retryAfter));
  exchange.sendJson(refusal.status, errorBody(refusal, requestId));
}

function errorBody({ code, status, message, fields, blockedFields, details }: Refusal, requestId: string) {
  const named = fields && { fields: Object.fromEntries(Object.entries(fields).map(([field, problem]) => [wireName(field), problem])) };
  return {
    status,
    error: message,
    details: { code, request_id: requestId, ...named, ...(toWire(details) as object) },
    blocked_fields: blockedFields.map(wireName),
  };
}

