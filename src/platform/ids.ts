/** IDs: a prefix for the type of object, and a KSUID. */
import ksuid from 'ksuid';

export type PrefixedId<P extends string = string> = `${P}_${string}`;

export const ID_RANDOM_BYTES = 16;

/** Builds an ID from a time, rounded down to the second, and 16 bytes. */
export function idFrom<P extends string>(prefix: P, milliseconds: number, bytes: Buffer): PrefixedId<P> {
  return `${prefix}_${ksuid.fromParts(milliseconds, bytes).string}`;
}

/** The largest 20-byte value in base 62. A larger 27-character string isn't a KSUID. */
const LARGEST_KSUID = 'aWgEPTl1tmebfsQzFP4bxwgy80V';

export function hasPrefix<P extends string>(prefix: P, value: unknown): value is PrefixedId<P> {
  if (typeof value !== 'string') return false;
  const rest = value.slice(prefix.length + 1);
  return value.startsWith(`${prefix}_`) && /^[0-9A-Za-z]{27}$/.test(rest) && rest <= LARGEST_KSUID;
}

export function idPattern(prefix: string): string {
  return `^${prefix}_[0-9A-Za-z]{27}$`;
}

export function exampleId<P extends string>(prefix: P): PrefixedId<P> {
  return `${prefix}_2b9Xv0cJ5q7hT3nKz8LmRw4YdPe`;
}
