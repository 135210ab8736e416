/**
 * Nested lists are read for all parents in one batch, from any position. Every path from one list to another takes as
 * many statements for twenty parents as for one. The batch returns the same entries as a single job's list.
 */
import { getNamedType, getNullableType, isListType, isObjectType, isRequiredArgument } from 'graphql';
import type { GraphQLField, GraphQLObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { schema } from '../../src/graphql/schema.js';
import { cursorOf } from '../../src/platform/call/paging.js';
import { newId } from '../../src/market/store/new-id.js';
import { isList } from '../../src/platform/openapi/route.js';
import { ROUTES } from '../../src/rest/routes.js';
import { eventType, snake } from '../story/calls.js';
import { programOf, type Person } from '../story/cast.js';
import { isLookUpOfSession, openTestApp, type Json, type TestApp } from '../setup/app.js';
import { gather, givenJob, type People } from '../story/journey.js';
import { copiesOf } from '../story/scenes.js';

/** Each document has every combination of arguments, which costs more than a request may. */
vi.mock('../../src/platform/caller-limits.js', async (original) => ({
  ...(await original<typeof import('../../src/platform/caller-limits.js')>()),
  GRAPHQL_LIMITS: new Proxy({}, { get: () => 1_000_000 }),
}));

const READERS = ['owner', 'admin', 'awardee', 'bidder'] as const;
type Reader = (typeof READERS)[number];
/** A normal run has only the readers that use the most different statements. */
const COUNTED_READERS = process.env.NESTED === 'whole' ? READERS : (['admin', 'awardee'] as const);

let app: TestApp;
let people: People;

/**
 * Each list starts with its fullest entry, so one parent leads to everything that twenty lead to. The awardee has won
 * some of the first jobs, and has only bid on the others.
 */
beforeAll(async () => {
  app = await openTestApp();
  people = await gather(app);
  for (const state of ['open', 'disputed', 'awarded'] as const) {
    await copiesOf(app, await givenJob(app, state, people), 12);
  }
  await givenJob(app, 'completed', people, { through: 'appealed', offers: { awardee: { guaranteed_view: true } } });
  await app.sql`
    with numbered as (select id, status, row_number() over (partition by status order by id) as number from jobs),
      placed as (
        select id, case status when 'completed' then timestamptz '2031-01-01'
          else timestamptz '2030-01-01' - number * interval '1 minute' end as made
        from numbered
      ),
      moved as (update jobs set created_at = made from placed where placed.id = jobs.id)
    update bids set job_created_at = made, created_at = made from placed where placed.id = bids.job_id`;
  // Each list gets two entries.
  for (const who of [...READERS, ...READERS]) await giveTheRest(people[who]);
  await makeNewest(people.awardee);
});
afterAll(() => app.close());

/** Gives the person one of everything that isn't about jobs. The endpoint is paused, so nothing is sent to it. */
async function giveTheRest(person: Person): Promise<void> {
  const [endpoint, delivery] = [newId('webhookEndpoint'), newId('webhookDelivery')];
  await app.sql`insert into webhook_endpoints
      (id, user_id, url, event_types, status, paused_reason, secrets, sealed_by)
    values (${endpoint}, ${person.userId}, 'https://example.com/', '{}', 'paused', 'failing', '[]', '')`;
  await app.sql`insert into webhook_deliveries (id, endpoint_id, event_id, event_type, status, ended_at)
    values (${delivery}, ${endpoint}, ${newId('event')}, 'job.updated', 'failed', now()),
      (${newId('webhookDelivery')}, ${endpoint}, ${newId('event')}, 'job.updated', 'waiting', null)`;
  await app.sql`insert into webhook_attempts (delivery_id, number, started_at, duration_ms)
    values (${delivery}, 1, now(), 10), (${delivery}, 2, now(), 10)`;
  await app.sql`insert into purchases
      (id, user_id, pack, tokens, amount, currency, return_url, provider, livemode, expires_at)
    values (${newId('purchase')}, ${person.userId}, 'small', 50, 500, 'USD', 'https://example.com/', 'stripe', false,
      now())`;
  await programOf(app, person);
  const { email, password } = person;
  expect((await app.rest('POST', '/v1/auth/login', { body: { email, password } })).status).toBe(200);
  const body = { name: 'Roofs', filter: { search: 'roof' }, alert: 'off' };
  const { status } = await app.rest('POST', '/v1/saved-searches', { token: person.token, body });
  expect(status).toBeOneOf([201, 403]);
}

/** Makes this person the first contractor in lists. The other contractors have no visible jobs or bids. */
async function makeNewest({ userId }: Person): Promise<void> {
  await app.sql`update users set created_at = (select max(created_at) + interval '1 year' from users)
    where id = ${userId}`;
}

async function ask(who: Person, query: string, variables?: object): Promise<Json> {
  const { data, errors } = await app.graphql(query, { token: who.token, ...(variables && { variables }) });
  expect(errors, query).toBeUndefined();
  return data;
}

async function statementsFor(who: Person, query: string, variables?: object): Promise<number> {
  app.statements();
  await ask(who, query, variables);
  return countStatements();
}

const countStatements = () => app.statements().filter((text) => !isLookUpOfSession(text)).length;

/** A cursor before every entry of each list. A read after it returns the whole list. */
const LATE = new Date(Date.UTC(2200, 0));
const BEFORE_ALL: Readonly<Record<string, string>> = {
  'Job.bids': cursorOf([true, LATE, 'z']),
  'Job.timeline': cursorOf([0]),
  'Bid.revisions': cursorOf([2 ** 31 - 1]),
  'Contractor.reviews': cursorOf([LATE, 'z']),
  'Contractor.jobs': cursorOf([LATE, 'z']),
  'Contractor.bids': cursorOf([LATE, 'z']),
  'User.tokenTransactions': cursorOf([LATE, 'z']),
  'User.purchases': cursorOf([LATE, 'z']),
  'WebhookEndpoint.deliveries': cursorOf([LATE, 'z']),
};

/** The states of the reader's bids on the first job. */
const STATES: Readonly<Record<Reader, readonly string[]>> = {
  owner: ['ACCEPTED', 'REJECTED'],
  awardee: ['ACCEPTED'],
  bidder: ['REJECTED'],
  admin: ['ACCEPTED', 'REJECTED'],
};

interface Link {
  readonly parent: GraphQLObjectType;
  readonly field: GraphQLField<unknown, unknown>;
  readonly type: GraphQLObjectType;
}

const isConnection = ({ name }: GraphQLObjectType) => name.endsWith('Connection');

function entryOf(connection: GraphQLObjectType): GraphQLObjectType {
  return getNamedType(connection.getFields().nodes!.type) as GraphQLObjectType;
}

function linksFrom(parent: GraphQLObjectType): Link[] {
  return Object.values(parent.getFields()).flatMap((field) => {
    const type = getNamedType(field.type);
    return isObjectType(type) ? [{ parent, field, type }] : [];
  });
}

/** Every chain of up to this many fields that starts at a list's entry. */
function chainsFrom(type: GraphQLObjectType, length: number): Link[][] {
  if (length === 0) return [];
  return linksFrom(type).flatMap((link) => {
    const next = isConnection(link.type) ? entryOf(link.type) : link.type;
    return [[link], ...chainsFrom(next, length - 1).map((chain) => [link, ...chain])];
  });
}

function beforeAllOf({ parent, field }: Link): string {
  const name = `${parent.name}.${field.name}`;
  const cursor = BEFORE_ALL[name];
  if (cursor === undefined) throw new Error(`BEFORE_ALL has to say where the list ${name} begins.`);
  return `"${cursor}"`;
}

function argumentsOf(link: Link, who: Reader): string[] {
  const backwards = [' last: 3', ` last: 3 before: ${beforeAllOf(link)}`];
  const values: Readonly<Record<string, readonly string[]>> = {
    first: ['3'],
    after: [beforeAllOf(link)],
    status: getNamedType(link.type).name === 'WebhookDeliveryConnection' ? ['WAITING'] : STATES[who],
  };
  const combine = (before: string[], { name }: { name: string }): string[] => {
    const given = values[name];
    if (!given) throw new Error(`The values have to say what to pass as ${link.field.name}(${name}).`);
    return before.flatMap((some) => [some, ...given.map((value) => `${some} ${name}: ${value}`)]);
  };
  const isBackward = ({ name }: { name: string }) => name === 'last' || name === 'before';
  return [...link.field.args.filter((argument) => !isBackward(argument)).reduce(combine, ['']), ...backwards];
}

function leavesOf(type: GraphQLObjectType): string {
  const leaves = Object.values(type.getFields()).filter((field) => !isObjectType(getNamedType(field.type)));
  return `__typename ${leaves.map(({ name }) => name).join(' ')}`;
}

/**
 * Selects a chain. Its last list has all combinations of its arguments, and each list before it appears once. Two pages
 * of one list may arrive at different times, and so may everything nested in them.
 */
function written([link, ...rest]: readonly Link[], who: Reader): string {
  if (!link) return '';
  const { field, type } = link;
  if (!isConnection(type)) return `${field.name} { ${rest.length > 0 ? written(rest, who) : leavesOf(type)} }`;
  if (rest.length > 0) {
    return `${field.name}(first: 2, after: ${beforeAllOf(link)}) { totalCount nodes { ${written(rest, who)} } }`;
  }
  const entry = leavesOf(entryOf(type));
  const parts = [
    'totalCount',
    `pageInfo { endCursor hasPreviousPage } edges { cursor node { ${entry} } }`,
    `nodes { ${entry} } totalCount`,
  ];
  const list = (given: string) => (given === '' ? field.name : `${field.name}(${given})`);
  return argumentsOf(link, who)
    .map((given, at) => `at${at}: ${list(given)} { ${parts[at % parts.length]} }`)
    .join(' ');
}

interface Way {
  readonly name: string;
  readonly chain: readonly Link[];
  /** Wraps the chain's selection in a whole document. */
  document(selection: string): string;
}

const LEVELS = 3;
const OPTIONAL = ['first', 'after', 'last', 'before', 'status', 'filter', 'orderBy'];

/** Every list that a query leads to, directly or through one object. */
const WAYS: readonly Way[] = linksFrom(schema.getQueryType()!)
  .filter(({ field }) =>
    field.args.every((argument) => OPTIONAL.includes(argument.name) && !isRequiredArgument(argument)),
  )
  .flatMap((link) => {
    if (isConnection(link.type)) return waysWithin(link, '', (list) => list);
    const lists = linksFrom(link.type).filter(({ type }) => isConnection(type));
    const { name } = link.field;
    return lists.flatMap((list) => waysWithin(list, `${name}.`, (inner) => `${name} { ${inner} }`));
  });

function waysWithin({ field, type }: Link, prefix: string, around: (list: string) => string): Way[] {
  return chainsFrom(entryOf(type), LEVELS).map((chain) => ({
    name: `${prefix}${[field, ...chain.map((link) => link.field)].map(({ name }) => name).join('.')}`,
    chain,
    document: (selection) => {
      const list = `${field.name}(first: $first) { nodes { ${selection} } }`;
      return `query ($first: Int) { ${around(list)} }`;
    },
  }));
}

describe('a path from one list to a nested one', () => {
  test('is found wherever the schema has one', () => {
    const expected = ['jobs.bids.job.timeline', 'jobs.awardedBid.contractor.user', 'viewer.bids.job.bids.hold'];
    expect(WAYS.map(({ name }) => name)).toEqual(expect.arrayContaining(expected));
  });

  test.each(COUNTED_READERS)('costs the %s as many statements for twenty parents as for one', async (who) => {
    const more: string[] = [];
    // A separate statement checks a session that this process hasn't cached.
    await ask(people[who], '{ viewer { referralCode } }');
    if (who === 'bidder') await makeNewest(people.bidder);
    for (const [at, { name, chain, document }] of WAYS.entries()) {
      const isOfAccounts = name.startsWith('users.');
      const isOfActions = name.startsWith('adminActions.');
      // Only admins can read these lists. The readers take turns with all other lists, so a whole run reads each of
      // those as someone who sees all bids and as someone who sees only their own.
      if (isOfAccounts || isOfActions ? who !== 'admin' : READERS.indexOf(who) % 2 !== at % 2) continue;
      const query = document(written(chain, who));
      // Reads ten entries, because the first may not lead everywhere. An account has one kind of profile, and its
      // tokens may be hidden. Not every event is about a bid, and not every action is about a job.
      const isOfSome =
        isOfAccounts ||
        isOfActions ||
        name.startsWith('myEvents.') ||
        chain.some(({ parent, field }) => /^User\.(token|purchases)/.test(`${parent.name}.${field.name}`));
      const one = await statementsFor(people[who], query, { first: isOfSome ? 10 : 1 });
      const twenty = await statementsFor(people[who], query, { first: 20 });
      if (one !== twenty) more.push(`${name}: ${one} for one, ${twenty} for twenty`);
    }
    expect(more).toEqual([]);
  });

  test.each(READERS)('costs the %s one statement per page, including its count, from any position', async (who) => {
    const bids = (rest: string) => `bids(after: "${BEFORE_ALL['Job.bids']}", ${rest}`;
    const timeline = (rest: string) => `timeline(after: "${BEFORE_ALL['Job.timeline']}", ${rest}`;
    const counts = async (...parts: string[]) => {
      const selection = parts.map((part, at) => `at${at}: ${part}`).join(' ');
      return statementsFor(people[who], `{ jobs(first: 20) { nodes { ${selection} } } }`);
    };
    await counts('id');
    expect(await counts(bids('first: 2) { nodes { id } }'))).toBe(2);
    expect(await counts(timeline('first: 2) { nodes { id } }'))).toBe(2);
    expect(await counts(bids('first: 2) { nodes { id } }'), bids('status: PENDING) { nodes { id } }'))).toBe(3);
    expect(await counts(timeline('first: 2) { nodes { id } }'), timeline('first: 3) { nodes { id } }'))).toBe(3);
    expect(await counts(bids('first: 2) { totalCount }'), timeline('first: 3) { totalCount }'))).toBe(3);
  });
});

test('a REST list costs as many statements for twenty entries as for one', async () => {
  // External references are unique, so they find a transfer.
  const paths = ROUTES.filter((route) => isList(route) && !route.path.includes('{'))
    .map(({ path }) => path)
    .filter((path) => path !== '/tokens/transfers');
  expect(paths).toEqual(expect.arrayContaining(['/jobs', '/bids']));
  const entriesOf = Object.fromEntries(paths.map((path) => [path, 0]));
  for (const [who, path] of READERS.flatMap((who) => paths.map((path) => [who, path] as const))) {
    const counted = async (entries: number) => {
      app.statements();
      const { status, body } = await app.rest('GET', `/v1${path}?per_page=${entries}`, { token: people[who].token });
      expect([200, 403]).toContain(status);
      if (status === 200) entriesOf[path] = Math.max(entriesOf[path] ?? 0, body.data.length);
      return countStatements();
    };
    const one = await counted(1);
    expect(await counted(20), `${path} by the ${who}`).toBe(one);
  }
  expect(Object.entries(entriesOf).filter(([, entries]) => entries < 2)).toEqual([]);
});

const PAGES = `query ($first: Int, $status: BidStatus, $bid: String, $event: String) { jobs(first: 40) { nodes { id
  bids(first: $first, status: $status, after: $bid) {
    totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    edges { cursor node { id status amount } } }
  timeline(first: $first, after: $event) {
    totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    edges { cursor node { id sequence type data actor { id firstName lastName userType } } } } } } }`;

interface Connection {
  totalCount: number;
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string | null; endCursor: string | null };
  edges: { cursor: string; node: Json }[];
}

