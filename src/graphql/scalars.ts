/** The scalars for times and dates. */
import { GraphQLScalarType } from 'graphql';

export const DateTimeScalar = new GraphQLScalarType({
  name: 'DateTime',
  description: 'A timestamp in UTC with milliseconds, in ISO 8601: `2026-05-04T12:30:00.000Z`.',
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time',
  serialize: (value) => (value instanceof Date ? value.toISOString() : value),
  // A string internally. As for REST, the operation's own schema checks that it is a time.
  parseValue: (value) => value,
});

/** A string internally. As for REST, the operation's own schema checks that it is a date. */
export const DateScalar = new GraphQLScalarType({
  name: 'Date',
  description: 'A calendar date without a time zone: `2026-05-04`. In input, an empty string counts as null.',
  serialize: (value) => value,
  parseValue: (value) => value,
});

/** An event's payload differs by type. Fields that the viewer may not read have already been removed. */
export const JsonScalar = new GraphQLScalarType({
  name: 'JSON',
  description: 'A JSON object. Its fields depend on the object that contains it.',
  serialize: (value) => value,
});
