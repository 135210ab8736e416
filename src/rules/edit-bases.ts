/**
 * What the limits on edits measure against. These figures are kept with the job, so that many small edits reach no
 * further than one big edit would.
 */
import type { Effect } from './effects.js';
import type { JobFields } from './job-fields.js';
import { isIn, type JobState } from './states.js';

export interface EditBases {
  /** The highest value since publication. */
  highestBudgetMin: number | null;
  highestBudgetMax: number | null;
  /** The most tokens ever paid for this job's urgency. */
  mostTokensPaid: number;
  /** The completion date at check-in or, where there was none, the first one given after it. */
  completionDateAtCheckIn: string | null;
}

export type JobWithBases = Readonly<{ status: JobState } & JobFields & EditBases>;
export type Budget = 'budgetMin' | 'budgetMax';

/**
 * The bases that a transition sets, each to the value of the field that it names; `mostTokensPaid` is set by
 * `chargePublishing`.
 */
export const BASES_TAKEN = {
  keepBudgets: { highestBudgetMin: 'budgetMin', highestBudgetMax: 'budgetMax' },
  keepCompletionDate: { completionDateAtCheckIn: 'desiredCompletionDate' },
} as const satisfies { readonly [Name in Effect]?: Partial<Record<keyof EditBases, keyof JobFields>> };

/** What the job keeps after an edit that was accepted; a state without limits moves nothing. */
export function basesAfterEdit(before: JobWithBases, after: JobFields, charge: number): Partial<EditBases> {
  if (isIn('bidding', before.status))
    return {
      highestBudgetMin: larger(highestBudget(before, 'budgetMin'), after.budgetMin),
      highestBudgetMax: larger(highestBudget(before, 'budgetMax'), after.budgetMax),
      mostTokensPaid: before.mostTokensPaid + charge,
    };
  if (limitsCompletionDate(before.status))
    return { completionDateAtCheckIn: completionBase(before) ?? after.desiredCompletionDate };
  return {};
}

export function limitsCompletionDate(state: JobState): boolean {
  return isIn('work', state);
}

const HIGHEST = { budgetMin: 'highestBudgetMin', budgetMax: 'highestBudgetMax' } as const satisfies Record<
  Budget,
  keyof EditBases
>;

/** Null where the budget was never given: then the next one is free, and becomes the base. */
export function highestBudget(job: JobWithBases, budget: Budget): number | null {
  return larger(job[HIGHEST[budget]], job[budget]);
}

/** Null where there was no date at check-in and none since. */
export function completionBase(job: JobWithBases): string | null {
  return job.completionDateAtCheckIn ?? job.desiredCompletionDate;
}

function larger(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.max(a, b);
}
