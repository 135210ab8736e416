import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../../src/market/store/new-id.js';
import { admin, contractor, homeowner, type Person } from '../../../story/cast.js';
import { openTestApp, type Json, type TestApp } from '../../../setup/app.js';
import { DRAFT } from '../../../story/journey.js';
import { toWire } from '../../../../src/platform/openapi/wire.js';
import { byGraphql, byRest, invalid } from '../../../apis/refused.js';

let app: TestApp;
let ada: Person;
beforeAll(async () => {
  app = await openTestApp();
  ada = await admin(app);
});
afterAll(() => app.close());

const ADJUST =
  'mutation ($input: AdjustTokensInput!) { adjustTokens(input: $input) { transfer { id fromAccount toAccount ' +
  'amount reason note externalReference actorId jobId bidId referralUserId createdAt } } }';
const adjust = (user_id: unknown, amount: unknown, reason: unknown = 'a correction', by = ada, from?: number) =>
  app.rest('POST', '/v1/tokens/adjustments', { token: by.token, from, body: { user_id, amount, reason } });
const graphqlAdjust = (userId: unknown, amount: unknown, reason: unknown = 'a correction', by = ada, from?: number) =>
  app.graphql(ADJUST, { token: by.token, from, variables: { input: { userId, amount, reason } } });

const balance = async (person: Person): Promise<Json> =>
  (await app.rest('GET', '/v1/tokens', { token: person.token })).body;
const history = (person: Person, query = '') =>
  app.rest('GET', `/v1/tokens/transactions${query}`, { token: person.token });
const HISTORY = `query ($first: Int, $after: String) { viewer { tokenTransactions(first: $first, after: $after) {
  nodes { id } edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } totalCount
    } } }`;
const graphqlHistory = (person: Person, variables: object = {}) =>
  app.graphql(HISTORY, { token: person.token, variables });
const ids = (rows: Json): string[] => rows.map((row: Json) => row.id);

const NOTHING_BOUGHT = {
  keptBought: 0,
  summedBought: 0,
  keptDebt: 0,
  summedDebt: 0,
  keptPurchased: 0,
  summedPurchased: 0,
};

/** The response of both APIs, in GraphQL's spelling. */
const audit = async (): Promise<Json> => {
  const AUDIT = `{ auditTokens { ok accounts transfers mismatches { userId kept summed keptHeld summedHeld
    keptBought summedBought keptDebt summedDebt keptPurchased summedPurchased } } }`;
  const { data } = await app.graphql(AUDIT, { token: ada.token });
  const { status, body } = await app.rest('GET', '/v1/tokens/audit', { token: ada.token });
  const { mismatches, ...figures } = data.auditTokens;
  expect([status, body]).toEqual([200, { ...figures, mismatches: mismatches.map(toWire) }]);
  return data.auditTokens;
};

const rowsOf = async (person: Person): Promise<number> =>
  (await app.sql`select count(*)::int as count from token_transfers where user_id = ${person.userId}`)[0]?.count;

/** Inserts transfers and updates the balance, directly in the database. All transfers have the same time. */
async function plant(person: Person, amount: number, times = 1): Promise<void> {
  const rows = Array.from({ length: times }, () => newId('transfer'));
  await app.sql.begin(async (sql) => {
    for (const id of rows) {
      await sql`insert into token_transfers (id, from_account, to_account, amount, reason, user_id, created_at)
        values (${id}, 'issuance', ${person.userId}, ${amount}, 'adjustment', ${person.userId}, date_trunc('second',
          now()))`;
    }
    await sql`update token_balances set balance = balance + ${amount * times} where user_id = ${person.userId}`;
  });
}

