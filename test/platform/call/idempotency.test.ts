import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admin, contractor, homeowner, type Person } from '../../story/cast.js';
import { openTestApp, type TestApp } from '../../setup/app.js';

let app: TestApp;
let sql: postgres.Sql;
let hanna: Person;
beforeAll(async () => {
  app = await openTestApp();
  sql = postgres({ ...app.database.connection, max: 1, fetch_types: false, onnotice: () => {} });
  hanna = await homeowner(app, 'Hanna');
  const ada = await admin(app);
  await app.rest('POST', '/v1/tokens/adjustments', {
    token: ada.token,
    body: { user_id: hanna.userId, amount: 10_000, reason: 'for the tests' },
  });
});
afterAll(async () => {
  await sql.end();
  await app.close();
});

const DRAFT = {
  title: 'Fix the sink',
  description: 'It drips.',
  category: 'plumbing',
  urgency: 'standard',
  address_line1: '1 Main St',
  city: 'Austin',
  state: 'TX',
  zip_code: '78701',
};

async function draft(): Promise<string> {
  const created = await app.rest('POST', '/v1/jobs', { token: hanna.token, body: DRAFT });
  return created.body.id;
}

const keyed = (key: string) => ({ token: hanna.token, headers: { 'idempotency-key': key } });

describe('Hanna, who sends an Idempotency-Key,', () => {
  it('gets the first response again, byte for byte, and one job', async () => {
    const before = await sql`select count(*)::int as n from jobs`;
    const first = await app.rest('POST', '/v1/jobs', { ...keyed('one-job'), body: DRAFT });
    const second = await app.rest('POST', '/v1/jobs', { ...keyed('one-job'), body: DRAFT });
    expect(first.status).toBe(201);
    expect(first.headers.get('idempotency-replayed')).toBeNull();
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect(second.status).toBe(201);
    expect(second.body).toEqual(first.body);
    const after = await sql`select count(*)::int as n from jobs`;
    expect(after[0]?.n).toBe(before[0]?.n + 1);
  });

  it('is charged once for publishing twice, and reads the same remaining balance', async () => {
    const id = await draft();
    const first = await app.rest('POST', `/v1/jobs/${id}/publish`, keyed(`publish ${id}`));
    const second = await app.rest('POST', `/v1/jobs/${id}/publish`, keyed(`publish ${id}`));
    expect(second.body).toEqual(first.body);
    const charged = await sql`select count(*)::int as n from token_transfers where job_id = ${id}`;
    expect(charged[0]?.n).toBe(1);
  });

  it('may select more fields when she repeats the call', async () => {
    const id = await draft();
    const publish = (selection: string) =>
      app.graphql(`mutation { publishJob(id: "${id}") { job { ${selection} } } }`, keyed(`select ${id}`));
    const first = await publish('id');
    expect(first.data.publishJob.job).toEqual({ id });
    const second = await publish('id title addressLine1 urgency version');
    expect(second.data.publishJob.job).toEqual({
      id,
      title: DRAFT.title,
      addressLine1: DRAFT.address_line1,
      urgency: DRAFT.urgency.toUpperCase(),
      version: 2,
    });
  });

  it('is told that the key was used with another input', async () => {
    await app.rest('POST', '/v1/jobs', { ...keyed('reused'), body: DRAFT });
    const other = await app.rest('POST', '/v1/jobs', { ...keyed('reused'), body: { ...DRAFT, title: 'Another sink' } });
    expect([other.status, other.body.details.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
  });

  it('may reuse a key for anything after a day, and then gets that result again', async () => {
    const create = (title: string) =>
      app.rest('POST', '/v1/jobs', { ...keyed('yesterday'), body: { ...DRAFT, title } });
    const first = await create('Fix the sink');
    await sql`update idempotency_records set created_at = now() - interval '25 hours' where key = 'yesterday'`;
    const other = await create('Another sink');
    const again = await create('Another sink');
    expect([other.status, other.headers.get('idempotency-replayed')]).toEqual([201, null]);
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
    expect([again.body.id, other.body.id === first.body.id]).toEqual([other.body.id, false]);
    expect((await create('Fix the sink')).body.details.code).toBe('IDEMPOTENCY_KEY_REUSED');
    await sql`update idempotency_records set created_at = now() - interval '25 hours' where key = 'yesterday'`;
    const same = await create('Another sink');
    expect([same.status, same.body.id === other.body.id]).toEqual([201, false]);
  });

  it('may use one key for two operations, and another person may use it too', async () => {
    const id = await draft();
    const published = await app.rest('POST', `/v1/jobs/${id}/publish`, keyed('shared'));
    const cancelled = await app.rest('POST', `/v1/jobs/${id}/cancel`, keyed('shared'));
    expect([published.status, cancelled.status]).toEqual([200, 200]);
    const hugo = await homeowner(app, 'Hugo');
    const his = await app.rest('POST', '/v1/jobs', {
      token: hugo.token,
      headers: { 'idempotency-key': 'one-job' },
      body: DRAFT,
    });
    expect(his.status).toBe(201);
    expect(his.headers.get('idempotency-replayed')).toBeNull();
  });

  it('creates one job with fifty concurrent calls: the others are told to wait or get its result', async () => {
    const create = (_: unknown, i: number) =>
      app.rest('POST', '/v1/jobs', { ...keyed('fifty'), body: DRAFT, from: i % 2 });
    const answers = await Promise.all(Array.from({ length: 50 }, create));
    const made = answers.filter(({ status }) => status === 201);
    expect(new Set(made.map(({ body }) => body.id)).size).toBe(1);
    expect(
      answers
        .filter(({ status }) => status !== 201)
        .every(({ body }) => body.details.code === 'IDEMPOTENCY_KEY_IN_USE'),
    ).toBe(true);
  });

  it('can retry a refused call, because nothing of it was kept', async () => {
    const id = await draft();
    await app.rest('PUT', `/v1/jobs/${id}`, { token: hanna.token, body: { category: null } });
    const refused = await app.rest('POST', `/v1/jobs/${id}/publish`, keyed(`late ${id}`));
    expect(refused.body.details.code).toBe('MISSING_FIELDS');
    await app.rest('PUT', `/v1/jobs/${id}`, { token: hanna.token, body: { category: 'plumbing' } });
    const published = await app.rest('POST', `/v1/jobs/${id}/publish`, keyed(`late ${id}`));
    expect(published.status).toBe(200);
  });

  it('gets the same from GraphQL, where a request with a key has one mutation', async () => {
    const call = { ...keyed('by graphql'), variables: { input: { title: 'A roof', description: 'It leaks.' } } };
    const mutation = 'mutation ($input: CreateJobInput!) { createJob(input: $input) { job { id createdAt } } }';
    const first = await app.graphql(mutation, call);
    const second = await app.graphql(mutation, call);
    expect(second.data).toEqual(first.data);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    const two = await app.graphql(
      'mutation ($input: CreateJobInput!) { a: createJob(input: $input) { job { id } } b: createJob(input: ' +
        '$input) { job { id } } }',
      { ...call, ...keyed('two') },
    );
    expect(two.errors?.[0]?.extensions.code).toBe('VALIDATION_FAILED');
    expect(two.status).toBe(400);
  });

  it.each(['', 'x'.repeat(256), 'naïve'])("can't use the key %j", async (key) => {
    const answer = await app.rest('POST', '/v1/jobs', {
      token: hanna.token,
      headers: { 'idempotency-key': key },
      body: DRAFT,
    });
    expect([answer.status, answer.body.details?.code]).toEqual([400, 'VALIDATION_FAILED']);
  });

  it('gets a new session each time, whatever the key, because tokens are never stored', async () => {
    const body = { email: hanna.email, password: hanna.password };
    const first = await app.rest('POST', '/v1/auth/login', { headers: { 'idempotency-key': 'log in' }, body });
    const second = await app.rest('POST', '/v1/auth/login', { headers: { 'idempotency-key': 'log in' }, body });
    expect(second.body.refresh_token).not.toBe(first.body.refresh_token);
    const stored = await sql`select count(*)::int as n from idempotency_records
        where answer ~ 'rft_|eyJ[A-Za-z0-9_-]*[.]'`;
    expect(stored[0]?.n).toBe(0);
  });
});

describe('A dry run', () => {
  const dry = () => ({ token: hanna.token, headers: { 'dry-run': 'true' } });

  it('responds like the real call, reports the charge and the event, and keeps nothing', async () => {
    const id = await draft();
    const before = await app.rest('GET', '/v1/tokens', { token: hanna.token });
    const tried = await app.rest('POST', `/v1/jobs/${id}/publish`, dry());
    expect(tried.status).toBe(200);
    expect(tried.headers.get('dry-run')).toBe('true');
    expect(tried.body).toMatchObject({
      tokens_charged: 5,
      remaining_balance: before.body.available - 5,
      job: { status: 'open', version: 2 },
    });
    expect(JSON.parse(tried.headers.get('dry-run-effects') ?? '')).toEqual({
      charges: [{ user_id: hanna.userId, amount: 5, reason: 'publish' }],
      stakes: [],
      events: [{ type: 'job.published', from_status: 'draft', to_status: 'open' }],
    });
    expect((await app.rest('GET', '/v1/tokens', { token: hanna.token })).body).toEqual(before.body);
    expect((await app.rest('GET', `/v1/jobs/${id}`, { token: hanna.token })).body).toMatchObject({
      status: 'draft',
      version: 1,
    });
    const events = await sql`select type from events where job_id = ${id}`;
    expect(events.map(({ type }) => type)).toEqual(['job.created']);
  });

  it('refuses like the real call', async () => {
    const id = await draft();
    await app.rest('PUT', `/v1/jobs/${id}`, { token: hanna.token, body: { urgency: null } });
    const tried = await app.rest('POST', `/v1/jobs/${id}/publish`, dry());
    expect([tried.status, tried.body.details.code, tried.headers.get('dry-run')]).toEqual([
      400,
      'MISSING_FIELDS',
      'true',
    ]);
  });

  it('tells a poor contractor that the stake is too high, and the balance', async () => {
    const id = await draft();
    await app.rest('POST', `/v1/jobs/${id}/publish`, { token: hanna.token });
    const carl = await contractor(app, 'Carl');
    await sql`update token_balances set held = 0 where user_id = ${carl.userId}`;
    const ada = await admin(app);
    await app.rest('POST', '/v1/tokens/adjustments', {
      token: ada.token,
      body: { user_id: carl.userId, amount: -22, reason: 'poor' },
    });
    const tried = await app.rest('POST', `/v1/jobs/${id}/bids`, {
      token: carl.token,
      headers: { 'dry-run': 'true' },
      body: { amount: 10, guaranteed_view: true },
    });
    expect(tried.body.details).toMatchObject({ code: 'INSUFFICIENT_TOKENS', required: 5, available: 3 });
  });

  it('tells a poor homeowner that publishing costs more than the balance, with and without a key', async () => {
    const poor = await homeowner(app, 'Percy');
    const created = await app.rest('POST', '/v1/jobs', { token: poor.token, body: { ...DRAFT, urgency: 'priority' } });
    for (const headers of [{ 'dry-run': 'true' }, { 'idempotency-key': 'too much' }, {}]) {
      const tried = await app.rest('POST', `/v1/jobs/${created.body.id}/publish`, {
        token: poor.token,
        headers: headers as Record<string, string>,
      });
      expect(tried.status).toBe(400);
      expect(tried.body.details).toMatchObject({ code: 'INSUFFICIENT_TOKENS', required: 15, available: 10 });
    }
    expect((await app.rest('GET', `/v1/jobs/${created.body.id}`, { token: poor.token })).body).toMatchObject({
      status: 'draft',
      version: 1,
    });
  });

  it('of an award shows what would happen to every bid, and with a key is made once', async () => {
    const id = await draft();
    await app.rest('POST', `/v1/jobs/${id}/publish`, { token: hanna.token });
    const bids = [];
    for (const name of ['Carl', 'Cora']) {
      const { token } = await contractor(app, name);
      bids.push(
        (await app.rest('POST', `/v1/jobs/${id}/bids`, { token, body: { amount: 10, guaranteed_view: true } })).body.id,
      );
    }
    const body = { bid_id: bids[1] };
    const tried = await app.rest('POST', `/v1/jobs/${id}/award`, { ...dry(), body });
    expect(JSON.parse(tried.headers.get('dry-run-effects') ?? '')).toEqual({
      charges: [],
      stakes: [],
      events: [
        { type: 'job.awarded', from_status: 'open', to_status: 'awarded' },
        { type: 'bid.accepted', from_status: null, to_status: null },
        { type: 'bid.rejected', from_status: null, to_status: null },
      ],
    });
    const statesOf = async () =>
      (
        await sql`select b.status, h.status as hold from bids b join holds h on h.bid_id = b.id
          where b.job_id = ${id} order by b.created_at`
      ).map(({ status, hold }) => `${status} ${hold}`);
    expect(await statesOf()).toEqual(['pending active', 'pending active']);
    const [first, again] = [
      await app.rest('POST', `/v1/jobs/${id}/award`, { ...keyed(`award ${id}`), body }),
      await app.rest('POST', `/v1/jobs/${id}/award`, { ...keyed(`award ${id}`), body }),
    ];
    expect([first.status, first.body.version]).toEqual([200, tried.body.version]);
    expect(again.body).toEqual(first.body);
    expect(await statesOf()).toEqual(['rejected released', 'accepted active']);
  });

  it('in GraphQL reads nested parts as they would be, and lets two mutations build on each other', async () => {
    const id = await draft();
    const tried = await app.graphql(
      `mutation ($id: ID!) { publishJob(id: $id) { job { status timeline { nodes { type } } } tokensCharged } ` +
        `cancelJob(id: $id) { job { status } } }`,
      { ...dry(), variables: { id } },
    );
    expect(tried.errors).toBeUndefined();
    expect(tried.data.publishJob.job).toEqual({
      status: 'OPEN',
      timeline: { nodes: [{ type: 'JOB_CREATED' }, { type: 'JOB_PUBLISHED' }] },
    });
    expect(tried.data.cancelJob.job.status).toBe('CANCELLED');
    expect(tried.extensions.dryRun.charges).toEqual([
      { userId: hanna.userId, amount: 5, reason: 'publish' },
      { userId: hanna.userId, amount: -5, reason: 'publish_refund' },
    ]);
    expect((await app.rest('GET', `/v1/jobs/${id}`, { token: hanna.token })).body.status).toBe('draft');
  });

  it("doesn't undo a login", async () => {
    const body = { email: hanna.email, password: hanna.password };
    const session = await app.rest('POST', '/v1/auth/login', { headers: { 'dry-run': 'true' }, body });
    expect((await app.rest('GET', '/v1/me', { token: session.body.token })).status).toBe(200);
  });

  it('keeps no record of its key', async () => {
    const headers = { 'dry-run': 'true', 'idempotency-key': 'tried first' };
    const tried = await app.rest('POST', '/v1/jobs', { token: hanna.token, headers, body: DRAFT });
    const real = await app.rest('POST', '/v1/jobs', { ...keyed('tried first'), body: DRAFT });
    expect(real.headers.get('idempotency-replayed')).toBeNull();
    expect(real.body.id).not.toBe(tried.body.id);
  });
});
