/** Makes the statement of a selection once for all equal selections. */
import type { JobInclude } from './job-include.js';
import { remembering } from './statement.js';

/** Calls `make` once for each include, on its first use. */
export function bySelection<Made extends object>(make: (include: JobInclude) => Made): (include: JobInclude) => Made {
  const made = remembering<Made>();
  return (include) => made(includeKey(include), () => make(include));
}

const keys = new WeakMap<JobInclude, string>();

/** A text that is the same for equal includes. */
export function includeKey(include: JobInclude): string {
  const known = keys.get(include);
  if (known !== undefined) return known;
  const key = keyOf(include);
  keys.set(include, key);
  return key;
}

function keyOf(include: JobInclude): string {
  return JSON.stringify(Object.entries(include).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
