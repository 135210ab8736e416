/**
 * The caches of Apollo Client and graphcache, set up as in docs/clients.md. They read lists in several ways, even from
 * a server that runs only listed documents. The tests run in Node, where the caches work as in a browser.
 */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema, getNamedType, isObjectType, type GraphQLObjectType } from 'graphql';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { openTestApp, type Json, type TestApp } from '../../setup/app.js';
import { admin, contractor, homeowner, type Person } from '../../story/cast.js';
import { giveTokens } from '../../story/journey.js';
import { newFolder, stubBrowser, writeFiles } from './spa-site.js';

type Read = 'edges' | 'nodes' | 'bareNodes' | 'cursorsAndNodes' | 'onEdge' | 'total' | 'end';
type ListRead = readonly [Read, { first?: number; after?: string }];
type Both = Promise<{ cached: Json; asked: Json }>;

interface Stories {
  readOneByOne(api: string, reads: readonly ListRead[]): Promise<Json[]>;
  readOn(api: string, name: 'nodes' | 'edges', first: number | undefined): Promise<Json[]>;
  readOffers(api: string, bids: readonly string[]): Promise<Json[][]>;
  whoByHash(api: string): Promise<unknown>;
}

interface Board {
  titles(): string[];
  showMore(): Promise<unknown>;
  hasMore(): boolean;
  openJob(id: string): Promise<void>;
  close(): void;
}

interface Session {
  writeSession(session: object | undefined): void;
}

let apollo: Stories & {
  typePolicies: Record<string, { fields?: Record<string, unknown>; keyFields?: readonly string[] | false }>;
  createAmongLists(api: string, input: object): Both;
  deleteAmongLists(api: string, id: string): Both;
  bidAmongLists(api: string, jobId: string): Both;
  readOnAfterMoving(api: string, id: string): Promise<Json>;
  openBoard(api: string): Promise<Board>;
};
let urql: Stories & {
  graphcache: { keys: object; resolvers: Record<string, object> };
  readWithoutArguments(api: string): Promise<Json>;
};
let session: Session;
let app: TestApp;
let listed: TestApp;
let hanna: Person;
let api: string;
/** Hanna's jobs, in the order of the list. */
let jobs: string[];
const folder = newFolder();
const complaints = [vi.spyOn(console, 'warn'), vi.spyOn(console, 'error')];

beforeAll(async () => {
  const [opened] = await Promise.all([openTestApp(), writeFiles(folder, 'codegen-listed.ts')]);
  app = opened;
  api = `${app.url}/graphql`;
  listed = await openTestApp(
    { PERSISTED_DOCUMENTS: 'only', PERSISTED_DOCUMENTS_FILE: join(folder, 'gql/persisted-documents.json') },
    { sameDatabaseAs: app },
  );
  stubBrowser();
  const stories = (name: string) => import(join(folder, 'src/stories', `${name}.ts`));
  [apollo, urql, session] = await Promise.all([stories('apollo'), stories('urql'), stories('session')]);
  hanna = await homeowner(app, 'Hanna');
  for (let at = 1; at <= 5; at += 1) await write(`Job ${at}`);
  jobs = (await app.rest('GET', '/v1/jobs', { token: hanna.token })).body.data.map(({ id }: Json) => id);
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await listed?.close();
  await app?.close();
});
beforeEach(() => {
  signIn(hanna);
  for (const complaint of complaints) complaint.mockClear();
});
afterEach(() => {
  for (const complaint of complaints) expect(complaint.mock.calls).toEqual([]);
});

const JOB = { description: 'It lets the rain in.', category: 'roofing', city: 'Austin', state: 'TX' };
const write = (title: string) => app.rest('POST', '/v1/jobs', { token: hanna.token, body: { ...JOB, title } });

function signIn({ userId, token, refreshToken }: Person): void {
  session.writeSession({ userId, token, refreshToken });
}

