/**
 * Unwraps a schema to its basic kind, for the APIs and the contracts, which print schemas and parse values from text.
 */
import { z } from 'zod';

export type ShapeKind =
  | { is: 'text' | 'whole number' | 'number' | 'flag' | 'date' | 'moment' | 'anything' }
  | { is: 'identifier'; prefix: string }
  | { is: 'choice'; name: string | undefined; values: readonly string[] }
  | { is: 'list'; of: ShapeKind; entry: z.core.$ZodType }
  | { is: 'object'; schema: z.ZodObject };

export function kindOf(schema: z.core.$ZodType): ShapeKind {
  const inner = innermost(schema);
  if (metaOf(schema).day) return { is: 'date' };
  if (metaOf(schema).moment) return { is: 'moment' };
  if (inner instanceof z.ZodNumber) return { is: inner.format === 'safeint' ? 'whole number' : 'number' };
  if (inner instanceof z.ZodBoolean) return { is: 'flag' };
  if (inner instanceof z.ZodEnum)
    return { is: 'choice', name: metaOf(schema).enumName, values: inner.options.map(String) };
  if (inner instanceof z.ZodArray) return { is: 'list', of: kindOf(inner.element), entry: inner.element };
  if (inner instanceof z.ZodObject) return { is: 'object', schema: inner };
  if (inner instanceof z.ZodDate) return { is: 'moment' };
  const { idPrefix, charactersMax } = metaOf(schema);
  if (inner instanceof z.ZodCustom && idPrefix !== undefined) return { is: 'identifier', prefix: idPrefix };
  if (charactersMax !== undefined) return { is: 'anything' };
  return { is: 'text' };
}

/** Whether the value may be null, or absent. */
export function isNullable(schema: z.core.$ZodType): boolean {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable;
}

/** Whether a value must be sent at all. */
export function isRequired(schema: z.core.$ZodType): boolean {
  return !z.safeParse(schema, undefined).success;
}

/** Descriptions and metadata, from any of the wrapping schemas. */
export function metaOf(schema: z.core.$ZodType): z.GlobalMeta {
  const own = z.globalRegistry.get(schema) ?? {};
  const next = unwrap(schema);
  return next ? { ...metaOf(next), ...own } : own;
}

function innermost(schema: z.core.$ZodType): z.core.$ZodType {
  const next = unwrap(schema);
  return next ? innermost(next) : schema;
}

function unwrap(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return schema.unwrap() as z.core.$ZodType;
  if (schema instanceof z.ZodPipe) return schema.in as z.core.$ZodType;
  return undefined;
}
