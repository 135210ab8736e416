/** The fields of a job that a homeowner fills in, for creation and editing. */
import type { z } from 'zod';
import { contradictionsIn } from '../../rules/editing.js';
import { JOB } from '../../rules/entities/job.js';
import { REQUIRED_TO_PUBLISH } from '../../rules/publishing.js';
import { across } from '../shapes.js';
import { writtenInputs } from '../written.js';

/** Creation requires these fields already, so that their descriptions do not mention publishing. */
const ALWAYS_THERE: readonly string[] = ['title', 'description'];

const neededToPublish = (name: string) =>
  REQUIRED_TO_PUBLISH.some((required) => required === name) && !ALWAYS_THERE.includes(name);

const fields = writtenInputs(JOB, (name, words) => (neededToPublish(name) ? `${words} Required to publish.` : words));

export const fieldsOfNewJob = { ...fields, title: fields.title.unwrap(), description: fields.description.unwrap() };

/** Every field accepts null, so that a title of null is refused by its own rule. */
export const fieldsOfEditedJob = {
  ...fields,
  title: fields.title.nullable(),
  description: fields.description.nullable(),
};

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