interface Single {
  readonly rows: Json[];
  readonly total: number;
  /** Null at the end. */
  readonly next: string | null;
}

type Words = string | null;

async function single(who: Person, path: string, first: number, after: Words, status: Words = null): Promise<Single> {
  const query = new URLSearchParams({
    per_page: String(first),
    ...(after !== null && { after }),
    ...(status !== null && { status: status.toLowerCase() }),
  });
  const { body, headers } = await app.rest('GET', `/v1/jobs/${path}?${query}`, { token: who.token });
  const next = /[?&]after=([\w-]+)[^>]*>; rel="next"/.exec(headers.get('link') ?? '')?.[1] ?? null;
  return { rows: body.data, total: body.pagination.total, next };
}

function expectSame(read: Connection, { rows, total, next }: Single, after: Words): void {
  const { hasNextPage, hasPreviousPage, startCursor, endCursor } = read.pageInfo;
  expect(read.edges.map(({ node }) => asRest(node))).toEqual(rows.map((row) => expect.objectContaining(row)));
  expect(read.totalCount).toBe(total);
  expect(hasNextPage).toBe(next !== null);
  if (next !== null) expect(endCursor).toBe(next);
  expect(hasPreviousPage).toBe(after !== null);
  expect([startCursor, endCursor]).toEqual([read.edges[0]?.cursor ?? null, read.edges.at(-1)?.cursor ?? null]);
}

