/** Schemas for the values of fields. Each message continues a sentence that starts with the field's name. */
import { z } from 'zod';
import { FIELD_TEXT } from '../caller-limits.js';
import { hasPrefix, type PrefixedId } from '../ids.js';

/** Our metadata on Zod schemas. `platform/openapi/json-schema.ts` drops the keys that OpenAPI doesn't have. */
declare module 'zod' {
  interface GlobalMeta {
    /** In characters. */
    maxLength?: number;
    enumName?: string;
    /** The type of object that the ID belongs to. */
    kind?: string;
    idPrefix?: string;
    day?: boolean;
    /** True for a timestamp. */
    timestamp?: boolean;
    /** The total length of the strings in a free-form object. */
    charactersMax?: number;
    setByService?: readonly string[];
    /** The minimum in responses, if a custom check sets the input's. */
    answerMinimum?: number;
  }
}

/**
 * Control characters, line breaks, and characters that change the text's direction. They could forge a line in a log or
 * an email, or disguise a name. U+200E and U+200F are allowed: names in mixed scripts need them, and they hide nothing.
 */
const NOT_IN_ONE_LINE = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u;

/** True for multi-line text. Shorter strings are single lines, such as names. */
const isProse = (max: number) => max >= FIELD_TEXT.note;

/** Trimmed text with at most `max` Unicode code points. */
export function text(max: number) {
  return untrimmedText(max, z.string().trim());
}

const ONE_LINE = 'must be a single line without control characters or characters that change the text direction';

export function untrimmedText(max: number, string = z.string()) {
  const wellFormed = string.refine(
    (value) => value.isWellFormed() && !value.includes('\0'),
    'must be valid Unicode without NUL characters',
  );
  return (isProse(max) ? wellFormed : wellFormed.refine((value) => !NOT_IN_ONE_LINE.test(value), ONE_LINE))
    .refine((value) => value.length <= max || [...value].length <= max, `must be at most ${max} characters`)
    .meta({ maxLength: max });
}

export function requiredText(max: number) {
  return text(max)
    .refine((value) => value !== '', 'must not be blank')
    .meta({ maxLength: max, minLength: 1 });
}

/** Blank text counts as null. */
export function nullableText(max: number) {
  return text(max)
    .transform((value) => (value === '' ? null : value))
    .nullable();
}

export const email = z
  .string()
  .trim()
  .toLowerCase()
  .max(FIELD_TEXT.email, `must be at most ${FIELD_TEXT.email} characters`)
  .pipe(z.email('must be an email address'))
  .meta({ format: 'email', maxLength: FIELD_TEXT.email });

export const nullableWebAddress = text(FIELD_TEXT.url)
  .refine((value) => value === '' || isWebAddress(value), 'must be a web address that starts with http:// or https://')
  .transform((value) => (value === '' ? null : value))
  .nullable()
  .meta({ format: 'uri' });

function isWebAddress(value: string): boolean {
  return /^https?:\/\/\S+$/i.test(value) && URL.canParse(value);
}

/** An ID in a body or a response. A malformed ID is invalid input. */
export function prefixedId<P extends string>(prefix: P, kind: string) {
  return z
    .custom<PrefixedId<P>>((value) => hasPrefix(prefix, value), {
      // A missing ID gets the same message as any missing field.
      error: ({ input }) => (input === undefined ? undefined : `must be the ID of a ${kind}`),
    })
    .meta({ type: 'string', kind, idPrefix: prefix });
}

/** An ID that only appears in responses, with one of these prefixes. */
export function prefixedIdOfAny<P extends string>(prefixes: readonly P[]) {
  return z
    .custom<PrefixedId<P>>((value) => prefixes.some((prefix) => hasPrefix(prefix, value)))
    .meta({ type: 'string', idPrefix: `(${prefixes.join('|')})` });
}

/**
 * An ID in a path. A malformed ID becomes the empty ID, which no row has. The response is then NOT_FOUND instead of a
 * validation error.
 */
export function prefixedIdInPath<P extends string>(prefix: P, kind: string) {
  return z
    .string()
    .transform((value) => (hasPrefix(prefix, value) ? value : ('' as PrefixedId<P>)))
    .meta({ kind, idPrefix: prefix, parameter: true });
}

export const MONEY_MAX = 9_999_999_999.99;

/** Rejects a third decimal place instead of rounding. */
function cents(least: z.ZodNumber) {
  return least
    .max(MONEY_MAX)
    .refine((amount) => Math.round(amount * 100) / 100 === amount, 'must have at most two decimal places');
}

export const money = cents(z.number().min(0));

const ABOVE_ZERO = 'must be more than 0';

export const moneyAboveZero = cents(
  z
    .number()
    .min(0, ABOVE_ZERO)
    .refine((amount) => amount > 0, ABOVE_ZERO),
).meta({ answerMinimum: 0.01 });

export const rating = z.int().min(1, 'must be 1 to 5').max(5, 'must be 1 to 5');

/**
 * A date without a time zone, checked against the calendar. Forms send an empty string for a blank date, which counts
 * as null.
 */
export const nullableDay = z
  .string()
  .refine((value) => value === '' || isRealDate(value), 'must be a real date, as YYYY-MM-DD')
  .meta({ format: 'date', day: true })
  .transform((value) => (value === '' ? null : value))
  .nullable();

/** Sent as ISO 8601 in UTC, always with milliseconds. */
export const timestamp = z
  .date()
  .meta({ type: 'string', format: 'date-time', pattern: String.raw`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$` });

/** The largest 32-bit integer, as in GraphQL's Int and Postgres's integer. */
export const INT32_MAX = 2 ** 31 - 1;

export function integer(min = 0) {
  return z.int().min(min).max(INT32_MAX);
}

const POSITION_MAX = 2n ** 63n - 1n;
const POSITION_DIGITS_MAX = POSITION_MAX.toString().length;

/** A position in the event log. It's a string, because JSON numbers are exact only up to 2^53. */
export const position = z
  .string()
  .refine(
    (digits) => /^\d{1,19}$/.test(digits) && BigInt(digits) <= POSITION_MAX,
    `must be a position: digits, at most ${POSITION_MAX}`,
  )
  .meta({ maxLength: POSITION_DIGITS_MAX, pattern: String.raw`^\d{1,${POSITION_DIGITS_MAX}}$` });

/** One of a fixed list of values. With a name, it becomes a GraphQL enum. */
export function enumOf<const V extends string>(values: readonly V[], enumName?: string) {
  const list = z.enum(values as readonly [V, ...V[]]);
  return enumName === undefined ? list : list.meta({ enumName });
}

export function json(charactersMax: number) {
  return z.custom<Record<string, unknown>>().meta({ type: 'object', charactersMax });
}

const MILLISECONDS_PER_DAY = 86_400_000;

/** True if the day exists. Years run from 0001 to 9999, because Postgres has no year 0. */
export function isRealDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text.startsWith('0000')) return false;
  const midnight = new Date(`${text}T00:00:00Z`);
  // JavaScript reads some impossible days as days of the next month.
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(text);
}

/**
 * The days from one date to the other. Negative if the second is earlier. Both must exist. UTC has no daylight saving
 * time, so every day has 24 hours.
 */
export function daysBetween(from: string, to: string): number {
  return (midnightUtc(to) - midnightUtc(from)) / MILLISECONDS_PER_DAY;
}

function midnightUtc(date: string): number {
  return Date.parse(`${date}T00:00:00Z`);
}
