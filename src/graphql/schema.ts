/** The GraphQL schema: the resolvers, put together once. */
import 'reflect-metadata';
import { lexicographicSortSchema, type GraphQLSchema } from 'graphql';
import { buildSchemaSync } from 'type-graphql';
import { AccountResolver } from './resolvers/accounts.js';
import { TokenResolver } from './resolvers/tokens.js';

export function createSchema(): GraphQLSchema {
  return lexicographicSortSchema(
    buildSchemaSync({
      resolvers: [AccountResolver, TokenResolver],
      // The operations check their own input; a second opinion here could only differ.
      validate: false,
    }),
  );
}
