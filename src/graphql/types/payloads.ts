/**
 * The payloads of mutations: each mutation has its own type, so that fields can be added, with the changed objects and,
 * for a signed-in caller, the `viewer`. Fields that are objects may be null: where one cannot be read, the mutation was
 * done even so, and its answer must not be lost.
 */
import { Ctx, Field, FieldResolver, ID, Int, ObjectType, Resolver, Root } from 'type-graphql';
import { OPERATIONS } from '../../operations/index.js';
import { performWithin, type Operation } from '../../operations/operation.js';
import { BID_TRANSITIONS } from '../../rules/bids.js';
import { NEW_API_KEY } from '../../rules/entities/api-key.js';
import { NEW_WEBHOOK } from '../../rules/entities/webhook.js';
import { CHANGED_PASSWORD, PUBLICATION } from '../../rules/entities/session.js';
import { JOB_TRANSITIONS } from '../../rules/lifecycle.js';
import type { Context } from '../context.js';
import { Contractor, Session } from './account.js';
import { ApiKey } from './api-keys.js';
import { Bid, BidConnection } from './bids.js';
import { edgeOf } from './connection.js';
import { described } from './field.js';
import { Job, JobConnection } from './jobs.js';
import { TokenTransfer } from './tokens.js';
import { Viewer } from './viewer.js';
import { WebhookDelivery, WebhookEndpoint } from './webhooks.js';

interface Answered {
  readonly type: () => object;
  readonly is: string;
  /** For an object whose fields read more: where that fails, the mutation was done even so. */
  readonly mayBeNull?: true;
}

/** The resolvers of `viewer`, one for each payload, to be added to the schema. */
export const PAYLOAD_RESOLVERS: (new () => object)[] = [];

const JOB = object(() => Job, 'The job as it is now.');
const BID = object(() => Bid, 'The bid as it is now.');
const CHANGED_JOB = { job: JOB };
const CHANGED_BID = { bid: BID };
const NEW_ENDPOINT = {
  webhookEndpoint: object(() => WebhookEndpoint, NEW_WEBHOOK.fields.webhook.description),
  secret: { type: () => String, is: NEW_WEBHOOK.fields.secret.description },
};
const DELIVERY = { delivery: object(() => WebhookDelivery, 'The delivery as it is now.') };

const { readMe, ...O } = OPERATIONS;

export const PAYLOADS = {
  signUpHomeowner: session(O.signUpHomeowner),
  signUpContractor: session(O.signUpContractor),
  logIn: session(O.logIn),
  refreshSession: session(O.refreshSession),
  createJob: payload(O.createJob, {
    job: JOB,
    jobEdge: object(() => edgeOf(JobConnection), 'The same, to put into a list of jobs, newest first.'),
  }),
  updateJob: payload(O.updateJob, CHANGED_JOB),
  deleteJob: payload(O.deleteJob, {
    job: object(() => Job, 'The draft as it last was.'),
    deletedJobId: { type: () => ID, is: 'The identifier of the draft, which is gone.' },
  }),
  ...payloads(JOB_TRANSITIONS, CHANGED_JOB),
  publishJob: payload(O.publishJob, {
    job: JOB,
    tokensCharged: { type: () => Int, is: PUBLICATION.fields.tokensCharged.description },
    remainingBalance: { type: () => Int, is: PUBLICATION.fields.remainingBalance.description },
  }),
  submitBid: payload(O.submitBid, {
    bid: BID,
    bidEdge: object(() => edgeOf(BidConnection), 'The same, to put into the list of bids on its job.'),
  }),
  ...payloads(BID_TRANSITIONS, CHANGED_BID),
  updateProfile: payload(O.updateProfile, {}),
  changePassword: payload(O.changePassword, {
    changed: { type: () => Boolean, is: CHANGED_PASSWORD.fields.changed.description },
  }),
  verifyContractor: payload(O.verifyContractor, {
    contractor: object(() => Contractor, 'The contractor, who is verified now.'),
  }),
  createApiKey: payload(O.createApiKey, {
    apiKey: object(() => ApiKey, NEW_API_KEY.fields.apiKey.description),
    secret: { type: () => String, is: NEW_API_KEY.fields.secret.description },
  }),
  revokeApiKey: payload(O.revokeApiKey, { apiKey: object(() => ApiKey, 'The key as it was.') }),
  createWebhookEndpoint: payload(O.createWebhookEndpoint, NEW_ENDPOINT),
  updateWebhookEndpoint: payload(O.updateWebhookEndpoint, {
    webhookEndpoint: object(() => WebhookEndpoint, 'The endpoint as it is now.'),
  }),
  deleteWebhookEndpoint: payload(O.deleteWebhookEndpoint, {
    deletedWebhookEndpointId: { type: () => ID, is: 'The identifier of the endpoint, which is gone.' },
  }),
  rotateWebhookSecret: payload(O.rotateWebhookSecret, NEW_ENDPOINT),
  sendTestEvent: payload(O.sendTestEvent, DELIVERY),
  redeliver: payload(O.redeliver, DELIVERY),
  adjustTokens: payload(O.adjustTokens, { transfer: object(() => TokenTransfer, 'The transfer that was made.') }),
} as const;

function object(type: () => object, is: string): Answered {
  return { type, is, mayBeNull: true };
}

/** The payloads of all transitions but publishing, which has more fields. */
function payloads<Name extends keyof typeof O>(
  transitions: Readonly<Record<string, { readonly operation: Name }>>,
  fields: Readonly<Record<string, Answered>>,
) {
  const names = Object.values(transitions).map(({ operation }) => operation);
  const made = names.filter((name) => name !== 'publishJob').map((name) => [name, payload(O[name], fields)]);
  return Object.fromEntries(made) as Record<Name, ReturnType<typeof payload>>;
}

/** Without `viewer`: the session is new, and this request has no role yet. The next request reads it with the token. */
function session({ name }: Pick<Operation<unknown, unknown>, 'name'>) {
  @ObjectType(payloadName(name), { implements: Session, description: `What \`${name}\` answers.` })
  class SessionPayload {}
  return SessionPayload;
}

function payload({ name }: Pick<Operation<unknown, unknown>, 'name'>, fields: Readonly<Record<string, Answered>>) {
  @ObjectType(payloadName(name), { description: `What \`${name}\` answers.` })
  class Payload {}
  for (const [key, { type, is, mayBeNull }] of Object.entries(fields))
    Field(type, described(is, mayBeNull && 'nullable'))(Payload.prototype, key);

  @Resolver(() => Payload)
  class PayloadViewer {
    @FieldResolver(() => Viewer, { nullable: true, description: 'Oneself as one is now, tokens included.' })
    viewer(@Root() { viewer }: { viewer?: Viewer }, @Ctx() { caller }: Context) {
      return viewer ?? performWithin(readMe, {}, caller);
    }
  }
  PAYLOAD_RESOLVERS.push(PayloadViewer);
  return Payload;
}

export function payloadName(mutation: string): string {
  return `${mutation.slice(0, 1).toUpperCase()}${mutation.slice(1)}Payload`;
}
