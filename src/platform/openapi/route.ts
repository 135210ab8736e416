/** A REST route: its operation, status, and body. Every path works with and without the prefix `/v1`. */
import type { z } from 'zod';
import type { Operation } from '../call/operation.js';
import type { Entity } from '../fields/entity.js';
import type { Page } from '../db/pages/page.js';
import type { Caller } from '../call/caller.js';
import { kindOf, metaOf } from '../fields/shapes.js';
import { wireWriter } from './wire.js';
import { refuse } from '../errors.js';

/** A body that can be any one of several entities. */
export interface Variants {
  readonly name: string;
  readonly description: string;
  readonly variants: readonly Entity[];
  readonly schema: z.ZodType;
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The path without `/v1`. Each `{name}` fills the input field with that name. */
  readonly path: string;
  readonly operation: Operation<unknown, unknown>;
  readonly status: 200 | 201;
  /** The body, or each entry of a page. */
  readonly shows: Entity | Variants;
  /** The fields that the query may contain, in the input's spelling. */
  readonly query?: readonly string[];
  /** Query fields that may repeat. Each maps to the field that holds all of its values. */
  readonly several?: Readonly<Record<string, string>>;
  /** True if this reads one object whose version rises with every change. The route then supports If-None-Match. */
  readonly isVersioned?: boolean;
  readonly aliases?: Readonly<Record<string, string>>;
  /** The created resource's path, for the Location header. */
  location?(this: void, body: unknown): string;
  /** Converts the result or a page's row to the body's fields, in REST's spelling. */
  write(this: void, result: unknown, caller?: Caller): unknown;
}

type RowOf<Output> = Output extends Page<infer Row> ? Row : Output;

type RouteExtras<Row, Body> = Partial<
  Pick<Route, 'status' | 'location' | 'query' | 'several' | 'isVersioned' | 'aliases'>
> & { shows: Route['shows'] & { readonly schema: z.ZodType<Body> } } & Shows<Row, Body>;

/** The body's fields are picked from the row. A row of another type needs a conversion. */
type Shows<Row, Body> = Row extends Body
  ? Answers<Row, Body>
  : Body extends Row
    ? Answers<Row, Body>
    : Required<Answers<Row, Body>>;

interface Answers<Row, Body> {
  answer?(this: void, row: Row, caller: Caller): Body | Promise<Body>;
}

export function route<Input, Output, Body>(
  method: Route['method'],
  path: string,
  operation: Operation<Input, Output>,
  extras: RouteExtras<RowOf<Output>, Body>,
): Route {
  const { answer }: Answers<never, unknown> = extras;
  const writeBody = wireWriter(extras.shows.schema);
  const write = (row: unknown, caller?: Caller) => {
    // Only examples have no caller.
    const body = answer ? answer(row as never, caller as Caller) : row;
    return body instanceof Promise ? body.then(writeBody) : writeBody(body);
  };
  return { method, path, operation, status: 200, ...extras, write };
}

export function isList({ query }: Route): boolean {
  return query?.includes('page') === true;
}

/** The entity in the body, or in each entry of a list. */
export function rowOf({ path, shows }: Route): Entity {
  if ('variants' in shows) throw new Error(`${path} cannot list things of several kinds.`);
  return shows;
}

/** True if the route accepts Dry-Run. Reads accept it too, although they never change anything. */
export function canRunDry({ operation }: Route): boolean {
  return !operation.ignoresKeyAndDryRun && !operation.answersSecret;
}

export const PATH_PARAMETER = /\{(\w+)\}/g;

export function parametersOf({ path }: Route): string[] {
  return [...path.matchAll(PATH_PARAMETER)].map(([, name]) => String(name));
}

export type Schema = Parameters<typeof kindOf>[0];
export type Shape = ReadonlyMap<string, Schema>;

const shapes = new WeakMap<Route['operation'], Shape>();

export function shapeOf({ operation }: Route): Shape {
  const cachedShape = shapes.get(operation);
  if (cachedShape) return cachedShape;
  const kind = kindOf(operation.input);
  const shape = new Map<string, Schema>(kind.is === 'object' ? Object.entries(kind.schema.shape) : []);
  shapes.set(operation, shape);
  return shape;
}

export function hasBody({ method }: Route): boolean {
  return method === 'POST' || method === 'PUT';
}

/** True if the field comes from the path or a header instead of the body. */
export function isParameter(schema: Schema): boolean {
  return metaOf(schema).parameter === true;
}

export interface PathMatch {
  readonly routes: readonly Route[];
  readonly parameterValues: readonly string[];
}

export interface RouteMatch {
  readonly route: Route;
  readonly parameters: ReadonlyMap<string, string>;
}

export type Finder = (path: string) => PathMatch | undefined;

/** Finds a path's routes. Looks up paths without parameters, and tries the few others in turn. */
export function finderOf(routes: readonly Route[]): Finder {
  const exact = new Map<string, PathMatch>();
  const patterns: { pattern: RegExp; routes: readonly Route[] }[] = [];
  for (const [path, routesThere] of routesByPath(routes)) {
    if (path.includes(ANYTHING)) patterns.push({ pattern: new RegExp(`^${path}$`), routes: routesThere });
    else exact.set(path, { routes: routesThere, parameterValues: [] });
  }
  return (fullPath) => {
    const path = fullPath.startsWith('/v1/') ? fullPath.slice(3) : fullPath;
    const exactMatch = exact.get(path);
    if (exactMatch) return exactMatch;
    for (const { pattern, routes } of patterns) {
      const match = pattern.exec(path);
      if (match) return { routes, parameterValues: match.slice(1) };
    }
    return undefined;
  };
}

const ANYTHING = '([^/]+)';

/** Groups routes by path. Routes on one path may name its parameters differently. */
export function routesByPath(routes: readonly Route[]): Map<string, Route[]> {
  const byPath = new Map<string, Route[]>();
  for (const route of routes) {
    const path = route.path.replaceAll(PATH_PARAMETER, ANYTHING);
    byPath.set(path, [...(byPath.get(path) ?? []), route]);
  }
  return byPath;
}

/** HEAD is handled as GET. */
export function chooseRoute({ routes, parameterValues }: PathMatch, method: string): RouteMatch {
  const route = routes.find((one) => one.method === (method === 'HEAD' ? 'GET' : method));
  if (!route) throw refuse('METHOD_NOT_ALLOWED', { details: { allowedMethods: methodsOf(routes) } });
  return { route, parameters: new Map(parametersOf(route).map((name, at) => [name, parameterValues[at] ?? ''])) };
}

function methodsOf(routes: readonly Route[]): string[] {
  return routes.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}
