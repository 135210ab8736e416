/** The measured work as requests: the operation, the caller, and the rows. */
import { isBearer } from '../../../src/market/rules/viewer.js';
import { createAccessTokens } from '../../../src/platform/security/access-token.js';
import type { Role } from '../../../src/market/rules/viewer.js';
import type { Market, SeededState } from '../../../src/market/store/seed/seed.js';
import {
  bidderOf,
  bidNumber,
  emailOf,
  ownerOf,
  personOfContractor,
  personOfHomeowner,
  seededId,
} from '../market/market.js';

export const JWT_SECRET = 'a secret that only the bench knows, 32 bytes';
export const PASSWORD = 'a good password';

export interface Asked {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly person?: number;
  readonly body?: { operationName: string; query: string; variables: Record<string, unknown> };
}

/** Rows that a round of writes uses up. */
export interface Stock {
  readonly state: SeededState;
  readonly bids: number;
}

export interface Work {
  readonly name: string;
  readonly description: string;
  readonly kind: 'read' | 'write';
  readonly connections: number;
  /** The rivals that take part. The product and the floor always do. */
  readonly rivals: readonly RivalName[];
  readonly stock?: Stock;
  /**
   * The number of successive requests to the same row. 1 by default. All but the first get an error, unless
   * `allSucceed` is set.
   */
  readonly perRow?: number;
  readonly allSucceed?: boolean;
  /** The n-th request. `row` is the number of the stocked job. Without stock, it counts up from zero. */
  ask(market: Market, row: number, n: number): Asked;
}

export const RIVALS = ['floor', 'postgraphile', 'yoga', 'mercurius', 'usual'] as const;
export type RivalName = (typeof RIVALS)[number];

const EVERY_RIVAL = RIVALS;
const FLOOR_ALONE = ['floor'] as const;

export const LIST = `query OpenJobs { jobs(filter: {status: OPEN}, first: 20) {
  nodes { id title status category urgency budgetMin budgetMax city state bidCount createdAt homeowner { id city state
    user { firstName lastName } } myBid { id amount status } }
  pageInfo { hasNextPage endCursor } } }`;

export const ONE_JOB = `query OneJob($id: ID!) { job(id: $id) {
  id title description status category urgency budgetMin budgetMax addressLine1 city state zipCode country latitude
    longitude desiredStartDate desiredCompletionDate
  requirements version bidCount createdAt updatedAt
  homeowner { id city state user { firstName lastName email } }
  awardedBid { id amount contractor { id companyName user { firstName lastName } } }
  bids(first: 20) { nodes { id amount status message estimatedDurationDays guaranteedView createdAt
    contractor { id companyName verified ratingAverage ratingCount user { firstName lastName } } } pageInfo {
      hasNextPage } }
  timeline(first: 20) { nodes { sequence type fromStatus toStatus occurredAt } pageInfo { hasNextPage } }
  availableActions { action allowed reason } } }`;

export const ME = `query Me { viewer { user { id email firstName lastName userType } homeowner { id city state zipCode }
  contractor { id companyName completedJobs ratingAverage ratingCount } tokens { balance held available } referralCode
    } }`;

export const PUBLISH =
  'mutation Publish($id: ID!) { publishJob(id: $id) { job { id status version updatedAt } tokensCharged ' +
  'remainingBalance } }';
export const AWARD =
  'mutation Award($id: ID!, $bidId: ID!) { awardJob(id: $id, input: {bidId: $bidId}) { job { id status version ' +
  'updatedAt } } }';
export const CHECK_IN =
  'mutation CheckIn($id: ID!, $notes: String) { checkInJob(id: $id, input: {notes: $notes}) { job { id status ' +
  'version updatedAt } } }';
export const BID =
  'mutation Bid($id: ID!, $amount: Float!, $message: String) { submitBid(jobId: $id, input: {amount: $amount, ' +
  'message: $message}) { bid { id amount status createdAt } } }';
export const LOG_IN =
  'mutation LogIn($email: String!, $password: String!) { logIn(input: {email: $email, password: $password}) { ' +
  'token refreshToken user { id email } } }';

function graphql(person: number | undefined, query: string, variables: Record<string, unknown> = {}): Asked {
  const operationName = /^(?:query|mutation) (\w+)/.exec(query)?.[1] ?? '';
  return {
    method: 'POST',
    path: '/graphql',
    ...(person !== undefined && { person }),
    body: { operationName, query, variables },
  };
}

const READERS = 200;

const list = (market: Market, _: number, n: number) =>
  graphql(personOfContractor((n * 7) % Math.min(READERS, market.contractors)), LIST);
const publish = (market: Market, row: number) =>
  graphql(personOfHomeowner(ownerOf(row, market)), PUBLISH, { id: seededId('job', row) });
const award = (market: Market, row: number) =>
  graphql(personOfHomeowner(ownerOf(row, market)), AWARD, {
    id: seededId('job', row),
    bidId: seededId('bid', bidNumber(row, 3)),
  });
const checkIn = (market: Market, row: number) =>
  graphql(personOfContractor(bidderOf(row, 1, market)), CHECK_IN, {
    id: seededId('job', row),
    notes: 'The valve is worn out.',
  });
/** An awarded job, spread over the seeded market. */
const readJob = (market: Market, n: number) => 4 + 20 * ((n * 13) % Math.floor(market.jobs / 20));

