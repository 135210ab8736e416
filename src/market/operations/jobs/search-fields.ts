/** The filters that lists of jobs and saved searches share, and their rules. */
import { z } from 'zod';
import { JOB } from '../../rules/entities/job.js';
import { contradictionsIn } from '../../rules/jobs/editing.js';
import { NEAR_MILES_MAX, NEAREST_MILES_MAX, SEARCHED_CATEGORIES_MAX, TEXT } from '../../rules/market-limits.js';
import { contradictionsInPlace, nearInputs, type NearInput } from '../places/near.js';
import { optionalText } from '../../../platform/fields/shapes.js';
import { money, requiredText } from '../../../platform/fields/values.js';

const { place, fields } = nearInputs('jobs', NEAR_MILES_MAX.jobs, NEAREST_MILES_MAX);

/** A query in REST is flat, so it has these fields instead of `near`. */
export const nearFields = fields;

const OPEN_ENDED =
  'If a job has only a minimum or only a maximum, its budget is unlimited on the other side. Jobs without a ' +
  'budget don’t match.';

export const searchFields = {
  search: optionalText(TEXT.title).describe('Only jobs whose title or description contains this text, ignoring case.'),
  categories: z
    .array(requiredText(TEXT.kind).describe('A trade.'))
    .min(1, 'must have at least one entry')
    .max(SEARCHED_CATEGORIES_MAX)
    .nullish()
    .describe(`Only jobs in one of these trades. There can be up to ${SEARCHED_CATEGORIES_MAX}.`),
  urgency: JOB.schema.shape.urgency.optional().describe('Only jobs with this urgency.'),
  budgetMin: money.nullish().describe(`Only jobs whose budget includes this amount or more. ${OPEN_ENDED}`),
  budgetMax: money.nullish().describe(`Only jobs whose budget includes this amount or less. ${OPEN_ENDED}`),
  near: place.nullish().describe('Only jobs near a place. The distance is measured to the center of the job’s city.'),
};

/** The fields that `contradictionsInSearch` compares. */
export const COMPARED = ['budgetMin', 'budgetMax', 'near'] as const;

interface Ranges extends NearInput {
  budgetMin?: number | null | undefined;
  budgetMax?: number | null | undefined;
}

/** Returns the fields that contradict each other or are missing. */
export function contradictionsInSearch({ budgetMin = null, budgetMax = null, near, ...flat }: Ranges) {
  return {
    ...contradictionsIn({ budgetMin, budgetMax, desiredStartDate: null, desiredCompletionDate: null }),
    ...contradictionsInPlace(near, flat),
  };
}
