/** Builds the GraphQL schema from the resolvers, and describes its root types. */
import 'reflect-metadata';
import {
  isObjectType,
  lexicographicSortSchema,
  type GraphQLInterfaceType,
  type GraphQLSchema,
  type GraphQLUnionType,
} from 'graphql';
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
import { NotificationResolver, ViewerNotificationsResolver } from './resolvers/notifications.js';
import { ReferenceResolver } from './resolvers/reference.js';
import { EmailsAndPasswordsResolver } from './resolvers/accounts/emails-and-passwords.js';
import { SessionResolver } from './resolvers/accounts/sessions.js';
import { StreamResolver } from './resolvers/streams.js';
import { SavedSearchResolver, ViewerSavedSearchesResolver } from './resolvers/saved-searches.js';
import { WebhookResolver } from './resolvers/webhooks.js';
import { SuspensionResolver } from './resolvers/admins/suspension.js';
import { PurchaseResolver, ViewerPurchasesResolver } from './resolvers/purchases.js';
import { TokenResolver, TokenTransferResolver } from './resolvers/tokens.js';
import { typeOfNode } from './types/node.js';

const DESCRIPTIONS = {
  schema:
    'A marketplace for home improvement. Homeowners post jobs, and contractors bid on them. A homeowner awards a job ' +
    'to one bid, then approves the finished work. Admins decide disputes. To authenticate, send the `token` from ' +
    '`signUpHomeowner`, `signUpContractor`, or `logIn` as `Authorization: Bearer …`.',
  Query: 'Everything you can read. A field that you can’t read is null, and an error says why.',
  Mutation:
    'Everything you can do. Mutations in one document run in order. If one fails, the later ones still run. A ' +
    'mutation that fails returns null and changes nothing, with two exceptions. If `buyTokens` or `refundPurchase` ' +
    'fails after its change was committed, such as when the payment provider can’t be reached, the purchase or ' +
    'refund is kept. If `refreshSession` gets a token that was already used, the session ends. If an error’s `path` ' +
    'points inside a mutation’s result, the mutation succeeded, and only that part of the result couldn’t be read. ' +
    'Each error has a `message` that you can show to the user. Its `extensions` always include `code` (an ' +
    '`ErrorCode`), `status` (the HTTP status in REST), and `requestId`. Depending on the code, they also include ' +
    '`reason`, `fields` (what’s wrong with each field), `blockedFields` (fields that can’t change now), `fromState`, ' +
    '`allowedOperations` (mutations that you can call instead), `required` and `available` tokens, `pack` (the ' +
    'smallest pack of tokens that would be enough), `retryAfter` in seconds, `limit` (the rate limit or quota that ' +
    'was reached), `until` (when the suspension of the account ends), `expectedVersion` and `version`, or ' +
    '`fieldsLeftOut`. A response lists at most 50 errors and counts the rest in `errorsLeftOut`.',
  Subscription:
    'Events as they happen. Connect with a WebSocket to `/graphql` (`graphql-transport-ws`, with the token in ' +
    '`connectionParams.authorization`), or read server-sent events from `/graphql/stream`. After a disconnect, ' +
    'subscribe again with `after` set to the `position` of your last event, and you miss nothing.',
};

export const schema: GraphQLSchema = build();

function build(): GraphQLSchema {
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
        PurchaseResolver,
        ViewerPurchasesResolver,
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
        NotificationResolver,
        ViewerNotificationsResolver,
        StreamResolver,
        SavedSearchResolver,
        ViewerSavedSearchesResolver,
        WebhookResolver,
      ],
      // type-graphql requires a `pubSub`, but each subscription opens its own stream.
      pubSub: { publish: throwOnPubSub, subscribe: throwOnPubSub },
      // The operations check their own input. A second check could only disagree with them.
      validate: false,
    }),
  );
  const sorted = lexicographicSortSchema(unsortedSchema);
  // Set directly, because type-graphql would wrap its result in a promise.
  (sorted.getType('Node') as GraphQLInterfaceType).resolveType = typeOfNode;
  (sorted.getType('NotificationEvent') as GraphQLUnionType).resolveType = typeOfNode;
  locateAllFailures(sorted);
  return sorted;
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
