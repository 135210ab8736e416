/** Manages webhook endpoints. An endpoint outlives the session or the API key that created it. */
import { z } from 'zod';
import { WEBHOOK_ENDPOINT } from '../../rules/entities/webhook.js';
import { settledFields } from '../../../platform/fields/entity.js';
import { refuse } from '../../rules/errors.js';
import type { WebhookEndpointId } from '../../rules/ids.js';
import { WEBHOOKS } from '../../rules/market-limits.js';
import { changedReadOnly, readOnly } from '../../../platform/fields/read-only.js';
import type { Viewer } from '../../rules/viewer.js';
import { newWebhookSecret } from '../../../platform/security/webhook-signature.js';
import type { Db } from '../../../platform/db/database.js';
import { newId } from '../../store/new-id.js';
import type { StoredSecret } from '../../store/tables/webhooks.js';
import {
  countWebhookEndpoints,
  deleteWebhookEndpoint as markAsDeleted,
  insertWebhookEndpoint,
  listWebhookEndpoints as endpointsNewestFirst,
  lockWebhookEndpoint,
  selectWebhookEndpoint,
  updateWebhookEndpoint as update,
  updateWebhookSecrets,
  type WebhookEndpoint,
} from '../../store/webhooks/webhooks.js';
import { lockOwnAccount } from '../accounts/own-account.js';
import { operation } from '../operation.js';
import { pageRequest, pageShape } from '../../../platform/call/paging.js';
import { idInPath } from '../../rules/id-fields.js';
import { invalidField } from '../../../platform/call/validation.js';

const NEWEST_FIRST = ['time', 'text'] as const;

export interface NewWebhook {
  webhook: WebhookEndpoint;
  secret: string;
}

const { url, eventTypes, accountEventTypes, status } = WEBHOOK_ENDPOINT.schema.shape;
const id = idInPath('webhookEndpoint').describe('The webhook endpoint.');
const types = eventTypes.nullish().describe('The types of events to send. If omitted or empty, all types are sent.');
const accountTypes = accountEventTypes
  .nullish()
  .describe('The types of account events to send. If omitted or empty, none are sent.');

export const createWebhookEndpoint = operation({
  name: 'createWebhookEndpoint',
  description:
    'Creates a webhook endpoint, which gets the events on your jobs and bids. An admin’s endpoint gets the events on ' +
    'all jobs and bids. If you list account event types, it also gets events on your account. The secret is ' +
    'shown only once.',
  allows: 'signed in',
  budget: 'write',
  answersSecret: true,
  asksDatabase: true,
  input: z.strictObject({
    url: url.describe('The public https URL to send events to.'),
    eventTypes: types,
    accountEventTypes: accountTypes,
  }),
  async run({ db, viewer, services }, input): Promise<NewWebhook> {
    const { encryptor, webhookAddresses } = services;
    requireSoundAddress(webhookAddresses, input.url);
    const [endpoint, secret] = [newId('webhookEndpoint'), newWebhookSecret()];
    const secrets: StoredSecret[] = [{ sealed: encryptor.encrypt(secret, endpoint), endsAt: null }];
    const webhook = await db.inTransaction(async (tx) => {
      await lockOwnAccount(tx, viewer);
      const [total] = await countWebhookEndpoints(tx, viewer);
      if ((total?.count ?? 0) >= WEBHOOKS.endpointsPerPerson) throw tooManyEndpoints();
      const [row] = await insertWebhookEndpoint(tx, {
        id: endpoint,
        userId: viewer.userId,
        url: input.url,
        eventTypes: [...new Set(input.eventTypes)],
        accountEventTypes: [...new Set(input.accountEventTypes)],
        secrets,
        keyName: encryptor.keyName,
      });
      if (!row) throw new Error('A new webhook endpoint could not be read back.');
      return row;
    });
    return { webhook, secret };
  },
});

function requireSoundAddress(rules: { problemWith(url: string): string | undefined }, address: string): void {
  const problem = rules.problemWith(address);
  if (problem) throw invalidField('url', problem);
}

function tooManyEndpoints() {
  return refuse('VALIDATION_FAILED', {
    message: `You have ${WEBHOOKS.endpointsPerPerson} webhook endpoints, which is the maximum. Delete one first.`,
  });
}

export const listWebhookEndpoints = operation({
  name: 'webhookEndpoints',
  description: 'Lists your webhook endpoints, newest first, without their secrets.',
  allows: 'signed in',
  budget: 'read',
  input: z.strictObject(pageShape),
  run: ({ db, viewer, include }, input) =>
    endpointsNewestFirst(db, { userId: viewer.userId }, pageRequest(input, NEWEST_FIRST, include)),
});

export const readWebhookEndpoint = operation({
  name: 'webhookEndpoint',
  description: 'Returns one of your webhook endpoints, without its secret. Admins can read any endpoint.',
  allows: 'signed in',
  budget: 'read',
  input: z.strictObject({ id }),
  run: ({ db, viewer }, input) => readableEndpoint(db, viewer, input.id),
});

/** Refuses everyone but the owner and admins. */
export async function readableEndpoint(db: Db, viewer: Viewer, endpoint: WebhookEndpointId): Promise<WebhookEndpoint> {
  const [row] = await selectWebhookEndpoint(db, { id: endpoint });
  if (!row) throw noSuchEndpoint();
  if (viewer.role !== 'admin') requireOwner(viewer, row);
  return row.endpoint;
}

