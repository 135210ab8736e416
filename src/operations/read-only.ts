/**
 * A client may send a whole resource back: a read-only field is accepted while its value is unchanged. Some fields
 * change by themselves, and are ignored.
 */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';

const MOVES_BY_ITSELF = new Set(['updatedAt', 'version']);

/** Whether such a field may be sent with any value, since it is ignored. */
export function isIgnored(name: string): boolean {
  return MOVES_BY_ITSELF.has(name);
}

/** Adds the named fields to a schema, marked as read-only for the contracts. */
export function readOnly<const K extends string>(names: readonly K[]) {
  const field = z.unknown().optional().meta({ readOnly: true });
  return Object.fromEntries(names.map((name) => [name, field])) as Record<K, typeof field>;
}

/** The read-only fields that were sent with another value than the stored one. */
export function changedReadOnly(names: readonly string[], sent: object, current: object): string[] {
  const given = new Map<string, unknown>(Object.entries(sent));
  const present = new Map<string, unknown>(Object.entries(current));
  const isSent = (name: string) => given.get(name) !== undefined && !isIgnored(name);
  return names.filter((name) => isSent(name) && !sameOnTheWire(given.get(name), present.get(name)));
}

/** Compares the sent value with the stored one as JSON shows it, in any order of an object's fields. */
function sameOnTheWire(sent: unknown, current: unknown): boolean {
  return isDeepStrictEqual(sent, JSON.parse(JSON.stringify(current ?? null)));
}
