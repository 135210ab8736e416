/** Lets a client send a whole resource back. Read-only fields must be unchanged, unless they change on their own. */
import { z } from 'zod';

const CHANGES_BY_ITSELF = new Set(['updatedAt', 'version', 'warnings', 'isOutdated']);

/** True if the field may be sent with any value because it is ignored. */
export function isIgnored(name: string): boolean {
  return CHANGES_BY_ITSELF.has(name);
}

/** The read-only fields that were sent with a value other than the stored one. */
export function changedReadOnly(names: readonly string[], input: object, row: object): string[] {
  const newValues = new Map<string, unknown>(Object.entries(input));
  const storedValues = new Map<string, unknown>(Object.entries(row));
  const isSent = (name: string) => newValues.get(name) !== undefined && !isIgnored(name);
  return names.filter((name) => isSent(name) && !isSame(newValues.get(name), storedValues.get(name)));
}

/**
 * Clients can write the same point in time in several ways. Everything else is compared as JSON, with fields in any
 * order.
 */
function isSame(newValue: unknown, storedValue: unknown): boolean {
  if (!(storedValue instanceof Date)) return inJson(newValue) === inJson(storedValue);
  return (
    (newValue instanceof Date || typeof newValue === 'string') && new Date(newValue).getTime() === storedValue.getTime()
  );
}

function inJson(value: unknown): string {
  return JSON.stringify(value ?? null, (_name, part: unknown) => {
    // A number that is too large for JSON.parse would otherwise be written as null.
    if (typeof part === 'number' && !Number.isFinite(part)) return { tooLarge: true };
    return isObject(part) ? inOrder(part) : part;
  });
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function inOrder(value: object): object {
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** Adds the named fields to a schema, marked as read-only for the contracts. */
export function readOnly<const K extends string>(names: readonly K[]) {
  const field = z.unknown().optional().meta({ readOnly: true });
  return Object.fromEntries(names.map((name) => [name, field])) as Record<K, typeof field>;
}