const READS: Read[] = ['edges', 'nodes', 'bareNodes', 'cursorsAndNodes', 'onEdge', 'total', 'end'];
const PAIRS = READS.flatMap((one) => READS.map((other) => [one, other] as const));
const idsOf = (list: Json): string[] =>
  list.nodes?.map(({ id }: Json) => id) ?? list.edges.map(({ node }: Json) => node.id);

describe.each([
  ['Apollo Client', () => apollo],
  ['graphcache', () => urql],
])('A list in the cache of %s', (_, stories) => {
  it('matches the server’s list, whatever was read before', async () => {
    const alone = new Map<Read, Json>();
    for (const read of READS) {
      const [data] = await stories().readOneByOne(api, [[read, { first: 2 }]]);
      expect(data.jobs, read).toBeTruthy();
      alone.set(read, data);
    }
    for (const [one, other] of PAIRS) {
      const reads: ListRead[] = [one, other, one].map((read) => [read, { first: 2 }]);
      const expected = [one, other, one].map((read) => alone.get(read));
      expect(await stories().readOneByOne(api, reads), `${one}, then ${other}`).toEqual(expected);
    }
  });

  it.each(['nodes', 'edges'] as const)('grows page by page to its end with `%s`', async (read) => {
    for (const list of await stories().readOn(api, read, 2)) expect(idsOf(list)).toEqual(jobs);
  });

  it('can have a second page read by `nodes` and then a first one by `edges`', async () => {
    const [start] = await stories().readOneByOne(api, [['nodes', { first: 2 }]]);
    const after = start.jobs.pageInfo.endCursor;
    const [, second, first, again] = await stories().readOneByOne(api, [
      ['nodes', { first: 2 }],
      ['nodes', { first: 2, after }],
      ['edges', { first: 2 }],
      ['edges', { first: 2, after }],
    ]);
    expect(idsOf(second.jobs).slice(-2)).toEqual(jobs.slice(2, 4));
    expect(idsOf(first.jobs)).toEqual(jobs.slice(0, 2));
    expect(first.jobs.pageInfo).toMatchObject({ hasNextPage: true, endCursor: after });
    expect(idsOf(again.jobs).slice(-2)).toEqual(jobs.slice(2, 4));
  });

  it('joins a bid’s earlier offers, which have no `id`, and keeps them apart from another bid’s', async () => {
    const owner = await homeowner(app, 'Olga');
    const body = { ...JOB, title: 'A roof', urgency: 'standard', address_line1: '12 Oak Lane' };
    const { id } = (await app.rest('POST', '/v1/jobs', { token: owner.token, body })).body;
    await app.rest('POST', `/v1/jobs/${id}/publish`, { token: owner.token });
    const bids: string[] = [];
    for (const amounts of [
      [900, 800, 700],
      [600, 500, 400],
    ]) {
      const { token } = await contractor(app, 'Carlos');
      const [amount, ...revised] = amounts;
      const bid = await app.rest('POST', `/v1/jobs/${id}/bids`, { token, body: { amount } });
      for (const next of revised)
        await app.rest('PUT', `/v1/jobs/${id}/bids/${bid.body.id}`, { token, body: { amount: next } });
      bids.push(bid.body.id);
    }
    signIn(owner);
    const offers = await stories().readOffers(api, bids);
    expect(offers.map((list) => list.map(({ version, amount }) => [version, amount]))).toEqual([
      [
        [2, 800],
        [1, 900],
      ],
      [
        [2, 500],
        [1, 600],
      ],
    ]);
  });

  it('can be read with codegen’s hashes from a server that runs only listed documents', async () => {
    expect(await stories().whoByHash(`${listed.url}/graphql`)).toMatchObject({ id: hanna.userId, __typename: 'User' });
  });
});

