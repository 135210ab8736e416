/** Documents requests from the operations' inputs: bodies, queries, paths, and headers. */
import { isRepeatable } from '../call/operation.js';
import { IDEMPOTENCY_KEY } from '../caller-limits.js';
import { exampleId, idPattern } from '../ids.js';
import { metaOf } from '../fields/shapes.js';
import { inputSchema, refTo, withoutNull, type JsonSchema } from './json-schema.js';
import { canRunDry, type Route, hasBody, isParameter, shapeOf, parametersOf } from './route.js';
import { wireName } from './wire.js';

/** The resource's own parameter is `{id}`. A nested resource's parameter starts with its type. */
export function documentedPath(route: Route): string {
  const names = new Map(parameterNames(route).map(({ field, name }) => [field, name]));
  return `/v1${route.path.replaceAll(/\{(\w+)\}/g, (_, field: string) => `{${names.get(field)}}`)}`;
}

function parameterNames(route: Route): { field: string; name: string; prefix: string }[] {
  const shape = shapeOf(route);
  return parametersOf(route).map((field, at) => {
    const schema = shape.get(field);
    const { kind = '', idPrefix: prefix = '' } = schema ? metaOf(schema) : {};
    return { field, prefix, name: at === 0 ? 'id' : `${kind}_id` };
  });
}

export const HEADER_PARAMETERS = {
  IfMatch: headerParameter(
    'If-Match',
    { type: 'string' },
    'The `ETag` of the resource when you read it, such as `"3"`. If it has changed since, the request fails with ' +
      '412. A weak ETag, such as `W/"3"` from a compressing proxy, works, too.',
  ),
  IfNoneMatch: headerParameter(
    'If-None-Match',
    { type: 'string' },
    'The `ETag` of the resource when you read it, such as `"3"`. If it hasn’t changed, the response is an empty 304.',
  ),
  IdempotencyKey: headerParameter(
    'Idempotency-Key',
    { type: 'string', minLength: 1, maxLength: IDEMPOTENCY_KEY.charactersMax },
    'A unique string that you choose. For 24 hours, the same key with the same input returns the first response ' +
      'again, and nothing is done twice. The same key with a different input or `If-Match` fails with 422. Errors ' +
      'aren’t stored, so a retry runs the operation again.',
  ),
  DryRun: headerParameter(
    'Dry-Run',
    { type: 'string', enum: ['true', 'false'] },
    'If `true`, you get the response that the call would return, but nothing is saved. The response header ' +
      '`Dry-Run-Effects` lists what the call would have caused.',
  ),
};

function headerParameter(name: string, schema: JsonSchema, description: string) {
  return { name, in: 'header', description, schema };
}

export function parameters(route: Route): JsonSchema[] {
  const fields = fieldsOf(route);
  const inPath = parameterNames(route).map(({ field, name, prefix }) => ({
    name,
    in: 'path',
    required: true,
    description: fields.get(field)?.description,
    schema: { type: 'string', pattern: idPattern(prefix) },
    example: exampleId(prefix),
  }));
  const inQuery = (route.query ?? []).map((field) => {
    const { description, ...schema } = fields.get(field) ?? {};
    return { name: wireName(field), in: 'query', description, schema: withoutNull(schema) };
  });
  const inHeaders = [
    ...(fields.has('expectedVersion') ? ['IfMatch'] : []),
    ...(route.isVersioned ? ['IfNoneMatch'] : []),
    ...(isRepeatable(route.operation) ? ['IdempotencyKey'] : []),
    ...(canRunDry(route) ? ['DryRun'] : []),
  ];
  return [...inPath, ...inQuery, ...inHeaders.map((name) => ({ $ref: refTo('parameters', name) }))];
}

export function requestName({ operation: { name } }: Route): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}Request`;
}

export function bodySchema(route: Route): JsonSchema | undefined {
  if (!hasBody(route)) return undefined;
  const inPath = parametersOf(route);
  const inBody = [...shapeOf(route)]
    .filter(([field, schema]) => !isParameter(schema) && !inPath.includes(field))
    .map(([field]) => field);
  if (inBody.length === 0) return undefined;
  const jsonSchema = inputSchema(route.operation);
  const fields = fieldsOf(route);
  const aliases = Object.entries(route.aliases ?? {}).map(
    ([alias, field]) =>
      [alias, { ...fields.get(field), description: `An alias of \`${wireName(field)}\`.`, deprecated: true }] as const,
  );
  // A client may send a whole resource back, with the fields that are also in the path.
  const pathFields =
    route.method === 'PUT'
      ? inPath.map(
          (field) =>
            [wireName(field), { readOnly: true, description: 'Read-only. You can send it back unchanged.' }] as const,
        )
      : [];
  return {
    ...(jsonSchema.description !== undefined && { description: jsonSchema.description }),
    type: 'object',
    properties: Object.fromEntries([
      ...pathFields,
      ...inBody.map((field) => [wireName(field), fields.get(field)] as const),
      ...aliases,
    ]),
    required: inBody
      .filter((field) => (jsonSchema.required as string[] | undefined)?.includes(wireName(field)))
      .map(wireName),
    additionalProperties: false,
  };
}

function fieldsOf(route: Route): Map<string, JsonSchema> {
  const properties = (inputSchema(route.operation).properties ?? {}) as Record<string, JsonSchema>;
  return new Map([...shapeOf(route).keys()].map((field) => [field, properties[wireName(field)] ?? {}]));
}
