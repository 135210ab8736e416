/** For example, turns `in_progress` into `in progress`. */
export function wordsOf(name: string): string {
  return name.toLowerCase().replaceAll('_', ' ');
}

const DISJUNCTION = new Intl.ListFormat('en-US', { type: 'disjunction' });

/** Returns a phrase such as `pending, viewed, or shortlisted`. */
export function eitherOf(names: readonly string[], write = wordsOf): string {
  return DISJUNCTION.format(names.map(write));
}
