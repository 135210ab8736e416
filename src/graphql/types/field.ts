/** Creates the fields of GraphQL types from the fields of entities. */
import { Field, Float, ID, Int, ObjectType, Arg, InputType } from 'type-graphql';
import type { ZodObject, z } from 'zod';
import { isNullable, kindOf, type ShapeKind, isRequired, metaOf } from '../../platform/fields/shapes.js';
import { descriptionOf, entityOf, type Entity } from '../../platform/fields/entity.js';
import { enumNamed } from '../enums.js';
import { GraphQLScalarType } from 'graphql';

/** For a field whose value is in the row. The row has null if the viewer can't read the value. */
export function fieldOptions(description: string, nullable?: 'nullable') {
  return { description, simple: true, nullable: nullable === 'nullable' };
}

type ObjectClass = abstract new () => object;

/** Each entity's class by its schema. Fields that contain an entity use its class. */
const classes = new Map<ZodObject, ObjectClass>();

export function entitiesShown(): Entity[] {
  return [...classes.keys()].map(entityOf);
}

/** Skips fields for which a resolver has another type. GraphQL's extra fields are in the class itself. */
export function FieldsOf({ fields, schema }: Entity, except: readonly string[] = []): (type: ObjectClass) => void {
  return (type) => {
    classes.set(schema, type);
    for (const [name, field] of Object.entries(fields)) {
      if (except.includes(name)) continue;
      const nullable = field.readBy !== undefined || isNullable(field.type);
      Field(() => typeOf(kindOf(field.type), classOf), { description: descriptionOf(field), simple: true, nullable })(
        type.prototype as object,
        name,
      );
    }
  };
}

export function objectType(entity: Entity, { except = [], ...options }: TypeOptions = {}) {
  @ObjectType(entity.name, { description: entity.description, ...options })
  @FieldsOf(entity, except)
  class EntityType {}

  return EntityType;
}

interface TypeOptions {
  readonly except?: readonly string[];
  readonly implements?: ObjectClass;
}

function classOf(schema: ZodObject): ObjectClass {
  return assertExists(classes.get(schema), entityOf(schema).name);
}

export function typeOf(kind: ShapeKind, classOfObject: (schema: ZodObject) => ObjectClass): object {
  switch (kind.is) {
    case 'identifier':
      return ID;
    case 'integer':
      return Int;
    case 'number':
      return Float;
    case 'boolean':
      return Boolean;
    case 'date':
      return DateScalar;
    case 'timestamp':
      return DateTimeScalar;
    case 'json':
      return JsonScalar;
    case 'enum':
      return kind.name === undefined ? String : assertExists(enumNamed(kind.name), kind.name);
    case 'list':
      return [typeOf(kind.of, classOfObject)];
    case 'object':
      return classOfObject(kind.schema);
    case 'union':
      throw new Error('A resolver must declare the type of a union.');
    case 'text':
      return String;
  }
}

function assertExists<T>(type: T | undefined, name: string): T {
  if (type === undefined) throw new Error(`GraphQL has no type ${name}.`);
  return type;
}

/** Times are `Date` objects in the code. In an input, a time is a string until the operation's own schema parses it. */
export const DateTimeScalar = new GraphQLScalarType({
  name: 'DateTime',
  description: 'A timestamp in UTC with milliseconds, in ISO 8601: `2026-05-04T12:30:00.000Z`.',
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time',
  serialize: (value) => (value instanceof Date ? value.toISOString() : value),
  // The operation's own schema checks that the string is a time, as in REST.
  parseValue: (value) => value,
});

/** Dates are strings in the code. The operation's own schema checks them, as in REST. */
export const DateScalar = new GraphQLScalarType({
  name: 'Date',
  description: 'A calendar date without a time zone: `2026-05-04`. In input, an empty string counts as null.',
  serialize: (value) => value,
  parseValue: (value) => value,
});

/** The data differs by event type. Fields that the viewer can't read are already gone. */
export const JsonScalar = new GraphQLScalarType({
  name: 'JSON',
  description: 'A JSON object. Its fields depend on the object that contains it.',
  serialize: (value) => value,
});

/**
 * An input class comes from an operation's schema, so both APIs accept the same input. GraphQL checks only names,
 * types, and required fields. The operation checks the values.
 */
interface InputClass {
  new (): object;
  readonly description: string;
}

/** Leaves out parameters that are arguments of their own, such as an ID or a version. */
export function inputOf(name: string, schema: z.core.$ZodType, description: string): InputClass {
  const kind = kindOf(schema);
  if (kind.is !== 'object') throw new Error(`${name} is not made from an object.`);
  @InputType(name, { description })
  class OperationInput {
    static readonly description = description;
  }
  for (const [field, shape] of Object.entries(kind.schema.shape)) {
    const { parameter, readOnly } = metaOf(shape);
    if (!parameter && !readOnly) addField(OperationInput, name, field, shape);
  }
  return OperationInput;
}

export function Input(type: InputClass, nullable?: 'nullable'): ReturnType<typeof Arg> {
  return Arg('input', () => type, { nullable: nullable === 'nullable', description: type.description });
}

function addField(type: InputClass, owner: string, field: string, shape: z.core.$ZodType): void {
  const { description, kind } = metaOf(shape);
  if (typeof description !== 'string') throw new Error(`${owner}.${field} has no description.`);
  const nestedName = `${owner.replace(/Input$/, '')}${field[0]?.toUpperCase()}${field.slice(1)}Input`;
  const graphqlType = kind ? ID : typeOf(kindOf(shape), (schema) => inputOf(nestedName, schema, description));
  Field(() => graphqlType, { nullable: !isRequired(shape), description })(type.prototype as object, field);
}
