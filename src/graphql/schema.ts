/** The GraphQL schema: the resolvers, put together once. */
import 'reflect-metadata';
import { lexicographicSortSchema, type GraphQLInterfaceType, type GraphQLSchema } from 'graphql';
import { buildSchemaSync } from 'type-graphql';
import { callDirectly, refuseMiddlewares } from './direct.js';
import { AccountResolver } from './resolvers/accounts.js';
import { BidResolver, ViewerBidsResolver } from './resolvers/bids.js';
import { JobMutations } from './resolvers/job-mutations.js';
import { JobResolver } from './resolvers/jobs.js';
import { ContractorResolver, HomeownerResolver } from './resolvers/people.js';
import { ReferenceResolver } from './resolvers/reference.js';
import { TokenResolver } from './resolvers/tokens.js';
import { typeOfNode } from './types/node.js';

export function createSchema(): GraphQLSchema {
  refuseMiddlewares();
  const schema = lexicographicSortSchema(
    buildSchemaSync({
      resolvers: [
        AccountResolver,
        HomeownerResolver,
        ContractorResolver,
        TokenResolver,
        JobResolver,
        JobMutations,
        BidResolver,
        ViewerBidsResolver,
        ReferenceResolver,
      ],
      // The operations check their own input; a second opinion here could only differ.
      validate: false,
    }),
  );
  // The library makes a promise of what is known at once.
  (schema.getType('Node') as GraphQLInterfaceType).resolveType = typeOfNode;
  return callDirectly(schema);
}
