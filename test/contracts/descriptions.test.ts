/** Everything in the schema has a description, for playground users. */
import {
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isSpecifiedDirective,
  isSpecifiedScalarType,
  type GraphQLNamedType,
} from 'graphql';
import { expect, it } from 'vitest';
import { schema } from '../../src/graphql/schema.js';

interface Described {
  readonly at: string;
  readonly description: string | null | undefined;
}

const own = Object.values(schema.getTypeMap()).filter(
  (type) => !type.name.startsWith('__') && !isSpecifiedScalarType(type),
);
const directives = schema.getDirectives().filter((directive) => !isSpecifiedDirective(directive));
const all = [...own.flatMap(partsOf), ...directives.map(({ name, description }) => ({ at: `@${name}`, description }))];

it('every type, field, argument, and enum value in the GraphQL schema has a description', () => {
  expect(all.filter(({ description }) => !description?.trim()).map(({ at }) => at)).toEqual([]);
});

it('every description is a sentence or two: it starts with a capital letter and ends with a period', () => {
  const wrong = all.filter(({ description }) => description?.trim() && !/^[^a-z].*[.?!)`]$/s.test(description.trim()));
  expect(wrong.map(({ at, description }) => `${at}: ${description}`)).toEqual([]);
});

function partsOf(type: GraphQLNamedType): Described[] {
  return [...(isRoot(type) ? [] : [{ at: type.name, description: type.description }]), ...membersOf(type)];
}

/** Query and Mutation only hold the operations. */
function isRoot(type: GraphQLNamedType): boolean {
  return [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].some((root) => root === type);
}

function membersOf(type: GraphQLNamedType): Described[] {
  if (isEnumType(type))
    return type.getValues().map(({ name, description }) => ({ at: `${type.name}.${name}`, description }));
  if (isInputObjectType(type))
    return Object.values(type.getFields()).map(({ name, description }) => ({
      at: `${type.name}.${name}`,
      description,
    }));
  if (!isObjectType(type) && !isInterfaceType(type)) return [];
  return Object.values(type.getFields()).flatMap(({ name, description, args }) => [
    { at: `${type.name}.${name}`, description },
    ...args.map((arg) => ({ at: `${type.name}.${name}(${arg.name})`, description: arg.description })),
  ]);
}
