/** Moments and days as they are on the wire. */
import { GraphQLScalarType } from 'graphql';

export const DateTimeScalar = new GraphQLScalarType({
  name: 'DateTime',
  description: 'A moment in UTC with milliseconds, as ISO 8601: `2026-05-04T12:30:00.000Z`.',
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time',
  serialize: (value) => (value instanceof Date ? value.toISOString() : value),
  // A string inside: what is a moment is for the operation's own schema to say, as it does for REST.
  parseValue: (value) => value,
});

/** A string inside: which days exist is for the operation's own schema to say, as it does for REST. */
export const DateScalar = new GraphQLScalarType({
  name: 'Date',
  description: 'A calendar day, in no time zone: `2026-05-04`. An empty text that is sent counts as null.',
  serialize: (value) => value,
  parseValue: (value) => value,
});

/** What an event holds besides its columns differs by type; it is redacted before it comes here. */
export const JsonScalar = new GraphQLScalarType({
  name: 'JSON',
  description: 'An object whose fields depend on what it belongs to.',
  serialize: (value) => value,
});
