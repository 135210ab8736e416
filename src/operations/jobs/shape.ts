/** The fields of a job that a homeowner fills in, for creation and editing. */
import type { z } from 'zod';
import { contradictionsIn, REQUIRED_FIELDS, type RequiredJobField } from '../../rules/editing.js';
import { JOB } from '../../rules/entities/job.js';
import { REQUIRED_TO_PUBLISH } from '../../rules/publishing.js';
import { across } from '../shapes.js';
import { writtenInputs } from '../written.js';

/** The descriptions of what creation requires already do not mention publishing. */
const neededToPublish = (name: string) =>
  REQUIRED_TO_PUBLISH.some((required) => required === name) && !REQUIRED_FIELDS.some((required) => required === name);

const fields = writtenInputs(JOB, (name, words) => (neededToPublish(name) ? `${words} Required to publish.` : words));

type OfEachRequired = Record<RequiredJobField, z.ZodType>;

const required = { title: fields.title.unwrap(), description: fields.description.unwrap() } satisfies OfEachRequired;

export const fieldsOfNewJob = { ...fields, ...required };

/** Every field accepts null, so that a title of null is refused by its own rule. */
const clearable = {
  title: fields.title.nullable(),
  description: fields.description.nullable(),
} satisfies OfEachRequired;

export const fieldsOfEditedJob = { ...fields, ...clearable };

const PAIRS = ['budgetMin', 'budgetMax', 'desiredStartDate', 'desiredCompletionDate'] as const;
type Pairs = { readonly [Name in (typeof PAIRS)[number]]: (typeof fieldsOfNewJob)[Name] };

/** Checks that two fields of a call agree with each other. Whether they fit the stored job is checked later. */
export function agreeing<Shape extends Pairs & z.ZodRawShape, Config extends z.core.$ZodObjectConfig>(
  schema: z.ZodObject<Shape, Config>,
): z.ZodObject<Shape, Config> {
  return across(schema, PAIRS, ({ budgetMin, budgetMax, desiredStartDate, desiredCompletionDate }) =>
    contradictionsIn({
      budgetMin: budgetMin ?? null,
      budgetMax: budgetMax ?? null,
      desiredStartDate: desiredStartDate ?? null,
      desiredCompletionDate: desiredCompletionDate ?? null,
    }),
  );
}
