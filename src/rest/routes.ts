/** Every REST address: what it runs, the status it answers with, and the body made of the result. */
import type { z } from 'zod';
import { OPERATIONS } from '../operations/index.js';
import type { Me } from '../operations/accounts/me.js';
import type { ReadableJob } from '../operations/jobs/readable.js';
import type { Operation } from '../operations/operation.js';
import { BID_TRANSITIONS } from '../rules/bids.js';
import { API_KEY, NEW_API_KEY } from '../rules/entities/api-key.js';
import { BID } from '../rules/entities/bid.js';
import { DISPUTE } from '../rules/entities/dispute.js';
import { JOB_EVENT } from '../rules/entities/event.js';
import { JOB } from '../rules/entities/job.js';
import { CATALOG } from '../rules/entities/reference.js';
import { CONTRACTOR } from '../rules/entities/people.js';
import { REVIEW } from '../rules/entities/review.js';
import { TOKEN_AUDIT, TOKEN_BALANCE, TOKEN_TRANSFER } from '../rules/entities/tokens.js';
import { NEW_WEBHOOK, WEBHOOK_DELIVERY, WEBHOOK_ENDPOINT } from '../rules/entities/webhook.js';
import type { Entity, Shown } from '../rules/entity.js';
import type { AvailableAction, AvailableBidAction } from '../rules/available-actions.js';
import { JOB_TRANSITIONS } from '../rules/lifecycle.js';
import type { Page } from '../store/page.js';
import {
  BID_ACTIONS,
  DONE,
  EVENT_LOG,
  JOB_ACTIONS,
  JOB_COUNTS,
  LIFECYCLE_ON_WIRE,
  ME,
  NEW_CONTRACTOR_SESSION,
  NEW_HOMEOWNER_SESSION,
  LISTED_USER,
  PUBLICATION,
  REFRESHED_SESSION,
  SESSION,
  type MeOnWire,
  type Variants,
} from './bodies.js';
import { eventOnWire } from './event-body.js';
import { wireName, wireWriter } from './wire.js';

/** As much as an address takes of a body that shows something new. */
export interface Made {
  readonly id: string;
  readonly job_id?: string;
  readonly api_key?: { readonly id: string };
  readonly webhook?: { readonly id: string };
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Without `/v1`; a `{name}` becomes the input's field of that name. */
  readonly path: string;
  readonly operation: Operation<unknown, unknown>;
  readonly status: 200 | 201;
  /** What the body is, or each entry of a page. */
  readonly shows: Entity | Variants;
  /** The names that the query may hold, as the input spells them. */
  readonly query?: readonly string[];
  /** Fields that the query may name several times, and the field that then holds all of them. */
  readonly several?: Readonly<Record<string, string>>;
  /** Other names that the body may call fields by. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Where what the call made is found. */
  location?(this: void, made: Made): string;
  /** The result, or a row of a page, as it is sent: what is shown of it, in REST's spelling. */
  write(this: void, result: unknown): unknown;
}

/** The words of the first examples, which still work. */
const OLD_NAMES = { trade: 'category', priority: 'urgency' };

const PAGE_QUERY = ['page', 'perPage', 'after'];

const JOBS_QUERY = [
  'orderBy',
  'search',
  'status',
  'statuses',
  'category',
  'urgency',
  'homeownerId',
  'updatedSince',
  'nearZip',
  'nearCity',
  'nearState',
  'withinMiles',
];

const { signUpHomeowner, signUpContractor, logIn, refreshSession, logOut, changePassword, readMe, updateProfile } =
  OPERATIONS;
const {
  createJob,
  readJob,
  listJobs,
  updateJob,
  deleteJob,
  readDispute,
  listEvents,
  listOwnEvents,
  submitBid,
  listBids,
  listOwnBids,
} = OPERATIONS;
const { readTransfer, readCatalog, readLifecycle } = OPERATIONS;
const { readBid, readBidActions, readJobActions, countOwnJobs } = OPERATIONS;
const { createWebhookEndpoint, listWebhookEndpoints, readWebhookEndpoint, updateWebhookEndpoint } = OPERATIONS;
const { deleteWebhookEndpoint, rotateWebhookSecret, listWebhookDeliveries, sendTestEvent, redeliver } = OPERATIONS;
const { createApiKey, listApiKeys, readApiKey, revokeApiKey } = OPERATIONS;
const {
  listUsers,
  readContractor,
  listContractors,
  listReviews,
  verifyContractor,
  readTokens,
  listTransfers,
  adjustTokens,
  auditTokens,
} = OPERATIONS;

