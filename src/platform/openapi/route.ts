/** One REST route: its operation, the status of its answer, and the body that is made of the result. */
import type { z } from 'zod';
import type { Operation } from '../call/operation.js';
import type { Entity } from '../fields/entity.js';
import type { Page } from '../db/pages/page.js';
import type { Caller } from '../call/caller.js';
import { kindOf, metaOf } from '../fields/shapes.js';
import { wireWriter } from './wire.js';

/** One of several entities. */
export interface Variants {
  readonly name: string;
  readonly description: string;
  readonly variants: readonly Entity[];
  readonly schema: z.ZodType;
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The path without `/v1`; a `{name}` becomes the input's field of that name. */
  readonly path: string;
  readonly operation: Operation<unknown, unknown>;
  readonly status: 200 | 201;
  /** What the body shows, or each entry of a page. */
  readonly shows: Entity | Variants;
  /** The fields that the query may contain, as the input spells them. */
  readonly query?: readonly string[];
  /** Fields that the query may name several times, and the field that then holds all of them. */
  readonly several?: Readonly<Record<string, string>>;
  /** Other names that the body may call fields by. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** The path of the created resource, for the header Location. */
  location?(this: void, body: unknown): string;
  /** Converts the result, or a row of a page, to the fields that are shown, in REST's spelling. */
  write(this: void, result: unknown, caller?: Caller): unknown;
}

type RowOf<Output> = Output extends Page<infer Row> ? Row : Output;

type RouteExtras<Row, Body> = Partial<Pick<Route, 'status' | 'location' | 'query' | 'several' | 'aliases'>> & {
  shows: Route['shows'] & { readonly schema: z.ZodType<Body> };
} & Shows<Row, Body>;

/** The shown fields are picked from the row; a row of another type needs a conversion. */
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
    // Only examples, which contain nobody's job, are written without a caller.
    const body = answer ? answer(row as never, caller as Caller) : row;
    return body instanceof Promise ? body.then(writeBody) : writeBody(body);
  };
  return { method, path, operation, status: 200, ...extras, write };
}

/** Whether the body is a page of what the route shows. */
export function isList({ query }: Route): boolean {
  return query?.includes('page') === true;
}

/** For a list: what each entry shows. */
export function rowOf({ path, shows }: Route): Entity {
  if ('variants' in shows) throw new Error(`${path} cannot list things of several kinds.`);
  return shows;
}

/** Whether the call supports If-None-Match: it reads one thing that has a version. */
export function isConditional(route: Route): boolean {
  return route.method === 'GET' && 'fields' in route.shows && 'version' in route.shows.fields && !isList(route);
}

/** Whether the call supports Dry-Run. A read changes nothing anyway, as its description says. */
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

/** The schemas of an operation's input fields, by name. */
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

/** Whether the field comes from the path or a header, and so is not in the body. */
export function isParameter(schema: Schema): boolean {
  return metaOf(schema).parameter === true;
}
