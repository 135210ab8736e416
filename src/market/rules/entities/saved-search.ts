/** The searches that contractors save. Only their owner sees them. */
import { z } from 'zod';
import { entity } from '../../../platform/fields/entity.js';
import { enumOf, money, requiredText, text, timestamp } from '../../../platform/fields/values.js';
import { identifier } from '../id-fields.js';
import { NEAR_MILES_MAX, SAVED_SEARCHES, TEXT } from '../market-limits.js';
import { CHANNELS } from '../notifications.js';
import { JOB } from './job.js';

const line = text(TEXT.line).nullable();

export const SAVED_SEARCH_PLACE = entity('SavedSearchPlace', 'The place that a saved search looks near.', {
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
  'The jobs that a saved search finds. A null field or an empty list doesn’t restrict them.',
  {
    search: {
      type: text(TEXT.title).nullable(),
      description: 'Text that the job’s title or description contains, ignoring case.',
      example: 'water heater',
    },
    categories: {
      type: z.array(requiredText(TEXT.kind)).max(SAVED_SEARCHES.categoriesMax),
      description: 'The trades to find jobs in.',
      example: ['plumbing'],
    },
    urgency: { type: JOB.fields.urgency.type, description: 'The job’s urgency.', example: null },
    budgetMin: {
      type: money.nullable(),
      description: 'The lowest budget. Ranges match if they overlap.',
      example: 500,
    },
    budgetMax: {
      type: money.nullable(),
      description: 'The highest budget. Ranges match if they overlap.',
      example: null,
    },
    near: { type: SAVED_SEARCH_PLACE.schema.nullable(), description: 'The place that jobs are near.' },
  },
);

export const SAVED_SEARCH = entity(
  'SavedSearch',
  'A search that a contractor saved. When a job that matches it is published, the contractor gets the event on every ' +
    'channel, and an email if the search asks for one.',
  {
    id: identifier('savedSearch'),
    name: { type: requiredText(TEXT.name), description: 'The name.', example: 'Plumbing in Austin', written: true },
    filter: { type: SAVED_SEARCH_FILTER.schema, description: 'The jobs that the search finds.' },
    alert: {
      type: enumOf(CHANNELS, 'NotificationChannel'),
      description: 'When an email about a match is sent.',
      example: 'now',
      written: true,
    },
    createdAt: { type: timestamp, description: 'When the search was saved.' },
    updatedAt: { type: timestamp, description: 'When the search was last changed.' },
  },
);
