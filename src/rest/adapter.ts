/** The REST door: finds the route, hands its parts to the operation, and writes what comes back. It holds no rule. */
import { parseJson, readBody } from '../http/body.js';
import type { Exchange } from '../http/exchange.js';
import type { Caller } from '../operations/caller.js';
import { perform } from '../operations/operation.js';
import { cursorOf } from '../operations/paging.js';
import { kindOf, type ShapeKind } from '../operations/shape-kinds.js';

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
      const answer = isPage(result) ? await pageAnswer(result, exchange, input) : toWire(route.answer ? route.answer(result) : result);
      setRateLimitHeaders(exchange, caller);
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
  parameters: Record<string, string>;
}

function finder(routes: readonly Route[]): (path: string) => Found | undefined {
  const plain = new Map<string, Route[]>();
  const patterns = new Map<string, { pattern: RegExp; routes: Route[] }>();
  for (const route of routes) {
    if (!route.path.includes('{')) plain.set(route.path, [...(plain.get(route.path) ?? []), route]);
    else {
      const pattern = new RegExp(`^${route.path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
      patterns.set(route.path, { pattern, routes: [...(patterns.get(route.path)?.routes ?? []), route] });
    }
  }
  return (fullPath) => {
    const path = fullPath.startsWith('/v1/') ? fullPath.slice(3) : fullPath;
    const exact = plain.get(path);
    if (exact) return { routes: exact, parameters: {} };
    for (const { pattern, routes: those } of patterns.values()) {
      const match = pattern.exec(path);
      if (match) return { routes: those, parameters: { ...match.groups } };
    }
    return undefined;
  };
}

function choose(found: Found | undefined, exchange: Exchange): { route: Route; parameters: Record<string, string> } {
  if (!found) throw refuse('NOT_FOUND', { message: `There is nothing at ${exchange.path.slice(0, 200)}.` });
  const method = exchange.method === 'HEAD' ? 'GET' : exchange.method;
  const route = found.routes.find((one) => one.method === method);
  if (route) return { route, parameters: found.parameters };
  const allow = found.routes.flatMap((one) => (one.method === 'GET' ? ['GET', 'HEAD'] : [one.method]));
  exchange.response.setHeader('Allow', allow.join(', '));
  throw refuse('METHOD_NOT_ALLOWED', { details: { allowedMethods: allow } });
}

function hasBody({ method }: Route): boolean {
  return method === 'POST' || method === 'PUT';
}

/** Body, path and query as one input. What stands in the path may be repeated in a PUT, but not be said otherwise. */
function inputOf(route: Route, parameters: Record<string, string>, exchange: Exchange, body: Buffer | undefined): Record<string, unknown> {
  const sent = body ? fromWire(parseJson(body, exchange.header('content-type'))) : {};
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) {
    throw refuse('MALFORMED_REQUEST', { message: 'The body must be a JSON object.' });
  }
  const given: Record<string, unknown> = { ...sent };
  const contradicted = Object.keys(parameters).filter((name) => name in given && !(route.method === 'PUT' && given[name] === parameters[name]));
  if (contradicted.length > 0) {
    throw refuse('VALIDATION_FAILED', { fields: Object.fromEntries(contradicted.map((name) => [name, 'is set by the path and cannot be sent'])) });
  }
  return { ...given, ...queryOf(route, exchange.search), ...parameters };
}

/** A name that the address does not take is handed on as it was spelled, for the shape to refuse with the other bad fields. */
function queryOf(route: Route, search: string): Record<string, unknown> {
  if (search === '') return {};
  const kind = kindOf(route.operation.input);
  const shape = kind.is === 'object' ? kind.schema.shape : {};
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

async function pageAnswer(page: Page<unknown>, exchange: Exchange, { page: number }: { page?: unknown }): Promise<unknown> {
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
  return { data: toWire(page.rows), pagination };
}

function linkNext(exchange: Exchange, cursor: string): void {
  const query = new URLSearchParams(exchange.search);
  query.delete('page');
  query.set('after', cursor);
  const path = exchange.path.startsWith('/v1/') ? exchange.path : `/v1${exchange.path}`;
  exchange.response.setHeader('Link', `<${path}?${query.toString()}>; rel="next"`);
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
  if (refusal.status === 413) response.setHeader('Connection', 'close');
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

