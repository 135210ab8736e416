/** Which fields of a job people write, which they only send back, and which a PUT may change in which state. */
import { JOB } from './entities/job.js';
import {
  requiredFields,
  settledFields,
  writtenFields,
  type RequiredField,
  type Stored,
  type WrittenField,
} from './entity.js';
import type { OTHER_JOB_ACTIONS } from './lifecycle.js';
import type { JobState } from './states.js';

export type JobField = WrittenField<typeof JOB>;

/** The fields that a person fills in. Money has at most two decimals, dates are real days, texts are trimmed. */
export type JobFields = Pick<Stored<typeof JOB>, JobField>;

/** The fields that the service sets, which a client may send back as it read them. */
export type JobReadOnlyFields = Pick<Stored<typeof JOB>, (typeof READ_ONLY_FIELDS)[number]>;

/** Absent is untouched, null is cleared. */
export type JobPatch = { [Field in JobField]?: JobFields[Field] | null } & {
  [Field in keyof JobReadOnlyFields]?: unknown;
};

export const JOB_FIELDS = writtenFields(JOB);

/** Creation asks for them, and no edit clears them. */
export const REQUIRED_FIELDS = requiredFields(JOB);
export type RequiredJobField = RequiredField<typeof JOB>;

/** A changed one is refused, an unchanged one is not: a client may send a job back whole. */
export const READ_ONLY_FIELDS = settledFields(JOB);

/** The states in which `update` is allowed. */
type EditedState = (typeof OTHER_JOB_ACTIONS.update.from)[number];

/** A draft takes all that creation takes. What is not listed is read-only. */
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
} satisfies Record<EditedState, readonly JobField[]>;

export function editableFields(state: JobState): readonly JobField[] {
  return EDITABLE_IN[state] ?? [];
}
