/**
 * What a job says, who may say it and when: the fields a person fills in, those the service sets, and which a PUT may
 * change.
 */
import type { BidId, HomeownerId, JobId } from './ids.js';
import type { JobState } from './lifecycle.js';
import type { Urgency } from './publishing.js';

/** The fields that a person fills in. Money has at most two decimals, dates are real days, texts are trimmed. */
export interface JobFields {
  title: string;
  description: string;
  category: string | null;
  budgetMin: number | null;
  budgetMax: number | null;
  urgency: Urgency | null;
  addressLine1: string | null;
  addressLine2: string | null;
  city: string | null;
  state: string | null;
  zipCode: string | null;
  country: string | null;
  desiredStartDate: string | null;
  desiredCompletionDate: string | null;
  requirements: string | null;
}
export type JobField = keyof JobFields;

/** The fields that the service sets, which a client may send back as it read them. */
export interface JobReadOnlyFields {
  id: JobId;
  status: JobState;
  latitude: number | null;
  longitude: number | null;
  homeownerId: HomeownerId;
  awardedBidId: BidId | null;
  createdAt: Date;
}

/** Absent is untouched, null is cleared. `updatedAt` and `version` are ignored wherever they come along. */
export type JobPatch = { [Field in JobField]?: JobFields[Field] | null } & {
  [Field in keyof JobReadOnlyFields]?: unknown;
};

export const JOB_FIELDS = [
  'title',
  'description',
  'category',
  'budgetMin',
  'budgetMax',
  'urgency',
  'addressLine1',
  'addressLine2',
  'city',
  'state',
  'zipCode',
  'country',
  'desiredStartDate',
  'desiredCompletionDate',
  'requirements',
] as const satisfies readonly JobField[];

/** A changed one is refused, an unchanged one is not: a client may send a job back whole. */
export const READ_ONLY_FIELDS = [
  'id',
  'status',
  'latitude',
  'longitude',
  'homeownerId',
  'awardedBidId',
  'createdAt',
] as const satisfies readonly (keyof JobReadOnlyFields)[];

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
};

export function editableFields(state: JobState): readonly JobField[] {
  return EDITABLE_IN[state] ?? [];
}
