/** Creates an operation's input from a request, with camelCase names. */
import { parseJson } from '../platform/http/body.js';
import type { Exchange } from '../platform/http/exchange.js';
import { kindOf, type ShapeKind } from '../platform/fields/shapes.js';
import { invalidInput } from '../platform/call/validation.js';
import { refuse } from '../market/rules/errors.js';
import { type RouteMatch, isParameter, shapeOf, type Route, type Shape } from '../platform/openapi/route.js';
import { fieldName, fromWire, unknownName, wireName } from '../platform/openapi/wire.js';

export type Input = Record<string, unknown>;

export function readInput({ route, parameters }: RouteMatch, exchange: Exchange, body: Buffer | undefined): Input {
  const shape = shapeOf(route);
  const json = body ? parseJson(body, exchange.header('content-type')) : {};
  const problems = new Map<string, string>();
  const input = {
    ...readBodyFields(route, shape, parameters, fromWire(json), problems),
    ...readQuery(route, shape, exchange.search, problems),
    ...(shape.has('expectedVersion') && { expectedVersion: expectedVersionIn(exchange.header('if-match')) }),
    ...Object.fromEntries(parameters),
  };
  if (problems.size > 0) throw invalidInput(route.operation.input, input, problems);
  return input;
}

/** A PUT's body may repeat a path parameter, but only with the same value. */
function readBodyFields(
  route: Route,
  shape: Shape,
  parameters: RouteMatch['parameters'],
  fields: unknown,
  problems: Map<string, string>,
): Input {
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) {
    throw refuse('MALFORMED_REQUEST', { message: 'The body must be a JSON object.' });
  }
  const aliases = new Map(Object.entries(route.aliases ?? {}));
  const values = new Map<string, unknown>();
  // Aliases come last. If a field and its alias differ, the error names the alias.
  const entries = Object.entries(fields).toSorted(
    ([one], [other]) => Number(aliases.has(one)) - Number(aliases.has(other)),
  );
  for (const [name, value] of entries) {
    const field = aliases.get(name) ?? name;
    const schema = shape.get(field);
    if (parameters.has(field)) {
      if (route.method !== 'PUT' || value !== parameters.get(field))
        problems.set(field, 'is set by the path and can’t be sent');
    } else if (schema && isParameter(schema)) values.set(unknownName(wireName(field)), value);
    else if (values.has(field) && values.get(field) !== value)
      problems.set(name, `differs from ${wireName(field)}, but is an alias of it`);
    else values.set(field, value);
  }
  return Object.fromEntries(values);
}

/** Reports unknown names as the client spelled them, along with the other invalid fields. */
function readQuery(route: Route, shape: Shape, search: string, problems: Map<string, string>): Input {
  if (search === '') return {};
  const query = new Map<string, unknown>();
  let known: string | undefined;
  const parameters = new URLSearchParams(search);
  /** The list that a repeated parameter becomes. If the list is given, too, the operation refuses both. */
  const listFor = (field: string) => {
    const list = route.several?.[field];
    return list !== undefined && parameters.has(wireName(list)) ? undefined : list;
  };
  for (const [name, value] of parameters) {
    const field = fieldName(name);
    const schema = route.query?.includes(field) ? shape.get(field) : undefined;
    if (!schema) problems.set(unknownName(name), NO_PARAMETER + (known ??= queryParametersOf(route)));
    else if (!addTo(query, field, kindOf(schema), value, listFor(field))) problems.set(field, REPEATED);
  }
  return Object.fromEntries(query);
}

const REPEATED = 'can be given only once';
const NO_PARAMETER = 'isn’t a query parameter of this operation, which accepts ';

function queryParametersOf({ query = [] }: Route): string {
  return query.length > 0 ? query.map(wireName).join(', ') : 'none';
}

/**
 * Returns false if the field can't be repeated. Appends in place, because a query may repeat a field two thousand
 * times.
 */
function addTo(query: Map<string, unknown>, field: string, kind: ShapeKind, value: string, several?: string): boolean {
  const before = query.get(field) ?? (several === undefined ? undefined : query.get(several));
  const values: unknown[] = Array.isArray(before) ? before : [];
  if (kind.is === 'list') {
    for (const entry of value.split(',')) values.push(entry);
    query.set(field, values);
  } else if (before === undefined) query.set(field, readText(value, kind));
  else if (several === undefined) return false;
  else {
    if (values !== before) values.push(before);
    values.push(value);
    query.delete(field);
    query.set(several, values);
  }
  return true;
}

/** Converts a string that looks like the expected type. The schema refuses all others. */
function readText(value: string, kind: ShapeKind): unknown {
  // In a query, an unescaped `+` means a space. `date -Is` writes one before the offset.
  if (kind.is === 'timestamp') return value.replace(/ (?=\d\d:\d\d$)/, '+');
  if (kind.is === 'integer' && /^-?(0|[1-9]\d*)$/.test(value)) return Number(value);
  if (kind.is === 'number' && /^-?(0|[1-9]\d*)(\.\d+)?$/.test(value)) return Number(value);
  if (kind.is === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}

/** A proxy that compresses turns the ETag `"3"` into `W/"3"`, which clients send back. */
function expectedVersionIn(ifMatch: string | undefined): number | null {
  if (ifMatch === undefined || ifMatch.trim() === '*') return null;
  const version = /^\s*(?:W\/)?"(\d{1,9})"\s*$/.exec(ifMatch)?.[1];
  if (version === undefined) {
    const message = 'If-Match must be the ETag of the job or bid, including its quotes, such as "3", or *.';
    throw refuse('MALFORMED_REQUEST', { message });
  }
  return Number(version);
}
