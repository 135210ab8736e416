/** The kinds of values in fields, as schemas. Their messages continue a sentence that starts with the field's name. */
import { z } from 'zod';
import { FIELD_TEXT } from '../caller-limits.js';
import { hasPrefix, type PrefixedId } from '../ids.js';

/**
 * The metadata that we attach to Zod schemas, besides the description. `platform/openapi/json-schema.ts` leaves out the
 * keys that OpenAPI doesn't have.
 */
declare module 'zod' {
  interface GlobalMeta {
    /** The length of a string, in characters. */
    maxLength?: number;
    enumName?: string;
    /** The kind of object that an identifier names. */
    kind?: string;
    idPrefix?: string;
    /** A calendar day, as a string. */
    day?: boolean;
    /** A timestamp, as a string. */
    moment?: boolean;
    /** The total length of the strings in an object without a known shape. */
    charactersMax?: number;
    /** The fields that only the service sets, for an input that writes an entity. */
    setByService?: readonly string[];
    /** The minimum in responses, if a custom check sets the input's minimum. */
    answerMinimum?: number;
  }
}

/**
 * Control characters, line breaks, and characters that change the direction of surrounding text. With such a character,
 * a name could forge a line in a log or an email, or look like another name. U+200E and U+200F are allowed, because
 * names in mixed scripts need them and they don't hide anything.
 */
const NOT_IN_ONE_LINE = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u;

/** True for text of several lines. Shorter strings are names or other single lines. */
const isProse = (max: number) => max >= FIELD_TEXT.note;

/** Trimmed text of at most `max` characters, counted as Unicode code points. */
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

/** Text that may be null. Blank counts as null. */
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

/** An identifier in a body or a response. A malformed one is an invalid input. */
export function prefixedId<P extends string>(prefix: P, kind: string) {
  return z
    .custom<PrefixedId<P>>((value) => hasPrefix(prefix, value), {
      // If the identifier is missing, the message is the same as for every other field.
      error: ({ input }) => (input === undefined ? undefined : `must be the ID of a ${kind}`),
    })
    .meta({ type: 'string', kind, idPrefix: prefix });
}

/**
 * An identifier in a path. A malformed one becomes the empty identifier. No row has the empty identifier, so the
 * response is NOT_FOUND instead of a validation error.
 */
export function prefixedIdInPath<P extends string>(prefix: P, kind: string) {
  return z
    .string()
    .transform((value) => (hasPrefix(prefix, value) ? value : ('' as PrefixedId<P>)))
    .meta({ kind, idPrefix: prefix, parameter: true });
}

export const MONEY_MAX = 9_999_999_999.99;

/** An amount in exact cents. A third decimal place is rejected instead of rounded. */
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

/** A date without a time zone, checked against the calendar. A form's empty string for a blank date counts as null. */
export const nullableDay = z
  .string()
  .refine((value) => value === '' || isRealDate(value), 'must be a real date, as YYYY-MM-DD')
  .meta({ format: 'date', day: true })
  .transform((value) => (value === '' ? null : value))
  .nullable();

/** A timestamp, which is sent as ISO 8601 in UTC, always with milliseconds. */
export const timestamp = z
  .date()
  .meta({ type: 'string', format: 'date-time', pattern: String.raw`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$` });

/** The largest count: GraphQL's Int and PostgreSQL's integer have 32 bits. */
export const INT32_MAX = 2 ** 31 - 1;

export function integer(min = 0) {
  return z.int().min(min).max(INT32_MAX);
}

/** The largest position that the database column holds. */
const POSITION_MAX = 2n ** 63n - 1n;
const POSITION_DIGITS_MAX = POSITION_MAX.toString().length;

/** A position in the event log, as a string, because JSON numbers are exact only up to 2^53. */
export const position = z
  .string()
  .refine(
    (digits) => /^\d{1,19}$/.test(digits) && BigInt(digits) <= POSITION_MAX,
    `must be a position: digits, at most ${POSITION_MAX}`,
  )
  .meta({ maxLength: POSITION_DIGITS_MAX, pattern: String.raw`^\d{1,${POSITION_DIGITS_MAX}}$` });

/** One of a fixed list of values. If the list has a name, it becomes a GraphQL enum. */
export function enumOf<const V extends string>(values: readonly V[], enumName?: string) {
  const list = z.enum(values as readonly [V, ...V[]]);
  return enumName === undefined ? list : list.meta({ enumName });
}

/** An object whose fields depend on its context. */
export function json(charactersMax: number) {
  return z.custom<Record<string, unknown>>().meta({ type: 'object', charactersMax });
}

const MILLISECONDS_PER_DAY = 86_400_000;

/** True if this day exists in the calendar. Years run from 0001 to 9999, because PostgreSQL has no year 0. */
export function isRealDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text.startsWith('0000')) return false;
  const midnight = new Date(`${text}T00:00:00Z`);
  // JavaScript parses some impossible days as days of the next month.
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(text);
}

/**
 * The number of days between two dates. Negative if the second date is earlier. Both dates must exist. Days in UTC have
 * no daylight saving time.
 */
export function daysBetween(from: string, to: string): number {
  return (midnightUtc(to) - midnightUtc(from)) / MILLISECONDS_PER_DAY;
}

function midnightUtc(date: string): number {
  return Date.parse(`${date}T00:00:00Z`);
}
