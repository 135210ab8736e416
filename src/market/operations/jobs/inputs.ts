/** The inputs of `createJob` and `updateJob`, and the checks of related fields. */
import { z } from 'zod';
import { contradictionsIn, REQUIRED_FIELDS, type RequiredJobField } from '../../rules/jobs/editing.js';
import { JOB } from '../../rules/entities/job.js';
import type { JobId } from '../../rules/ids.js';
import { REQUIRED_TO_PUBLISH } from '../../rules/jobs/publishing.js';
import { withRule } from '../../../platform/fields/shapes.js';
import { idInPath } from '../../rules/id-fields.js';
import { writtenInputs } from '../../../platform/fields/entity.js';

/** REST sends these fields in the path and a header. GraphQL sends them as separate arguments. */
export const ofJob = {
  id: idInPath('job').describe('The job.'),
  expectedVersion: z
    .int32()
    .nullish()
    .meta({ parameter: true })
    .describe('Fails with `STALE_VERSION` if the job has changed since this version.'),
};

export interface JobAddress {
  id: JobId;
  expectedVersion?: number | null | undefined;
}

/** Publishing requires these fields but creation doesn't, so only their descriptions mention publishing. */
const neededToPublish = (name: string) =>
  REQUIRED_TO_PUBLISH.some((requiredField) => requiredField === name) &&
  !REQUIRED_FIELDS.some((requiredField) => requiredField === name);

const fields = writtenInputs(JOB, (name, words) => (neededToPublish(name) ? `${words} Required to publish.` : words));

type ShapesOfRequired = Record<RequiredJobField, z.ZodType>;

const requiredShapes = {
  title: fields.title.unwrap(),
  description: fields.description.unwrap(),
} satisfies ShapesOfRequired;

export const fieldsOfNewJob = { ...fields, ...requiredShapes };

/** An edit accepts null in every field. The rule for required fields then refuses a null title. */
const clearable = {
  title: fields.title.nullable(),
  description: fields.description.nullable(),
} satisfies ShapesOfRequired;

export const fieldsOfEditedJob = { ...fields, ...clearable };

const PAIRS = ['budgetMin', 'budgetMax', 'desiredStartDate', 'desiredCompletionDate'] as const;
type Pairs = { readonly [Name in (typeof PAIRS)[number]]: (typeof fieldsOfNewJob)[Name] };

/** Checks related fields of a call against each other. A later check compares them with the stored job. */
export function withFieldRules<Shape extends Pairs & z.ZodRawShape, Config extends z.core.$ZodObjectConfig>(
  schema: z.ZodObject<Shape, Config>,
): z.ZodObject<Shape, Config> {
  return withRule(schema, PAIRS, ({ budgetMin, budgetMax, desiredStartDate, desiredCompletionDate }) =>
    contradictionsIn({
      budgetMin: budgetMin ?? null,
      budgetMax: budgetMax ?? null,
      desiredStartDate: desiredStartDate ?? null,
      desiredCompletionDate: desiredCompletionDate ?? null,
    }),
  );
}
