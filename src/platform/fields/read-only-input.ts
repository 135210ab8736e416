/** Read-only fields in the inputs of operations; `platform/fields/read-only.ts` says what may be sent in them. */
import { z } from 'zod';

/** Adds the named fields to a schema, marked as read-only for the contracts. */
export function readOnly<const K extends string>(names: readonly K[]) {
  const field = z.unknown().optional().meta({ readOnly: true });
  return Object.fromEntries(names.map((name) => [name, field])) as Record<K, typeof field>;
}
