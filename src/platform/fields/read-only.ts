/** Lets clients send a whole resource back. Read-only fields must match, except those that change on their own. */
import { z } from 'zod';

const CHANGES_BY_ITSELF = new Set(['updatedAt', 'version', 'warnings', 'isOutdated', 'distance', 'emailProblem']);

/** True for fields that clients may send with any value. */
export function isIgnored(name: string): boolean {
  return CHANGES_BY_ITSELF.has(name);
}

/** The read-only fields whose submitted values differ from the stored ones. */
export function changedReadOnly(names: readonly string[], input: object, row: object): string[] {
  const newValues = new Map<string, unknown>(Object.entries(input));
  const storedValues = new Map<string, unknown>(Object.entries(row));
  const isSent = (name: string) => newValues.get(name) !== undefined && !isIgnored(name);
  return names.filter((name) => isSent(name) && !isSame(newValues.get(name), storedValues.get(name)));
}

/** Clients can write one point in time in several ways. Everything else is compared as JSON, in any field order. */
function isSame(newValue: unknown, storedValue: unknown): boolean {
  if (!(storedValue instanceof Date)) return inJson(newValue) === inJson(storedValue);
  return (
    (newValue instanceof Date || typeof newValue === 'string') && new Date(newValue).getTime() === storedValue.getTime()
  );
}

function inJson(value: unknown): string {
  return JSON.stringify(value ?? null, (_name, part: unknown) => {
    // JSON would turn a number that is too large into null.
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

export function readOnly<const K extends string>(names: readonly K[]) {
  const field = z.unknown().optional().meta({ readOnly: true });
  return Object.fromEntries(names.map((name) => [name, field])) as Record<K, typeof field>;
}