export const ROUTES: readonly Route[] = [
  route('POST', '/auth/signup/homeowner', signUpHomeowner, {
    status: 201,
    location: ownAccount,
    shows: NEW_HOMEOWNER_SESSION,
  }),
  route('POST', '/auth/signup/contractor', signUpContractor, {
    status: 201,
    location: ownAccount,
    shows: NEW_CONTRACTOR_SESSION,
  }),
  route('POST', '/auth/login', logIn, { shows: SESSION }),
  route('POST', '/auth/refresh', refreshSession, { shows: REFRESHED_SESSION }),
  route('POST', '/auth/logout', logOut, { shows: DONE, answer: () => done('You are logged out.') }),
  route('GET', '/me', readMe, { shows: ME, answer: onlyOwnProfile }),
  route('PUT', '/me', updateProfile, { shows: ME, answer: onlyOwnProfile }),
  route('POST', '/me/password', changePassword, {
    shows: DONE,
    answer: () => done('The password is changed; other sessions and all API keys have ended.'),
  }),
  route('GET', '/api-keys', listApiKeys, { query: PAGE_QUERY, shows: API_KEY }),
  route('POST', '/api-keys', createApiKey, {
    status: 201,
    location: ({ api_key: key }) => `/v1/api-keys/${key?.id}`,
    shows: NEW_API_KEY,
  }),
  route('GET', '/api-keys/{id}', readApiKey, { shows: API_KEY }),
  route('DELETE', '/api-keys/{id}', revokeApiKey, { shows: DONE, answer: () => done('The API key is revoked.') }),
  route('GET', '/me/job-counts', countOwnJobs, { shows: JOB_COUNTS }),
  route('GET', '/catalog', readCatalog, { shows: CATALOG, answer: catalogOnWire }),
  route('GET', '/lifecycle', readLifecycle, { shows: LIFECYCLE_ON_WIRE, answer: lifecycleOnWire }),
  route('GET', '/contractors', listContractors, {
    query: [...PAGE_QUERY, 'search', 'specialty', 'serviceArea', 'verified', 'orderBy'],
    shows: CONTRACTOR,
  }),
  route('GET', '/contractors/{id}', readContractor, { shows: CONTRACTOR }),
  route('GET', '/contractors/{id}/reviews', listReviews, { query: PAGE_QUERY, shows: REVIEW }),
  route('POST', '/contractors/{id}/verify', verifyContractor, { shows: CONTRACTOR }),
  route('GET', '/users', listUsers, { query: [...PAGE_QUERY, 'search', 'userType', 'verified'], shows: LISTED_USER }),
  route('GET', '/tokens', readTokens, { shows: TOKEN_BALANCE }),
  route('GET', '/tokens/transactions', listTransfers, { query: PAGE_QUERY, shows: TOKEN_TRANSFER }),
  route('GET', '/tokens/transactions/{id}', readTransfer, { shows: TOKEN_TRANSFER }),
  route('POST', '/tokens/adjustments', adjustTokens, {
    status: 201,
    location: ({ id }) => `/v1/tokens/transactions/${id}`,
    shows: TOKEN_TRANSFER,
  }),
  route('GET', '/tokens/audit', auditTokens, { shows: TOKEN_AUDIT }),

  route('GET', '/jobs', listJobs, {
    query: [...PAGE_QUERY, ...JOBS_QUERY],
    several: { status: 'statuses' },
    shows: JOB,
  }),
  route('POST', '/jobs', createJob, {
    status: 201,
    location: ({ id }) => `/v1/jobs/${id}`,
    aliases: OLD_NAMES,
    shows: JOB,
  }),
  route('GET', '/jobs/{id}', readJob, { shows: JOB }),
  route('PUT', '/jobs/{id}', updateJob, { aliases: OLD_NAMES, shows: JOB }),
  route('DELETE', '/jobs/{id}', deleteJob, { shows: DONE, answer: () => done('The draft is deleted.') }),
  ...transitionRoutes(),
  route('GET', '/jobs/{id}/actions', readJobActions, { shows: JOB_ACTIONS, answer: actionsOnWire }),
  route('GET', '/jobs/{id}/dispute', readDispute, { shows: DISPUTE }),
  route('GET', '/jobs/{id}/events', listEvents, { query: PAGE_QUERY, shows: JOB_EVENT, answer: eventOnWire }),

  route('GET', '/events', listOwnEvents, {
    query: ['after', 'perPage'],
    shows: EVENT_LOG,
    answer: ({ page, nextAfter }) => ({ data: page.rows.map(eventOnWire), nextAfter }),
  }),

  route('GET', '/jobs/{id}/bids', listBids, { query: [...PAGE_QUERY, 'status'], shows: BID }),
  route('POST', '/jobs/{jobId}/bids', submitBid, { status: 201, location: ({ id }) => `/v1/bids/${id}`, shows: BID }),
  ...Object.values(BID_TRANSITIONS).map(({ operation, path }) =>
    route('POST', `/jobs/{jobId}/bids/{id}/${path}`, OPERATIONS[operation], { shows: BID }),
  ),
  route('GET', '/bids', listOwnBids, { query: [...PAGE_QUERY, 'status'], shows: BID }),
  route('GET', '/bids/{id}', readBid, { shows: BID }),
  route('GET', '/bids/{id}/actions', readBidActions, { shows: BID_ACTIONS, answer: bidActionsOnWire }),

  route('GET', '/webhooks', listWebhookEndpoints, { query: PAGE_QUERY, shows: WEBHOOK_ENDPOINT }),
  route('POST', '/webhooks', createWebhookEndpoint, {
    status: 201,
    location: ({ webhook }) => `/v1/webhooks/${webhook?.id}`,
    shows: NEW_WEBHOOK,
  }),
  route('GET', '/webhooks/{id}', readWebhookEndpoint, { shows: WEBHOOK_ENDPOINT }),
  route('PUT', '/webhooks/{id}', updateWebhookEndpoint, { shows: WEBHOOK_ENDPOINT }),
  route('DELETE', '/webhooks/{id}', deleteWebhookEndpoint, {
    shows: DONE,
    answer: () => done('The webhook endpoint is deleted.'),
  }),
  route('POST', '/webhooks/{id}/rotate-secret', rotateWebhookSecret, { shows: NEW_WEBHOOK }),
  route('POST', '/webhooks/{id}/test', sendTestEvent, { shows: WEBHOOK_DELIVERY }),
  route('GET', '/webhooks/{id}/deliveries', listWebhookDeliveries, {
    query: [...PAGE_QUERY, 'status'],
    shows: WEBHOOK_DELIVERY,
  }),
  route('POST', '/webhooks/deliveries/{id}/redeliver', redeliver, { shows: WEBHOOK_DELIVERY }),
];

