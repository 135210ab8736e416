/**
 * Fields that fail for some objects and not for others, if the request's ID asks for it. Otherwise, an error in a list
 * already affects its first entry. Every way in which a resolver can fail is included.
 */
import { isNonNullType, isObjectType, type GraphQLFieldResolver, type GraphQLSchema } from 'graphql';
import type { Context } from '../../../../src/graphql/context.js';
import { refuse } from '../../../../src/market/rules/errors.js';

export const SOME_FAIL = 'some-fields-fail';

type Resolve = GraphQLFieldResolver<unknown, Context>;

export function withFailingFields(schema: GraphQLSchema): GraphQLSchema {
  const roots = [schema.getQueryType(), schema.getMutationType()];
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || roots.includes(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      const ways = isNonNullType(field.type) ? LATE_WAYS : [...LATE_WAYS, ...WAYS_AT_ONCE];
      if (field.resolve) field.resolve = failing(field.name, field.resolve, ways);
    }
  }
  return schema;
}

const LATE_WAYS: readonly (() => unknown)[] = [
  () => Promise.reject(refuse('FORBIDDEN')),
  () => Promise.reject(new Error('It fails in the middle of a list.')),
  () => Promise.resolve(refuse('NOT_FOUND')),
  () => Promise.resolve(undefined),
  () => Promise.resolve('not what the field promises'),
  () => Promise.resolve([null]),
];

/** Only for nullable fields. If a list entry fails synchronously, graphql-js drops the work it has already started. */
const WAYS_AT_ONCE: readonly (() => unknown)[] = [
  () => {
    throw refuse('NOT_FOUND');
  },
  () => refuse('STALE_VERSION'),
  () => null,
  () => 'not what the field promises',
];

/** About half of the objects use the original resolver. */
function failing(name: string, resolve: Resolve, ways: typeof LATE_WAYS): Resolve {
  return (source, args, context, info) => {
    if (context.caller.request.requestId !== SOME_FAIL) return resolve(source, args, context, info);
    const way = ways[checksum(`${name} ${traitOf(source)}`) % (2 * ways.length)];
    return way ? way() : resolve(source, args, context, info);
  };
}

/** A trait that is the same in every run, unlike an object's identifier. */
function traitOf(source: unknown): string {
  const { status, companyName, city } = source as { status?: string; companyName?: string; city?: string };
  return status ?? companyName ?? city ?? '';
}

function checksum(text: string): number {
  return [...text].reduce((sum, sign) => (sum * 31 + sign.charCodeAt(0)) % 65_521, 0);
}
