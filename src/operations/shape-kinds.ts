/** What a schema is at heart, for those who print it or must read its values from text: the doors and the contracts. */
import { z } from 'zod';

export type ShapeKind =
  | { is: 'text' | 'whole number' | 'number' | 'flag' | 'date' | 'moment' }
  | { is: 'choice'; name: string; values: readonly string[] }
  | { is: 'list'; of: ShapeKind }
  | { is: 'object'; schema: z.ZodObject };

export function kindOf(schema: z.core.$ZodType): ShapeKind {
  const inner = unwrapped(schema);
  if (metaOf(schema).day) return { is: 'date' };
  if (metaOf(schema).moment) return { is: 'moment' };
  if (inner instanceof z.ZodNumber) return { is: inner.format === 'safeint' ? 'whole number' : 'number' };
  if (inner instanceof z.ZodBoolean) return { is: 'flag' };
  if (inner instanceof z.ZodEnum)
    return { is: 'choice', name: String(metaOf(schema).enumName), values: inner.options.map(String) };
  if (inner instanceof z.ZodArray) return { is: 'list', of: kindOf(inner.element) };
  if (inner instanceof z.ZodObject) return { is: 'object', schema: inner };
  return { is: 'text' };
}

/** Whether a value must be sent at all. */
export function isRequired(schema: z.core.$ZodType): boolean {
  return !z.safeParse(schema, undefined).success;
}

/** Descriptions and marks, from whichever wrapping carries them. */
export function metaOf(schema: z.core.$ZodType): Record<string, unknown> {
  const own = z.globalRegistry.get(schema) ?? {};
  const next = peeled(schema);
  return next ? { ...metaOf(next), ...own } : own;
}

function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  const next = peeled(schema);
  return next ? unwrapped(next) : schema;
}

function peeled(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return schema.unwrap() as z.core.$ZodType;
  if (schema instanceof z.ZodPipe) return schema.in as z.core.$ZodType;
  return undefined;
}
