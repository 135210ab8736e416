/**
 * Creates the input types from the operations' schemas, so REST and GraphQL accept the same input. The operation checks
 * the values. GraphQL only checks names, types, and required fields.
 */
import { Arg, Field, ID, InputType } from 'type-graphql';
import type { z } from 'zod';
import { isRequired, kindOf, metaOf } from '../platform/fields/shapes.js';
import { typeOf } from './types/field.js';

interface InputClass {
  new (): object;
  readonly description: string;
}

/** An operation's input type, without the parameters that are separate arguments: an identifier, a version. */
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

/** A mutation's `input` argument, with its type's description. */
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
