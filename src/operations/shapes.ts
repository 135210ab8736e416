/** The building blocks of every operation's input. What they refuse, they say in words that follow the field's name. */
import { z } from 'zod';
import { kindOfId, isId, type Id, type IdKind } from '../rules/ids.js';
import { TEXT } from '../rules/limits.js';

/** Trimmed text of at most `max` characters, counted as a reader counts them. */
export function text(max: number) {
  return textAsSent(max, z.string().trim());
}

export function textAsSent(max: number, string = z.string()) {
  return string
    .refine((value) => value.isWellFormed() && !value.includes('\0'), 'must be well-formed text without NUL')
    .refine((value) => value.length <= max || [...value].length <= max, `must be at most ${max} characters`)
    .meta({ maxLength: max });
}

export function requiredText(max: number) {
  return text(max)
    .refine((value) => value !== '', 'must not be blank')
    .meta({ maxLength: max, minLength: 1 });
}

/** Text that may be left out or cleared; blank counts as cleared. */
export function optionalText(max: number) {
  return text(max)
    .transform((value) => (value === '' ? null : value))
    .nullish();
}

export const email = z
  .string()
  .trim()
  .toLowerCase()
  .max(TEXT.email, `must be at most ${TEXT.email} characters`)
  .pipe(z.email('must be an email address'))
  .meta({ format: 'email', maxLength: TEXT.email });

export const webAddress = text(TEXT.url)
  .refine((value) => value === '' || isWebAddress(value), 'must be a web address that starts with http:// or https://')
  .transform((value) => (value === '' ? null : value))
  .nullish()
  .meta({ format: 'uri' });

function isWebAddress(value: string): boolean {
  return /^https?:\/\/\S+$/i.test(value) && URL.canParse(value);
}

const MOMENT_CHARACTERS_MAX = 40;

/** A point in time, in a body. */
export const moment = z.iso
  .datetime({ offset: true, error: 'must be a moment with its time zone, such as 2026-05-04T12:30:00.000Z' })
  .max(MOMENT_CHARACTERS_MAX)
  .transform((text) => new Date(text))
  .meta({ moment: true });

/** An identifier in a body: a malformed one is a malformed input. */
export function idInBody<K extends IdKind>(kind: K) {
  return z
    .custom<Id<K>>((value) => isId(kind, value), `must be the identifier of a ${kind}`)
    .meta({ type: 'string', kind });
}

/**
 * An identifier in a path: a malformed one names nothing, and so is not found rather than invalid. It becomes the
 * empty identifier, which no row bears.
 */
export function idInPath<K extends IdKind>(kind: K) {
  return z
    .string()
    .transform((value) => (isId(kind, value) ? value : ('' as Id<K>)))
    .meta({ kind, parameter: true });
}

/** Like `idInPath`, where any kind of thing may be named. */
export const anyIdInPath = z.string().transform((value) => (kindOfId(value) ? value : ''));

export const nothing = z.strictObject({});