describe("someone else's tokens", () => {
  const OF_USERS = `{ users(filter: { search: "Tessa" }) { nodes { tokens { balance held available bought debt }
    tokenTransactions(first: 1) { totalCount nodes { id } pageInfo { hasNextPage endCursor } } } } }`;
  const OF_ONE = `query ($id: ID!) { node(id: $id) { ... on User { id tokens { balance }
    tokenTransactions { nodes { id } } } } }`;

  it('can be read by admins, in both APIs', async () => {
    const tessa = await contractor(app, 'Tessa');
    await plant(tessa, 5, 2);
    const own = ids((await history(tessa)).body.data);
    const asked = `user_id=${tessa.userId}`;
    const read = await app.rest('GET', `/v1/tokens?${asked}`, { token: ada.token });
    expect([read.status, read.body]).toEqual([200, await balance(tessa)]);
    const listed = await history(ada, `?${asked}&per_page=2`);
    expect([ids(listed.body.data), listed.body.pagination.total]).toEqual([own.slice(0, 2), own.length]);
    const { data } = await app.graphql(OF_USERS, { token: ada.token });
    const [{ tokens, tokenTransactions }] = data.users.nodes;
    expect(tokens).toEqual(read.body);
    expect(tokenTransactions).toMatchObject({
      totalCount: own.length,
      nodes: [{ id: own[0] }],
      pageInfo: { hasNextPage: true },
    });
  });

  it('are refused to everyone else by REST, and null in GraphQL; your own are not', async () => {
    const tessa = await contractor(app, 'Tessa');
    const hanna = await homeowner(app, 'Hanna');
    for (const path of ['/v1/tokens', '/v1/tokens/transactions']) {
      const refused = await app.rest('GET', `${path}?user_id=${tessa.userId}`, { token: hanna.token });
      expect(byRest(refused)).toMatchObject({ status: 403, code: 'FORBIDDEN' });
    }
    const seenBy = async ({ token }: Person) =>
      (await app.graphql(OF_ONE, { token, variables: { id: tessa.userId } })).data.node;
    expect(await seenBy(hanna)).toEqual({ id: tessa.userId, tokens: null, tokenTransactions: null });
    expect(await seenBy(tessa)).toMatchObject({ tokens: { balance: 25 }, tokenTransactions: { nodes: [{}] } });
  });

  it('of an unknown user are an invalid value', async () => {
    const answer = await app.rest('GET', `/v1/tokens?user_id=${newId('user')}`, { token: ada.token });
    expect(byRest(answer)).toEqual(invalid('user_id'));
  });
});

