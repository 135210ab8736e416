/** Builds the GraphQL schema from the resolvers. */
import 'reflect-metadata';
import { isObjectType, lexicographicSortSchema, type GraphQLInterfaceType, type GraphQLSchema } from 'graphql';
import { buildSchemaSync } from 'type-graphql';
import { locateFailures } from '../platform/graphql/failures.js';
import { AccountResolver } from './resolvers/accounts/accounts.js';
import { AdminActionResolver } from './resolvers/admins/admin-actions.js';
import { ApiKeyResolver } from './resolvers/accounts/api-keys.js';
import { BidResolver, HoldResolver, ViewerBidsResolver } from './resolvers/jobs/bids.js';
import { JobEventResolver } from './resolvers/events.js';
import { JobMutations } from './resolvers/jobs/job-mutations.js';
import { DisputeResolver, JobEdgeResolver, JobResolver, ViewerJobsResolver } from './resolvers/jobs/jobs.js';
import { ContractorEdgeResolver, ContractorResolver, HomeownerResolver, UserResolver } from './resolvers/people.js';
import { ReferenceResolver } from './resolvers/reference.js';
import { EmailsAndPasswordsResolver } from './resolvers/accounts/emails-and-passwords.js';
import { SessionResolver } from './resolvers/accounts/sessions.js';
import { StreamResolver } from './resolvers/streams.js';
import { WebhookResolver } from './resolvers/webhooks.js';
import { SuspensionResolver } from './resolvers/admins/suspension.js';
import { TokenResolver, TokenTransferResolver } from './resolvers/tokens.js';
import { typeOfNode } from './types/node.js';

const DESCRIPTIONS = {
  schema:
    'A marketplace for home improvement: homeowners post jobs, contractors bid, one bid is awarded, the work is ' +
    'done, reviewed and approved; disagreements are decided by an admin. Send `Authorization: Bearer …` with the ' +
    'token that `signUpHomeowner`, `signUpContractor` or `logIn` answers.',
  Query: 'What can be read. A field that the caller may not read is null, with an error that names the reason.',
  Mutation:
    'What can be done, one after another, whatever became of those before. A mutation that is refused is null and ' +
    'keeps nothing; where the `path` of an error leads below it, it was done, and only that part of its answer could ' +
    'not be read. A refusal is an entry in `errors`: its `message` is a sentence for a person, and its `extensions` ' +
    'hold `code` (an `ErrorCode`), `status` (what REST would answer), `requestId`, and what belongs to the code: ' +
    '`reason` (of some codes; see ErrorCode), `fields` (each wrong field and what is wrong with it), `blockedFields` ' +
    '(those that may not change now), `fromState` (as REST spells it: `in_progress`) and `allowedOperations` (the ' +
    'mutations that the caller can call instead), `required` and `available` tokens, `retryAfter` in seconds, ' +
    '`limit` (which one was reached, of RATE_LIMITED). Of more than fifty errors the rest is counted in ' +
    '`errorsLeftOut`.',
  Subscription:
    'Events as they happen: over WebSockets at `/graphql` (`graphql-transport-ws`, with the token in ' +
    '`connectionParams.authorization`), and as server-sent events at `/graphql/stream`. A client that subscribes ' +
    'again with `after`, the `position` of the last event that it has seen, misses no event.',
};

export function createSchema(): GraphQLSchema {
  const unsortedSchema = describe(
    buildSchemaSync({
      resolvers: [
        AccountResolver,
        UserResolver,
        HomeownerResolver,
        ContractorResolver,
        ContractorEdgeResolver,
        ApiKeyResolver,
        EmailsAndPasswordsResolver,
        SessionResolver,
        AdminActionResolver,
        SuspensionResolver,
        TokenResolver,
        TokenTransferResolver,
        JobResolver,
        DisputeResolver,
        JobEventResolver,
        JobMutations,
        BidResolver,
        HoldResolver,
        ViewerBidsResolver,
        JobEdgeResolver,
        ViewerJobsResolver,
        ReferenceResolver,
        StreamResolver,
        WebhookResolver,
      ],
      // type-graphql requires one if there are subscriptions. Here, each subscription opens its own stream.
      pubSub: { publish: throwOnPubSub, subscribe: throwOnPubSub },
      // The operations check their own input. A second check here could only differ.
      validate: false,
    }),
  );
  const schema = lexicographicSortSchema(unsortedSchema);
  // type-graphql would wrap synchronous values in promises.
  (schema.getType('Node') as GraphQLInterfaceType).resolveType = typeOfNode;
  locateAllFailures(schema);
  return schema;
}

function locateAllFailures(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      if (field.resolve) field.resolve = locateFailures(field.resolve);
      if (field.subscribe) field.subscribe = locateFailures(field.subscribe);
    }
  }
}

function throwOnPubSub(): never {
  throw new Error('Subscriptions open their own streams.');
}

function describe(schema: GraphQLSchema): GraphQLSchema {
  schema.description = DESCRIPTIONS.schema;
  for (const name of ['Query', 'Mutation', 'Subscription'] as const) {
    const type = schema.getType(name);
    if (type) type.description = DESCRIPTIONS[name];
  }
  return schema;
}