function asRest({ status, type, actor, data, ...rest }: Json): Json {
  const names = Object.entries<unknown>(data ?? {}).map(([name, value]) => [snake(name), value] as const);
  return {
    ...rest,
    ...(status && { status: status.toLowerCase() }),
    ...(type && { type: eventType(type) }),
    ...(actor !== undefined && {
      // Contractors don't see other contractors as actors.
      actor: actor && {
        id: actor.id,
        name: `${actor.firstName} ${actor.lastName}`,
        role: actor.userType.toLowerCase(),
      },
    }),
    ...(data && { data: Object.fromEntries(names) }),
  };
}

function narrowed(page: Single, names: readonly string[]): Single {
  const rows = page.rows.map((row) => Object.fromEntries(names.map((name) => [name, row[name] as unknown])));
  return { ...page, rows };
}

describe.each(READERS)('the page of many jobs that the %s reads from a position', (who) => {
  const STATUSES = [null, 'PENDING', 'ACCEPTED', 'REJECTED'] as const;

  test.each(STATUSES)("with bids in state %s is the same as each job's own lists", async (status) => {
    const reader = people[who];
    const whole: Json[] = (await ask(reader, PAGES, { first: 100 })).jobs.nodes;
    const jobs = [whole[0], whole[1], whole.at(-1)];
    const cursors = (part: 'bids' | 'timeline'): string[] =>
      jobs.flatMap((job) => (job[part] as Connection).edges.map(({ cursor }) => cursor));
    const [bids, events] = [cursors('bids'), cursors('timeline')];
    const positions = [null, 0, 1, -1].map((at) => (at === null ? [null, null] : [bids.at(at)!, events.at(at * 3)!]));
    for (const [at, [bid = null, event = null]] of positions.entries()) {
      const first = 1 + (at % 2);
      const { nodes } = (await ask(reader, PAGES, { first, status, bid, event })).jobs;
      for (const { id } of jobs) {
        const read = nodes.find((job: Json) => job.id === id);
        const ownBids = await single(reader, `${id}/bids`, first, bid, status);
        expectSame(read.bids, narrowed(ownBids, ['id', 'status', 'amount']), bid);
        const ownEvents = await single(reader, `${id}/events`, first, event);
        expectSame(read.timeline, narrowed(ownEvents, ['id', 'sequence', 'type', 'data', 'actor']), event);
      }
    }
  });
});

