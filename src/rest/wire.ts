/**
 * Between the domain's camelCase and REST's snake_case. Nothing else changes on the way but moments, which become text.
 */

/** Marks a name that is not REST's spelling, so that the shape refuses it under the name it was sent by. */
const MISSPELLED = '!';

export function fromWire(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fromWire);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [fieldName(name), fromWire(inner)]));
}

export function fieldName(wireName: string): string {
  const field = wireName.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return snake(field) === wireName && !field.includes(MISSPELLED) ? field : unknownName(wireName);
}

/** A name that no shape knows, whatever it looks like. */
export function unknownName(wireName: string): string {
  return MISSPELLED + wireName;
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

/** What there is to write of a thing: these fields, some of which are things of their own. */
interface Written {
  readonly fields: readonly string[];
  readonly parts: Readonly<Record<string, Written>>;
}

type Write = (value: unknown) => unknown;

/** Spells things of one kind: these fields of theirs and no others, as one shape from the beginning. */
export function wireWriter({ fields, parts }: Written): Write {
  if (fields.length === 0) return toWire;
  const writers = fields.map((field) => (parts[field] ? wireWriter(parts[field]) : plain));
  const entries = fields.map(
    (field, at) => `${JSON.stringify(wireName(field))}: writers[${at}](thing[${JSON.stringify(field)}])`,
  );
  // The names are those of our own resources.
  const write = new Function('writers', `return (thing) => ({ ${entries.join(', ')} })`)(writers) as Write;
  return (thing) => (thing == null ? thing : write(thing));
}

function plain(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? toWire(value) : value;
}

const WIRE_NAMES = new Map<string, string>();

/** Field names are few and known; anything a caller made up is spelled without being remembered. */
export function wireName(field: string): string {
  return WIRE_NAMES.get(field) ?? remember(field);
}

function remember(field: string): string {
  const name = spelled(field);
  if (/^[a-zA-Z0-9]{1,40}$/.test(field) && WIRE_NAMES.size < 1_000) WIRE_NAMES.set(field, name);
  return name;
}

/** A misspelled name is the last part of a field's path, and stays as it was sent. */
function spelled(field: string): string {
  const at = field.indexOf(MISSPELLED);
  return at < 0 ? snake(field) : snake(field.slice(0, at)) + field.slice(at + MISSPELLED.length);
}

function snake(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
