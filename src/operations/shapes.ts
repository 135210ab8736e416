/** The building blocks of every operation's input, besides the fields of entities. */
import { z } from 'zod';
import { kindOfId, isId, type Id, type IdKind } from '../rules/ids.js';
import { nullableText } from '../rules/values.js';

/** Text that may be left out or cleared; blank counts as cleared. */
export function optionalText(max: number) {
  return nullableText(max).optional();
}

const MOMENT_CHARACTERS_MAX = 40;

/** A point in time, as a body writes it. */
export const momentInBody = z.iso
  .datetime({ offset: true, error: 'must be a moment with its time zone, such as 2026-05-04T12:30:00.000Z' })
  .max(MOMENT_CHARACTERS_MAX)
  .transform((text) => new Date(text))
  .meta({ moment: true });

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
