/**
 * The maximum lengths of the strings in a response, by type and field, taken from entities. A field that is missing
 * here is short: an identifier, a time, or a name that the service chose. A test checks every string in the schema.
 */
import type { z } from 'zod';
import { FIELD_TEXT } from '../../caller-limits.js';
import { kindOf, metaOf } from '../../fields/shapes.js';
import type { Entity } from '../../fields/entity.js';

export type TextCharacters = Readonly<Record<string, Readonly<Record<string, number>>>>;

export function textCharactersOf(entities: readonly Entity[]): TextCharacters {
  return Object.fromEntries(
    entities.map(({ name, fields }) => [
      name,
      Object.fromEntries(
        Object.entries(fields)
          .map(([field, { type }]) => [field, charactersIn(type)] as const)
          .filter(([, characters]) => characters > 0),
      ),
    ]),
  );
}

function charactersIn(type: z.core.$ZodType): number {
  const kind = kindOf(type);
  if (kind.is === 'list') return FIELD_TEXT.listItems * charactersIn(kind.entry);
  const { maxLength, charactersMax } = metaOf(type);
  return charactersMax ?? maxLength ?? 0;
}
