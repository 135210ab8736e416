/**
 * type-graphql calls a resolver by way of a queue of middlewares, and sorts the resolver's parameters each time. This
 * server has no middlewares, and what a resolver takes is settled once: it is called directly, with the values that
 * GraphQL has coerced. What would have stood in the queue is therefore refused at start: `@Authorized` and
 * `@UseMiddleware` would be passed over in silence.
 */
import { isObjectType, type GraphQLFieldMap, type GraphQLFieldResolver, type GraphQLSchema } from 'graphql';
import { getMetadataStorage } from 'type-graphql';
import type { Context } from './context.js';
import { placingFailures } from './failures.js';

type Resolve = GraphQLFieldResolver<unknown, Context, Record<string, unknown>>;
type Value = (...call: Parameters<Resolve>) => unknown;
type Storage = ReturnType<typeof getMetadataStorage>;
type Resolver = Storage['queries'][number] | Storage['fieldResolvers'][number];
type Method = (...values: unknown[]) => unknown;

/** These decorators leave what they ask for in the library's storage, whether on a class, a method or a field. */
export function refuseMiddlewares(): void {
  const { authorizedResolver, authorizedFields, resolverMiddlewares, middlewares } = getMetadataStorage();
  const found = [
    ...authorizedResolver.map(({ target }) => `@Authorized on ${target.name}`),
    ...authorizedFields.map(({ target, fieldName }) => `@Authorized on ${target.name}.${fieldName}`),
    ...resolverMiddlewares.map(({ target }) => `@UseMiddleware on ${target.name}`),
    ...middlewares.map(({ target, fieldName }) => `@UseMiddleware on ${target.name}.${fieldName}`),
  ];
  if (found.length === 0) return;
  throw new Error(
    `Resolvers are called without type-graphql's middlewares, so these would do nothing: ${found.join(', ')}. ` +
      'Who may call an operation stands in the operation, and who may read a field in src/rules/audiences.ts.',
  );
}

/** What the library would call to open a stream, and asks for though nobody calls it. */
export function placedDirectly(): never {
  throw new Error('Subscriptions are opened by their own methods.');
}

export function callDirectly(schema: GraphQLSchema): GraphQLSchema {
  const { queries, mutations, subscriptions, fieldResolvers, objectTypes } = getMetadataStorage();
  const instances = new Map<unknown, Record<string, Method>>();

  function direct({ target, methodName, params = [] }: Resolver): Resolve {
    const instance =
      instances.get(target) ?? (new (target as new () => Record<string, Method>)() as Record<string, Method>);
    instances.set(target, instance);
    const values = params.toSorted((one, other) => one.index - other.index).map(valueOf);
    const method = instance[methodName] as Method;
    return (source, args, context, info) => {
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

  /** The method opens the stream, of which each event is the field's value. */
  function placeSubscriptions(fields: GraphQLFieldMap<unknown, Context> = {}): void {
    for (const resolver of subscriptions) {
      const field = fields[resolver.schemaName];
      if (!field) continue;
      field.subscribe = placingFailures(direct(resolver));
      field.resolve = (event) => event;
    }
  }

  place('Query', queries);
  place('Mutation', mutations);
  placeSubscriptions(schema.getSubscriptionType()?.getFields());
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
