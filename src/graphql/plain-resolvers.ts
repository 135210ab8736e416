/**
 * type-graphql sorts, looks up and converts the parameters of a resolver anew at each call, which for the fields of
 * twenty jobs is a sixth of all that GraphQL does. A method that takes the object and the context, as they are and in
 * this order, is called with these two; all others are called by type-graphql.
 */
import { isObjectType, type GraphQLSchema } from 'graphql';
import { getMetadataStorage } from 'type-graphql';

export function callPlainResolversDirectly(schema: GraphQLSchema): void {
  const { fieldResolvers, objectTypes } = getMetadataStorage();
  for (const { target, methodName, schemaName, params = [], middlewares = [], getObjectType } of fieldResolvers) {
    const name = objectTypes.find((type) => type.target === getObjectType?.())?.name;
    const type = name === undefined ? undefined : schema.getType(name);
    const field = isObjectType(type) ? type.getFields()[schemaName] : undefined;
    if (!field || middlewares.length > 0 || !takesObjectAndContext(params)) continue;
    const resolver: object = Reflect.construct(target, []);
    const method: (this: object, source: unknown, context: unknown) => unknown = Reflect.get(resolver, methodName);
    field.resolve = (source, _, context) => method.call(resolver, source, context);
  }
}

type Parameters = NonNullable<ReturnType<typeof getMetadataStorage>['fieldResolvers'][number]['params']>;

/** An object whose type is no class is not converted into one. */
function takesObjectAndContext(params: Parameters): boolean {
  const [source, context, ...more] = params.toSorted((one, other) => one.index - other.index);
  return (
    source?.kind === 'root' &&
    source.propertyName === undefined &&
    (source.getType === undefined || source.getType() === Object) &&
    context?.kind === 'context' &&
    context.propertyName === undefined &&
    more.length === 0
  );
}