describe('A list in the cache of Apollo Client', () => {
  it('isn’t fetched again if the cache has it', async () => {
    const fetched = vi.spyOn(globalThis, 'fetch');
    const [start] = await apollo.readOneByOne(api, [['edges', { first: 2 }]]);
    const after = start.jobs.pageInfo.endCursor;
    fetched.mockClear();
    await apollo.readOneByOne(api, [
      ['edges', { first: 2 }],
      ['edges', { first: 2, after }],
      ['bareNodes', { first: 4 }],
      ['nodes', { first: 2, after }],
    ]);
    const sent = fetched.mock.calls.map(([, init]) => JSON.parse(String(init?.body)).operationName);
    fetched.mockRestore();
    expect(new Set(sent)).toEqual(new Set(['Edges']));
  });

  it('that starts after a cursor isn’t mistaken for the whole list', async () => {
    const [start] = await apollo.readOneByOne(api, [['nodes', { first: 3 }]]);
    const [, first] = await apollo.readOneByOne(api, [
      ['nodes', { first: 2, after: start.jobs.pageInfo.endCursor }],
      ['nodes', { first: 2 }],
    ]);
    expect(idsOf(first.jobs)).toEqual(jobs.slice(0, 2));
  });

  it('contains a new job only if it belongs there', async () => {
    const owner = await homeowner(app, 'Olga');
    signIn(owner);
    await app.rest('POST', '/v1/jobs', { token: owner.token, body: { ...JOB, title: 'The first' } });
    const { cached, asked } = await apollo.createAmongLists(api, { ...JOB, title: 'The second' });
    expect(cached).toEqual(asked);
    expect([cached.all.totalCount, cached.open.nodes, cached.oldest.nodes.length]).toEqual([2, [], 2]);
  });

  it('no longer contains or counts a deleted job', async () => {
    const owner = await homeowner(app, 'Olga');
    signIn(owner);
    const ids: string[] = [];
    for (const title of ['The first', 'The second', 'The third'])
      ids.push((await app.rest('POST', '/v1/jobs', { token: owner.token, body: { ...JOB, title } })).body.id);
    const { cached, asked } = await apollo.deleteAmongLists(api, String(ids[1]));
    expect(cached).toEqual(asked);
    expect([cached.all.totalCount, cached.oldest.nodes.length, cached.behind.totalCount]).toEqual([2, 2, 2]);
  });

  it('contains a new bid only if it belongs there', async () => {
    const owner = await homeowner(app, 'Olga');
    const body = { ...JOB, title: 'A roof', urgency: 'standard', address_line1: '12 Oak Lane' };
    const { id } = (await app.rest('POST', '/v1/jobs', { token: owner.token, body })).body;
    await app.rest('POST', `/v1/jobs/${id}/publish`, { token: owner.token });
    signIn(await contractor(app, 'Carlos'));
    const { cached, asked } = await apollo.bidAmongLists(api, id);
    expect(cached).toEqual(asked);
    expect([cached.job.bids, cached.job.withdrawn, cached.viewer.bids].map(({ nodes }) => nodes.length)).toEqual([
      1, 0, 1,
    ]);
  });
});

describe('A list in the cache of Apollo Client, with an entry that moves while the user pages through it,', () => {
  it('has an entry of a later page once', async () => {
    const list = await apollo.readOnAfterMoving(api, String(jobs[3]));
    expect(idsOf(list)).toEqual([jobs[3], jobs[0], jobs[1], jobs[2], jobs[4]]);
  });

  it('continues after the last entry, even if that is the one that moved', async () => {
    const list = await apollo.readOnAfterMoving(api, String(jobs[1]));
    expect(idsOf(list)).toEqual([jobs[1], jobs[0], ...jobs.slice(2)]);
  });
});

