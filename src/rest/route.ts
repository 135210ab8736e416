/** One REST address: what it runs, the status it answers with, and the body made of the result. */
import type { z } from 'zod';
import type { Operation } from '../operations/operation.js';
import type { Entity } from '../rules/entity.js';
import type { Page } from '../store/page.js';
import type { Variants } from './bodies.js';
import { wireWriter } from './wire.js';

/** As much as an address takes of a body that shows something new. */
export interface Made {
  readonly id: string;
  readonly job_id?: string;
  readonly api_key?: { readonly id: string };
  readonly webhook?: { readonly id: string };
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Without `/v1`; a `{name}` becomes the input's field of that name. */
  readonly path: string;
  readonly operation: Operation<unknown, unknown>;
  readonly status: 200 | 201;
  /** What the body is, or each entry of a page. */
  readonly shows: Entity | Variants;
  /** The names that the query may hold, as the input spells them. */
  readonly query?: readonly string[];
  /** Fields that the query may name several times, and the field that then holds all of them. */
  readonly several?: Readonly<Record<string, string>>;
  /** Other names that the body may call fields by. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Where what the call made is found. */
  location?(this: void, made: Made): string;
  /** The result, or a row of a page, as it is sent: what is shown of it, in REST's spelling. */
  write(this: void, result: unknown): unknown;
}

type RowOf<Output> = Output extends Page<infer Row> ? Row : Output;

type RouteExtras<Row, Body> = Partial<Pick<Route, 'status' | 'location' | 'query' | 'several' | 'aliases'>> & {
  shows: Route['shows'] & { readonly schema: z.ZodType<Body> };
} & Shows<Row, Body>;

/** What is shown is picked out of the row; a row that is something else must be made into it. */
type Shows<Row, Body> = Row extends Body
  ? Answers<Row, Body>
  : Body extends Row
    ? Answers<Row, Body>
    : Required<Answers<Row, Body>>;

interface Answers<Row, Body> {
  answer?(this: void, row: Row): Body;
}

export function route<Input, Output, Body>(
  method: Route['method'],
  path: string,
  operation: Operation<Input, Output>,
  extras: RouteExtras<RowOf<Output>, Body>,
): Route {
  const { answer }: Answers<never, unknown> = extras;
  const writeShown = wireWriter(extras.shows.schema);
  const write = answer ? (row: unknown) => writeShown(answer(row as never)) : writeShown;
  return { method, path, operation, status: 200, ...extras, write };
}

/** Whether the body is a page of what the route shows. */
export function isList({ query }: Route): boolean {
  return query?.includes('page') === true;
}

/** Of a list, what each entry is. */
export function rowOf({ path, shows }: Route): Entity {
  if ('variants' in shows) throw new Error(`${path} cannot list things of several kinds.`);
  return shows;
}
