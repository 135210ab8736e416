/**
 * Every operation on jobs and bids, described once and called through either API. Bodies use REST's spelling. Outcomes
 * have one form, so the APIs can be compared.
 */
import { getNamedType, isEnumType, isInputObjectType, type GraphQLInputType } from 'graphql';
import { schema } from '../../src/graphql/schema.js';
import { BID_ACTIONS } from '../../src/market/rules/bids.js';
import type { ErrorCode } from '../../src/market/rules/errors.js';
import { JOB_ACTIONS, JOB_CREATION, type JobActionKey } from '../../src/market/rules/lifecycle.js';
import type { Answer, GraphqlAnswer, Json, TestApp } from '../setup/app.js';

type BidActionKey = keyof typeof BID_ACTIONS;
export type OperationKey = 'create' | JobActionKey | BidActionKey;

export interface Asked {
  /** The person whose access token is sent. No token by default. */
  by?: { readonly token: string } | undefined;
  job?: string | undefined;
  bid?: string | undefined;
  body?: object | undefined;
  /** The version of the job or bid that the caller has read. */
  version?: number;
  headers?: Record<string, string>;
  /** The GraphQL selection on the changed object. Identifiers by default. */
  selection?: string;
  /** The GraphQL selection on the whole payload. */
  payload?: string;
  /** The fragments that the selection spreads. */
  fragments?: string;
}

export const APIS = ['rest', 'graphql'] as const;
export type Api = (typeof APIS)[number];

/** The outcome of a call through either API. Field names are sorted, and use REST's spelling. */
export interface Outcome {
  ok: boolean;
  status: number;
  code: ErrorCode | null;
  fields: string[];
  blocked: string[];
}

export async function outcomeOf(app: TestApp, api: Api, key: OperationKey, asked: Asked): Promise<Outcome> {
  return api === 'rest'
    ? restOutcome(await callRest(app, key, asked))
    : graphqlOutcome(await callGraphql(app, key, asked));
}

export function callRest(app: Pick<TestApp, 'rest'>, key: OperationKey, asked: Asked): Promise<Answer<Json>> {
  const { by, body, version, headers, ...about } = asked;
  const { method, path } = restAddress(key, about);
  return app.rest(method, path, {
    token: by?.token,
    headers: { ...headers, ...(version !== undefined && { 'if-match': `"${version}"` }) },
    ...(body !== undefined && { body }),
  });
}

export function callGraphql(app: TestApp, key: OperationKey, asked: Asked): Promise<GraphqlAnswer> {
  const { by, selection, payload, fragments = '', headers = {} } = asked;
  const variables = variablesOf(key, asked);
  return app.graphql(`${mutationOf(key, selection, payload)}\n${fragments}`, { token: by?.token, variables, headers });
}

export function restAddress(
  key: OperationKey,
  { job, bid }: Pick<Asked, 'job' | 'bid'>,
): { method: string; path: string } {
  if (key === 'create') return { method: 'POST', path: '/v1/jobs' };
  const row = isBidKey(key) ? BID_ACTIONS[key] : JOB_ACTIONS[key];
  const thing = isBidKey(key) ? `/v1/jobs/${job}/bids/${bid}` : `/v1/jobs/${job}`;
  return { method: 'method' in row ? row.method : 'POST', path: `${thing}${row.path && `/${row.path}`}` };
}

export function operationName(key: OperationKey): string {
  if (key === 'create') return JOB_CREATION.operation;
  return isBidKey(key) ? BID_ACTIONS[key].operation : JOB_ACTIONS[key].operation;
}

/** The field of the payload that holds what the operation changed. */
export function changedBy(key: OperationKey): 'job' | 'bid' {
  return isBidKey(key) || key === 'submitBid' ? 'bid' : 'job';
}

function isBidKey(key: OperationKey): key is BidActionKey {
  return key in BID_ACTIONS;
}

const mutations = schema.getMutationType()!.getFields();

export function mutationOf(key: OperationKey, selection = 'id status', payload = payloadOf(key, selection)): string {
  const name = operationName(key);
  const { args } = mutations[name]!;
  const declared = args.map((arg) => `$${arg.name}: ${String(arg.type)}`).join(', ');
  const passed = args.map((arg) => `${arg.name}: $${arg.name}`).join(', ');
  return `mutation(${declared}) { ${name}(${passed}) { ${payload} } }`;
}

function payloadOf(key: OperationKey, selection: string): string {
  const changed = `${changedBy(key)} { ${selection} }`;
  return key === 'publish' ? `${changed} tokensCharged remainingBalance` : changed;
}

function variablesOf(key: OperationKey, { job, bid, body, version }: Asked): object {
  const input = mutations[operationName(key)]!.args.find(({ name }) => name === 'input');
  return {
    id: isBidKey(key) ? bid : job,
    jobId: job,
    expectedVersion: version,
    ...(body !== undefined && input && { input: inGraphql(body, getNamedType(input.type)) }),
  };
}

/**
 * A body in GraphQL's spelling: camelCase, with uppercase enum values. Names that the input doesn't have are unchanged.
 */
export function inGraphql(value: unknown, type: GraphQLInputType | undefined): unknown {
  if (Array.isArray(value)) return value.map((item) => inGraphql(item, type));
  if (isEnumType(type)) return typeof value === 'string' ? value.toUpperCase().replaceAll('.', '_') : value;
  if (typeof value !== 'object' || value === null) return value;
  const fields = type && isInputObjectType(type) ? type.getFields() : {};
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const field = fields[camel(name)];
      return [field?.name ?? name, inGraphql(inner, field && getNamedType(field.type))];
    }),
  );
}

export function restOutcome({ status, body }: Pick<Answer<Json>, 'status' | 'body'>): Outcome {
  const ok = status < 400;
  return {
    ok,
    status,
    code: ok ? null : body.details.code,
    fields: ok ? [] : Object.keys(body.details.fields ?? {}).sort(),
    blocked: ok ? [] : [...body.blocked_fields].sort(),
  };
}

/** An executed operation returns 200. An error contains the status that REST would return. */
export function graphqlOutcome({ errors }: Pick<GraphqlAnswer, 'errors'>): Outcome {
  const [error] = errors ?? [];
  if (!error) return { ok: true, status: 200, code: null, fields: [], blocked: [] };
  const { status, code, fields, blockedFields } = error.extensions;
  return {
    ok: false,
    status,
    code,
    fields: Object.keys(fields ?? {})
      .map(snake)
      .sort(),
    blocked: ((blockedFields ?? []) as string[]).map(snake).sort(),
  };
}

/** `JOB_CHECKED_IN` as REST spells it: `job.checked_in`. */
export function eventType(type: string): string {
  return type.toLowerCase().replace('_', '.');
}

export function camel(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

export function snake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
