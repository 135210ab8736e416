/** Every REST address: what it runs, the status it answers with, and the body made of the result. */
import { OPERATIONS } from '../operations/index.js';
import type { Operation } from '../operations/operation.js';
import type { Page } from '../store/page.js';

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Without `/v1`; a `{name}` becomes the input's field of that name. */
  readonly path: string;
  readonly operation: Operation<never, unknown>;
  readonly status: 200 | 201;
  /** The names that the query may hold, as the input spells them. */
  readonly query?: readonly string[];
  /** What is sent of the result; the whole of it if nothing is said. */
  answer?(result: unknown): unknown;
}

const PAGE_QUERY = ['page', 'perPage', 'after'];

const { signUpHomeowner, signUpContractor, logIn, refreshSession, logOut, changePassword, readMe, updateProfile } = OPERATIONS;
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
];

type RouteExtras<Output> = Partial<Pick<Route, 'status' | 'query'>> & { answer?: (result: Output) => unknown };

function route<Input, Output>(method: Route['method'], path: string, operation: Operation<Input, Output>, extras: RouteExtras<Output> = {}): Route {
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

export function isPage(result: unknown): result is Page<unknown> {
  return typeof result === 'object' && result !== null && 'rows' in result && 'positionOf' in result;
}