test('the awardee reads each job according to their role in it, whatever else is in the list', async () => {
  const timeline = `timeline(first: 100, after: "${BEFORE_ALL['Job.timeline']}") { nodes { type } }`;
  const { nodes } = (await ask(people.awardee, `{ jobs(first: 40) { nodes { awardedBid { id } ${timeline} } } }`)).jobs;
  const typesOf = (isAwarded: boolean): string[][] =>
    nodes
      .filter((job: Json) => (job.awardedBid !== null) === isAwarded)
      .map((job: Json) => job.timeline.nodes.map(({ type }: { type: string }) => type));
  expect(typesOf(true).length).toBeGreaterThan(10);
  expect(typesOf(false).length).toBeGreaterThan(10);
  for (const types of typesOf(true)) expect(types).toContain('BID_SUBMITTED');
  for (const types of typesOf(false)) expect(types).toEqual(['JOB_CREATED', 'JOB_PUBLISHED', 'BID_SUBMITTED']);
});

test.each([
  ['bids', 'nonsense'],
  ['bids', cursorOf([1])],
  ['bids', ''],
  ['timeline', 'nonsense'],
  ['timeline', cursorOf([true, LATE, 'z'])],
])('a broken cursor of nested %s is refused before anything is read for it: “%s”', async (part, after) => {
  const list = `${part}(after: $after) { totalCount }`;
  const query = `query ($after: String) { jobs(first: 20) { nodes { ${list} } } } # ${after}`;
  const fields = { after: 'isn’t a cursor of this list. Use a cursor that the list returned' };
  for (let time = 0; time < 3; time += 1) {
    app.statements();
    const { data, errors } = await app.graphql(query, { token: people.owner.token, variables: { after } });
    expect(data).toEqual({ jobs: null });
    const extensions = { code: 'VALIDATION_FAILED', fields };
    expect(errors).toMatchObject([{ path: ['jobs', 'nodes', 0, part], extensions }]);
    expect(countStatements()).toBe(1);
  }
});

test('an entry of a list has no lists without pages, except short ones', () => {
  const links = WAYS.flatMap(({ chain }) => chain).filter(({ field }) => isListType(getNullableType(field.type)));
  const names = links.map(({ parent, field }) => `${parent.name}.${field.name}`);
  expect([...new Set(names)].toSorted()).toEqual([
    'Bid.availableActions',
    'Job.availableActions',
    'Job.upcoming',
    'Job.warnings',
    'WebhookDelivery.attempts',
  ]);
});
