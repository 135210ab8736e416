/** Every REST address: what it runs, the status it answers with, and the body made of the result. */
import { OPERATIONS } from '../operations/index.js';
import type { ReadableJob } from '../operations/jobs/job.js';
import type { Operation } from '../operations/operation.js';
import type { AUDIENCES } from '../rules/audiences.js';
import { BID_TRANSITIONS } from '../rules/bids.js';
import { JOB_TRANSITIONS } from '../rules/lifecycle.js';
import type { JobEvent } from '../store/events.js';
import type { Page } from '../store/page.js';
import { wireName } from './wire.js';

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Without `/v1`; a `{name}` becomes the input's field of that name. */
  readonly path: string;
  readonly operation: Operation<never, unknown>;
  readonly status: 200 | 201;
  /** The names that the query may hold, as the input spells them. */
  readonly query?: readonly string[];
  /** Other names that the body may call fields by. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** What is sent of the result, or of each row of a page; the whole of it if nothing is said. */
  answer?(result: unknown): unknown;
}

/** The words of the first examples, which still work. */
const OLD_NAMES = { trade: 'category', priority: 'urgency' };

/** The job as the interface lists it. What else the row holds is not for the wire. */
const JOB_FIELDS_ON_WIRE = [
  'id', 'title', 'description', 'status', 'category', 'budgetMin', 'budgetMax', 'urgency', 'addressLine1', 'addressLine2', 'city', 'state',
  'zipCode', 'country', 'latitude', 'longitude', 'desiredStartDate', 'desiredCompletionDate', 'requirements', 'homeownerId', 'awardedBidId',
  'version', 'createdAt', 'updatedAt',
] as const satisfies readonly (keyof ReadableJob & keyof (typeof AUDIENCES)['job'])[];

const PAGE_QUERY = ['page', 'perPage', 'after'];

const { signUpHomeowner, signUpContractor, logIn, refreshSession, logOut, changePassword, readMe, updateProfile } = OPERATIONS;
const { createJob, readJob, listJobs, updateJob, deleteJob, readDispute, listEvents, submitBid, listBids, listOwnBids } = OPERATIONS;
const { readContractor, verifyContractor, readTokens, listTransfers, adjustTokens } = OPERATIONS;

export const ROUTES: readonly Route[] = [
  route('POST', '/auth/signup/homeowner', signUpHomeowner, { status: 201 }),
  route('POST', '/auth/signup/contractor', signUpContractor, { status: 201 }),
  route('POST', '/auth/login', logIn),
  route('POST', '/auth/refresh', refreshSession),
  route('POST', '/auth/logout', logOut, { answer: () => done('You are logged out.') }),
  route('GET', '/me', readMe, { answer: onlyOwnProfile }),
  route('PUT', '/me', updateProfile, { answer: onlyOwnProfile }),
  route('POST', '/me/password', changePassword, { answer: () => done('The password is changed; other sessions have ended.') }),
  route('GET', '/contractors/{id}', readContractor),
  route('POST', '/contractors/{id}/verify', verifyContractor),
  route('GET', '/tokens', readTokens),
  route('GET', '/tokens/transactions', listTransfers, { query: PAGE_QUERY }),
  route('POST', '/tokens/adjustments', adjustTokens, { status: 201 }),

  route('GET', '/jobs', listJobs, { query: [...PAGE_QUERY, 'search', 'status', 'category', 'urgency', 'homeownerId'], answer: jobOnWire }),
  route('POST', '/jobs', createJob, { status: 201, aliases: OLD_NAMES, answer: jobOnWire }),
  route('GET', '/jobs/{id}', readJob, { answer: jobOnWire }),
  route('PUT', '/jobs/{id}', updateJob, { aliases: OLD_NAMES, answer: jobOnWire }),
  route('DELETE', '/jobs/{id}', deleteJob, { answer: () => done('The draft is deleted.') }),
  ...transitionRoutes(),
  route('GET', '/jobs/{id}/dispute', readDispute),
  route('GET', '/jobs/{id}/events', listEvents, { query: PAGE_QUERY, answer: eventOnWire }),

  route('GET', '/jobs/{id}/bids', listBids, { query: [...PAGE_QUERY, 'status'] }),
  route('POST', '/jobs/{jobId}/bids', submitBid, { status: 201 }),
  ...Object.values(BID_TRANSITIONS).map(({ operation, path }) => route('POST', `/jobs/{jobId}/bids/{id}/${path}`, OPERATIONS[operation])),
  route('GET', '/bids', listOwnBids, { query: [...PAGE_QUERY, 'status'] }),
];

/** Each transition of a job has an address of its own, named in the table. */
function transitionRoutes(): Route[] {
  return Object.values(JOB_TRANSITIONS).map(({ operation, path }) =>
    operation === 'publishJob'
      ? route('POST', `/jobs/{id}/${path}`, OPERATIONS.publishJob, { answer: ({ job, ...paid }) => ({ job: jobOnWire(job), ...paid }) })
      : route('POST', `/jobs/{id}/${path}`, OPERATIONS[operation] as Operation<never, ReadableJob>, { answer: jobOnWire }),
  );
}

type RouteExtras<Row> = Partial<Pick<Route, 'status' | 'query' | 'aliases'>> & { answer?: (result: Row) => unknown };

type RowOf<Output> = Output extends Page<infer Row> ? Row : Output;

function route<Input, Output>(method: Route['method'], path: string, operation: Operation<Input, Output>, extras: RouteExtras<RowOf<Output>> = {}): Route {
  return { method, path, operation: operation as Operation<never, unknown>, status: 200, ...extras } as Route;
}

/** The body of operations that have nothing to show. */
function done(message: string) {
  return { status: 200, message, data: {} };
}

function onlyOwnProfile<Me extends { homeowner: unknown; contractor: unknown }>(me: Me): Partial<Me> {
  const own: Partial<Me> = { ...me };
  if (!me.homeowner) delete own.homeowner;
  if (!me.contractor) delete own.contractor;
  return own;
}

function jobOnWire(job: ReadableJob) {
  return Object.fromEntries(JOB_FIELDS_ON_WIRE.map((field) => [field, job[field]]));
}

/** Whose bid an event is about is told by its data, to those who may know. */
function eventOnWire({ bidderId: _bidder, data, ...event }: JobEvent) {
  const { fields } = data;
  return { ...event, data: Array.isArray(fields) ? { ...data, fields: fields.map((field) => wireName(String(field))) } : data };
}

export function isPage(result: unknown): result is Page<unknown> {
  return typeof result === 'object' && result !== null && 'rows' in result && 'positionOf' in result;
}
