/** Converts between camelCase and REST's snake_case. Dates also become strings. No other value changes. */
import type { z } from 'zod';
import { kindOf } from '../fields/shapes.js';

/** Marks a misspelled name, so the schema refuses it under the name that the client sent. */
const MISSPELLING_MARK = '!';

export function fromWire(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fromWire);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [fieldName(name), fromWire(inner)]));
}

export function fieldName(wireName: string): string {
  const field = wireName.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const isField = snake(field) === wireName && !field.includes(MISSPELLING_MARK) && !isHeader(field);
  return isField ? field : unknownName(wireName);
}

export function unknownName(wireName: string): string {
  return MISSPELLING_MARK + wireName;
}

export function toWire(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(toWire);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== undefined)
      .map(([name, inner]) => [wireName(name), toWire(inner)]),
  );
}

type Write = (value: unknown) => unknown;

/** Converts only the described fields of an object and its parts. */
export function wireWriter(type: z.core.$ZodType): Write {
  const kind = kindOf(type);
  if (kind.is === 'object') return objectWriter(kind.schema.shape);
  if (kind.is === 'union') return unionWriter(kind.schemas);
  if (kind.is !== 'list') return plain;
  const write = wireWriter(kind.entry);
  return (list) => (Array.isArray(list) ? list.map(write) : list);
}

/**
 * Starts each result as a copy of an empty object with all names, so all share one hidden class. V8 turns an object
 * that gets dozens of properties one by one into a dictionary, which is slow to serialize.
 */
function objectWriter(shape: Readonly<Record<string, z.core.$ZodType>>): Write {
  const fields = Object.entries(shape).map(([field, type]) => ({
    field,
    name: wireName(field),
    write: wireWriter(type),
  }));
  const empty: Readonly<Record<string, unknown>> = Object.fromEntries(fields.map(({ name }) => [name, undefined]));
  return (value) => {
    if (!isObject(value)) return value;
    const output = { ...empty };
    for (const { field, name, write } of fields) output[name] = write(value[field]);
    return output;
  };
}

/** Finds a value's object in the union by its fields. A value has all fields of only one of the objects. */
function unionWriter(schemas: readonly z.ZodObject[]): Write {
  const writers = schemas.map(({ shape }) => ({ fields: Object.keys(shape), write: objectWriter(shape) }));
  return (value) => {
    const writer = isObject(value) && writers.find(({ fields }) => fields.every((field) => field in value));
    if (!writer) throw new Error('A value matches none of the objects in its union.');
    return writer.write(value);
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function plain(value: unknown): unknown {
  return isObject(value) ? toWire(value) : value;
}

const WIRE_NAMES = new Map<string, string>();

/** Clients can make up any number of names, so the cache limits their number and length. */
export function wireName(field: string): string {
  return WIRE_NAMES.get(field) ?? remember(field);
}

function remember(field: string): string {
  const name = spell(field);
  if (/^[a-zA-Z0-9]{1,40}$/.test(field) && WIRE_NAMES.size < 1_000) WIRE_NAMES.set(field, name);
  return name;
}

/** Leaves two names as the client sent them: a misspelled name, which ends the path, and a header's name. */
function spell(field: string): string {
  if (isHeader(field)) return field;
  const at = field.indexOf(MISSPELLING_MARK);
  return at < 0 ? snake(field) : snake(field.slice(0, at)) + field.slice(at + MISSPELLING_MARK.length);
}

function isHeader(name: string): boolean {
  return /^[A-Z]/.test(name);
}

function snake(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
