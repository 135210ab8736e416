/**
 * Fields that fail of some objects and not of others, where the request's id asks for it: whatever else is refused in a
 * list is refused of its first entry already. Each way in which a resolver can fail is there.
 */
import { isObjectType, type GraphQLFieldResolver, type GraphQLSchema } from 'graphql';
import type { Context } from '../../src/graphql/context.js';
import { refuse } from '../../src/rules/errors.js';

export const SOME_FAIL = 'some-fields-fail';

type Resolve = GraphQLFieldResolver<unknown, Context>;

export function withFailingFields(schema: GraphQLSchema): GraphQLSchema {
  const roots = [schema.getQueryType(), schema.getMutationType()];
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || roots.includes(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields()))
      if (field.resolve) field.resolve = failing(field.name, field.resolve);
  }
  return schema;
}

const WAYS: readonly (() => unknown)[] = [
  () => {
    throw refuse('NOT_FOUND');
  },
  () => Promise.reject(refuse('FORBIDDEN')),
  () => {
    throw new Error('It fails in the middle of a list.');
  },
  () => refuse('STALE_VERSION'),
  () => null,
  () => Promise.resolve(undefined),
  () => 'not what the field promises',
  () => Promise.resolve([null]),
];

/** Every second object keeps to what its resolver says. */
function failing(name: string, resolve: Resolve): Resolve {
  return (source, args, context, info) => {
    if (context.caller.request.requestId !== SOME_FAIL) return resolve(source, args, context, info);
    const way = WAYS[checksum(`${name} ${traitOf(source)}`) % (2 * WAYS.length)];
    return way ? way() : resolve(source, args, context, info);
  };
}

/** Something that an object has in every run, as its identifier is not. */
function traitOf(source: unknown): string {
  const { status, companyName, city } = source as { status?: string; companyName?: string; city?: string };
  return status ?? companyName ?? city ?? '';
}

function checksum(text: string): number {
  return [...text].reduce((sum, sign) => (sum * 31 + sign.charCodeAt(0)) % 65_521, 0);
}
