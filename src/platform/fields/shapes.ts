/** Building blocks of inputs that aren't entity fields, and helpers for any schema. */
import { z } from 'zod';
import { FIELD_TEXT } from '../caller-limits.js';
import { nullableText } from './values.js';

/** Text that may be omitted or cleared. Blank text clears it. */
export function optionalText(max: number) {
  return nullableText(max).optional();
}

const FIRST_TIMESTAMP_MS = Date.parse('0001-01-01T00:00:00.000Z');
const LAST_TIMESTAMP_MS = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * Postgres has no year 0 and writes five-digit years differently. A string that isn't a time gets a different message.
 */
const isOutOfRange = (timestamp: number) => timestamp < FIRST_TIMESTAMP_MS || timestamp > LAST_TIMESTAMP_MS;

const NO_TIMESTAMP = 'must be a timestamp with a time zone, such as 2026-05-04T12:30:00.000Z';

export const timestampInBody = z.iso
  .datetime({ offset: true, error: ({ input }) => (input === undefined ? undefined : NO_TIMESTAMP) })
  .max(FIELD_TEXT.timestamp)
  .refine((text) => !isOutOfRange(Date.parse(text)), 'must be in the years 1 to 9999')
  .transform((text) => new Date(text))
  .meta({ timestamp: true });

/**
 * Checks the rule even if other fields are invalid, so one refusal lists every problem. Fields with the wrong type are
 * undefined in the rule.
 */
export function withRule<
  Shape extends z.ZodRawShape,
  Config extends z.core.$ZodObjectConfig,
  const Name extends keyof Shape & string,
  ValidFields extends { [N in Name]?: z.output<Shape[N]> },
>(
  schema: z.ZodObject<Shape, Config>,
  names: readonly Name[],
  problemsIn: (input: ValidFields) => Readonly<Record<string, string>>,
): z.ZodObject<Shape, Config> {
  const rule = z.superRefine<unknown>(
    (value, context) => {
      if (typeof value !== 'object' || value === null) return;
      const input: Record<string, unknown> = {};
      for (const name of names) {
        const field = schema.shape[name];
        const result = field && z.safeParse(field, (value as Record<string, unknown>)[name]);
        if (result?.success) input[name] = result.data;
      }
      for (const [field, message] of Object.entries(problemsIn(input as ValidFields)))
        context.addIssue({ code: 'custom', path: field.split('.'), message, input: value });
    },
    { when: () => true },
  );
  return schema.check(rule);
}

export const emptyInput = z.strictObject({});

export type ShapeKind =
  | { is: 'text' | 'integer' | 'number' | 'boolean' | 'date' | 'timestamp' | 'json' }
  | { is: 'identifier'; prefix: string }
  | { is: 'enum'; name: string | undefined; values: readonly string[] }
  | { is: 'list'; of: ShapeKind; entry: z.core.$ZodType }
  | { is: 'object'; schema: z.ZodObject }
  /** One of these objects. Each has a required field that the others don't have. */
  | { is: 'union'; schemas: readonly z.ZodObject[] };

export function kindOf(schema: z.core.$ZodType): ShapeKind {
  const inner = innermost(schema);
  if (metaOf(schema).day) return { is: 'date' };
  if (metaOf(schema).timestamp) return { is: 'timestamp' };
  if (inner instanceof z.ZodNumber) return { is: inner.isInt ? 'integer' : 'number' };
  if (inner instanceof z.ZodBoolean) return { is: 'boolean' };
  if (inner instanceof z.ZodEnum)
    return { is: 'enum', name: metaOf(schema).enumName, values: inner.options.map(String) };
  if (inner instanceof z.ZodArray) return { is: 'list', of: kindOf(inner.element), entry: inner.element };
  if (inner instanceof z.ZodObject) return { is: 'object', schema: inner };
  if (inner instanceof z.ZodUnion) return { is: 'union', schemas: inner.options as readonly z.ZodObject[] };
  if (inner instanceof z.ZodDate) return { is: 'timestamp' };
  const { idPrefix, charactersMax } = metaOf(schema);
  if (inner instanceof z.ZodCustom && idPrefix !== undefined) return { is: 'identifier', prefix: idPrefix };
  if (charactersMax !== undefined) return { is: 'json' };
  return { is: 'text' };
}

/** True if the value may be null or absent. */
export function isNullable(schema: z.core.$ZodType): boolean {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable;
}

export function isRequired(schema: z.core.$ZodType): boolean {
  return !z.safeParse(schema, undefined).success;
}

/** Combines the metadata of all schemas that wrap a value. */
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
