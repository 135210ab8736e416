/**
 * Makes the input types from the schemas of the operations, so that REST and GraphQL accept the same input. The
 * operation checks the values; GraphQL only checks names, types and required fields.
 */
import { Arg, Field, Float, ID, InputType, Int } from 'type-graphql';
import type { z } from 'zod';
import { isRequired, kindOf, metaOf, type ShapeKind } from '../operations/shape-kinds.js';
import { ENUMS } from './enums.js';
import { DateScalar, DateTimeScalar } from './scalars.js';

type InputClass = new () => object;

const made = new Map<string, InputClass>();
const descriptions = new Map<InputClass, string>();

/** The input type of an operation, without the parameters that are separate arguments: an identifier, a version. */
export function inputOf(name: string, schema: z.core.$ZodType, description: string): InputClass {
  const known = made.get(name);
  if (known) return known;
  const kind = kindOf(schema);
  if (kind.is !== 'object') throw new Error(`${name} is not made from an object.`);
  const type: InputClass = { [name]: class {} }[name] as InputClass;
  made.set(name, type);
  descriptions.set(type, description);
  InputType(name, { description })(type);
  for (const [field, shape] of Object.entries(kind.schema.shape)) {
    const { parameter, readOnly } = metaOf(shape);
    if (!parameter && !readOnly) addField(type, name, field, shape);
  }
  return type;
}

/** A mutation's argument `input`, with the description of its type. */
export function Input(type: InputClass, nullable?: 'nullable'): ReturnType<typeof Arg> {
  return Arg('input', () => type, { nullable: nullable === 'nullable', description: descriptions.get(type) });
}

function addField(type: InputClass, owner: string, field: string, shape: z.core.$ZodType): void {
  const kind = kindOf(shape);
  const { description, kind: kindOfThing } = metaOf(shape);
  if (typeof description !== 'string') throw new Error(`${owner}.${field} has no description.`);
  const nestedName = `${owner.replace(/Input$/, '')}${field[0]?.toUpperCase()}${field.slice(1)}Input`;
  const graphqlType = kindOfThing === undefined ? typeOf(kind, nestedName, description) : ID;
  Field(() => (kind.is === 'list' ? [graphqlType] : graphqlType), { nullable: !isRequired(shape), description })(
    type.prototype as object,
    field,
  );
}

function typeOf(kind: ShapeKind, nestedName: string, description: string) {
  switch (kind.is) {
    case 'whole number':
      return Int;
    case 'number':
      return Float;
    case 'flag':
      return Boolean;
    case 'date':
      return DateScalar;
    case 'moment':
      return DateTimeScalar;
    case 'choice':
      return kind.name === undefined ? String : enumNamed(kind.name);
    case 'list':
      return typeOf(kind.of, nestedName, description);
    case 'object':
      return inputOf(nestedName, kind.schema, description);
    default:
      return String;
  }
}

function enumNamed(name: string): object {
  const found = ENUMS[name];
  if (!found) throw new Error(`There is no enum ${name}.`);
  return found;
}