describe('an adjustment', () => {
  it("accepts no other resource's fields", async () => {
    const carl = await contractor(app, 'Carl');
    const body = { user_id: carl.userId, amount: 1, reason: 'A', email: 'a@example.test' };
    const answer = await app.rest('POST', '/v1/tokens/adjustments', { token: ada.token, body });
    expect(answer.body.details.fields).toEqual({ email: 'isn’t a field of this operation' });
  });

  it('credits and debits, returns the transfer, and both are in the history', async () => {
    const carl = await contractor(app, 'Carl');
    const credit = await adjust(carl.userId, 40, '  for the storm week  ');
    expect(credit.status).toBe(201);
    expect(credit.body).toEqual({
      id: expect.stringMatching(/^ttx_/),
      from_account: 'issuance',
      to_account: carl.userId,
      amount: 40,
      reason: 'adjustment',
      job_id: null,
      bid_id: null,
      referral_user_id: null,
      actor_id: ada.userId,
      note: 'for the storm week',
      external_reference: null,
      created_at: expect.stringMatching(/Z$/),
      bought: 0,
      purchase_id: null,
    });
    const debit = await graphqlAdjust(carl.userId, -15);
    expect(debit.data.adjustTokens.transfer).toMatchObject({
      fromAccount: carl.userId,
      toAccount: 'issuance',
      amount: 15,
      reason: 'ADJUSTMENT',
      actorId: ada.userId,
      note: 'a correction',
    });
    expect(await balance(carl)).toEqual({ balance: 50, held: 0, available: 50, bought: 0, debt: 0 });
    const { data } = (await history(carl)).body;
    expect(ids(data).slice(0, 2)).toEqual([debit.data.adjustTokens.transfer.id, credit.body.id]);
    expect(data[1]).toEqual(credit.body);
  });

  it('may take the last token, and not one more', async () => {
    const carl = await contractor(app, 'Carl');
    const refused = await adjust(carl.userId, -26);
    expect(byRest(refused)).toEqual({ status: 400, code: 'INSUFFICIENT_TOKENS', fields: [] });
    expect(refused.body.details).toMatchObject({ required: 26, available: 25 });
    const byGraph = await graphqlAdjust(carl.userId, -1_000);
    expect(byGraph.errors?.[0]?.extensions).toMatchObject({
      code: 'INSUFFICIENT_TOKENS',
      status: 400,
      required: 1_000,
      available: 25,
    });
    expect((await adjust(carl.userId, -25)).status).toBe(201);
    expect(await balance(carl)).toEqual({ balance: 0, held: 0, available: 0, bought: 0, debt: 0 });
  });

  it("doesn't touch tokens that are staked on bids", async () => {
    const carl = await contractor(app, 'Carl');
    await app.sql`update token_balances set held = 20 where user_id = ${carl.userId}`;
    expect((await adjust(carl.userId, -6)).body.details).toMatchObject({
      code: 'INSUFFICIENT_TOKENS',
      required: 6,
      available: 5,
    });
    expect((await adjust(carl.userId, -5)).status).toBe(201);
    expect(await balance(carl)).toEqual({ balance: 20, held: 20, available: 0, bought: 0, debt: 0 });
    await app.sql`update token_balances set held = 0 where user_id = ${carl.userId}`;
  });

  it("can't raise a balance above the maximum", async () => {
    const carl = await contractor(app, 'Carl');
    await plant(carl, 1_999_999_353);
    expect(byRest(await adjust(carl.userId, 1_000))).toEqual(invalid('amount'));
    expect(byGraphql(await graphqlAdjust(carl.userId, 1_000_000))).toEqual(invalid('amount'));
    expect((await adjust(carl.userId, 622)).status).toBe(201);
    expect(await balance(carl)).toMatchObject({ balance: 2_000_000_000 });
    expect((await graphqlHistory(carl)).errors).toBeUndefined();
  });

  const REFUSED: [what: string, body: Record<string, unknown>, ...fields: string[]][] = [
    ['of 0', { amount: 0 }, 'amount'],
    ['of -0', { amount: -0 }, 'amount'],
    ['of half a token', { amount: 1.5 }, 'amount'],
    ['of too many', { amount: 1_000_001 }, 'amount'],
    ['of too few', { amount: -1_000_001 }, 'amount'],
    ['of a text', { amount: '5' }, 'amount'],
    ['of nothing', { amount: null }, 'amount'],
    ['without a reason', { reason: undefined }, 'reason'],
    ['for a blank reason', { reason: ' ' }, 'reason'],
    ['for a reason of 5,001 characters', { reason: 'x'.repeat(5_001) }, 'reason'],
    ['of nobody', { user_id: newId('user') }, 'user_id'],
    ['of something else', { user_id: newId('contractor') }, 'user_id'],
    ['of a malformed id', { user_id: 'usr_1' }, 'user_id'],
    ['with more than is asked', { userId: 'x', held: 5, balance: 5 }, 'userId', 'held', 'balance'],
    [
      'that is wrong throughout',
      { user_id: null, amount: 'x', reason: 5, job_id: 'x' },
      'user_id',
      'amount',
      'reason',
      'job_id',
    ],
  ];
  it.each(REFUSED)('%s is refused by name', async (_what, change, ...fields) => {
    const carl = await contractor(app, 'Carl');
    const body = { user_id: carl.userId, amount: 5, reason: 'a correction', ...change };
    expect(byRest(await app.rest('POST', '/v1/tokens/adjustments', { token: ada.token, body }))).toEqual(
      invalid(...fields),
    );
    expect(await balance(carl)).toMatchObject({ balance: 25 });
    expect(await rowsOf(carl)).toBe(1);
  });

  it('with an amount that isn’t a valid integer is refused by both APIs', async () => {
    const carl = await contractor(app, 'Carl');
    const body = `{"user_id": "${carl.userId}", "amount": 1e999, "reason": "x"}`;
    expect(byRest(await app.rest('POST', '/v1/tokens/adjustments', { token: ada.token, body }))).toEqual(
      invalid('amount'),
    );
    for (const amount of ['1e999', '99999999999', '1.5', '"5"', 'null']) {
      const refused = await app.graphql(
        `mutation { adjustTokens(input: { userId: "${carl.userId}", amount: ${amount}, reason: "x" }) { transfer ` +
          `{ id } } }`,
        { token: ada.token },
      );
      expect(byGraphql(refused)).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' });
    }
    expect(await rowsOf(carl)).toBe(1);
  });

  describe('with an external reference', () => {
    const payment = (person: Person, more: object = {}, from?: number) => {
      const input = { user_id: person.userId, amount: 30, reason: 'paid', external_reference: 'pi_1', ...more };
      return app.rest('POST', '/v1/tokens/adjustments', { token: ada.token, from, body: input });
    };
    const REUSED = { status: 422, code: 'IDEMPOTENCY_KEY_REUSED', fields: ['external_reference'] };

    it('is made once, and replayed, in both APIs', async () => {
      const carl = await contractor(app, 'Carl');
      const first = await payment(carl, { external_reference: ' pay-1 ' });
      expect([first.status, first.body.external_reference]).toEqual([201, 'pay-1']);
      const again = await payment(carl, { external_reference: 'pay-1' });
      expect([again.status, again.body]).toEqual([201, first.body]);
      const input = { userId: carl.userId, amount: 30, reason: 'paid', externalReference: 'pay-1' };
      const { data } = await app.graphql(ADJUST, { token: ada.token, variables: { input } });
      expect(data.adjustTokens.transfer).toMatchObject({ id: first.body.id, externalReference: 'pay-1' });
      expect(await balance(carl)).toMatchObject({ balance: 55 });
      expect(await rowsOf(carl)).toBe(2);
      expect((await history(carl)).body.data[0]).toEqual(first.body);
      // Repeating a debit returns the same transfer, even if no tokens are left.
      const debit = { amount: -55, external_reference: 'refund-1' };
      const taken = await payment(carl, debit);
      expect([await payment(carl, debit)].map(({ body }) => body)).toEqual([taken.body]);
      expect(await balance(carl)).toMatchObject({ balance: 0 });
    });

    it('fails with other contents, and nothing is transferred', async () => {
      const [carl, dora] = [await contractor(app, 'Carl'), await contractor(app, 'Dora')];
      await payment(carl, { external_reference: 'pay-2' });
      for (const [person, more] of [
        [carl, { amount: 31 }],
        [carl, { amount: -30 }],
        [carl, { reason: 'paid twice' }],
        [dora, {}],
      ] as const)
        expect(byRest(await payment(person, { external_reference: 'pay-2', ...more }))).toEqual(REUSED);
      expect([await balance(carl), await balance(dora)]).toMatchObject([{ balance: 55 }, { balance: 25 }]);
      for (const external_reference of ['', ' ', 'x'.repeat(101), 5, newId('transfer')])
        expect(byRest(await payment(carl, { external_reference }))).toEqual(invalid('external_reference'));
    });

    it('is booked once, however many calls are sent at the same time', async () => {
      const [carl, dora] = [await contractor(app, 'Carl'), await contractor(app, 'Dora')];
      const same = await Promise.all(
        Array.from({ length: 10 }, (_, at) => payment(carl, { external_reference: 'pay-3' }, at % 4)),
      );
      expect(new Set(same.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1);
      expect([await balance(carl), await rowsOf(carl)]).toEqual([
        { balance: 55, held: 0, available: 55, bought: 0, debt: 0 },
        2,
      ]);
      const two = await Promise.all([carl, dora].map((person) => payment(person, { external_reference: 'pay-4' })));
      expect(two.map(({ status }) => status).sort()).toEqual([201, 422]);
      expect(byRest(two.find(({ status }) => status === 422)!)).toEqual(REUSED);
      expect((await rowsOf(carl)) + (await rowsOf(dora))).toBe(4);
      expect((await audit()).ok).toBe(true);
    });
  });

  it('can be made only by an admin', async () => {
    const carl = await contractor(app, 'Carl');
    const FORBIDDEN = { status: 403, code: 'FORBIDDEN', fields: [] };
    for (const person of [carl, await homeowner(app, 'Hanna')]) {
      expect(byRest(await adjust(carl.userId, 5, 'please', person))).toEqual(FORBIDDEN);
      expect(byGraphql(await graphqlAdjust(carl.userId, 5, 'please', person))).toEqual(FORBIDDEN);
      const audited = await app.graphql('{ auditTokens { ok } }', { token: person.token });
      expect(audited.data).toEqual({ auditTokens: null });
      expect(byGraphql(audited)).toEqual(FORBIDDEN);
      expect(byRest(await app.rest('GET', '/v1/tokens/audit', { token: person.token }))).toEqual(FORBIDDEN);
    }
    expect(await balance(carl)).toMatchObject({ balance: 25 });
  });

  it('made a hundred times at the same time never overdraws', async () => {
    const carl = await contractor(app, 'Carl');
    const answers = await Promise.all(
      Array.from({ length: 100 }, async (_, i) => {
        // Uses different addresses, because a user can have at most fifty requests in progress from one address.
        if (i % 2 === 0) return (await adjust(carl.userId, -1, 'one of a hundred', ada, i % 4)).status;
        const { errors } = await graphqlAdjust(carl.userId, -1, 'one of a hundred', ada, i % 4);
        return errors ? errors[0]?.extensions.code : 201;
      }),
    );
    expect(answers.filter((answer) => answer === 201)).toHaveLength(25);
    expect(new Set(answers)).toEqual(new Set([201, 400, 'INSUFFICIENT_TOKENS']));
    expect(await balance(carl)).toEqual({ balance: 0, held: 0, available: 0, bought: 0, debt: 0 });
    expect(await rowsOf(carl)).toBe(26);
  });
});

describe('the history', () => {
  let hanna: Person;
  let all: string[];
  beforeAll(async () => {
    hanna = await homeowner(app, 'Hanna');
    for (let i = 0; i < 12; i += 1) await adjust(hanna.userId, 1);
    // Thirty transfers from the same moment, ordered only by their IDs.
    await plant(hanna, 1, 30);
    const rows =
      await app.sql`select id from token_transfers where user_id = ${hanna.userId} order by created_at desc, id desc`;
    all = rows.map((row) => row.id);
    expect(all).toHaveLength(43);
  });

  it('can be read by page number to its end and past it', async () => {
    const read: string[] = [];
    for (let page = 1; page <= 6; page += 1) {
      const { status, body } = await history(hanna, `?page=${page}&per_page=10`);
      expect(status).toBe(200);
      expect(body.pagination).toEqual({ page, per_page: 10, total: 43, total_pages: 5, total_capped: false });
      expect(body.data).toHaveLength([10, 10, 10, 10, 3, 0][page - 1] ?? 0);
      read.push(...ids(body.data));
    }
    expect(read).toEqual(all);
    for (const page of [1_000_001, 2_147_483_647])
      expect((await history(hanna, `?page=${page}&per_page=100`)).body.data).toEqual([]);
  });

  it('has 20 entries per page by default, and no next page after the last', async () => {
    const { body, headers } = await history(hanna);
    expect(body.pagination).toEqual({ page: 1, per_page: 20, total: 43, total_pages: 3, total_capped: false });
    expect(ids(body.data)).toEqual(all.slice(0, 20));
    expect(headers.get('link')).toMatch(/<\/v1\/tokens\/transactions\?page=2&after=[\w-]+>; rel="next"/);
    expect((await history(hanna, '?per_page=100')).headers.get('link')).not.toContain('next');
    expect((await history(hanna, '?per_page=43')).headers.get('link')).not.toContain('next');
  });

  it.each(['/v1/tokens/transactions', '/tokens/transactions'])(
    'of %s can be followed by its links to the end',
    async (path) => {
      const read: string[] = [];
      for (let next: string | undefined = `${path}?per_page=7`; next;) {
        const { status, body, headers } = await app.rest('GET', next, { token: hanna.token });
        expect(status).toBe(200);
        expect(body.pagination).toMatchObject({ per_page: 7, total: 43, total_pages: 7 });
        read.push(...ids(body.data));
        next = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
      }
      expect(read).toEqual(all);
    },
  );

  it('can be read through GraphQL by cursor to its end', async () => {
    const read: string[] = [];
    for (let after: string | null = null, more = true; more;) {
      const { nodes, edges, pageInfo, totalCount }: Json = (await graphqlHistory(hanna, { first: 10, after })).data
        .viewer.tokenTransactions;
      expect(totalCount).toBe(43);
      expect(edges.map((edge: Json) => edge.node)).toEqual(nodes);
      expect(pageInfo).toMatchObject({
        hasPreviousPage: after !== null,
        startCursor: edges[0].cursor,
        endCursor: edges.at(-1).cursor,
      });
      read.push(...ids(nodes));
      ({ endCursor: after, hasNextPage: more } = pageInfo);
    }
    expect(read).toEqual(all);
  });

  it("accepts the other API's cursors, and stays correct while rows are added", async () => {
    const cleo = await contractor(app, 'Cleo');
    await plant(cleo, 1, 24);
    const before = (
      await app.sql`select id from token_transfers where user_id = ${cleo.userId} order by created_at desc, id desc`
    ).map((row) => row.id);
    const first = (await graphqlHistory(cleo, { first: 10 })).data.viewer.tokenTransactions;
    for (let i = 0; i < 5; i += 1) await adjust(cleo.userId, 1);
    const second = await history(cleo, `?per_page=10&after=${first.pageInfo.endCursor}`);
    await adjust(cleo.userId, -1);
    const after = /after=([\w-]+)/.exec(second.headers.get('link') ?? '')?.[1];
    const third = (await graphqlHistory(cleo, { first: 10, after })).data.viewer.tokenTransactions;
    expect([...ids(first.nodes), ...ids(second.body.data), ...ids(third.nodes)]).toEqual(before);
    expect(third.pageInfo.hasNextPage).toBe(false);
  });

  it('can be read only by its owner', async () => {
    const cleo = await contractor(app, 'Cleo');
    const cursor = (await graphqlHistory(hanna, { first: 1 })).data.viewer.tokenTransactions.pageInfo.endCursor;
    expect(
      (await history(cleo, `?after=${cursor}`)).body.data.every((row: Json) => row.to_account === cleo.userId),
    ).toBe(true);
    expect((await history(cleo)).body.pagination.total).toBe(1);
  });

  const SIZES: [query: string, ...fields: string[]][] = [
    ['?per_page=0', 'per_page'],
    ['?per_page=101', 'per_page'],
    ['?per_page=x', 'per_page'],
    ['?per_page=', 'per_page'],
    ['?per_page=1.5', 'per_page'],
    ['?per_page=-1', 'per_page'],
    ['?per_page=1e1', 'per_page'],
    ['?per_page=0x10', 'per_page'],
    ['?per_page=10&per_page=20', 'per_page'],
    ['?page=0', 'page'],
    ['?page=-1', 'page'],
    ['?page=99999999999999999999', 'page'],
    ['?page=%00', 'page'],
    ['?page=0&per_page=0', 'page', 'per_page'],
    ['?perPage=5', 'perPage'],
    ['?first=5', 'first'],
    ['?limit=5&offset=1', 'limit', 'offset'],
    ['?user_id=usr_1', 'user_id'],
    ['?__proto__=1&constructor=2', '__proto__', 'constructor'],
    ['?page=x&wish=1&after=!', 'page', 'wish'],
  ];
  it.each(SIZES)('refuses %s by name', async (query, ...fields) => {
    expect(byRest(await history(hanna, query))).toEqual(invalid(...fields));
  });

  it.each([0, 101, -1])('refuses in this order: %i', async (first) => {
    const refused = await graphqlHistory(hanna, { first });
    expect(byGraphql(refused)).toEqual(invalid('first'));
    const users = await app.graphql('query ($first: Int) { users(first: $first) { totalCount } }', {
      token: ada.token,
      variables: { first },
    });
    expect(byGraphql(users)).toEqual(invalid('first'));
  });

  const encoded = (value: unknown) =>
    Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
  const BROKEN = [
    '',
    'x',
    '!',
    ' ',
    '%',
    'bnVsbA==',
    encoded('null'),
    encoded('1'),
    encoded('{}'),
    encoded([]),
    encoded([1]),
    encoded([1, 'x', 2]),
    encoded([1, 2]),
    encoded(['x', 'y']),
    encoded([null, null]),
    encoded([1.5, 'ttx_1']),
    encoded([1, '']),
    encoded([1, 'a b']),
    encoded([1, '\u0000']),
    encoded([1, 'x'.repeat(65)]),
    encoded([[1], 'x']),
    encoded([9e15, 'ttx_1']),
    encoded([-2e14, 'ttx_1']),
    encoded([-1, 'ttx_1']),
    encoded('[1e999,"ttx_1"]'),
    encoded(['2026-01-01', 'ttx_1']),
    encoded([{}, 'ttx_1']),
    'x'.repeat(501),
    encoded('['.repeat(300)),
  ];
  it.each(BROKEN)('refuses the broken cursor %j in both APIs', async (cursor) => {
    expect(byRest(await history(hanna, `?after=${encodeURIComponent(cursor)}`))).toEqual(invalid('after'));
    expect(byGraphql(await graphqlHistory(hanna, { after: cursor }))).toEqual(invalid('after'));
  });

  it('continues from any well-formed position, even if nothing was ever there', async () => {
    expect((await history(hanna, `?after=${encoded([0, 'x'])}`)).body.data).toEqual([]);
    expect(ids((await history(hanna, `?after=${encoded([Date.UTC(9998, 0), 'x'])}&per_page=100`)).body.data)).toEqual(
      all,
    );
  });
});

describe('the ledger', () => {
  it("can't be rewritten, not even by bypassing the service", async () => {
    const carl = await contractor(app, 'Carl');
    const refused = { code: '23001' };
    await expect(
      app.sql`update token_transfers set amount = 1_000 where user_id = ${carl.userId}`,
    ).rejects.toMatchObject(refused);
    await expect(app.sql`delete from token_transfers where user_id = ${carl.userId}`).rejects.toMatchObject(refused);
    await expect(app.sql`truncate token_transfers`).rejects.toMatchObject(refused);
    await expect(app.sql`truncate users cascade`).rejects.toMatchObject(refused);
    await expect(app.sql`update token_balances set balance = -1 where user_id = ${carl.userId}`).rejects.toMatchObject({
      code: '23514',
    });
    await expect(app.sql`update token_balances set held = 26 where user_id = ${carl.userId}`).rejects.toMatchObject({
      code: '23514',
    });
    expect(await rowsOf(carl)).toBe(1);
  });

  it("adds up, and an audit names exactly what doesn't", async () => {
    const [carl, hanna, hugo] = [
      await contractor(app, 'Carl'),
      await homeowner(app, 'Hanna'),
      await homeowner(app, 'Hugo'),
    ];
    const [counted] = await app.sql`select (select count(*)::int from token_balances) as accounts, (select count(*)::int
        from token_transfers) as transfers`;
    expect(await audit()).toEqual({ ok: true, ...counted, mismatches: [] });

    await app.sql`alter table token_transfers disable trigger user`;
    await app.sql`update token_transfers set amount = amount + 3 where user_id = ${carl.userId}`;
    await app.sql`delete from token_transfers where user_id = ${hugo.userId}`;
    await app.sql`alter table token_transfers enable trigger user`;
    await app.sql`update token_balances set balance = balance + 7 where user_id = ${hanna.userId}`;
    const found = await audit();
    expect(found).toMatchObject({ ok: false, accounts: counted?.accounts, transfers: counted?.transfers - 1 });
    expect(found.mismatches.toSorted((a: Json, b: Json) => a.kept - b.kept || a.summed - b.summed)).toEqual([
      { ...NOTHING_BOUGHT, userId: hugo.userId, kept: 10, summed: 0, keptHeld: 0, summedHeld: 0 },
      { ...NOTHING_BOUGHT, userId: hanna.userId, kept: 17, summed: 10, keptHeld: 0, summedHeld: 0 },
      { ...NOTHING_BOUGHT, userId: carl.userId, kept: 25, summed: 28, keptHeld: 0, summedHeld: 0 },
    ]);
  });
});

it('publishes nothing for someone without a balance', async () => {
  const hanna = await homeowner(app, 'Hanna');
  const { body: job } = await app.rest('POST', '/v1/jobs', { token: hanna.token, body: DRAFT });
  const [kept] = await app.sql`delete from token_balances where user_id = ${hanna.userId} returning balance, held`;
  const { errors } = await app.graphql('mutation ($id: ID!) { publishJob(id: $id) { tokensCharged } }', {
    token: hanna.token,
    variables: { id: job.id },
  });
  expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['INSUFFICIENT_TOKENS']);
  expect(await app.sql`select status, version, event_count from jobs where id = ${job.id}`).toMatchObject([
    { status: 'draft', version: 1, event_count: 1 },
  ]);
  await app.sql`insert into token_balances (user_id, balance, held)
    values (${hanna.userId}, ${kept?.balance}, ${kept?.held})`;
});
