/**
 * Creates the same string for all inputs that an operation treats alike, in either API and any field order. A missing
 * field and null are the same, except for a field that null clears.
 */
import type { z } from 'zod';
import { isIgnored } from '../fields/read-only.js';
import { kindOf, metaOf } from '../fields/shapes.js';

/** The parts of an operation that decide which inputs are alike. */
interface OperationShape<I> {
  readonly input: z.ZodType<I>;
  readonly nullClears?: boolean;
}

/** Takes an input that the operation's schema has parsed. */
export function fingerprintOf<I>(operation: OperationShape<I>, input: I): string {
  return JSON.stringify(canonical(operation.input, input, operation.nullClears === true));
}

function canonical(schema: z.core.$ZodType, value: unknown, nullClears: boolean): unknown {
  const kind = kindOf(schema);
  if (kind.is !== 'object' || !isObject(value)) return sortFields(value);
  const { shape } = kind.schema;
  const fields = entriesOf(value).flatMap(([name, inner]) => {
    const field = shape[name];
    if (!field) return [[name, sortFields(inner)]];
    return countsFor(name, field, inner, nullClears) ? [[name, canonical(field, inner, nullClears)]] : [];
  });
  return Object.fromEntries(fields);
}

/** Null clears a value. For a group of fields and for parameters outside the body, null means absent. */
function countsFor(name: string, field: z.core.$ZodType, value: unknown, nullClears: boolean): boolean {
  const { parameter, readOnly, implied } = metaOf(field);
  if (implied || (readOnly && isIgnored(name))) return false;
  return value !== null || (nullClears && !parameter && kindOf(field).is !== 'object');
}

function sortFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortFields);
  return isObject(value)
    ? Object.fromEntries(entriesOf(value).map(([name, inner]) => [name, sortFields(inner)]))
    : value;
}

function entriesOf(value: object): [name: string, inner: unknown][] {
  return Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}
