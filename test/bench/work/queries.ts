/**
 * Calls whose cost may grow with the market: every list, search, filter, count, and permission check. The callers are
 * people with few objects and people with many. They use the real APIs, and the resulting statements are explained. The
 * product's own tests use the same list.
 */
// The bench has its own TypeScript project, which doesn't see the product's type declaration for this package.
// oxlint-disable-next-line typescript/triple-slash-reference
/// <reference path="../../../src/market/operations/places/zipcodes.d.ts" />
import { Writable } from 'node:stream';
import postgres, { type Sql } from 'postgres';
import { readConfig } from '../../../src/app/config.js';
import { createLog } from '../../../src/platform/telemetry/log.js';
import { openServices } from '../../../src/app/services.js';
import { LONG_TIMEOUTS } from '../../setup/long-timeouts.js';
import { ensureAdmin } from '../../../src/market/operations/admins/admins.js';
import { cursorOf } from '../../../src/platform/call/paging.js';
import type { Role } from '../../../src/market/rules/viewer.js';
import { startServer } from '../../../src/app/server.js';
import type { Market } from '../../../src/market/store/seed/seed.js';
import { bidderOf, ownerOf, personOfContractor, personOfHomeowner, seededId } from '../market/market.js';
import {
  busyContractor,
  busyEndpoint,
  busyHomeowner,
  crowdedJob,
  modestHomeowner,
  SMALL_TOWN,
  WORDS,
} from '../market/uneven-market.js';

export type Connection = { host: string; port: number; username: string; database: string; password?: string };

export type Who = 'homeowner' | 'owner' | 'busy homeowner' | 'new contractor' | 'busy contractor' | 'admin' | 'bidder';

/**
 * How much the cost may grow from the smallest market to the largest. A broad search has a word that occurs in at least
 * every fifth job.
 */
type Kind = 'steady' | 'broad';
export const GROWTH_MAX: Readonly<Record<Kind, number>> = { steady: 1.5, broad: 4 };

export interface Query {
  readonly name: string;
  readonly as: Who;
  readonly kind: Kind;
  /**
   * Some queries may scan a table. Search terms with fewer than three letters have no trigrams. If every second row
   * counts, a scan up to the count's limit costs no more than an index. An audit sums up everything. A sorted list
   * reads all jobs of the busy homeowner, who owns a fifth of the smallest market.
   */
  readonly mayScan?: true;
  readonly api: 'rest' | 'graphql';
  ask(ground: Ground): Asked;
}

interface Asked {
  readonly rest?: string;
  readonly graphql?: string;
}

/** Facts about the market that a query may need. */
interface Ground {
  readonly market: Market;
  /** Cursors into the middle of lists, by name. */
  readonly middle: Readonly<Record<keyof typeof MIDDLES, string>>;
}

const row = (table: string, where: string, columns = ['created_at', 'id']) =>
  `with listed as (select ${columns.join(', ')} from ${table} where ${where}) select * from listed
    order by ${columns.map((column) => `${column} desc`).join(', ')} offset (select count(*) / 2 from listed) limit 1`;

const ownBid = (market: Market) =>
  `exists (select from bids b where b.job_id = jobs.id
    and b.contractor_id = '${seededId('ctr', busyContractor(market))}')`;
const MIDDLES = {
  all: () => row('jobs', 'true'),
  open: () => row('jobs', `status = 'open'`),
  ofBusyHomeowner: (market: Market) => row('jobs', `homeowner_id = '${seededId('hmw', busyHomeowner(market))}'`),
  ofBusyContractor: (market: Market) => row('jobs', `status = 'open' or ${ownBid(market)}`),
  completedOfBusyContractor: (market: Market) => row('jobs', `status = 'completed' and ${ownBid(market)}`),
  users: () => row('users', 'true'),
  bidsOfBusyContractor: (market: Market) => row('bids', `contractor_id = '${seededId('ctr', busyContractor(market))}'`),
  bidsOnCrowdedJob: (market: Market) =>
    row('bids', `job_id = '${seededId('job', crowdedJob(market))}'`, ['guaranteed_view', 'created_at', 'id']),
  eventsOfCrowdedJob: (market: Market) =>
    row('events', `job_id = '${seededId('job', crowdedJob(market))}'`, ['sequence']),
  reviewsOfBusyContractor: (market: Market) =>
    row('reviews', `contractor_id = '${seededId('ctr', busyContractor(market))}'`),
  transfersOfBusyHomeowner: (market: Market) =>
    row('token_transfers', `user_id = '${seededId('usr', busyHomeowner(market))}'`),
  keysOfBusyHomeowner: (market: Market) => row('api_keys', `user_id = '${seededId('usr', busyHomeowner(market))}'`),
  deliveriesOfBusyHomeowner: (market: Market) => row('webhook_deliveries', `endpoint_id = '${busyEndpoint(market)}'`),
} satisfies Record<string, (market: Market) => string>;

const workOf = ({ market }: Ground, list: string) =>
  `/v1/contractors/${seededId('ctr', busyContractor(market))}/${list}`;

const deliveries = (market: Market) => `/v1/webhooks/${busyEndpoint(market)}/deliveries`;

const FIELDS = 'nodes { id title status category city createdAt bidCount } pageInfo { hasNextPage endCursor }';
const NESTED = `nodes { id title status version bidCount homeowner { id city user { firstName email } } myBid { id
  amount } awardedBid { id contractor { companyName user { email } } }
  bids(first: 5) { totalCount nodes { id amount contractor { companyName user { firstName email } } hold { amount } }
    } timeline(first: 5) { totalCount nodes { sequence type } }
  dispute { reason } availableActions { action allowed } } pageInfo { hasNextPage }`;

