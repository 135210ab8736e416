/**
 * Decides which job fields people can write, which of them a PUT can change in each state, and by how much (`EDITS`). A
 * PUT makes all of its changes or none.
 */
import { daysBetween } from '../../../platform/fields/values.js';
import { JOB } from '../entities/job.js';
import {
  requiredFields,
  settledFields,
  writtenFields,
  type RequiredField,
  type StoredRow,
  type WrittenField,
} from '../../../platform/fields/entity.js';
import { refuse, type RefusalCode } from '../errors.js';
import type { OTHER_JOB_ACTIONS } from '../lifecycle.js';
import { EDITS } from '../market-limits.js';
import { compareUrgency, costOfUrgency, REQUIRED_TO_PUBLISH } from './publishing.js';
import { changedReadOnly } from '../../../platform/fields/read-only.js';
import { isIn, type JobState } from '../states.js';

export type JobField = WrittenField<typeof JOB>;

/** Money has at most two decimal places, dates are valid calendar dates, and text is trimmed. */
export type JobFields = Pick<StoredRow<typeof JOB>, JobField>;

export type JobReadOnlyFields = Pick<StoredRow<typeof JOB>, (typeof READ_ONLY_FIELDS)[number]>;

/** Omitted fields are unchanged, and null clears a field. */
export type JobPatch = { [Field in JobField]?: JobFields[Field] | null } & {
  [Field in keyof JobReadOnlyFields]?: unknown;
};

export const JOB_FIELDS = writtenFields(JOB);

/** No edit can clear these fields. */
export const REQUIRED_FIELDS = requiredFields(JOB);
export type RequiredJobField = RequiredField<typeof JOB>;

/** A client may send back the whole job, so an unchanged value is accepted. A changed value is refused. */
export const READ_ONLY_FIELDS = settledFields(JOB);

type EditableState = (typeof OTHER_JOB_ACTIONS.update.from)[number];

/** A draft accepts everything that creation accepts. */
const EDITABLE_IN: { readonly [State in JobState]?: readonly JobField[] } = {
  draft: JOB_FIELDS,
  open: [
    'title',
    'description',
    'budgetMin',
    'budgetMax',
    'urgency',
    'desiredStartDate',
    'desiredCompletionDate',
    'requirements',
  ],
  awarded: ['desiredStartDate', 'desiredCompletionDate', 'requirements'],
  in_progress: ['desiredCompletionDate', 'requirements'],
} satisfies Record<EditableState, readonly JobField[]>;

export function editableFields({ status, changeRequestCount }: EditedJob): readonly JobField[] {
  const fields = EDITABLE_IN[status] ?? [];
  return changeRequestCount > 0 ? fields.filter((field) => field !== 'requirements') : fields;
}

interface EditedJob {
  readonly status: JobState;
  /** If the homeowner has requested changes, they can no longer change what the contractor has to meet. */
  readonly changeRequestCount: number;
}

/** The values that limit later edits. They're stored, so many small edits can't change more than one big edit could. */
export interface EditBases {
  /** The highest minimum budget since publication. */
  highestBudgetMin: number | null;
  highestBudgetMax: number | null;
  /** The most tokens ever paid for this job's urgency. */
  mostTokensPaid: number;
  /** The completion date at check-in. If the job had no date then, this is the first date that was set afterward. */
  completionDateAtCheckIn: string | null;
}

type JobWithBases = EditedJob & Readonly<JobFields & EditBases>;
type Budget = 'budgetMin' | 'budgetMax';

export type JobBeforeEdit = JobWithBases &
  Readonly<JobReadOnlyFields> & {
    /** The number of bids, except withdrawn ones and those from suspended contractors. */
    readonly bidsLimitingEdits: number;
  };

/** The fields that contractors read before they bid. */
const PUBLIC_FIELDS = JOB_FIELDS.filter((field) => !('readBy' in JOB.fields[field]));

