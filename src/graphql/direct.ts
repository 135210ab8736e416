/**
 * type-graphql calls a resolver by way of a queue of middlewares, and sorts the resolver's parameters each time. This
 * server has no middlewares, and what a resolver takes is settled once: it is called directly, with the values that
 * GraphQL has coerced.
 */
import { isObjectType, responsePathAsArray, type GraphQLFieldResolver, type GraphQLSchema } from 'graphql';
import { getMetadataStorage } from 'type-graphql';
import type { Context } from './context.js';

type Resolve = GraphQLFieldResolver<unknown, Context, Record<string, unknown>>;
type Value = (...call: Parameters<Resolve>) => unknown;
type Storage = ReturnType<typeof getMetadataStorage>;
type Resolver = Storage['queries'][number] | Storage['fieldResolvers'][number];
type Method = (...values: unknown[]) => unknown;

const withoutInfo = new WeakSet<Resolve>();
/** Resolvers as graphql-js runs them, and the same as our own plan does, which counts and places failures by itself. */
const unplaced = new WeakMap<Resolve, Resolve>();

/** Whether a resolver wants to know where it stands in the document, which costs something to tell. */
export function needsInfo(resolve: Resolve): boolean {
  return !withoutInfo.has(resolve);
}

/** The resolver of a field, whose failures are still to be placed. */
export function ownResolverOf(resolve: Resolve | undefined): Resolve | undefined {
  return resolve && (unplaced.get(resolve) ?? resolve);
}

/** graphql-js would place each failure of a request anew, however many there are. */
export function placingFailures(resolve: Resolve): Resolve {
  const placed: Resolve = (source, args, context, info) => {
    const fail = (error: unknown): never => {
      throw context.failures.placed(error, info.fieldNodes, () => responsePathAsArray(info.path));
    };
    try {
      const value = resolve(source, args, context, info);
      return value instanceof Promise ? value.catch(fail) : value;
    } catch (error) {
      return fail(error);
    }
  };
  unplaced.set(placed, resolve);
  return placed;
}

export function callDirectly(schema: GraphQLSchema): GraphQLSchema {
  const { queries, mutations, fieldResolvers, objectTypes } = getMetadataStorage();
  const instances = new Map<unknown, Record<string, Method>>();

  function direct({ target, methodName, params = [] }: Resolver): Resolve {
    const instance =
      instances.get(target) ?? (new (target as new () => Record<string, Method>)() as Record<string, Method>);
    instances.set(target, instance);
    const values = params.toSorted((one, other) => one.index - other.index).map(valueOf);
    const method = instance[methodName] as Method;
    const resolve: Resolve = (source, args, context, info) => {
      const given: unknown[] = [];
      for (const value of values) given.push(value(source, args, context, info));
      try {
        return method.apply(instance, given);
      } catch (error) {
        // Of a list whose entry fails at once, graphql-js drops the promises of those before it: the failure of one of
        // them would be heard by nobody, and end the process.
        return Promise.reject(error);
      }
    };
    if (!params.some(({ kind }) => kind === 'info')) withoutInfo.add(resolve);
    return resolve;
  }

  function place(typeName: string, resolvers: readonly Resolver[]): void {
    const type = schema.getType(typeName);
    if (!isObjectType(type)) return;
    const fields = type.getFields();
    for (const resolver of resolvers) {
      const field = fields[(resolver as { schemaName: string }).schemaName];
      if (field) field.resolve = placingFailures(direct(resolver));
    }
  }

  place('Query', queries);
  place('Mutation', mutations);
  for (const resolver of fieldResolvers) {
    const type = objectTypes.find(({ target }) => target === resolver.getObjectType?.());
    if (resolver.kind === 'external' && type) place(type.name, [resolver]);
  }
  return schema;
}

function valueOf(param: NonNullable<Resolver['params']>[number]): Value {
  switch (param.kind) {
    case 'root':
      return (source) => source;
    case 'context':
      return (_source, _args, context) => context;
    case 'info':
      return (_source, _args, _context, info) => info;
    case 'args':
      return picked(fieldsOf(param.getType()));
    case 'arg':
      return (_source, args) => args[param.name];
    default:
      throw new Error(`A resolver takes a parameter of a kind that nobody foresaw: ${param.kind}.`);
  }
}

/** An operation's arguments may stand beside others, in a class of their own. */
function picked(names: readonly string[]): Value {
  return (_source, args) => {
    const own: Record<string, unknown> = {};
    for (const name of names) if (args[name] !== undefined) own[name] = args[name];
    return own;
  };
}

function fieldsOf(type: unknown): string[] {
  const { argumentTypes } = getMetadataStorage();
  return argumentTypes
    .filter(({ target }) => target === type || (type as { prototype: object }).prototype instanceof target)
    .flatMap(({ fields = [] }) => fields.map(({ name }) => name));
}