/** Refuses everyone but the owner. */
export async function ownEndpoint(db: Db, viewer: Viewer, endpoint: WebhookEndpointId): Promise<WebhookEndpoint> {
  const [row] = await selectWebhookEndpoint(db, { id: endpoint });
  if (!row) throw noSuchEndpoint();
  requireOwner(viewer, row);
  return row.endpoint;
}

async function lockOwnEndpoint(tx: Db, viewer: Viewer, endpoint: WebhookEndpointId) {
  await lockOwnAccount(tx, viewer);
  const [row] = await lockWebhookEndpoint(tx, { id: endpoint });
  if (!row) throw noSuchEndpoint();
  requireOwner(viewer, row);
  return row;
}

export function requireOwner(viewer: Viewer, { userId }: Pick<Viewer, 'userId'>): void {
  if (userId !== viewer.userId)
    throw refuse('FORBIDDEN', { message: 'This webhook endpoint belongs to another user.' });
}

function noSuchEndpoint() {
  return refuse('NOT_FOUND', { message: 'Webhook endpoint not found.' });
}

const SETTLED_FIELDS = settledFields(WEBHOOK_ENDPOINT).filter((name) => name !== 'id');

export const updateWebhookEndpoint = operation({
  name: 'updateWebhookEndpoint',
  description:
    'Changes a webhook endpoint’s URL or event types, or pauses or resumes it. Omitted fields are unchanged.',
  allows: 'signed in',
  budget: 'write',
  asksDatabase: true,
  input: z.strictObject({
    id,
    url: url.nullish().describe('The new URL to send events to.'),
    eventTypes: eventTypes.nullish().describe('The new types of events to send. An empty list means all types.'),
    accountEventTypes: accountEventTypes
      .nullish()
      .describe('The new types of account events to send. An empty list means none.'),
    status: status.nullish().describe('`paused` to hold events back, or `active` to resume sending them.'),
    ...readOnly(SETTLED_FIELDS),
  }),
  async run({ db, viewer, services }, { id: endpoint, ...input }): Promise<WebhookEndpoint> {
    return db.inTransaction(async (tx) => {
      const { endpoint: current } = await lockOwnEndpoint(tx, viewer, endpoint);
      for (const name of changedReadOnly(SETTLED_FIELDS, input, current))
        throw invalidField(name, 'is set by the service and can’t be changed');
      const newValues = {
        url: input.url ?? current.url,
        eventTypes: [...new Set(input.eventTypes ?? current.eventTypes)],
        accountEventTypes: [...new Set(input.accountEventTypes ?? current.accountEventTypes)],
        status: input.status ?? current.status,
      };
      if (newValues.url !== current.url) requireSoundAddress(services.webhookAddresses, newValues.url);
      const pausedReason = newValues.status === 'active' ? null : (current.pausedReason ?? 'requested');
      const [row] = await update(tx, { id: endpoint, ...newValues, pausedReason });
      if (!row) throw noSuchEndpoint();
      return row;
    });
  },
});

export const deleteWebhookEndpoint = operation({
  name: 'deleteWebhookEndpoint',
  description: 'Deletes a webhook endpoint and its deliveries. No more events are sent to it.',
  allows: 'signed in',
  budget: 'write',
  asksDatabase: true,
  input: z.strictObject({ id }),
  async run({ db, viewer }, { id: endpoint }): Promise<WebhookEndpoint> {
    const row = await ownEndpoint(db, viewer, endpoint);
    if ((await markAsDeleted(db, { id: endpoint })).length === 0) throw noSuchEndpoint();
    return row;
  },
});

const OLD_SECRET_MS = WEBHOOKS.oldSecretHours * 60 * 60 * 1000;

export const rotateWebhookSecret = operation({
  name: 'rotateWebhookSecret',
  description:
    'Replaces a webhook endpoint’s secret. The new secret is shown only once. For ' +
    `${WEBHOOKS.oldSecretHours} hours, events are also signed with the old secret, so you can switch without ` +
    'rejecting any events.',
  allows: 'signed in',
  budget: 'write',
  answersSecret: true,
  asksDatabase: true,
  input: z.strictObject({ id }),
  async run({ db, viewer, services: { encryptor } }, { id: endpoint }): Promise<NewWebhook> {
    const secret = newWebhookSecret();
    const webhook = await db.inTransaction(async (tx) => {
      const { secrets: storedSecrets } = await lockOwnEndpoint(tx, viewer, endpoint);
      const old = expiringSecrets(storedSecrets, Date.now()).flatMap((one) => reencrypt(one));
      const secrets = [{ sealed: encryptor.encrypt(secret, endpoint), endsAt: null }, ...old];
      const [row] = await updateWebhookSecrets(tx, { id: endpoint, secrets, keyName: encryptor.keyName });
      if (!row) throw noSuchEndpoint();
      return row;
    });
    return { webhook, secret };

    /**
     * Encrypts the secret with the current key, because all of an endpoint's secrets use the same key. Drops a secret
     * that can't be decrypted.
     */
    function reencrypt(one: StoredSecret): StoredSecret[] {
      const text = encryptor.decrypt(one.sealed, endpoint);
      return text === undefined ? [] : [{ ...one, sealed: encryptor.encrypt(text, endpoint) }];
    }
  },
});

/** An old secret keeps signing for at most a day. */
function expiringSecrets(secrets: readonly StoredSecret[], now: number): StoredSecret[] {
  return secrets
    .map(({ sealed, endsAt }) => ({ sealed, endsAt: endsAt ?? now + OLD_SECRET_MS }))
    .filter(({ endsAt }) => endsAt > now)
    .slice(0, WEBHOOKS.secretsAtOnce - 1);
}