/** True if an edit changes something that contractors may have based their bids on. */
export function changesPublicFields(changes: Partial<JobFields>): boolean {
  return PUBLIC_FIELDS.some((field) => field in changes);
}

export interface JobEdit {
  /** The fields whose values actually change. */
  changes: Partial<JobFields>;
  bases: Partial<EditBases>;
  /** The number of tokens to charge for raising the urgency. */
  charge: number;
}

/**
 * Throws the first refusal that applies, in the order of the calls below. A policy in `policies.ts` then decides
 * whether the user can pay the charge.
 */
export function checkEdit(job: JobBeforeEdit, patch: JobPatch): JobEdit {
  refuseReadOnly(job, patch);
  const changes = changesOf(job, patch);
  refuseNotEditable(job, changes);
  refuseBeyondLimits(job, changes);
  refuseCleared(job.status, changes);
  refuseContradictions(job, changes);
  const charge = chargeFor(job, changes);
  return { changes, bases: basesAfterEdit(job, { ...job, ...changes }, charge), charge };
}

/** Creating a job runs this check too. */
export function contradictionsIn(
  job: Pick<JobFields, 'budgetMin' | 'budgetMax' | 'desiredStartDate' | 'desiredCompletionDate'>,
) {
  const problems: Partial<Record<JobField, string>> = {};
  if (isAbove(job.budgetMin, job.budgetMax)) {
    problems.budgetMin = 'must not be greater than the maximum budget';
    problems.budgetMax = 'must not be less than the minimum budget';
  }
  if (isAbove(job.desiredStartDate, job.desiredCompletionDate)) {
    problems.desiredStartDate = 'must not be after the completion date';
    problems.desiredCompletionDate = 'must not be before the start date';
  }
  return problems;
}

type FieldPatch = Pick<JobPatch, JobField>;

function changesOf(job: JobFields, patch: FieldPatch): FieldPatch {
  const changes: FieldPatch = {};
  for (const field of JOB_FIELDS) {
    if (patch[field] !== undefined && patch[field] !== job[field]) copy(field, patch, changes);
  }
  return changes;
}

function copy<Field extends JobField>(field: Field, from: FieldPatch, to: FieldPatch): void {
  to[field] = from[field];
}

function refuseReadOnly(job: JobReadOnlyFields, patch: JobPatch): void {
  const changedFields = changedReadOnly(READ_ONLY_FIELDS, patch, job);
  if (changedFields.length > 0)
    throw refuse('VALIDATION_FAILED', { fields: each(changedFields, 'is set by the service and can’t be changed') });
}

function refuseNotEditable(job: EditedJob, changes: FieldPatch): void {
  const editable = editableFields(job);
  const blockedFields = fieldsOf(changes).filter((field) => !editable.includes(field));
  if (blockedFields.length > 0) throw refuse('FIELD_NOT_EDITABLE', { blockedFields });
}

type Problems = Partial<Record<JobField, string>>;

/** The limits are checked in this order. Each limit has its own refusal. */
const LIMITS = [
  ['BUDGET_DECREASE_TOO_LARGE', budgetProblems],
  ['URGENCY_LOCKED', urgencyProblems],
  ['COMPLETION_DATE_SHIFT_TOO_LARGE', completionDateProblems],
] as const satisfies readonly (readonly [RefusalCode, (job: JobBeforeEdit, changes: FieldPatch) => Problems])[];

export const CODES_OF_LIMITS = LIMITS.map(([code]) => code);

function refuseBeyondLimits(job: JobBeforeEdit, changes: FieldPatch): void {
  for (const [code, problemsOf] of LIMITS) {
    const fields = problemsOf(job, changes);
    if (Object.keys(fields).length > 0) throw refuse(code, { fields });
  }
}

