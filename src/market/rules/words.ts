/** Names as people write them in sentences. */

/** `in_progress` as people write it. */
export function wordsOf(name: string): string {
  return name.toLowerCase().replaceAll('_', ' ');
}

const DISJUNCTION = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** `pending, viewed or shortlisted`. */
export function eitherOf(names: readonly string[]): string {
  return DISJUNCTION.format(names.map(wordsOf));
}
