import { WEBHOOK_ATTEMPT, WEBHOOK_DELIVERY, WEBHOOK_ENDPOINT } from '../../market/rules/entities/webhook.js';
import { connectionType } from './connection.js';
import { objectType } from './field.js';
import { nodeType } from './node.js';

export const WebhookAttempt = objectType(WEBHOOK_ATTEMPT);
export const WebhookDelivery = nodeType(WEBHOOK_DELIVERY);
export const WebhookEndpoint = nodeType(WEBHOOK_ENDPOINT);
export const WebhookEndpointConnection = connectionType('WebhookEndpoint', () => WebhookEndpoint, 'webhook endpoints');
export const WebhookDeliveryConnection = connectionType('WebhookDelivery', () => WebhookDelivery, 'deliveries');
