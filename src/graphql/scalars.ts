/** The scalars for times and dates. */
import { GraphQLScalarType } from 'graphql';

export const DateTimeScalar = new GraphQLScalarType({
  name: 'DateTime',
  description: 'A moment in UTC with milliseconds, as ISO 8601: `2026-05-04T12:30:00.000Z`.',
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time',
  serialize: (value) => (value instanceof Date ? value.toISOString() : value),
  // Internally a string: the operation's own schema checks that it is a time, as for REST.
  parseValue: (value) => value,
});

/** Internally a string: the operation's own schema checks that it is a date, as for REST. */
export const DateScalar = new GraphQLScalarType({
  name: 'Date',
  description: 'A calendar day, in no time zone: `2026-05-04`. An empty text that is sent counts as null.',
  serialize: (value) => value,
  parseValue: (value) => value,
});

/** The payload of an event differs by type; fields that the viewer may not read are removed before this. */
export const JsonScalar = new GraphQLScalarType({
  name: 'JSON',
  description: 'An object whose fields depend on what it belongs to.',
  serialize: (value) => value,
});
