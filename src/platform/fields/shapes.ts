/** The building blocks of inputs that are not fields of entities. */
import { z } from 'zod';
import { FIELD_TEXT } from '../limits.js';
import { nullableText } from './values.js';

/** Text that may be left out or cleared; blank counts as cleared. */
export function optionalText(max: number) {
  return nullableText(max).optional();
}

const FIRST_MOMENT = Date.parse('0001-01-01T00:00:00.000Z');
const LAST_MOMENT = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * Postgres has no year 0, and writes years of five digits differently. A text that is no time at all gets its own
 * refusal.
 */
const isOutOfRange = (moment: number) => moment < FIRST_MOMENT || moment > LAST_MOMENT;

/** A point in time in a body. */
export const momentInBody = z.iso
  .datetime({ offset: true, error: 'must be a moment with its time zone, such as 2026-05-04T12:30:00.000Z' })
  .max(FIELD_TEXT.moment)
  .refine((text) => !isOutOfRange(Date.parse(text)), 'must be in the years 1 to 9999')
  .transform((text) => new Date(text))
  .meta({ moment: true });

/**
 * Adds a rule about two fields. It is checked even where other fields are invalid, so that one refusal has all
 * problems; a field of the wrong type is undefined for the rule.
 */
export function withRule<
  Shape extends z.ZodRawShape,
  Config extends z.core.$ZodObjectConfig,
  const Name extends keyof Shape & string,
  // Each field was parsed by its own schema.
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

export const nothing = z.strictObject({});
