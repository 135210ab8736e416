/** The inputs of operations on a job: which job, and the fields that a homeowner fills in. */
import { z } from 'zod';
import { contradictionsIn, REQUIRED_FIELDS, type RequiredJobField } from '../../rules/jobs/editing.js';
import { JOB } from '../../rules/entities/job.js';
import type { JobId } from '../../rules/ids.js';
import { REQUIRED_TO_PUBLISH } from '../../rules/jobs/publishing.js';
import { withRule } from '../../../platform/fields/shapes.js';
import { idInPath } from '../../rules/id-fields.js';
import { writtenInputs } from '../../../platform/fields/entity.js';

/** The parameters of an operation on one job: the path and a header in REST, separate arguments in GraphQL. */
export const ofJob = {
  id: idInPath('job').describe('The job.'),
  expectedVersion: z
    .int()
    .nullish()
    .meta({ parameter: true })
    .describe('Fails with `STALE_VERSION` if the job has changed since this version.'),
};

export interface JobAddress {
  id: JobId;
  expectedVersion?: number | null | undefined;
}

/** The descriptions of fields that creation already requires don't mention publishing. */
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

/** Every field accepts null, so a null title is refused by its own rule. */
const clearable = {
  title: fields.title.nullable(),
  description: fields.description.nullable(),
} satisfies ShapesOfRequired;

export const fieldsOfEditedJob = { ...fields, ...clearable };

const PAIRS = ['budgetMin', 'budgetMax', 'desiredStartDate', 'desiredCompletionDate'] as const;
type Pairs = { readonly [Name in (typeof PAIRS)[number]]: (typeof fieldsOfNewJob)[Name] };

/** Checks that two fields of a call agree with each other. Whether they fit the stored job is checked later. */
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