describe('A contractor’s board', () => {
  const TOTAL = 45;
  const spy = () => ({ fetched: vi.spyOn(globalThis, 'fetch'), timers: vi.spyOn(globalThis, 'setInterval') });
  let spies: ReturnType<typeof spy>;
  let owner: Person;
  let carlos: Person;
  let draft: string;
  let board: Board;
  const ids = new Map<string, string>();
  const change = async (method: string, path: string, body?: object) => {
    const { status } = await app.rest(method, `/v1/jobs/${path}`, { token: owner.token, body });
    expect(status).toBe(200);
  };
  const create = async (title: string): Promise<string> => {
    const body = { ...JOB, title, urgency: 'standard', address_line1: '12 Oak Lane' };
    return (await app.rest('POST', '/v1/jobs', { token: owner.token, body })).body.id;
  };
  /** What the server lists now, as far as the board shows it. */
  const current = async (count: number): Promise<string[]> => {
    const path = '/v1/jobs?status=open&order_by=recently_updated&per_page=100';
    const { data } = (await app.rest('GET', path, { token: carlos.token })).body;
    return data.slice(0, count).map(({ title }: Json) => title);
  };
  const poll = () => spies.timers.mock.calls.findLast(([, pause]) => pause === 30_000)?.[0]();
  const tab = Object.assign(new EventTarget(), { visibilityState: 'visible' });
  const showTab = () => tab.dispatchEvent(new Event('visibilitychange'));

  beforeAll(async () => {
    owner = await homeowner(app, 'Olga');
    carlos = await contractor(app, 'Carlos');
    await giveTokens(app, await admin(app), owner, 1_000);
    draft = await create('An old draft');
    for (let at = 1; at <= TOTAL; at += 1) {
      const title = `Roof ${at}`;
      ids.set(title, await create(title));
      await change('POST', `${ids.get(title)}/publish`);
    }
    // Each poll also returns the changes of the minute before, so space the changes out.
    await app.sql`UPDATE jobs SET updated_at = now() - interval '1 hour' - interval '2 minutes' * (
      SELECT count(*) FROM jobs later WHERE later.updated_at > jobs.updated_at)`;
    vi.stubGlobal('document', tab);
  });
  beforeEach(async () => {
    signIn(carlos);
    spies = spy();
    board = await apollo.openBoard(api);
  });
  afterEach(() => {
    board.close();
    for (const one of Object.values(spies)) one.mockRestore();
  });

  it('shows new and changed jobs first and once, and keeps its place in the list', async () => {
    expect(board.titles()).toEqual(await current(20));
    // The list and the board’s first read share a request.
    const sent = spies.fetched.mock.calls
      .map(([, init]) => String(init?.body))
      .filter((body) => body.includes('"Board"'));
    expect(sent).not.toEqual([]);
    expect(sent).toEqual([...new Set(sent)]);
    await change('POST', `${draft}/publish`);
    await change('PUT', String(ids.get('Roof 26')), { title: 'Roof 26, with a chimney' });
    poll();
    await expect.poll(() => board.titles()).toEqual(await current(21));
    expect(board.titles().slice(0, 3)).toEqual(['Roof 26, with a chimney', 'An old draft', 'Roof 45']);
    while (board.hasMore()) await board.showMore();
    await expect.poll(() => board.titles()).toEqual(await current(100));
  });

  it('no longer shows a job that another contractor got, once the tab becomes visible', async () => {
    await board.showMore();
    await expect.poll(() => board.titles()).toHaveLength(40);
    await change('POST', `${ids.get('Roof 40')}/cancel`, { reason: 'It has stopped raining.' });
    showTab();
    await expect.poll(() => board.titles()).toEqual(await current(40));
    expect(board.titles()).not.toContain('Roof 40');
  });

  it('no longer shows a job that the contractor can’t open', async () => {
    await change('POST', `${ids.get('Roof 41')}/cancel`, { reason: 'It has stopped raining.' });
    await board.openJob(String(ids.get('Roof 42')));
    expect(board.titles()).toEqual(expect.arrayContaining(['Roof 41', 'Roof 42']));
    spies.fetched.mockClear();
    await board.openJob(String(ids.get('Roof 41')));
    await expect.poll(() => board.titles()).not.toContain('Roof 41');
    expect(board.titles()).toContain('Roof 42');
    expect(spies.fetched).toHaveBeenCalledTimes(1);
  });

  it('asks for nothing while the tab is hidden or after it is closed', async () => {
    expect(board.titles()).toEqual(await current(20));
    spies.fetched.mockClear();
    tab.visibilityState = 'hidden';
    poll();
    await new Promise((resolve) => setImmediate(resolve));
    showTab();
    await new Promise((resolve) => setImmediate(resolve));
    tab.visibilityState = 'visible';
    board.close();
    showTab();
    await new Promise((resolve) => setImmediate(resolve));
    expect(spies.fetched.mock.calls).toEqual([]);
  });
});