function list(
  name: string,
  as: Who,
  filter: string,
  {
    kind = 'steady',
    after,
    fields = FIELDS,
    first = 20,
    orderBy,
  }: { kind?: Kind; after?: keyof typeof MIDDLES; fields?: string; first?: number; orderBy?: string } = {},
): Query {
  const narrowed =
    (filter === '' ? '' : `filter: { ${filter} }, `) + (orderBy === undefined ? '' : `orderBy: ${orderBy}, `);
  return {
    name,
    as,
    kind,
    api: 'graphql',
    ask: ({ middle }) => ({
      graphql: `{ jobs(${narrowed}first: ${first}${after ? `, after: "${middle[after]}"` : ''}) { ${fields} } }`,
    }),
  };
}

function rest(name: string, as: Who, path: string | ((ground: Ground) => string), kind: Kind = 'steady'): Query {
  return { name, as, kind, api: 'rest', ask: (ground) => ({ rest: typeof path === 'string' ? path : path(ground) }) };
}

function graphql(name: string, as: Who, query: (ground: Ground) => string): Query {
  return { name, as, kind: 'steady', api: 'graphql', ask: (ground) => ({ graphql: query(ground) }) };
}

/** A cursor after most of the rated contractors, and after most of those with many completed jobs. */
const MIDDLE_OF_CONTRACTORS = {
  NEWEST: JSON.stringify(cursorOf([new Date(Date.now() - 590 * 24 * 3_600_000), 'z'])),
  BEST_RATED: JSON.stringify(cursorOf([400, 4, 'z'])),
  MOST_COMPLETED: JSON.stringify(cursorOf([4, 400, 4, 'z'])),
  NEAREST: JSON.stringify(cursorOf([0, 400, 4, new Date(), 'z'])),
} as const;

const NEAR_AUSTIN = 'near: { zipCode: "78704", withinMiles: 100 }';

function directory(name: string, order: keyof typeof MIDDLE_OF_CONTRACTORS, filter: string, more = ''): Query {
  const narrowed = filter === '' ? '' : `, filter: { ${filter} }`;
  return graphql(name, 'new contractor', () => {
    return `{ contractors(first: 20, orderBy: ${order}${narrowed}${more}) { nodes { id companyName } } }`;
  });
}

const USER_FILTERS: readonly (readonly [
  what: string,
  filter: string,
  more?: Partial<Pick<Query, 'kind' | 'mayScan'>>,
])[] = [
  ['by an email domain that all users have', 'search: "@example.test"', { kind: 'broad' }],
  ['by an email address that one user has', 'search: "person1234@"'],
  ['whose phone a few have', 'search: "(512) 555-1234"'],
  ['of a name that nobody has', 'search: "xylophone"'],
  ['who are contractors', 'userType: CONTRACTOR', { mayScan: true }],
  ['who are admins', 'userType: ADMIN'],
  ['who are verified', 'verified: true'],
  ['who are not verified', 'verified: false'],
  ['who are suspended', 'suspended: true'],
  ['who are not suspended', 'suspended: false', { mayScan: true }],
  ['who are suspended contractors', 'suspended: true, verified: true'],
  ['whose email is confirmed', 'emailVerified: true'],
  ['whose email is not confirmed', 'emailVerified: false', { mayScan: true }],
  ['who are contractors whose email is confirmed', 'emailVerified: true, userType: CONTRACTOR'],
  ['whose email is undeliverable', 'emailUndeliverable: true'],
  ['who are not verified, by a word', 'verified: false, search: "hanna"', { kind: 'broad' }],
];

/** A job has about ten events, and positions have no gaps. */
const middleOfLog = ({ jobs }: Market) => 5 * jobs;

const counted = 'totalCount';

export const NESTED_FROM_MIDDLE = 'bids and events from the middle';

/** Nested lists from the same position for all parents. For a hundred jobs, they cost almost as much as allowed. */
const nestedFromMiddle = ({ middle }: Ground, jobs: number, filter: string) => `{ jobs(first: ${jobs}) { nodes { id
  bids(first: 14, after: "${middle.bidsOnCrowdedJob}"${filter}) { totalCount nodes { id amount } }
  timeline(first: 13, after: "${middle.eventsOfCrowdedJob}") { totalCount nodes { sequence type } } } } }`;

/** An awarded job in the middle of the market, whose owner, bidder, and strangers are known. */
export const midst = ({ jobs }: Market) => 4 + 20 * Math.floor(jobs / 40);
const readMidst = (market: Market) =>
  `{ job(id: "${seededId('job', midst(market))}") { id status title addressLine1 availableActions { action ` +
  `allowed reason } } }`;
const readCrowded = (market: Market) =>
  `{ job(id: "${seededId('job', crowdedJob(market))}") { id status title bidCount availableActions { action ` +
  `allowed reason } } }`;
const crowded = ({ market }: Ground, part: string) => `/v1/jobs/${seededId('job', crowdedJob(market))}/${part}`;

const search = (word: string, more = '') => `search: "${word}"${more}`;
const SEARCHERS = ['new contractor', 'busy contractor', 'admin'] as const;
const KIND_OF_WORD: Readonly<Record<keyof typeof WORDS, Kind>> = {
  everywhere: 'broad',
  common: 'broad',
  middling: 'steady',
  sparse: 'steady',
  rare: 'steady',
};
const NAME_OF_WORD: Readonly<Record<keyof typeof WORDS, string>> = {
  everywhere: 'a word that all jobs have',
  common: 'a common word',
  middling: 'a fairly common word',
  sparse: 'a rare word',
  rare: 'a very rare word',
};
const WORD_KINDS = Object.keys(WORDS) as (keyof typeof WORDS)[];
const NEAR_SMALL_TOWN = `near: { zipCode: "${SMALL_TOWN.zipCode}", withinMiles: 25 }`;
const NEAR_SMALL_CITY = `near_city=${SMALL_TOWN.city}&near_state=TX&within_miles=25`;
const NEAR_LARGE_TOWN = 'near: { zipCode: "78704", withinMiles: 25 }';

