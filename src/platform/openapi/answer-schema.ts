/** Creates a response's JSON Schema and example from its entity's fields. */
import { z } from 'zod';
import { isNullable, kindOf, metaOf, type ShapeKind } from '../fields/shapes.js';
import {
  descriptionOf,
  entityOf,
  writtenFields,
  type Entity,
  type Field,
  type StoredRow,
  type WrittenField,
} from '../fields/entity.js';
import { exampleId } from '../ids.js';
import { INT32_MAX, MONEY_MAX } from '../fields/values.js';
import { toDocumentSchema, withNull, type JsonSchema } from './json-schema.js';
import { wireName } from './wire.js';

/** The reference to a part that is a named component. Undefined for a part that is written out. */
export type RefOf = (entity: Entity) => string | undefined;

/** Requires every field that isn't optional, and allows no others. */
export function answerSchema({ fields }: Entity, description: string, refOf: RefOf): JsonSchema {
  const wireFields = Object.entries(fields).map(([name, field]) => [wireName(name), field] as const);
  return {
    type: 'object',
    description,
    properties: Object.fromEntries(wireFields.map(([name, field]) => [name, fieldSchema(field, refOf)])),
    required: wireFields.filter(([, { type }]) => !(type instanceof z.ZodOptional)).map(([name]) => name),
    additionalProperties: false,
  };
}

function fieldSchema(field: Field, refOf: RefOf): JsonSchema {
  const { type, readBy } = field;
  const description = descriptionOf(field);
  const schema = valueSchema(kindOf(type), type, description, refOf);
  const isNull = readBy !== undefined || (isNullable(type) && !(type instanceof z.ZodOptional));
  if (!isNull || hasNull(schema)) return schema;
  return '$ref' in schema ? { ...withNull(schema), description } : withNull(schema);
}

function hasNull({ type }: JsonSchema): boolean {
  return Array.isArray(type) && type.includes('null');
}

function valueSchema(kind: ShapeKind, type: z.core.$ZodType, description: string, refOf: RefOf): JsonSchema {
  if (kind.is === 'object') return partSchema(entityOf(kind.schema), description, refOf);
  if (kind.is === 'union') {
    const parts = kind.schemas.map(entityOf);
    return { oneOf: parts.map((one) => partSchema(one, one.description, refOf)), description };
  }
  if (kind.is === 'list' && kind.of.is === 'object') {
    const entry = entityOf(kind.of.schema);
    return { type: 'array', items: partSchema(entry, entry.description, refOf), description };
  }
  return {
    ...leafSchema(toDocumentSchema(z.toJSONSchema(type, { io: 'input', unrepresentable: 'any' })), metaOf(type)),
    description,
  };
}

function partSchema(part: Entity, description: string, refOf: RefOf): JsonSchema {
  const $ref = refOf(part);
  return $ref === undefined ? answerSchema(part, description, refOf) : { $ref };
}

/** Leaves out an input's bounds, because response values can be as large as their columns allow. */
function leafSchema(input: JsonSchema, { answerMinimum }: z.GlobalMeta): JsonSchema {
  const { type, minLength: _least, maxLength: _longest, maxItems: _most, ...rest } = input;
  const isWhole = type === 'integer' || (Array.isArray(type) && type.includes('integer'));
  const { maximum, ...withoutMaximum } = rest;
  return {
    type,
    ...(isWhole && { format: 'int32' }),
    ...(isWhole || maximum === MONEY_MAX ? withoutMaximum : rest),
    ...(answerMinimum !== undefined && { minimum: answerMinimum }),
    ...(isWhole && { maximum: INT32_MAX }),
    ...(typeof rest.items === 'object' && { items: leafSchema(rest.items as JsonSchema, {}) }),
  };
}

/** An example with the required fields, in REST's spelling. */
export function exampleOf({ fields }: Entity): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, { type }]) => !(type instanceof z.ZodOptional))
      .map(([name, { type, example }]) => [
        wireName(name),
        example === undefined ? exampleOfType(kindOf(type), type) : example,
      ]),
  );
}

/** An example of the fields that users write, in camelCase. */
export function exampleInput<E extends Entity>(entity: E): Partial<Pick<StoredRow<E>, WrittenField<E>>> {
  const { fields }: Entity = entity;
  const examples = writtenFields(entity).map((name) => [name, fields[name]?.example] as const);
  // The names are the entity's. A test checks the examples against the inputs.
  return Object.fromEntries(examples.filter(([, example]) => example != null)) as Partial<
    Pick<StoredRow<E>, WrittenField<E>>
  >;
}

function exampleOfType(kind: ShapeKind, type: z.core.$ZodType): unknown {
  switch (kind.is) {
    case 'identifier':
      return exampleId(kind.prefix);
    case 'timestamp':
      return '2026-03-02T09:30:00.000Z';
    case 'object':
      return exampleOf(entityOf(kind.schema));
    case 'union':
      return exampleOf(entityOf(kind.schemas[0] as z.ZodObject));
    case 'list':
      return [exampleOfType(kind.of, kind.entry)];
    default:
      throw new Error(`A described field has no example: ${JSON.stringify(z.globalRegistry.get(type))}`);
  }
}
