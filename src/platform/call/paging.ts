/** Selects a page: by number or cursor in REST, and by cursor in GraphQL. Both APIs share one schema. */
import { z } from 'zod';
import { FIELD_TEXT, PAGE } from '../caller-limits.js';
import { MONEY_MAX } from '../fields/values.js';
import type { KeyValue, Position } from '../db/pages/keyset.js';
import type { Page, PageRequest, SamePageRequest } from '../db/pages/page.js';
import { invalidField, parse } from './validation.js';

/** The largest integer that GraphQL, most clients, and the database's integer columns support. */
const LARGEST_INTEGER = 2 ** 31 - 1;

const size = z.int().min(1, `must be 1 to ${PAGE.perPageMax}`).max(PAGE.perPageMax, `must be 1 to ${PAGE.perPageMax}`);

export function perPage(defaultSize: number) {
  return size
    .nullish()
    .describe(`The number of entries per page, from 1 to ${PAGE.perPageMax}. The default is ${defaultSize}.`);
}

export const pageShape = {
  page: z
    .int()
    .min(1, 'must be 1 or more')
    .max(LARGEST_INTEGER, `must be at most ${LARGEST_INTEGER}`)
    .nullish()
    .describe('The page number, starting at 1.'),
  perPage: perPage(PAGE.perPageDefault),
  first: size.nullish().describe(`The number of entries to return, from 1 to ${PAGE.perPageMax}.`),
  after: z.string().nullish().describe('Returns the entries after this cursor.'),
  last: size.nullish().describe(`The number of entries to return from the end, from 1 to ${PAGE.perPageMax}.`),
  before: z.string().nullish().describe('Returns the last entries before this cursor.'),
};

/** The types of a cursor's keys. If two sort orders have the same types, their cursors start with the order's name. */
export type PositionShape = readonly ('time' | 'text' | 'number' | 'money' | 'boolean' | OrderName)[];

interface OrderName {
  readonly order: string;
}

export function withOrderName<Row>(order: string, page: Page<Row>): Page<Row> {
  const { positionOf } = page;
  return Object.assign(page, { positionOf: (row: Row) => [order, ...positionOf(row)] });
}

interface NestedPageInput {
  first?: number | null;
  after?: string | null;
  last?: number | null;
  before?: string | null;
}

interface PageInput extends NestedPageInput {
  page?: number | null;
  perPage?: number | null;
}

export function pageRequest(
  input: PageInput,
  shape: PositionShape,
  { total }: { readonly total?: boolean | undefined },
  defaultSize: number = PAGE.perPageDefault,
): PageRequest {
  const { page, perPage, ...ends } = input;
  const request = { ...connectionPage(ends, readCursorOf(shape), perPage ?? defaultSize), withTotal: total };
  if (request.after || request.isBackward) return request;
  return { ...request, offset: ((page ?? 1) - 1) * request.size };
}

export function connectionPage(
  { first, after, last, before }: NestedPageInput,
  read: ReadCursor,
  defaultSize: number,
): SamePageRequest {
  if (last == null) {
    if (before != null) throw invalidField('before', 'requires `last`');
    return { size: first ?? defaultSize, ...(after != null && { after: read(after, 'after') }) };
  }
  if (first != null) throw invalidField('last', 'can’t be combined with `first`');
  if (after != null) throw invalidField('after', 'requires `first`. Use `before` with `last`');
  return { size: last, isBackward: true, ...(before != null && { before: read(before, 'before') }) };
}

export function cursorOf(position: Position): string {
  const values = position.map((value) => (value instanceof Date ? value.getTime() : value));
  return Buffer.from(JSON.stringify(values)).toString('base64url');
}

type ReadCursor = (cursor: string, field: 'after' | 'before') => Position;

function readCursorOf(shape: PositionShape): ReadCursor {
  return (cursor, field) => {
    const values = parseCursor(cursor);
    const position = values?.length === shape.length ? values.map((value, at) => keyValue(value, shape[at])) : [];
    if (position.length === 0 || position.includes(undefined))
      throw invalidField(field, 'isn’t a cursor of this list. Use a cursor that the list returned');
    return (position as Position).filter((_, at) => typeof shape[at] !== 'object');
  };
}

function parseCursor(cursor: string): unknown[] | undefined {
  if (cursor.length > FIELD_TEXT.cursor || !/^[\w-]+$/.test(cursor)) return undefined;
  try {
    const values: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(values) ? values : undefined;
  } catch {
    return undefined;
  }
}

const LAST_TIMESTAMP_MS = Date.UTC(9999, 0);

function keyValue(value: unknown, kind: PositionShape[number] | undefined): KeyValue | undefined {
  // The database would fail on a value that doesn't fit its column.
  if (kind === 'time') return isIntegerBetween(value, 0, LAST_TIMESTAMP_MS) ? new Date(value) : undefined;
  if (kind === 'number') return isIntegerBetween(value, -LARGEST_INTEGER, LARGEST_INTEGER) ? value : undefined;
  if (kind === 'money') return typeof value === 'number' && Math.abs(value) <= MONEY_MAX ? value : undefined;
  if (kind === 'boolean') return typeof value === 'boolean' ? value : undefined;
  if (typeof kind === 'object') return value === kind.order ? kind.order : undefined;
  return typeof value === 'string' && /^\w{1,64}$/.test(value) ? value : undefined;
}

function isIntegerBetween(value: unknown, min: number, max: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;
}

const nestedPageInput = z.strictObject({ first: size.nullish(), last: size.nullish() });

/** Every parent gets the same page of its nested list. */
export function nestedPage({ first, last, ...cursors }: NestedPageInput, shape: PositionShape): SamePageRequest {
  return connectionPage(
    { ...parse(nestedPageInput, { first, last }), ...cursors },
    readCursorOf(shape),
    PAGE.perPageDefault,
  );
}
