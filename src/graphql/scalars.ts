/** The scalars for times and dates. */
import { GraphQLScalarType } from 'graphql';

export const DateTimeScalar = new GraphQLScalarType({
  name: 'DateTime',
  description: 'A moment in UTC with milliseconds, as ISO 8601: `2026-05-04T12:30:00.000Z`.',
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time',
  serialize: (value) => (value instanceof Date ? value.toISOString() : value),
  // A string internally. As for REST, the operation's own schema checks that it is a time.
  parseValue: (value) => value,
});

/** A string internally. As for REST, the operation's own schema checks that it is a date. */
export const DateScalar = new GraphQLScalarType({
  name: 'Date',
  description: 'A calendar day, in no time zone: `2026-05-04`. An empty text that is sent counts as null.',
  serialize: (value) => value,
  parseValue: (value) => value,
});

/** An event's payload differs by type. Fields that the viewer may not read have already been removed. */
export const JsonScalar = new GraphQLScalarType({
  name: 'JSON',
  description: 'An object whose fields depend on what it belongs to.',
  serialize: (value) => value,
});
