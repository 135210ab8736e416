/** The searches that contractors save. Only their owner sees them. */
import { z } from 'zod';
import { entity } from '../../../platform/fields/entity.js';
import { enumOf, money, requiredText, text, timestamp } from '../../../platform/fields/values.js';
import { identifier } from '../id-fields.js';
import { NEAR_MILES_MAX, SEARCHED_CATEGORIES_MAX, TEXT } from '../market-limits.js';
import { CHANNELS } from '../notifications.js';
import { JOB } from './job.js';

const line = text(TEXT.line).nullable();

export const SAVED_SEARCH_PLACE = entity('SavedSearchPlace', 'The place near which a saved search finds jobs.', {
  zipCode: { type: line, description: 'The US ZIP code. Null if the search has a city.', example: '78704' },
  city: { type: line, description: 'The US city. Null if the search has a ZIP code.', example: null },
  state: { type: line, description: 'The city’s state. Null if the search has a ZIP code.', example: null },
  withinMiles: {
    type: z.number().min(1).max(NEAR_MILES_MAX.jobs),
    description: 'The maximum distance in miles, measured to the center of the job’s city.',
    example: 25,
  },
});

export const SAVED_SEARCH_FILTER = entity(
  'SavedSearchFilter',
  'The filter of a saved search. A null field or an empty list matches all jobs.',
  {
    search: {
      type: text(TEXT.title).nullable(),
      description: 'Text that the job’s title or description contains, ignoring case.',
      example: 'water heater',
    },
    categories: {
      type: z.array(requiredText(TEXT.kind)).max(SEARCHED_CATEGORIES_MAX),
      description: 'The trades. A job matches if it’s in one of them.',
      example: ['plumbing'],
    },
    urgency: { type: JOB.fields.urgency.type, description: 'The job’s urgency.', example: null },
    budgetMin: {
      type: money.nullable(),
      description: 'The lower end of the budget range. A job matches if its budget overlaps the range.',
      example: 500,
    },
    budgetMax: {
      type: money.nullable(),
      description: 'The upper end of the budget range. A job matches if its budget overlaps the range.',
      example: null,
    },
    near: { type: SAVED_SEARCH_PLACE.schema.nullable(), description: 'The place to find jobs near.' },
  },
);

export const SAVED_SEARCH = entity(
  'SavedSearch',
  'A contractor’s saved search. When a matching job is published, the contractor gets the event in `myEvents`, in ' +
    'their notifications, from their webhooks, and by email if `alert` says so.',
  {
    id: identifier('savedSearch'),
    name: { type: requiredText(TEXT.name), description: 'The name.', example: 'Plumbing in Austin', written: true },
    filter: { type: SAVED_SEARCH_FILTER.schema, description: 'The jobs that the search finds.' },
    alert: {
      type: enumOf(CHANNELS, 'NotificationChannel'),
      description: 'When the contractor is emailed about a match.',
      example: 'now',
      written: true,
    },
    createdAt: { type: timestamp, description: 'When the search was saved.' },
    updatedAt: { type: timestamp, description: 'When the search was last changed.' },
  },
);
