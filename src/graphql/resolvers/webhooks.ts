import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { DELIVERIES_NEWEST_FIRST, redeliver, sendTestEvent } from '../../market/operations/webhooks/deliveries.js';
import {
  createWebhookEndpoint,
  deleteWebhookEndpoint,
  listWebhookEndpoints,
  readWebhookEndpoint,
  rotateWebhookSecret,
  updateWebhookEndpoint,
  type NewWebhook,
} from '../../market/operations/webhooks/endpoints.js';
import { replayEvents } from '../../market/operations/webhooks/replay.js';
import { perform } from '../../platform/call/operation.js';
import { nestedPage } from '../../platform/call/paging.js';
import { WEBHOOKS } from '../../market/rules/market-limits.js';
import type { DeliveryStatus } from '../../market/rules/webhooks.js';
import type { WebhookEndpoint as Endpoint } from '../../market/store/webhooks/webhooks.js';
import type { Context } from '../context.js';
import { WebhookDeliveryStatus } from '../enums.js';
import { Input, inputOf } from '../types/field.js';
import { Connection, PageArgs } from '../types/connection.js';
import {
  CreateWebhookEndpointPayload,
  DeleteWebhookEndpointPayload,
  RedeliverPayload,
  ReplayEventsPayload,
  RotateWebhookSecretPayload,
  SendTestEventPayload,
  UpdateWebhookEndpointPayload,
} from '../types/payloads.js';
import { WebhookDeliveryConnection, WebhookEndpoint, WebhookEndpointConnection } from '../types/webhooks.js';
import { mutationOptions, queryOptions } from './field-options.js';

const CreateWebhookEndpointInput = inputOf(
  'CreateWebhookEndpointInput',
  createWebhookEndpoint.input,
  'The endpoint’s URL and the types of events to send.',
);
const UpdateWebhookEndpointInput = inputOf(
  'UpdateWebhookEndpointInput',
  updateWebhookEndpoint.input,
  'The fields to change. Omitted and null fields are unchanged.',
);

const Id = () => Arg('id', () => ID, { description: 'The webhook endpoint.' });

@Resolver(() => WebhookEndpoint)
export class WebhookResolver {
  @Query(() => WebhookEndpointConnection, { ...queryOptions(listWebhookEndpoints), nullable: true })
  async webhookEndpoints(@Args(() => PageArgs) page: PageArgs, @Ctx() { caller }: Context) {
    return new Connection(await perform(listWebhookEndpoints, page, caller));
  }

  @Query(() => WebhookEndpoint, { ...queryOptions(readWebhookEndpoint), nullable: true })
  webhookEndpoint(@Id() id: string, @Ctx() { caller }: Context) {
    return perform(readWebhookEndpoint, { id }, caller);
  }

  @FieldResolver(() => WebhookDeliveryConnection, {
    description: `The deliveries to this endpoint, newest first. They’re kept for ${WEBHOOKS.deliveriesKeptDays} days.`,
  })
  async deliveries(
    @Arg('status', () => WebhookDeliveryStatus, { nullable: true, description: 'Only deliveries with this status.' })
    status: DeliveryStatus | undefined,
    @Args(() => PageArgs) pageArgs: PageArgs,
    @Root() { id }: Endpoint,
    @Ctx() { loaders }: Context,
  ) {
    const page = await loaders.deliveriesTo(id, status ?? null, nestedPage(pageArgs, DELIVERIES_NEWEST_FIRST));
    if (!page) throw new Error('The list of a webhook endpoint’s deliveries is missing.');
    return new Connection(page);
  }

  @Mutation(() => CreateWebhookEndpointPayload, mutationOptions(createWebhookEndpoint))
  createWebhookEndpoint(@Input(CreateWebhookEndpointInput) input: object, @Ctx() { caller }: Context) {
    return perform(createWebhookEndpoint, input, caller).then(withSecret);
  }

  @Mutation(() => UpdateWebhookEndpointPayload, mutationOptions(updateWebhookEndpoint))
  updateWebhookEndpoint(
    @Id() id: string,
    @Input(UpdateWebhookEndpointInput) input: object,
    @Ctx() { caller }: Context,
  ) {
    return perform(updateWebhookEndpoint, Object.assign({}, input, { id }), caller).then((webhookEndpoint) => ({
      webhookEndpoint,
    }));
  }

  @Mutation(() => DeleteWebhookEndpointPayload, mutationOptions(deleteWebhookEndpoint))
  deleteWebhookEndpoint(@Id() id: string, @Ctx() { caller }: Context) {
    return perform(deleteWebhookEndpoint, { id }, caller).then((endpoint) => ({
      deletedWebhookEndpointId: endpoint.id,
    }));
  }

  @Mutation(() => RotateWebhookSecretPayload, mutationOptions(rotateWebhookSecret))
  rotateWebhookSecret(@Id() id: string, @Ctx() { caller }: Context) {
    return perform(rotateWebhookSecret, { id }, caller).then(withSecret);
  }

  @Mutation(() => SendTestEventPayload, mutationOptions(sendTestEvent))
  sendTestEvent(@Id() id: string, @Ctx() { caller }: Context) {
    return perform(sendTestEvent, { id }, caller).then((delivery) => ({ delivery }));
  }

  @Mutation(() => RedeliverPayload, mutationOptions(redeliver))
  redeliver(
    @Arg('deliveryId', () => ID, { description: 'The delivery.' }) deliveryId: string,
    @Ctx() { caller }: Context,
  ) {
    return perform(redeliver, { id: deliveryId }, caller).then((delivery) => ({ delivery }));
  }

  @Mutation(() => ReplayEventsPayload, mutationOptions(replayEvents))
  replayEvents(
    @Arg('endpointId', () => ID, { description: 'The webhook endpoint.' }) id: string,
    @Arg('after', () => String, { description: 'Replays the events after this position.' }) after: string,
    @Arg('until', () => String, {
      nullable: true,
      description: 'The last position to replay. If omitted, all later events are replayed.',
    })
    until: string | undefined,
    @Ctx() { caller }: Context,
  ) {
    return perform(replayEvents, { id, after, until }, caller).then(({ webhook, ...replayed }) => ({
      webhookEndpoint: webhook,
      ...replayed,
    }));
  }
}

function withSecret({ webhook, secret }: NewWebhook) {
  return { webhookEndpoint: webhook, secret };
}