const SEVERAL_TRADES = {
  'two trades': 'categories: ["roofing", "plumbing"]',
  'trades nobody has': 'categories: ["thatching", "farriery", "glazing"]',
  'a trade and two that nobody has': 'categories: ["thatching", "roofing", "farriery"]',
};
const IN_BUDGET = 'budgetMin: 500, budgetMax: 600';

export const QUERIES: readonly Query[] = [
  list('open jobs', 'new contractor', 'status: OPEN'),
  list('open jobs, with total', 'new contractor', 'status: OPEN', { fields: counted }),
  list('open jobs, everything nested', 'new contractor', 'status: OPEN', { fields: NESTED, first: 10 }),
  list('open jobs, from the middle', 'new contractor', 'status: OPEN', { after: 'open' }),
  rest('open jobs, tenth page by number', 'new contractor', '/v1/jobs?status=open&page=10'),
  list('open jobs of a trade', 'new contractor', 'status: OPEN, category: "roofing"'),
  list('open jobs of a trade nobody has', 'new contractor', 'status: OPEN, category: "thatching"'),
  list('open jobs of an urgency', 'new contractor', 'status: OPEN, urgency: URGENT'),
  list(
    'busy contractor’s jobs of two trades in a budget',
    'busy contractor',
    `${SEVERAL_TRADES['two trades']}, ${IN_BUDGET}`,
  ),
  ...(['new contractor', 'admin'] as const).flatMap((who) => [
    ...Object.entries(SEVERAL_TRADES).flatMap(([what, trades]) => [
      list(`jobs of ${what}, for the ${who}`, who, trades),
      list(`jobs of ${what}, with total, for the ${who}`, who, trades, { fields: counted }),
      list(`open jobs of ${what}, for the ${who}`, who, `status: OPEN, ${trades}`),
      list(`jobs of ${what} in a budget, RECENTLY_UPDATED, for the ${who}`, who, `${trades}, ${IN_BUDGET}`, {
        orderBy: 'RECENTLY_UPDATED',
      }),
      list(`jobs of ${what} with a rare word, for the ${who}`, who, `${trades}, ${search(WORDS.sparse)}`),
    ]),
    ...['', ', OLDEST', ', RECENTLY_UPDATED', ', HIGHEST_BUDGET'].flatMap((order) => {
      const orderBy = order.slice(2) || 'NEWEST';
      return [
        list(`jobs in a budget${order}, for the ${who}`, who, IN_BUDGET, { orderBy }),
        list(`open jobs in a budget${order}, for the ${who}`, who, `status: OPEN, ${IN_BUDGET}`, { orderBy }),
        list(`jobs of a trade in a budget${order}, for the ${who}`, who, `category: "roofing", ${IN_BUDGET}`, {
          orderBy,
        }),
      ];
    }),
  ]),

  list('new contractor’s jobs', 'new contractor', ''),
  list('new contractor’s jobs, with total', 'new contractor', '', { fields: counted }),
  list('new contractor’s jobs, from the middle', 'new contractor', '', { after: 'open' }),
  rest('new contractor’s jobs, tenth page by number', 'new contractor', '/v1/jobs?page=10'),
  list('new contractor’s completed jobs', 'new contractor', 'status: COMPLETED'),
  list('busy contractor’s jobs', 'busy contractor', ''),
  list('busy contractor’s jobs, with total', 'busy contractor', '', { fields: counted }),
  list('busy contractor’s jobs, everything nested', 'busy contractor', '', { fields: NESTED, first: 10 }),
  list('busy contractor’s jobs, from the middle', 'busy contractor', '', { after: 'ofBusyContractor' }),
  rest('busy contractor’s jobs, tenth page by number', 'busy contractor', '/v1/jobs?page=10'),
  list('busy contractor’s open jobs', 'busy contractor', 'status: OPEN'),
  ...(['IN_PROGRESS', 'COMPLETED'] as const).flatMap((state) => [
    list(`busy contractor’s ${state.toLowerCase()} jobs`, 'busy contractor', `status: ${state}`),
    list(`busy contractor’s ${state.toLowerCase()} jobs, with total`, 'busy contractor', `status: ${state}`, {
      fields: counted,
    }),
  ]),
  list('busy contractor’s completed jobs, from the middle', 'busy contractor', 'status: COMPLETED', {
    after: 'completedOfBusyContractor',
  }),
  list('busy contractor’s jobs of a trade and an urgency', 'busy contractor', 'category: "roofing", urgency: URGENT'),
  list(
    'busy contractor’s jobs of a trade and an urgency, with total',
    'busy contractor',
    'category: "roofing", urgency: URGENT',
    { fields: counted },
  ),

  list('homeowner’s jobs', 'homeowner', ''),
  list('homeowner’s jobs, with total', 'homeowner', '', { fields: counted }),
  list('homeowner’s open jobs', 'homeowner', 'status: OPEN'),
  list('busy homeowner’s jobs', 'busy homeowner', ''),
  list('busy homeowner’s jobs, everything nested', 'busy homeowner', '', { fields: NESTED, first: 10 }),
  list('busy homeowner’s jobs, from the middle', 'busy homeowner', '', { after: 'ofBusyHomeowner' }),
  list('busy homeowner’s jobs, with total', 'busy homeowner', '', { fields: counted }),
  list('busy homeowner’s jobs in review', 'busy homeowner', 'status: IN_REVIEW'),

  list('all jobs', 'admin', ''),
  list('all jobs, with total', 'admin', '', { fields: counted }),
  list('all jobs, from the middle', 'admin', '', { after: 'all' }),
  list('all jobs, everything nested', 'admin', '', { fields: NESTED, first: 10 }),
  rest('all jobs, two-hundredth page by number', 'admin', '/v1/jobs?page=200'),
  list('all jobs in a state', 'admin', 'status: IN_REVIEW'),
  list('all jobs in a state, with total', 'admin', 'status: IN_REVIEW', { fields: counted }),
  list('all jobs in a state and of a trade', 'admin', 'status: IN_PROGRESS, category: "roofing"'),
  list('all jobs in a state that none is in', 'admin', 'status: APPEALED'),
  list('all jobs in several states', 'admin', 'statuses: [APPEALED, ESCALATED, IN_REVIEW]'),
  ...(['OLDEST', 'RECENTLY_UPDATED', 'HIGHEST_BUDGET'] as const).flatMap((orderBy) => [
    list(`all jobs, ${orderBy}`, 'admin', '', { orderBy }),
    list(`all jobs in several states, ${orderBy}`, 'admin', 'statuses: [APPEALED, IN_REVIEW]', { orderBy }),
    list(`all jobs of a trade, ${orderBy}`, 'admin', 'category: "roofing"', { orderBy }),
    list(`open jobs, ${orderBy}`, 'new contractor', 'status: OPEN', { orderBy }),
    list(`jobs of a busy contractor, ${orderBy}`, 'busy contractor', '', { orderBy }),
    {
      ...list(`jobs of a busy homeowner, ${orderBy}`, 'busy homeowner', '', { orderBy }),
      ...(orderBy === 'HIGHEST_BUDGET' && { mayScan: true as const }),
    },
  ]),
  ...[
    '',
    'status: IN_REVIEW',
    'statuses: [APPEALED, IN_REVIEW]',
    'category: "roofing"',
    search(WORDS.middling),
  ].flatMap((filter) => {
    const long = `${filter}${filter && ', '}statusChangedBefore: "${new Date(Date.now() - 250 * 86_400_000).toJSON()}"`;
    return [
      list(`all jobs by their last change of state {${filter}}`, 'admin', filter, { orderBy: 'LONGEST_UNCHANGED' }),
      list(`all jobs unchanged for long {${filter}}`, 'admin', long, { orderBy: 'LONGEST_UNCHANGED' }),
      list(`all jobs unchanged for long {${filter}}, with total`, 'admin', long, {
        orderBy: 'LONGEST_UNCHANGED',
        fields: counted,
      }),
      list(`the newest unchanged for long {${filter}}`, 'admin', long),
    ];
  }),
  list('what changed since a moment', 'admin', 'updatedSince: "2020-01-01T00:00:00.000Z"', {
    orderBy: 'RECENTLY_UPDATED',
  }),
  list('what changed in the open market', 'new contractor', 'updatedSince: "2020-01-01T00:00:00.000Z"', {
    orderBy: 'RECENTLY_UPDATED',
  }),
  list('all jobs of a trade and an urgency', 'admin', 'category: "roofing", urgency: URGENT'),
  list('all jobs of a trade nobody has', 'admin', 'category: "thatching"'),
  rest(
    'jobs of a homeowner',
    'admin',
    ({ market }) => `/v1/jobs?homeowner_id=${seededId('hmw', modestHomeowner(market))}`,
  ),
  rest(
    'jobs of the busy homeowner',
    'admin',
    ({ market }) => `/v1/jobs?homeowner_id=${seededId('hmw', busyHomeowner(market))}`,
  ),
  rest(
    'open jobs of the busy homeowner',
    'admin',
    ({ market }) => `/v1/jobs?homeowner_id=${seededId('hmw', busyHomeowner(market))}&status=open`,
  ),
  ...(['admin', 'busy contractor'] as const).flatMap((who) => {
    const awarded =
      (more = '') =>
      (ground: Ground) =>
        `{ jobs(filter: { contractorId: "${seededId('ctr', busyContractor(ground.market))}"${more} }, first: 20) {
        ${FIELDS} } }`;
    return [
      graphql(`jobs awarded to the busy contractor, for the ${who}`, who, awarded()),
      graphql(
        `completed jobs of the busy contractor by a word, for the ${who}`,
        who,
        awarded(`, status: COMPLETED, ${search(WORDS.common)}`),
      ),
    ];
  }),

  ...SEARCHERS.flatMap((who) =>
    WORD_KINDS.flatMap((word) => [
      list(`${who} searches for ${NAME_OF_WORD[word]}`, who, search(WORDS[word]), { kind: KIND_OF_WORD[word] }),
      list(`${who} searches for ${NAME_OF_WORD[word]}, with total`, who, search(WORDS[word]), {
        kind: KIND_OF_WORD[word],
        fields: counted,
      }),
    ]),
  ),
  ...WORD_KINDS.flatMap((word) => [
    list(
      `new contractor searches open jobs for ${NAME_OF_WORD[word]}`,
      'new contractor',
      search(WORDS[word], ', status: OPEN'),
      { kind: KIND_OF_WORD[word] },
    ),
    list(
      `busy contractor searches completed jobs for ${NAME_OF_WORD[word]}`,
      'busy contractor',
      search(WORDS[word], ', status: COMPLETED'),
      { kind: KIND_OF_WORD[word] },
    ),
    list(
      `admin searches completed jobs for ${NAME_OF_WORD[word]}`,
      'admin',
      search(WORDS[word], ', status: COMPLETED'),
      { kind: KIND_OF_WORD[word] },
    ),
  ]),
  list('new contractor searches for a common word, from the middle', 'new contractor', search(WORDS.common), {
    kind: 'broad',
    after: 'open',
  }),
  list('new contractor searches for a very rare word, from the middle', 'new contractor', search(WORDS.rare), {
    after: 'open',
  }),
  list('new contractor searches for a word that no job has', 'new contractor', search('xylophone')),
  list('homeowner searches for a common word', 'homeowner', search(WORDS.common), { kind: 'broad' }),
  list('busy homeowner searches for a common word', 'busy homeowner', search(WORDS.common), { kind: 'broad' }),
  list('busy homeowner searches for a very rare word', 'busy homeowner', search(WORDS.rare)),
  {
    ...list('new contractor searches for two letters', 'new contractor', search('zq'), { kind: 'broad' }),
    mayScan: true,
  },

  list('near a small town', 'new contractor', NEAR_SMALL_TOWN),
  list('near a small town, with total', 'new contractor', NEAR_SMALL_TOWN, { fields: counted }),
  list('near a small town, open', 'busy contractor', `${NEAR_SMALL_TOWN}, status: OPEN`),
  list('near a small town, all', 'admin', NEAR_SMALL_TOWN),
  rest('near a small city', 'new contractor', `/v1/jobs?${NEAR_SMALL_CITY}`),
  rest('near a small city, all', 'admin', `/v1/jobs?${NEAR_SMALL_CITY}`),
  list('near a large town', 'new contractor', NEAR_LARGE_TOWN, { kind: 'broad' }),
  list('near a large town, all', 'admin', NEAR_LARGE_TOWN, { kind: 'broad' }),
  ...(['new contractor', 'busy contractor', 'homeowner', 'admin'] as const).flatMap((who) => [
    list(`the nearest to a small town, for the ${who}`, who, NEAR_SMALL_TOWN, { orderBy: 'NEAREST' }),
    list(`the nearest to a small town of a trade, for the ${who}`, who, `${NEAR_SMALL_TOWN}, category: "roofing"`, {
      orderBy: 'NEAREST',
    }),
    list(`the nearest to a large town, for the ${who}`, who, NEAR_LARGE_TOWN, { orderBy: 'NEAREST', kind: 'broad' }),
  ]),
  list('near a small town with a common word', 'new contractor', `${NEAR_SMALL_TOWN}, ${search(WORDS.common)}`),

  ...(['admin', 'busy homeowner', 'busy contractor'] as const).flatMap((who) => [
    graphql(`${who}’s jobs, ${NESTED_FROM_MIDDLE}`, who, (ground) => nestedFromMiddle(ground, 20, '')),
    graphql(`${who}’s jobs, pending ${NESTED_FROM_MIDDLE}`, who, (ground) =>
      nestedFromMiddle(ground, 20, ', status: PENDING'),
    ),
    graphql(`${who}’s first hundred jobs, ${NESTED_FROM_MIDDLE}`, who, (ground) => nestedFromMiddle(ground, 100, '')),
  ]),

  graphql('users', 'admin', () => '{ users(first: 20) { nodes { id email } pageInfo { hasNextPage } } }'),
  graphql(
    'users, from the middle',
    'admin',
    ({ middle }) => `{ users(first: 20, after: "${middle.users}") { nodes { id email } } }`,
  ),
  ...USER_FILTERS.flatMap(([what, filter, more]) => [
    { ...graphql(`users ${what}`, 'admin', () => `{ users(filter: { ${filter} }) { nodes { id email } } }`), ...more },
    {
      ...graphql(`users ${what}, with total`, 'admin', () => `{ users(filter: { ${filter} }) { totalCount } }`),
      ...more,
    },
    {
      ...graphql(
        `users ${what}, from the middle`,
        'admin',
        ({ middle }) => `{ users(filter: { ${filter} }, first: 20, after: "${middle.users}") { nodes { id email } } }`,
      ),
      ...more,
    },
  ]),
  ...['userId', 'jobId', 'adminId'].flatMap((by) => {
    const filter = `filter: { ${by}: "${seededId(by === 'jobId' ? 'job' : 'usr', 1)}" }`;
    return ['nodes { id }', 'totalCount'].map((what) =>
      graphql(`admin actions by ${by}, ${what}`, 'admin', () => `{ adminActions(${filter}) { ${what} } }`),
    );
  }),
  graphql(
    'the transfer with an external reference',
    'admin',
    () => '{ tokenTransfers(filter: { externalReference: "none" }) { totalCount nodes { id } } }',
  ),
  graphql('users with their profiles', 'admin', () => '{ users { nodes { homeowner { city } contractor { bio } } } }'),
  graphql('users, with total', 'admin', () => `{ users { totalCount } }`),
  graphql(
    'a contractor, read by the busy homeowner',
    'busy homeowner',
    ({ market }) =>
      `{ contractor(id: "${seededId('ctr', busyContractor(market))}") { id companyName user { email } } }`,
  ),
  graphql(
    'a contractor, read by another',
    'new contractor',
    ({ market }) =>
      `{ contractor(id: "${seededId('ctr', busyContractor(market))}") { id companyName user { email } } }`,
  ),
  ...(['NEWEST', 'BEST_RATED', 'MOST_COMPLETED'] as const).flatMap((order) => [
    directory(`contractors, ${order}`, order, ''),
    directory(`contractors, ${order}, from the middle`, order, '', `, after: ${MIDDLE_OF_CONTRACTORS[order]}`),
    directory(`verified contractors, ${order}`, order, 'verified: true'),
    directory(`contractors of the specialty that all have, ${order}`, order, 'specialty: "roofing"'),
    directory(`contractors of a specialty that nobody has, ${order}`, order, 'specialty: "thatching"'),
    directory(`contractors of a place that all serve, ${order}`, order, 'serviceArea: "austin, tx"'),
    directory(`contractors of a place that nobody serves, ${order}`, order, 'serviceArea: "nome"'),
    directory(`contractors who are not verified, by a name, ${order}`, order, 'verified: false, search: "moss 1234"'),
    directory(`contractors by a word in all descriptions, ${order}`, order, 'search: "leaks"'),
    directory(`contractors by a name that many have, ${order}`, order, 'search: "ravi "'),
    directory(`contractors by a name that one has, ${order}`, order, 'search: "moss 1234"'),
    directory(`contractors by a word in one description, ${order}`, order, 'search: "company number 1234."'),
  ]),
  ...(['NEWEST', 'NEAREST'] as const).flatMap((order) => [
    directory(`contractors near a town that all serve, ${order}`, order, NEAR_AUSTIN),
    directory(
      `contractors near a town that all serve, ${order}, from the middle`,
      order,
      NEAR_AUSTIN,
      `, after: ${MIDDLE_OF_CONTRACTORS[order]}`,
    ),
    directory(
      `contractors near a town that nobody serves, ${order}`,
      order,
      'near: { zipCode: "99762", withinMiles: 9 }',
    ),
  ]),
  graphql('contractors near a town that all serve, with total', 'new contractor', () => {
    return `{ contractors(filter: { ${NEAR_AUSTIN} }) { totalCount } }`;
  }),
  graphql('contractors, with total', 'new contractor', () => '{ contractors { totalCount } }'),
  {
    ...graphql(
      'contractors of the specialty that all have, with total',
      'new contractor',
      () => '{ contractors(filter: { specialty: "roofing" }) { totalCount } }',
    ),
    kind: 'broad',
  },
  graphql(
    'contractors of a specialty that nobody has, with total',
    'new contractor',
    () => '{ contractors(filter: { specialty: "thatching" }) { totalCount } }',
  ),
  ...(
    [
      ['a word in all descriptions', 'leaks', 'broad'],
      ['a name that many have', 'ravi ', 'broad'],
      ['a name that one has', 'moss 1234', 'steady'],
    ] as const
  ).map(([what, search, kind]) => ({
    ...graphql(
      `contractors by ${what}, with total`,
      'new contractor',
      () => `{ contractors(filter: { search: "${search}" }) { totalCount } }`,
    ),
    kind,
  })),
  rest(
    'reviews of the busy contractor',
    'new contractor',
    ({ market }) => `/v1/contractors/${seededId('ctr', busyContractor(market))}/reviews`,
  ),
  rest(
    'reviews of the busy contractor, from the middle',
    'new contractor',
    ({ market, middle }) =>
      `/v1/contractors/${seededId('ctr', busyContractor(market))}/reviews?after=${middle.reviewsOfBusyContractor}`,
  ),
  graphql(
    'contractors with their reviews, from the middle',
    'new contractor',
    ({ middle }) =>
      `{ contractors(first: 100, orderBy: MOST_COMPLETED) { nodes { id
        reviews(first: 10, after: "${middle.reviewsOfBusyContractor}") { totalCount nodes { rating homeownerFirstName
          } } } } }`,
  ),
  ...(['admin', 'busy contractor'] as const).flatMap((who) =>
    (['jobs', 'bids'] as const).flatMap((list) => [
      rest(`${list} of the busy contractor, read by the ${who}`, who, (ground) => workOf(ground, list)),
      rest(`${list} of the busy contractor, read by the ${who}, from the middle`, who, (ground) =>
        workOf(ground, `${list}?after=${ground.middle[list === 'jobs' ? 'all' : 'bidsOfBusyContractor']}`),
      ),
    ]),
  ),
  graphql(
    'contractors with their jobs and bids, from the middle',
    'admin',
    ({ middle }) =>
      `{ contractors(first: 50, orderBy: MOST_COMPLETED) { nodes { id
        jobs(first: 5, after: "${middle.all}") { totalCount nodes { title } }
        bids(first: 5, after: "${middle.bidsOfBusyContractor}") { totalCount nodes { amount } } } } }`,
  ),
  graphql('contractors with their users, read by the busy homeowner', 'busy homeowner', () => {
    return '{ contractors(first: 100, orderBy: MOST_COMPLETED) { nodes { id licenseNumber user { email } } } }';
  }),
  rest('contractors, tenth page by number', 'new contractor', '/v1/contractors?page=10'),
  rest('bids on the crowded job', 'admin', (ground) => crowded(ground, 'bids')),
  rest('bids on the crowded job, from the middle', 'admin', (ground) =>
    crowded(ground, `bids?after=${ground.middle.bidsOnCrowdedJob}`),
  ),
  rest('own bids on the crowded job', 'new contractor', (ground) => crowded(ground, 'bids')),
  rest('events of the crowded job', 'admin', (ground) => crowded(ground, 'events')),
  rest('events of the crowded job, from the middle', 'admin', (ground) =>
    crowded(ground, `events?after=${ground.middle.eventsOfCrowdedJob}`),
  ),
  rest('changes of the crowded job’s state', 'new contractor', (ground) => crowded(ground, 'events')),
  ...(['admin', 'busy homeowner', 'busy contractor', 'new contractor'] as const).flatMap((who) => [
    rest(`own events of the ${who}`, who, '/v1/events'),
    rest(`own events of the ${who}, from the middle`, who, ({ market }) => `/v1/events?after=${middleOfLog(market)}`),
    graphql(`own events of the ${who}, with total`, who, () => '{ myEvents(first: 1) { totalCount } }'),
  ]),
  rest('own bids', 'busy contractor', '/v1/bids'),
  rest('own bids, from the middle', 'busy contractor', ({ middle }) => `/v1/bids?after=${middle.bidsOfBusyContractor}`),
  rest('own accepted bids', 'busy contractor', '/v1/bids?status=accepted'),
  rest('token transfers', 'busy homeowner', '/v1/tokens/transactions'),
  rest(
    'token transfers, from the middle',
    'busy homeowner',
    ({ middle }) => `/v1/tokens/transactions?after=${middle.transfersOfBusyHomeowner}`,
  ),
  rest('API keys', 'busy homeowner', '/v1/api-keys'),
  rest(
    'API keys, from the middle',
    'busy homeowner',
    ({ middle }) => `/v1/api-keys?after=${middle.keysOfBusyHomeowner}`,
  ),
  rest('webhook endpoints', 'busy homeowner', '/v1/webhooks'),
  ...[
    ['', ''],
    [' that failed', '&status=failed'],
  ].flatMap(([what = '', filter = '']) => [
    rest(`webhook deliveries${what}`, 'busy homeowner', ({ market }) => `${deliveries(market)}?per_page=20${filter}`),
    rest(
      `webhook deliveries${what}, from the middle`,
      'busy homeowner',
      ({ market, middle }) => `${deliveries(market)}?after=${middle.deliveriesOfBusyHomeowner}${filter}`,
    ),
  ]),
  rest('token balance', 'busy homeowner', '/v1/tokens'),
  { ...rest('the audit of all tokens', 'admin', '/v1/tokens/audit'), mayScan: true },
  rest('oneself', 'busy contractor', '/v1/me'),
  ...(['admin', 'busy homeowner', 'homeowner', 'busy contractor', 'new contractor'] as const).map((who) =>
    rest(`jobs by state, with totals, for the ${who}`, who, '/v1/me/job-counts', 'broad'),
  ),

  graphql('a job, read by its owner', 'owner', ({ market }) => readMidst(market)),
  graphql('a job, read by its bidder', 'bidder', ({ market }) => readMidst(market)),
  graphql('a job, asked for by a stranger', 'new contractor', ({ market }) => readMidst(market)),
  graphql('a job, read by an admin', 'admin', ({ market }) => readMidst(market)),
  graphql('the crowded job, read by a stranger', 'new contractor', ({ market }) => readCrowded(market)),
  graphql('the crowded job, read by the busy contractor', 'busy contractor', ({ market }) => readCrowded(market)),
  graphql(
    'a bid, by its identifier',
    'bidder',
    ({ market }) =>
      `{ node(id: "${seededId('bid', midst(market) * 16 + 1)}") { ... on Bid { id amount job { id title } ` +
      `contractor { id user { email } } } } }`,
  ),
];

