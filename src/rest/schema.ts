/**
 * The words that the resources of the reference are described in. Each is a JSON Schema with an example of its own, and
 * carries the type of what it describes: a field that may be null cannot be described as one that may not.
 */
import { ID_PREFIXES, type Id, type IdKind } from '../rules/ids.js';
import { toWire, wireName } from './wire.js';

export type JsonSchema = Readonly<Record<string, unknown>>;

declare const OF: unique symbol;

export interface Described {
  readonly json: JsonSchema;
  /** As it goes over the wire. */
  readonly example: unknown;
  /** Only some answers have the field. */
  readonly optional?: boolean;
  /** What it is, if that is described under a name of its own. */
  readonly shows?: Named;
}

/** Described under a name of its own, by which others refer to it. */
export interface Named extends Described {
  readonly name: string;
  /** In the spelling of the domain. */
  readonly fields: readonly string[];
  /** Of those fields, the ones that are described elsewhere. */
  readonly parts: Readonly<Record<string, Named>>;
  /** If it is one of several, these. */
  readonly variants: readonly Named[];
}

export interface Schema<T> extends Described {
  readonly [OF]?: (value: T) => T;
}

export interface Resource<T> extends Named, Schema<T> {
  readonly fields: readonly (keyof T & string)[];
}

export type FieldsOf<T> = { readonly [K in keyof T]-?: Schema<T[K]> };

export function text<T extends string = string>(says: string, example: NoInfer<T>, bounds: JsonSchema = {}): Schema<T> {
  return { json: { type: 'string', ...bounds, description: says }, example };
}

export function web(says: string, example: string): Schema<string> {
  return { json: { type: 'string', format: 'uri', description: says }, example };
}

export function idPattern(kind: IdKind): string {
  return `^${ID_PREFIXES[kind]}_[0-9A-Za-z]{27}$`;
}

export function exampleId<K extends IdKind>(kind: K): Id<K> {
  return `${ID_PREFIXES[kind]}_2b9Xv0cJ5q7hT3nKz8LmRw4YdPe`;
}

export function id<K extends IdKind>(kind: K, says: string): Schema<Id<K>> {
  return { json: { type: 'string', pattern: idPattern(kind), description: says }, example: exampleId(kind) };
}

/** One of a closed list. */
export function choice<V extends string | number | boolean>(
  values: readonly V[],
  says: string,
  example: NoInfer<V>,
): Schema<V> {
  return { json: { type: typeof example, enum: values, description: says }, example };
}

const INT32_MAX = 2 ** 31 - 1;

export function whole(says: string, example: number, { min = 0 }: { min?: number } = {}): Schema<number> {
  return { json: { type: 'integer', format: 'int32', minimum: min, maximum: INT32_MAX, description: says }, example };
}

export function amount(
  says: string,
  example: number,
  bounds: { minimum?: number; maximum?: number } = { minimum: 0 },
): Schema<number> {
  return { json: { type: 'number', ...bounds, description: says }, example };
}

export function flag(says: string, example: boolean): Schema<boolean> {
  return { json: { type: 'boolean', description: says }, example };
}

export function day(says: string, example: string): Schema<string> {
  return { json: { type: 'string', format: 'date', description: says }, example };
}

/** ISO 8601 in UTC, always with milliseconds. */
export function moment(says: string, example = '2026-03-02T09:30:00.000Z'): Schema<Date> {
  return { json: { type: 'string', format: 'date-time', pattern: MOMENT, description: says }, example };
}

const MOMENT = String.raw`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$`;

export function list<T>(item: Schema<T>, says: string): Schema<T[]> {
  return { json: { type: 'array', items: item.json, description: says }, example: [item.example] };
}

export function anything(says: string, example: object, bounds: JsonSchema = {}): Schema<Record<string, unknown>> {
  return { json: { type: 'object', ...bounds, description: says }, example: toWire(example) };
}

/** Null where there is nothing, or nothing that the reader may read. The example is of something. */
export function orNull<T>({ json, example }: Schema<T>): Schema<T | null> {
  if (typeof json.type !== 'string') return { json: { anyOf: [json, { type: 'null' }] }, example };
  return {
    json: {
      ...json,
      type: [json.type, 'null'],
      ...(Array.isArray(json.enum) && { enum: [...(json.enum as unknown[]), null] }),
    },
    example,
  };
}

/** With null as its example too. */
export function orNone<T>(schema: Schema<T>): Schema<T | null> {
  return { ...orNull(schema), example: null };
}

export function optional<T>({ json, example }: Schema<T>): Schema<T | undefined> {
  return { json, example, optional: true };
}

/** Every field is always there unless it is optional, and no other ever. */
export function object<T>(says: string, fields: FieldsOf<T>): Schema<T> {
  const entries = Object.entries<Described>(fields).map(([field, schema]) => [wireName(field), schema] as const);
  return {
    json: {
      type: 'object',
      description: says,
      properties: Object.fromEntries(entries.map(([name, { json }]) => [name, json])),
      required: entries.filter(([, { optional }]) => !optional).map(([name]) => name),
      additionalProperties: false,
    },
    example: Object.fromEntries(
      entries.filter(([, { optional }]) => !optional).map(([name, { example }]) => [name, example]),
    ),
  };
}

export function resource<T>(name: string, says: string, fields: FieldsOf<T>): Resource<T> {
  const parts = Object.fromEntries(
    Object.entries<Described>(fields).flatMap(([field, { shows }]) => (shows ? [[field, shows]] : [])),
  );
  return { ...object(says, fields), name, fields: Object.keys(fields) as (keyof T & string)[], parts, variants: [] };
}

/** The example is the first one's. */
export function oneOf<T>(name: string, says: string, variants: readonly Named[]): Resource<T> {
  const json = { description: says, oneOf: variants.map((variant) => ({ $ref: refTo('schemas', variant.name) })) };
  return { json, example: variants[0]?.example, name, fields: [], parts: {}, variants };
}

/**
 * A part that is described elsewhere, under its own name; what the example has otherwise is said in REST's spelling.
 */
export function the<T>(shows: Named & Schema<T>, otherwise: object = {}): Schema<T> {
  return {
    json: { $ref: refTo('schemas', shows.name) },
    example: { ...(shows.example as object), ...otherwise },
    shows,
  };
}

export function refTo(kind: 'schemas' | 'responses' | 'headers' | 'examples' | 'parameters', name: string): string {
  return `#/components/${kind}/${name}`;
}
