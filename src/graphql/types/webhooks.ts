/** Webhook endpoints, and the deliveries to them. */
import { ObjectType } from 'type-graphql';
import { WEBHOOK_ATTEMPT, WEBHOOK_DELIVERY, WEBHOOK_ENDPOINT } from '../../market/rules/entities/webhook.js';
import { connectionType } from './connection.js';
import { FieldsOf } from './field.js';
import { Node } from './node.js';

@ObjectType({ description: WEBHOOK_ATTEMPT.description })
@FieldsOf(WEBHOOK_ATTEMPT)
export class WebhookAttempt {}

@ObjectType({ implements: Node, description: WEBHOOK_DELIVERY.description })
@FieldsOf(WEBHOOK_DELIVERY)
export class WebhookDelivery {}

@ObjectType({ implements: Node, description: WEBHOOK_ENDPOINT.description })
@FieldsOf(WEBHOOK_ENDPOINT)
export class WebhookEndpoint {}

export const WebhookEndpointConnection = connectionType('WebhookEndpoint', () => WebhookEndpoint, 'webhook endpoints');
export const WebhookDeliveryConnection = connectionType('WebhookDelivery', () => WebhookDelivery, 'deliveries');