function budgetProblems(job: JobBeforeEdit, changes: FieldPatch): Problems {
  const fields: Problems = {};
  if (!isIn('bidding', job.status)) return fields;
  for (const budget of ['budgetMin', 'budgetMax'] as const) {
    const highest = highestBudget(job, budget);
    const newValue = changes[budget];
    if (highest === null || newValue === undefined) continue;
    const lowest = lowestCents(highest);
    if (newValue === null || inCents(newValue) < lowest) fields[budget] = `must be at least ${lowest / 100}`;
  }
  return fields;
}

function lowestCents(highest: number): number {
  return Math.ceil((inCents(highest) * (100 - EDITS.budgetDecreasePercentMax)) / 100);
}

/** Removing the urgency doesn't count as lowering it. Removing a required field is always rejected later. */
function urgencyProblems(job: JobBeforeEdit, { urgency }: FieldPatch): Problems {
  if (!isIn('bidding', job.status) || job.bidsLimitingEdits === 0 || !urgency || !job.urgency) return {};
  return compareUrgency(urgency, job.urgency) < 0 ? { urgency: `must not be lower than ${job.urgency}` } : {};
}

function completionDateProblems(job: JobBeforeEdit, { desiredCompletionDate: newDate }: FieldPatch): Problems {
  const base = completionBase(job);
  if (!limitsCompletionDate(job.status) || base === null || newDate === undefined) return {};
  if (newDate !== null && Math.abs(daysBetween(base, newDate)) <= EDITS.completionShiftDaysMax) return {};
  return { desiredCompletionDate: `must be within ${EDITS.completionShiftDaysMax} days of ${base}` };
}

/** On a published job, the fields that publishing required can't be cleared either. */
function refuseCleared(state: JobState, changes: FieldPatch): asserts changes is Partial<JobFields> {
  const requiredNames: readonly (keyof JobFields)[] = isIn('unpublished', state)
    ? REQUIRED_FIELDS
    : REQUIRED_TO_PUBLISH;
  const clearedNames = requiredNames.filter((field) => changes[field] === null || changes[field] === '');
  if (clearedNames.length > 0) throw refuse('VALIDATION_FAILED', { fields: each(clearedNames, 'must not be blank') });
}

function refuseContradictions(job: JobFields, changes: Partial<JobFields>): void {
  const problems = Object.entries(contradictionsIn({ ...job, ...changes })).filter(([field]) => field in changes);
  if (problems.length > 0) throw refuse('VALIDATION_FAILED', { fields: Object.fromEntries(problems) });
}

function chargeFor(job: JobBeforeEdit, { urgency }: Partial<JobFields>): number {
  if (!isIn('bidding', job.status) || !urgency || !job.urgency) return 0;
  return compareUrgency(urgency, job.urgency) > 0 ? costOfUrgency(urgency, job.mostTokensPaid) : 0;
}

/** In a state without limits, the values that limit later edits don't change. */
function basesAfterEdit(before: JobWithBases, after: JobFields, charge: number): Partial<EditBases> {
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

/** Null if the budget was never set. The next budget can then have any value, and it limits later budgets. */
function highestBudget(job: JobWithBases, budget: Budget): number | null {
  return larger(job[HIGHEST[budget]], job[budget]);
}

/** Null if there was no date at check-in or since then. */
function completionBase(job: JobWithBases): string | null {
  return job.completionDateAtCheckIn ?? job.desiredCompletionDate;
}

function larger(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.max(a, b);
}

/** Amounts are compared in cents, because 90% of 0.7 isn't exactly 0.63 in floating-point arithmetic. */
function inCents(amount: number): number {
  return Math.round(amount * 100);
}

function isAbove<T extends number | string>(a: T | null, b: T | null): boolean {
  return a !== null && b !== null && a > b;
}

function fieldsOf(changes: FieldPatch): JobField[] {
  return JOB_FIELDS.filter((field) => field in changes);
}

function each(fields: readonly string[], problem: string): Record<string, string> {
  return Object.fromEntries(fields.map((field) => [field, problem]));
}