/** Each transition of a job has an address of its own, named in the table. */
function transitionRoutes(): Route[] {
  return Object.values(JOB_TRANSITIONS).map(({ operation, path }) =>
    operation === 'publishJob'
      ? route('POST', `/jobs/{id}/${path}`, OPERATIONS.publishJob, { shows: PUBLICATION })
      : route('POST', `/jobs/{id}/${path}`, OPERATIONS[operation] as Operation<unknown, ReadableJob>, { shows: JOB }),
  );
}

/** Whether the body is a page of what the route shows. */
export function isList({ query }: Route): boolean {
  return query?.includes('page') === true;
}

/** Of a list, what each entry is. */
export function rowOf({ path, shows }: Route): Entity {
  if ('variants' in shows) throw new Error(`${path} cannot list things of several kinds.`);
  return shows;
}

type RowOf<Output> = Output extends Page<infer Row> ? Row : Output;

type RouteExtras<Row, Body> = Partial<Pick<Route, 'status' | 'location' | 'query' | 'several' | 'aliases'>> & {
  shows: Route['shows'] & { readonly schema: z.ZodType<Body> };
} & Shows<Row, Body>;

/** What is shown is picked out of the row; a row that is something else must be made into it. */
type Shows<Row, Body> = Row extends Body
  ? Answers<Row, Body>
  : Body extends Row
    ? Answers<Row, Body>
    : Required<Answers<Row, Body>>;

interface Answers<Row, Body> {
  answer?(this: void, row: Row): Body;
}

function route<Input, Output, Body>(
  method: Route['method'],
  path: string,
  operation: Operation<Input, Output>,
  extras: RouteExtras<RowOf<Output>, Body>,
): Route {
  const { answer }: Answers<never, unknown> = extras;
  const writeShown = wireWriter(extras.shows.schema);
  const write = answer ? (row: unknown) => writeShown(answer(row as never)) : writeShown;
  return { method, path, operation, status: 200, ...extras, write };
}

function done(message: string): Shown<typeof DONE> {
  return { status: 200, message, data: {} };
}

function onlyOwnProfile({ user, homeowner, contractor, ...rest }: Me): MeOnWire {
  return { user, ...(homeowner && { homeowner }), ...(contractor && { contractor }), ...rest };
}

/** Names as REST spells them: `check_in`, `address_line1`. */
function actionsOnWire({ data }: { data: AvailableAction[] }) {
  return {
    data: data.map(({ action, missingFields, ...rest }) => ({
      ...rest,
      action: action.toLowerCase(),
      missingFields: missingFields.map(wireName),
    })),
  };
}

function bidActionsOnWire({ data }: { data: AvailableBidAction[] }) {
  return { data: data.map(({ action, ...rest }) => ({ ...rest, action: action.toLowerCase() })) };
}

function ownAccount(): string {
  return '/v1/me';
}

type CatalogRead = Awaited<ReturnType<typeof readCatalog.run>>;
type LifecycleRead = Awaited<ReturnType<typeof readLifecycle.run>>;

function catalogOnWire({ categories, businessTypes, propertyTypes, urgencies }: CatalogRead) {
  return {
    categories: [...categories],
    businessTypes: [...businessTypes],
    propertyTypes: [...propertyTypes],
    urgencies,
  };
}

function lifecycleOnWire({ actions, requiredToPublish, ...rest }: LifecycleRead) {
  return {
    ...rest,
    requiredToPublish: requiredToPublish.map(wireName),
    actions: actions.map(({ action, ...row }) => ({ ...row, action: action.toLowerCase() })),
  };
}