/** The GraphQL lists again, from their ends, and backwards from the middle. */
export const BACKWARD_QUERIES: readonly Query[] = QUERIES.filter(
  ({ api, name }) => api === 'graphql' && !name.startsWith('own events'),
).map((query) => ({
  ...query,
  name: `${query.name}, backwards`,
  ask: (ground) => {
    const { graphql = '' } = query.ask(ground);
    return { graphql: graphql.replaceAll('first:', 'last:').replaceAll('after:', 'before:') };
  },
}));

/** The statements that begin and end transactions read nothing. */
const OF_TRANSACTIONS = /^(begin|commit|rollback|savepoint|release)\b/i;

export interface Sent {
  readonly name: string;
  readonly query: Query;
  readonly text: string;
  readonly values: readonly unknown[];
}

/** An app on the seeded market, and its callers. It records the statements that it sends. */
export async function openListener(connection: Connection, sql: Sql, market: Market) {
  const config = readConfig({
    NODE_ENV: 'test',
    PORT: '0',
    BCRYPT_COST: '4',
    RATE_LIMITS: 'off',
    JWT_SECRET: 'a secret that only this listener knows',
  });
  const logged: string[] = [];
  let statementsSent: { text: string; values: readonly unknown[] }[] = [];
  const log = createLog('warn', {
    destination: new Writable({ write: (line, _, done) => (logged.push(String(line)), done()) }),
  });
  const hooks = { onStatement: (text: string, values: readonly unknown[]) => statementsSent.push({ text, values }) };
  const { services, close } = await openServices(config, log, connection, hooks, {
    ...LONG_TIMEOUTS,
    probeTimeoutMs: 60_000,
  });
  const admin = { email: 'ada@example.test', password: 'ada keeps the house' };
  await ensureAdmin(services, admin.email, admin.password);
  const server = await startServer(services, config);

  const seeded = (person: number) => {
    const role: Role = person % 2 === 1 ? 'homeowner' : 'contractor';
    return services.accessTokens.sign({
      userId: seededId('usr', person) as 'usr_',
      sessionId: seededId('ses', person) as 'ses_',
      role,
    }).token;
  };
  const post = async (path: string, body: object) => {
    const answer = await fetch(server.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return ((await answer.json()) as { token: string }).token;
  };
  const tokens: Record<Who, string> = {
    homeowner: seeded(modestHomeowner(market)),
    owner: seeded(personOfHomeowner(ownerOf(midst(market), market))),
    'busy homeowner': seeded(busyHomeowner(market)),
    'busy contractor': seeded(busyContractor(market)),
    bidder: seeded(personOfContractor(bidderOf(midst(market), 1, market))),
    'new contractor': await post('/v1/auth/signup/contractor', {
      email: `new${Date.now()}@example.test`,
      password: 'a good password',
      first_name: 'Nora',
      last_name: 'New',
    }),
    admin: await post('/v1/auth/login', admin),
  };
  const middle: Record<string, string> = {};
  for (const [name, select] of Object.entries(MIDDLES)) {
    const [found] = await sql.unsafe(select(market)).values();
    if (!found) throw new Error(`There is no middle of ${name}.`);
    middle[name] = cursorOf(
      found.map((value) => (typeof value === 'string' && /^\d{4}-/.test(value) ? new Date(value) : value)) as never,
    );
  }
  const ground = { market, middle } as Ground;

  async function call(query: Pick<Query, 'name' | 'as' | 'ask'>): Promise<unknown> {
    const { rest: path, graphql: document } = query.ask(ground);
    const headers = { authorization: `Bearer ${tokens[query.as]}`, 'content-type': 'application/json' };
    const answer =
      path === undefined
        ? await fetch(`${server.url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query: document }) })
        : await fetch(server.url + path, { headers });
    const body = (await answer.json()) as { errors?: { extensions: { code: string } }[] };
    const { errors } = body;
    const refused = errors?.filter(({ extensions }) => extensions.code !== 'FORBIDDEN');
    if ((path !== undefined && answer.status >= 400) || (refused && refused.length > 0))
      throw new Error(
        `“${query.name}” was answered with ${answer.status} ${JSON.stringify(errors)}\n${logged.slice(-3).join('')}`,
      );
    return body;
  }

  return {
    ask: (as: Who, asked: Asked) => call({ name: 'a question', as, ask: () => asked }),
    /** Each query's statements. The session check is a separate statement, and is included once. */
    async listen(queries: readonly Query[]): Promise<Sent[]> {
      const sent: Sent[] = [];
      for (const query of queries) {
        statementsSent = [];
        await call(query);
        const isLookUp = ({ text }: { text: string }) => text.includes('/* selectActiveSession */');
        const own = statementsSent.filter((one) => !isLookUp(one) && !OF_TRANSACTIONS.test(one.text));
        const [lookUp] = statementsSent.filter(isLookUp);
        if (lookUp && !sent.some(({ name }) => name === 'session')) sent.push({ name: 'session', query, ...lookUp });
        sent.push(
          ...own.map(({ text, values }, at) => ({
            name: own.length > 1 ? `${query.name} · ${partName(text, at)}` : query.name,
            query,
            text,
            values,
          })),
        );
      }
      return sent;
    },
    async close(): Promise<void> {
      await server.close();
      await close();
    },
  };
}

function partName(text: string, at: number): string {
  return /^(?:select found\.\* from \()?select count\(/.test(text) ? 'count' : String(at + 1);
}

export type PlanKind = 'custom' | 'generic';
export const PLAN_KINDS: readonly PlanKind[] = ['custom', 'generic'];

interface Node {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly Node[];
}

interface Explained {
  readonly Plan: Node & Readonly<Record<string, unknown>>;
  readonly 'Execution Time'?: number;
}

/**
 * A connection that explains statements as the database would run them for the product: prepared, with either kind of
 * plan.
 */
export async function openExplainer(connection: Connection, timeoutMs: number) {
  const sql = postgres({
    ...connection,
    max: 1,
    fetch_types: false,
    onnotice: () => {},
    connection: { TimeZone: 'UTC', statement_timeout: timeoutMs },
  });
  return {
    sql,
    async prepare({ text, values }: Sent): Promise<void> {
      await sql.unsafe('deallocate all');
      await sql.unsafe(`prepare asked as ${text}`);
      executed = `asked${values.length > 0 ? `(${values.map(literal).join(', ')})` : ''}`;
    },
    explain: async (kind: PlanKind, how = ''): Promise<Explained> => {
      await sql.unsafe(`set plan_cache_mode = force_${kind}_plan`);
      const [found] = await sql.unsafe(`explain (${how}format json) execute ${executed}`);
      const json = found?.['QUERY PLAN'] as string | Explained[];
      return ((typeof json === 'string' ? JSON.parse(json) : json) as Explained[])[0] as Explained;
    },
    /** The kind of plan that the database chooses for a statement it has seen often. */
    async taken(): Promise<PlanKind> {
      await sql.unsafe('set plan_cache_mode = auto');
      for (let time = 0; time < 7; time += 1) await sql.unsafe(`explain execute ${executed}`);
      const [counts] = await sql
        .unsafe(`select generic_plans::int from pg_prepared_statements where name = 'asked'`)
        .values();
      return Number(counts?.[0]) > 0 ? 'generic' : 'custom';
    },
    close: () => sql.end({ timeout: 5 }),
  };
}

let executed = '';

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  const text = value instanceof Date ? value.toISOString() : String(value);
  return `'${text.replaceAll("'", "''")}'`;
}

const ONE_ROW = ['deadline_clock', 'notification_cursor', 'search_cursor'];

/** The tables that a plan scans completely, except those with one row. */
export function scannedIn(node: Node): string[] {
  const table = node['Node Type'] === 'Seq Scan' ? node['Relation Name'] : undefined;
  const here = table === undefined || ONE_ROW.includes(table) ? [] : [table];
  return [...new Set([...here, ...(node.Plans ?? []).flatMap(scannedIn)])];
}

/** The conditions of all index scans in a plan. */
export function indexConditionsIn(node: Node): string[] {
  const here = node['Index Cond'] === undefined ? [] : [node['Index Cond']];
  return [...here, ...(node.Plans ?? []).flatMap(indexConditionsIn)];
}

/** The indexes that a plan reads without reading the table's rows. */
export function indexesWithoutRowsIn(node: Node): string[] {
  const here = node['Node Type'] === 'Index Only Scan' ? [node['Index Name'] ?? ''] : [];
  return [...here, ...(node.Plans ?? []).flatMap(indexesWithoutRowsIn)];
}