export const WORKS: readonly Work[] = [
  {
    name: 'list',
    description: '20 open jobs with homeowner, bid count and own bid',
    kind: 'read',
    connections: 16,
    rivals: EVERY_RIVAL,
    ask: list,
  },
  {
    name: 'job',
    description: 'one job with everything',
    kind: 'read',
    connections: 16,
    rivals: EVERY_RIVAL,
    ask: (market, _, n) => {
      const row = readJob(market, n);
      return graphql(personOfHomeowner(ownerOf(row, market)), ONE_JOB, { id: seededId('job', row) });
    },
  },
  {
    name: 'viewer',
    description: 'one’s own account',
    kind: 'read',
    connections: 16,
    rivals: EVERY_RIVAL,
    ask: (market, _, n) => graphql(1 + (n % (2 * Math.min(READERS, market.contractors))), ME),
  },
  {
    name: 'rest-list',
    description: 'REST: 20 open jobs, counted',
    kind: 'read',
    connections: 16,
    rivals: FLOOR_ALONE,
    ask: (market, _, n) => ({
      method: 'GET',
      path: '/v1/jobs?status=open&per_page=20',
      person: personOfContractor((n * 7) % Math.min(READERS, market.contractors)),
    }),
  },
  {
    name: 'rest-job',
    description: 'REST: one job',
    kind: 'read',
    connections: 16,
    rivals: FLOOR_ALONE,
    ask: (market, _, n) => {
      const row = readJob(market, n);
      return {
        method: 'GET',
        path: `/v1/jobs/${seededId('job', row)}`,
        person: personOfHomeowner(ownerOf(row, market)),
      };
    },
  },
  {
    name: 'publish',
    description: 'publish, each job once',
    kind: 'write',
    connections: 16,
    rivals: EVERY_RIVAL,
    stock: { state: 'draft', bids: 0 },
    ask: publish,
  },
  {
    name: 'award',
    description: 'award, each job once, to one of five bids',
    kind: 'write',
    connections: 16,
    rivals: EVERY_RIVAL,
    stock: { state: 'open', bids: 5 },
    ask: award,
  },
  {
    name: 'check-in',
    description: 'check in, each job once',
    kind: 'write',
    connections: 16,
    rivals: EVERY_RIVAL,
    stock: { state: 'awarded', bids: 1 },
    ask: checkIn,
  },
  {
    name: 'publish-hot',
    description: 'publish, 16 calls at once on one job',
    kind: 'write',
    connections: 16,
    rivals: FLOOR_ALONE,
    stock: { state: 'draft', bids: 0 },
    perRow: 16,
    ask: publish,
  },
  {
    name: 'award-hot',
    description: 'award, 16 calls at once on one job',
    kind: 'write',
    connections: 16,
    rivals: FLOOR_ALONE,
    stock: { state: 'open', bids: 5 },
    perRow: 16,
    ask: award,
  },
  {
    name: 'check-in-hot',
    description: 'check in, 16 calls at once on one job',
    kind: 'write',
    connections: 16,
    rivals: FLOOR_ALONE,
    stock: { state: 'awarded', bids: 1 },
    perRow: 16,
    ask: checkIn,
  },
  {
    name: 'bids-hot',
    description: 'bids by a thousand contractors on one hot job',
    kind: 'write',
    connections: 16,
    rivals: FLOOR_ALONE,
    stock: { state: 'open', bids: 0 },
    perRow: 1_000,
    allSucceed: true,
    ask: (market, row, n) =>
      graphql(personOfContractor(n % market.contractors), BID, {
        id: seededId('job', row),
        amount: 240.5,
        message: 'I can come on Monday.',
      }),
  },
  {
    name: 'login',
    description: 'log in',
    kind: 'write',
    connections: 4,
    rivals: FLOOR_ALONE,
    ask: (market, _, n) =>
      graphql(undefined, LOG_IN, { email: emailOf(1 + (n % market.homeowners)), password: PASSWORD }),
  },
  {
    name: 'list-256',
    description: 'the list on 256 connections',
    kind: 'read',
    connections: 256,
    rivals: EVERY_RIVAL,
    ask: list,
  },
  {
    name: 'check-in-256',
    description: 'check in on 256 connections',
    kind: 'write',
    connections: 256,
    rivals: FLOOR_ALONE,
    stock: { state: 'awarded', bids: 1 },
    ask: checkIn,
  },
];

const tokens = createAccessTokens({
  isBearer,
  secret: JWT_SECRET,
  issuer: 'job-marketplace',
  audience: 'job-marketplace',
  ttlSeconds: 24 * 3600,
});
const tokenOf = new Map<number, string>();

export function bearer(person: number): string {
  const role: Role = person % 2 === 1 ? 'homeowner' : 'contractor';
  const known =
    tokenOf.get(person) ??
    tokens.sign({ userId: seededId('usr', person) as 'usr_', sessionId: seededId('ses', person) as 'ses_', role })
      .token;
  tokenOf.set(person, known);
  return `Bearer ${known}`;
}

/** As arguments for fetch. */
export function asRequest({ method, person, body }: Asked): {
  method: string;
  headers: Record<string, string>;
  body?: string;
} {
  const authorization: Record<string, string> = person === undefined ? {} : { authorization: bearer(person) };
  if (!body) return { method, headers: authorization };
  return { method, headers: { 'content-type': 'application/json', ...authorization }, body: JSON.stringify(body) };
}

/** As bytes for a persistent connection. */
export function asBytes(asked: Asked): Buffer {
  const { method, headers, body } = asRequest(asked);
  const content = body === undefined ? '' : body;
  const all = {
    host: 'localhost',
    accept: 'application/json',
    ...headers,
    ...(body !== undefined && { 'content-length': String(Buffer.byteLength(content)) }),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${asked.path} HTTP/1.1\r\n${lines.join('')}\r\n${content}`);
}
