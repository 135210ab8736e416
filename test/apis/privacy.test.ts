/**
 * Every person reads every path of the GraphQL schema, two levels deep, and every GET of REST. In their market, each
 * private value occurs once. Nobody may see another person's values in data, errors, headers, or cursors. With
 * PRIVACY=whole, as in `npm run nightly`, they read four levels deep, and jobs in every state.
 */
import { getNamedType, isLeafType, isObjectType, type GraphQLField, type GraphQLObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { schema } from '../../src/graphql/schema.js';
import { ROUTES } from '../../src/rest/routes.js';
import { REDACTED_ENTITIES, type RedactedEntity } from '../../src/market/rules/reading/redaction.js';
import { BID_ACTIONS } from '../../src/market/rules/bids.js';
import { readEvent } from '../../src/market/rules/reading/timeline.js';
import { kindOfId, type ContractorId, type IdKind, type JobId } from '../../src/market/rules/ids.js';
import { JOB_ACTIONS, type JobActionKey } from '../../src/market/rules/lifecycle.js';
import { JOB_STATES } from '../../src/market/rules/states.js';
import { newId } from '../../src/market/store/new-id.js';
import { callGraphql, callRest, mutationOf, snake, type Asked, type OperationKey } from '../story/calls.js';
import type { Person } from '../story/cast.js';
import { openTestApp, type TestApp } from '../setup/app.js';
import { bodyOf, PEOPLE, ROLES_OF } from '../story/journey.js';
import { allNumbered } from '../platform/live/positions.js';
import { offered, readAll } from '../platform/live/reading.js';
import { viewerOf } from '../platform/live/viewers.js';
import { atOnce, copiesOf } from '../story/scenes.js';
import { createLookout, idsAround, plantScene, type PlantedScene, type Secret } from './planted.js';
import { createSelections } from '../graphql/whole-selection.js';

/** The limit on costs doesn't protect secrets. It's off here, so every path can be read. */
vi.mock('../../src/platform/caller-limits.js', async (original) => ({
  ...(await original<typeof import('../../src/platform/caller-limits.js')>()),
  GRAPHQL_LIMITS: new Proxy({}, { get: () => 1_000_000_000 }),
}));

const IS_WHOLE = process.env.PRIVACY === 'whole';
const LEVELS = IS_WHOLE ? 4 : 2;
/** The fields of a payload are one level further down. */
const PAYLOAD_LEVELS = IS_WHOLE ? 4 : 3;
/** One state of each phase, and the states in which someone can read more than before. */
const STATES = IS_WHOLE ? JOB_STATES : (['open', 'awarded', 'disputed', 'completed'] as const);
/** How many objects one request fetches by ID. */
const AT = Array.from({ length: 25 }, (_, at) => at);

type RootField = GraphQLField<unknown, unknown>;

const queries = Object.values(schema.getQueryType()!.getFields());
const REQUIRED_ARGUMENTS: Readonly<Record<string, string>> = {
  tokenTransfers: '(filter: { externalReference: "support-7" })',
};
const REQUIRED_QUERIES: Readonly<Record<string, string>> = { '/tokens/transfers': 'external_reference=support-7' };

let app: TestApp;
let scenes: PlantedScene[];
let byName: (name: string) => PlantedScene;
let lookout: ReturnType<typeof createLookout>;

beforeAll(async () => {
  // A document without limits fetches hundreds of objects in one request.
  const long = 100_000;
  const databaseQueue = { perUser: long, perAddress: long, total: long };
  app = await openTestApp({}, { tokensLast: true, quotas: { databaseQueue } });
  scenes = [];
  for (const state of STATES) scenes.push(await plantScene(app, state));
  scenes.push(await plantScene(app, 'open', { through: 'awarded' }));
  scenes.push(await plantScene(app, 'in_progress', { through: 'in_review' }));
  if (IS_WHOLE) scenes.push(await plantScene(app, 'completed', { through: 'appealed' }));
  byName = (name) => scenes.find((scene) => scene.name === name)!;
  lookout = createLookout(scenes);
});
afterAll(() => app.close());

/** Each person of each scene, and a caller without a token. All scenes share the admin. */
function everyone(): { scene: PlantedScene; person: Person | null }[] {
  return scenes.flatMap((scene) =>
    [null, ...PEOPLE.map((who) => scene.people[who])].map((person) => ({ scene, person })),
  );
}

describe('a person who reads everything', () => {
  test(`in GraphQL, ${LEVELS} levels deep, sees all of their own values and nobody else’s`, async () => {
    const selections = createSelections(schema);
    const isById = ({ args }: RootField) => args.some(({ name }) => name === 'id');
    const lists = queries
      .filter((query) => !isById(query))
      .map((query) =>
        documentOf('query', `${query.name}${REQUIRED_ARGUMENTS[query.name] ?? ''} ${selectionOf(query)}`),
      );
    // With other variables, the server doesn't parse or validate the same document again.
    const byId = queries
      .filter(isById)
      .map((query) =>
        documentOf(
          `query(${AT.map((at) => `$id${at}: ID!`).join(', ')})`,
          AT.map((at) => `${query.name}${at}: ${query.name}(id: $id${at}) ${selectionOf(query)}`).join('\n'),
        ),
      );

    function selectionOf(query: RootField): string {
      const type = getNamedType(query.type);
      // A connection isn't an object with an ID, so its query begins one level further out.
      return isLeafType(type)
        ? ''
        : `{ ${selections.of(type, type.name.endsWith('Connection') ? LEVELS + 1 : LEVELS)} }`;
    }

    function documentOf(operation: string, roots: string): string {
      return `${operation} { ${roots} }\n${usedIn(selections.fragments(), roots)}`;
    }

    async function read(
      scene: PlantedScene,
      person: Person | null,
      document: string,
      variables: object,
    ): Promise<void> {
      const where = `${scene.name}, ${document.slice(document.indexOf('{'), document.indexOf('{') + 60)}`;
      const answer = await app.graphql(document, { token: person?.token, variables });
      // On a busy machine, a request can wait too long behind other requests. Then the person retries it.
      if (answer.errors?.some(({ extensions }) => ['RATE_LIMITED', 'OVERLOADED'].includes(extensions.code)))
        return read(scene, person, document, variables);
      expect(answer.errors?.filter(({ extensions }) => !EXPECTED.has(extensions.code)) ?? [], where).toEqual([]);
      lookout.check(person, where, { ...answer });
    }

    await atOnce(
      everyone(),
      async ({ scene, person }) => {
        // The admin is the same person in every scene, with the same lists.
        if (person !== scene.people.admin || scene === scenes[0])
          for (const document of lists) await read(scene, person, document, {});
        const ids = await idsAround(app, scene);
        for (const document of byId) {
          for (let from = 0; from < ids.length; from += AT.length) {
            await read(scene, person, document, Object.fromEntries(AT.map((at) => [`id${at}`, ids[from + at] ?? ''])));
          }
        }
      },
      4,
    );

    expect(lookout.leaks).toEqual([]);
    expect(
      lookout
        .overlooked()
        .filter(({ what }) => !/(access|refresh) token|password|API key|secret of the webhook/.test(what)),
    ).toEqual([]);
  }, 1_800_000);

  test('in REST, through every GET with every ID, sees nobody else’s values', async () => {
    const gets = ROUTES.filter(({ method }) => method === 'GET').map(({ path }) => path);
    const unread = new Set(gets);
    await atOnce(
      everyone(),
      async ({ scene, person }) => {
        const ids = await idsAround(app, scene);
        for (const path of gets) {
          const addresses = path.includes('{')
            ? idsFor(path, ids).map((id) => path.replace(/\{\w+\}/, id))
            : [path, `${path}?per_page=1`, ...(REQUIRED_QUERIES[path] ? [`${path}?${REQUIRED_QUERIES[path]}`] : [])];
          for (const address of addresses) {
            const answer = await app.rest('GET', `/v1${address}`, { token: person?.token });
            expect(answer.status, address).toBeLessThan(500);
            if (answer.status === 200) unread.delete(path);
            lookout.check(person, `${scene.name}, GET ${address}`, { ...answer });
          }
        }
      },
      10,
    );
    expect(lookout.leaks).toEqual([]);
    expect([...unread]).toEqual([]);
  }, 1_800_000);
});

/** The error codes that are normal for a person who reads everything. */
const EXPECTED = new Set(['FORBIDDEN', 'NOT_FOUND', 'UNAUTHENTICATED']);

/** The kinds of IDs in a path, by the path's first word. */
const KIND_AT: Readonly<Record<string, IdKind>> = {
  'admin-actions': 'adminAction',
  'api-keys': 'apiKey',
  bids: 'bid',
  contractors: 'contractor',
  homeowners: 'homeowner',
  jobs: 'job',
  purchases: 'purchase',
  'saved-searches': 'savedSearch',
  sessions: 'session',
  tokens: 'transfer',
  users: 'user',
  webhooks: 'webhookEndpoint',
};

/** Every ID of the right kind, and one of the wrong kind. */
function idsFor(path: string, ids: readonly string[]): string[] {
  const own = KIND_AT[path.split('/')[1] ?? ''];
  if (own === undefined) throw new Error(`Nothing is known to pass to ${path}.`);
  const another = ids.findIndex((id) => kindOfId(id) !== own);
  return ids.filter((id, at) => kindOfId(id) === own || at === another);
}

/** Only the fragments that a document uses. GraphQL rejects unused ones. */
function usedIn(fragments: string, document: string): string {
  const all = new Map(fragments.split('\n').map((text) => [/^fragment (\w+)/.exec(text)?.[1] ?? '', text]));
  const used = new Set<string>();
  const visit = (text: string) => {
    for (const [, name = ''] of text.matchAll(/\.\.\.(\w+)/g)) {
      if (used.has(name)) continue;
      used.add(name);
      visit(all.get(name) ?? '');
    }
  };
  visit(document);
  return [...used].map((name) => all.get(name)).join('\n');
}

test('a person with an open stream sees nobody else’s values, from the first event to the last', async () => {
  const { db } = app.services;
  await allNumbered(app);
  const [{ last } = { last: 0 }] = await app.sql`select max(position) as last from events`;
  const range = { after: 0n, upTo: BigInt(last) };
  const contractors = scenes.flatMap(({ people }) => [people.awardee, people.bidder, people.stranger]);
  const contractorIds = contractors.map(({ profileId }) => profileId as ContractorId);
  const events = await offered(db, range, contractorIds);
  expect(events.length).toBeGreaterThan(25);
  const listeners = scenes.flatMap((scene) => PEOPLE.map((who) => ({ scene, who, person: scene.people[who] })));
  await atOnce(listeners, async ({ scene, who, person }) => {
    const viewer = viewerOf(person, ROLES_OF[who]);
    const headers = new Headers();
    for (const wanted of ['job', 'mine'] as const) {
      const received = events.flatMap((event) => readEvent(viewer, event, wanted) ?? []);
      lookout.check(person, `${scene.name}, sent of ${wanted}`, { headers, received });
    }
    for (const jobId of [undefined, ...scenes.map(({ job }) => job.id as JobId)]) {
      const read = await readAll(db, viewer, jobId, range);
      lookout.check(person, `${scene.name}, read of ${jobId ?? 'all'}`, { headers, read });
    }
  });
  expect(lookout.leaks).toEqual([]);
}, 1_800_000);

describe('a person who calls the mutations', () => {
  test('sees nobody else’s values in results and errors', async () => {
    const selections = createSelections(schema);
    for (const scene of scenes) {
      const cells = [null, ...PEOPLE.map((who) => scene.people[who])].flatMap((person) =>
        KEYS.map((key) => ({ person, key })),
      );
      const copies = await copiesOf(app, scene.job, cells.length * 2);
      await atOnce(cells, async ({ person, key }, at) => {
        const where = `${scene.name}, ${key}`;
        const [first, second] = [copies[at * 2]!, copies[at * 2 + 1]!];
        const plain = (name: string) => `plain ${name}`;
        const asked = (job: typeof first, whose: 'awardee' | 'bidder'): Asked => ({
          by: person ?? undefined,
          job: job.id,
          bid: job.bids[whose] ?? newId('bid'),
          body: bodyFor(key, plain, job.bids.awardee),
        });
        const name = mutationOf(key).match(/\{ (\w+)\(/)![1]!;
        const type = getNamedType(schema.getMutationType()!.getFields()[name]!.type);
        const selection = selections.of(type, PAYLOAD_LEVELS);
        const byRest = await callRest(app, key, asked(first, 'awardee'));
        const { by, ...rest } = asked(second, 'bidder');
        const byGraphql = await callGraphql(app, key, {
          ...rest,
          by,
          payload: selection,
          fragments: usedIn(selections.fragments(), selection),
        });
        expect(byRest.status, where).toBeLessThan(500);
        expect(byGraphql.errors?.[0]?.extensions.code, where).not.toBe('INTERNAL');
        lookout.check(person, `${where} by REST`, { ...byRest }, (secret) =>
          mayBeReadOnceAwarded(scene, person, secret),
        );
        lookout.check(person, `${where} by GraphQL`, { ...byGraphql }, (secret) =>
          mayBeReadOnceAwarded(scene, person, secret),
        );
      });
    }
    expect(lookout.leaks).toEqual([]);
  }, 1_800_000);

  test.each([
    ['verifyContractor', ''],
    ['unverifyContractor', ', input: { reason: "A complaint." }'],
  ])('and %s shows the contractor only to the admin', async (mutation, rest) => {
    const { people } = byName('open');
    const selections = createSelections(schema);
    const selection = selections.of(schema.getType('Contractor')!, 3);
    for (const person of [null, ...PEOPLE.map((who) => people[who])]) {
      const answer = await app.graphql(
        `mutation { ` +
          `${mutation}(id: "${people.stranger.profileId}"${rest}) { contractor ` +
          `{ ${selection} } } }\n${usedIn(selections.fragments(), selection)}`,
        { token: person?.token },
      );
      expect(answer.errors === undefined).toBe(person === people.admin);
      lookout.check(person, mutation, { ...answer });
    }
    expect(lookout.leaks).toEqual([]);
  });
});

const KEYS = [
  ...(Object.keys(JOB_ACTIONS) as JobActionKey[]),
  ...(Object.keys(BID_ACTIONS) as (keyof typeof BID_ACTIONS)[]),
] satisfies OperationKey[];

function bodyFor(key: (typeof KEYS)[number], say: (name: string) => string, bid: string | null): object | undefined {
  if (key === 'revise') return { amount: 1.5 };
  if (key in BID_ACTIONS || key === 'delete') return undefined;
  if (key === 'update') return { requirements: say('requirements') };
  if (key === 'submitBid') return { amount: 1.5 };
  if (key === 'review') return { rating: 3 };
  if (key === 'extendDeadline') return { until: new Date(Date.now() + 86_400_000).toISOString() };
  return bodyOf(key as Parameters<typeof bodyOf>[0], say, bid ?? newId('bid'));
}

/** This test itself awards a copy of the open job to each bidder, and the stranger bids on another copy. */
function mayBeReadOnceAwarded(
  { state, people, secrets }: PlantedScene,
  person: Person | null,
  secret: Secret,
): boolean {
  if (state !== 'open' || !secrets.includes(secret)) return false;
  if (person === people.owner)
    return /(licence|policy) of the stranger|(email|phone) of the (awardee|bidder)/.test(secret.what);
  return (
    person === people.awardee &&
    /(email|phone|street|flat|postal code|latitude|longitude) of the (owner|job)/.test(secret.what)
  );
}

describe('a private field', () => {
  const RESOLVED: Record<RedactedEntity, readonly string[]> = {
    user: ['homeowner', 'contractor', 'tokens', 'tokenTransactions', 'purchases'],
    homeowner: ['user'],
    contractor: ['user', 'reviews', 'jobs', 'bids'],
    job: [
      'homeowner',
      'bids',
      'bidCount',
      'myBid',
      'awardedBid',
      'dispute',
      'timeline',
      'availableActions',
      'upcoming',
      'warnings',
    ],
  };

  test.each(Object.keys(REDACTED_ENTITIES) as RedactedEntity[])(
    'can’t be added to %s in GraphQL without an audience',
    (entity) => {
      const type = schema.getType(entity[0]!.toUpperCase() + entity.slice(1));
      expect(isObjectType(type)).toBe(true);
      const fields = Object.keys((type as GraphQLObjectType).getFields());
      const known: string[] = [...Object.keys(REDACTED_ENTITIES[entity].fields), ...RESOLVED[entity]];
      expect(
        fields.filter((field) => !known.includes(field)),
        'describe these fields in rules/entities',
      ).toEqual([]);
      expect(
        known.filter((field) => !fields.includes(field)),
        'these have an audience but aren’t in a schema',
      ).toEqual([]);
    },
  );

  test('can’t be added to a REST response without an audience', async () => {
    const { people, job } = byName('awarded');
    const wireNames = (entity: RedactedEntity) => Object.keys(REDACTED_ENTITIES[entity].fields).map(snake).sort();
    const me = async (person: Person) => (await app.rest('GET', '/v1/me', { token: person.token })).body;
    const owner = await me(people.owner);
    const awardee = await me(people.awardee);
    expect(Object.keys(owner.user).sort()).toEqual(wireNames('user'));
    expect(Object.keys(owner.homeowner).sort()).toEqual(wireNames('homeowner'));
    expect(Object.keys(awardee.contractor).sort()).toEqual(wireNames('contractor'));
    const contractor = await app.rest('GET', `/v1/contractors/${people.bidder.profileId}`, {
      token: people.other.token,
    });
    expect(Object.keys(contractor.body).sort()).toEqual(wireNames('contractor'));
    const read = await app.rest('GET', `/v1/jobs/${job.id}`, { token: people.bidder.token });
    expect(Object.keys(read.body).sort()).toEqual([...wireNames('job'), 'warnings'].sort());
    expect(read.body.warnings).toBeNull();
  });
});

describe('indirect ways to private values', () => {
  const code = (answer: Awaited<ReturnType<TestApp['graphql']>>) => answer.errors?.[0]?.extensions.code ?? 'ok';
  const ask = (person: Person, query: string, variables: object = {}) =>
    app.graphql(query, { token: person.token, variables });
  const node = async (person: Person, id: string) =>
    code(await ask(person, 'query($id: ID!) { node(id: $id) { id } }', { id }));

  test('IDs of sessions, refresh tokens, and missing objects find nothing', async () => {
    const scene = byName('awarded');
    const ids = (await idsAround(app, scene)).filter((id) => kindOfId(id) === 'session');
    expect(ids.length).toBeGreaterThan(PEOPLE.length - 2);
    for (const id of ids) {
      const answers = await Promise.all(PEOPLE.map((who) => node(scene.people[who], id)));
      expect(answers.filter((answer) => !['FORBIDDEN', 'NOT_FOUND'].includes(answer ?? '')).length, id).toBeLessThan(2);
    }
    for (const id of [
      newId('hold'),
      scene.people.owner.refreshToken,
      newId('job'),
      newId('bid'),
      newId('user'),
      'job_1',
      '',
      '%',
      `${scene.job.id} `,
    ]) {
      for (const who of PEOPLE) expect(await node(scene.people[who], id), `${who} ${id}`).toBe('NOT_FOUND');
    }
  });

  test('the ID of another user’s bid or token transfer reads nothing', async () => {
    const { people, job } = byName('open');
    const [transfer] = await app.sql`select id from token_transfers where user_id = ${people.owner.userId} limit 1`;
    for (const who of ['other', 'bidder', 'stranger'] as const) {
      expect(await node(people[who], job.bids.awardee!), who).toBe('FORBIDDEN');
      expect(await node(people[who], transfer!.id), who).toBe('FORBIDDEN');
    }
    for (const who of ['owner', 'awardee', 'admin'] as const)
      expect(await node(people[who], job.bids.awardee!), who).toBe('ok');
    for (const who of ['owner', 'admin'] as const) expect(await node(people[who], transfer!.id), who).toBe('ok');
  });

  test('the losing bidder sees the job and their own bid, but not the winning bid or the address', async () => {
    const { people, job } = byName('awarded');
    const { data } = await ask(
      people.bidder,
      `query($id: ID!) { node(id: $id) { ... on Bid { status amount job { status addressLine1 latitude awardedBidId
          awardedBid { amount }
        bids { totalCount nodes { id } edges { node { id } } } bidCount myBid { id job { awardedBid { id } } }
          homeowner { addressLine1 user { email } } } } } }`,
      { id: job.bids.bidder },
    );
    expect(data.node).toMatchObject({
      status: 'REJECTED',
      job: {
        status: 'AWARDED',
        addressLine1: null,
        latitude: null,
        awardedBidId: job.bids.awardee,
        awardedBid: null,
        bidCount: 2,
        bids: { totalCount: 1, nodes: [{ id: job.bids.bidder }], edges: [{ node: { id: job.bids.bidder } }] },
        myBid: { id: job.bids.bidder, job: { awardedBid: null } },
        homeowner: { addressLine1: null, user: { email: null } },
      },
    });
  });

  test('a contractor who withdrew still sees the job, but not its private notes', async () => {
    const scene = byName('open');
    const [copy] = await copiesOf(app, scene.job, 1);
    await callRest(app, 'withdraw', { by: scene.people.bidder, job: copy!.id, bid: copy!.bids.bidder! });
    await callRest(app, 'cancel', { by: scene.people.owner, job: copy!.id, body: { reason: 'a private reason' } });
    const read = await ask(
      scene.people.bidder,
      'query($id: ID!) { job(id: $id) { status addressLine1 bidCount bids { totalCount } timeline { totalCount ' +
        'nodes { type data } } } }',
      { id: copy!.id },
    );
    expect(read.data.job).toMatchObject({ status: 'CANCELLED', addressLine1: null, bids: { totalCount: 1 } });
    expect(read.data.job.timeline.nodes.map(({ type }: { type: string }) => type)).toEqual([
      'JOB_CREATED',
      'JOB_PUBLISHED',
      'BID_SUBMITTED',
      'BID_REVISED',
      'BID_WITHDRAWN',
      'JOB_CANCELLED',
    ]);
    expect(read.data.job.timeline.totalCount).toBe(6);
    expect(JSON.stringify(read.data)).not.toContain('private');
  });

  test('a contractor without a bid can’t see the job anywhere once it’s awarded', async () => {
    const scene = byName('open');
    const { stranger, owner } = scene.people;
    const [copy] = await copiesOf(app, scene.job, 1);
    const id = copy!.id;
    expect(code(await ask(stranger, 'query($id: ID!) { job(id: $id) { title } }', { id }))).toBe('ok');
    await callRest(app, 'award', { by: owner, job: id, body: { bid_id: copy!.bids.awardee } });
    expect(code(await ask(stranger, 'query($id: ID!) { job(id: $id) { title } }', { id }))).toBe('FORBIDDEN');
    expect(await node(stranger, id)).toBe('FORBIDDEN');
    expect(
      (
        await ask(stranger, 'query($search: String) { jobs(filter: { search: $search }) { totalCount } }', {
          search: id,
        })
      ).data.jobs.totalCount,
    ).toBe(0);
    for (const part of ['', '/bids', '/events', '/dispute']) {
      expect((await app.rest('GET', `/v1/jobs/${id}${part}`, { token: stranger.token })).status, part).toBe(403);
    }
  });

  test('the owner’s cursors only page through a bidder’s own list', async () => {
    const { people, job } = byName('awarded');
    const list =
      'query($id: ID!, $after: String) { job(id: $id) { bids(first: 1, after: $after) { totalCount nodes { id } ' +
      'pageInfo { hasNextPage endCursor } } } }';
    const first = (await ask(people.owner, list, { id: job.id })).data.job.bids;
    expect(first).toMatchObject({ totalCount: 2, pageInfo: { hasNextPage: true } });
    const { data } = await ask(people.bidder, list, { id: job.id, after: first.pageInfo.endCursor });
    expect(data.job.bids.nodes.every(({ id }: { id: string }) => id === job.bids.bidder)).toBe(true);
    expect(data.job.bids).toMatchObject({ totalCount: 1, pageInfo: { hasNextPage: false } });

    const events =
      'query($id: ID!, $after: String) { job(id: $id) { timeline(first: 2, after: $after) { totalCount nodes { ' +
      'type } pageInfo { endCursor } } } }';
    const { endCursor } = (await ask(people.owner, events, { id: job.id })).data.job.timeline.pageInfo;
    const theirs = (await ask(people.bidder, events, { id: job.id, after: endCursor })).data.job.timeline;
    expect(theirs).toMatchObject({ totalCount: 5, nodes: [{ type: 'BID_SUBMITTED' }, { type: 'JOB_AWARDED' }] });
  });

  test('a search doesn’t match private fields, and distances don’t reveal a ZIP code', async () => {
    const scene = byName('open');
    const { owner, stranger } = scene.people;
    const created = await callRest(app, 'create', {
      by: owner,
      body: {
        title: 'Far-off hut',
        description: 'x',
        category: 'a',
        urgency: 'standard',
        address_line1: 'Hidden Lane',
        city: 'Austin',
        state: 'TX',
        // Close enough that the job gets this location instead of Austin's.
        zip_code: '78130',
      },
    });
    await callRest(app, 'publish', { by: owner, job: created.body.id });
    expect(created.body.latitude).toBeLessThan(29.9);
    const found = async (filter: object) =>
      (
        await ask(stranger, 'query($filter: JobFilter) { jobs(filter: $filter) { nodes { id } } }', { filter })
      ).data.jobs.nodes.some(({ id }: { id: string }) => id === created.body.id);
    expect(await found({ search: 'far-OFF' })).toBe(true);
    for (const search of ['Hidden', '78130', 'Lane', owner.email]) expect(await found({ search }), search).toBe(false);
    expect(await found({ near: { zipCode: '78130', withinMiles: 20 } })).toBe(false);
    expect(await found({ near: { zipCode: '78701', withinMiles: 30 } })).toBe(true);
  });

  test('listing another homeowner’s jobs fails for contractors and homeowners through both APIs', async () => {
    const { people } = byName('open');
    for (const who of ['owner', 'other', 'stranger', 'awardee'] as const) {
      expect(
        (await app.rest('GET', `/v1/jobs?homeowner_id=${people.owner.profileId}`, { token: people[who].token })).status,
      ).toBe(403);
      expect(
        code(
          await ask(people[who], 'query($id: ID) { jobs(filter: { homeownerId: $id }) { totalCount } }', {
            id: people.owner.profileId,
          }),
        ),
      ).toBe('FORBIDDEN');
    }
  });
});