describe('A list in graphcache', () => {
  it('can be read without arguments', async () => {
    const { jobs: list, viewer } = await urql.readWithoutArguments(api);
    expect(idsOf(list)).toEqual(jobs);
    expect(list.nodes[0].timeline.nodes).toHaveLength(1);
    expect(list.nodes[0].bids.edges).toEqual([]);
    expect(viewer.tokenTransactions.nodes).toHaveLength(1);
  });

  it.each(['nodes', 'edges'] as const)('continues after a page without arguments with `%s`', async (read) => {
    for (let at = jobs.length; at < 22; at += 1) jobs.unshift((await write(`Job ${at + 1}`)).body.id);
    const [list] = await urql.readOn(api, read, undefined);
    expect(idsOf(list)).toEqual(jobs);
  });
});

describe('The documented setup covers the schema', () => {
  const schema = buildSchema(readFileSync(new URL('../../../schema/api.graphql', import.meta.url), 'utf8'));
  const objects = Object.values(schema.getTypeMap()).filter(
    (type): type is GraphQLObjectType => isObjectType(type) && !type.name.startsWith('__'),
  );
  const lists = objects.flatMap((type) =>
    Object.values(type.getFields())
      .filter((field) => /^\w+Connection!?$/.test(String(field.type)))
      .map((field) => [type.name, field] as const),
  );
  // Graphcache knows the parents of these: a root field, or the field of a list.
  const isOfAField = ({ name }: GraphQLObjectType) =>
    /^(Query|Mutation|Subscription|PageInfo)$|(Payload|Connection|Edge)$/.test(name);

  it('graphcache: lists exactly the types without an `id`', () => {
    const without = objects.filter((type) => !isOfAField(type) && !('id' in type.getFields())).map(({ name }) => name);
    expect(Object.keys(urql.graphcache.keys).toSorted()).toEqual(without.toSorted());
  });

  it('graphcache: pages exactly the lists', () => {
    const paged = Object.entries(urql.graphcache.resolvers).flatMap(([type, fields]) =>
      Object.keys(fields).map((field) => `${type}.${field}`),
    );
    const expected = [...lists.map(([type, { name }]) => `${type}.${name}`), 'Query.job'];
    expect(paged.toSorted()).toEqual(expected.toSorted());
  });

  it('Apollo Client: can tell the entries of each list apart', () => {
    for (const [, { name, type }] of lists) {
      const page = getNamedType(type) as GraphQLObjectType;
      const entry = getNamedType(page.getFields()['nodes']!.type) as GraphQLObjectType;
      const keyFields = apollo.typePolicies[entry.name]?.keyFields ?? ['id'];
      // Entries without a key in the cache are stored in their list, which tells them apart by their version.
      for (const field of keyFields || ['version'])
        expect(entry.getFields(), `${name} has ${entry.name}`).toHaveProperty(field);
    }
  });

  const PLACE = ['first', 'after', 'last', 'before'];

  it('Apollo Client: pages each list, and separates lists by all arguments except those for paging', () => {
    for (const [type, { name, args }] of lists) {
      const keyArgs = args.map((arg) => arg.name).filter((arg) => !PLACE.includes(arg));
      expect(apollo.typePolicies[type]?.fields?.[name], `${type}.${name}`).toMatchObject({
        keyArgs:
          keyArgs.length > 0 &&
          expect.toSatisfy((given: string[]) => given.toSorted().join() === keyArgs.toSorted().join()),
        merge: expect.any(Function),
      });
    }
  });
});
