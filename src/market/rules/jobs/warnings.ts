/** Warns about fields that may keep contractors from finding a job. They're free text, so nothing is rejected. */
import { CATALOG } from './catalog.js';
import type { JOB_WARNING } from '../entities/job.js';
import type { JobFields } from './editing.js';
import type { ShownRow } from '../../../platform/fields/entity.js';
import { isIn, type JobState } from '../states.js';

export type JobWarning = ShownRow<typeof JOB_WARNING>;

export interface KnownPlaces {
  readonly byZip: { readonly city: string; readonly state: string } | undefined;
  readonly byCity: object | undefined;
  /** The distance between the two places, in miles. Null unless the places contradict each other. */
  readonly milesApart: number | null;
}

type WarnedJob = Readonly<
  Pick<JobFields, 'category' | 'zipCode' | 'city' | 'state' | 'desiredStartDate' | 'desiredCompletionDate'>
>;

/** Once a job is awarded or has ended, contractors don't need to find it. */
export function canHaveWarnings(status: JobState): boolean {
  return isIn('unpublished', status) || isIn('bidding', status);
}

export function warningsOf(job: WarnedJob, places: KnownPlaces, now: Date): JobWarning[] {
  return [...categoryWarnings(job), ...placeWarnings(job, places), ...dateWarnings(job, now)];
}

function categoryWarnings({ category }: WarnedJob): JobWarning[] {
  if (category === null || CATALOG.categories.some((known) => known === category)) return [];
  const nearest = nearestCategory(category);
  const advice = nearest ? `Did you mean “${nearest}”?` : 'Contractors who search by category may not find the job.';
  const message = `“${category}” is not a category in the catalog. ${advice}`;
  return [{ code: 'UNKNOWN_CATEGORY', field: 'category', message }];
}

function nearestCategory(category: string): string | undefined {
  const word = category.toLowerCase().replaceAll(/[\s-]+/g, '_');
  const [nearest] = CATALOG.categories
    .map((known) => ({ known, typos: editDistance(word, known) }))
    .toSorted((one, other) => one.typos - other.typos);
  return nearest && nearest.typos <= Math.max(1, Math.floor(word.length / 3)) ? nearest.known : undefined;
}

/** The Levenshtein distance. */
function editDistance(one: string, other: string): number {
  let row = [...other, ''].map((_, at) => at);
  for (const [line, letter] of [...one].entries()) {
    const next = [line + 1];
    for (const [at, known] of [...other].entries()) {
      const [above = 0, before = 0] = row.slice(at);
      next.push(Math.min((next[at] ?? 0) + 1, before + 1, above + (letter === known ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

function placeWarnings({ zipCode, city, state }: WarnedJob, { byZip, byCity, milesApart }: KnownPlaces): JobWarning[] {
  const warnings: JobWarning[] = [];
  const warn = (code: JobWarning['code'], field: string, message: string) => warnings.push({ code, field, message });
  if (zipCode && !byZip) warn('UNKNOWN_PLACE', 'zipCode', `We don’t know the US ZIP code “${zipCode}”. Check it.`);
  if (city && state && !byCity) {
    const effect = 'Contractors who search near a place won’t find the job.';
    warn('UNKNOWN_PLACE', 'city', `We don’t know a US city “${city}” in “${state}”. ${effect}`);
  }
  if (byZip && milesApart !== null) {
    const there = `${byZip.city}, ${byZip.state}, ${milesApart} miles from ${city}, ${state}`;
    const advice = 'We use the city. Correct whichever is wrong.';
    warn('PLACE_MISMATCH', 'zipCode', `ZIP code ${zipCode} is in ${there}. ${advice}`);
  }
  return warnings;
}

const DATES = [
  ['desiredStartDate', 'start date'],
  ['desiredCompletionDate', 'completion date'],
] as const;

function dateWarnings(job: WarnedJob, now: Date): JobWarning[] {
  const today = earliestDate(now);
  return DATES.flatMap(([field, noun]) => {
    const date = job[field];
    if (date === null || date >= today) return [];
    return [{ code: 'DATE_IN_PAST', field, message: `The ${noun} (${date}) is in the past.` } as const];
  });
}

const HOURS_BEHIND_UTC_MAX = 12;

/** Returns today's date in the time zone that reaches it last. Every earlier date is in the past everywhere. */
function earliestDate(now: Date): string {
  return new Date(now.getTime() - HOURS_BEHIND_UTC_MAX * 3_600_000).toISOString().slice(0, 'YYYY-MM-DD'.length);
}
