/**
 * Dry runs: only callers who may write start a transaction, every read runs in it, and the response confirms the dry
 * run.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { contractor, homeowner } from '../../story/cast.js';
import { openTestApp, type GraphqlAnswer, type Json, type TestApp } from '../../setup/app.js';
import { DRAFT, gather, givenJob, type People } from '../../story/journey.js';
import { atOnce } from '../../story/scenes.js';
import { until } from '../security/until.js';

let app: TestApp;
/** Another server on the same database, where every rate limit on writes is used up. */
let spent: TestApp;
let narrow: TestApp;
let people: People;
beforeAll(async () => {
  app = await openTestApp();
  spent = await openTestApp({ RATE_LIMITS: 'on', RATE_LIMIT_WRITE: '0' }, { sameDatabaseAs: app });
  narrow = await openTestApp({ DATABASE_POOL_SIZE: '1' }, { sameDatabaseAs: app });
  people = await gather(app);
});
afterAll(async () => {
  await narrow.close();
  await spent.close();
  await app.close();
});

const DRY = { 'dry-run': 'true' };
const CREATE = 'mutation { createJob(input: { title: "A roof", description: "It leaks." }) { job { id status } } }';
const LOG_IN = 'logIn(input: $logIn) { token user { id } }';

/** The transactions that requests hold open, whether idle or about to end. Background work has other pools. */
async function transactions(): Promise<number> {
  const [row] = await app.sql<{ open: number }[]>`
    select count(*)::int as open from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
      and application_name = 'job-marketplace'
      and (state like 'idle in transaction%' or query ~* '^\\s*rollback')`;
  return row?.open ?? -1;
}

/** The backends of requests that wait for a lock. */
async function waiting(): Promise<number[]> {
  const rows = await app.sql<{ pid: number }[]>`select pid from pg_stat_activity
    where datname = current_database() and application_name = 'job-marketplace' and wait_event_type = 'Lock'`;
  return rows.map(({ pid }) => pid);
}

const CHECKS_MAX = 200;

/**
 * Counts repeatedly while a request waits. The request's own transaction would be open at every check, and a background
 * one wouldn't.
 */
async function transactionsMeanwhile(): Promise<number> {
  for (let checks = 1; ; checks += 1) {
    const open = await transactions();
    if (open === 0 || checks === CHECKS_MAX) return open;
  }
}

const begun = (at = app) => at.statements().filter((text) => text === 'begin').length;
const codesOf = ({ errors }: GraphqlAnswer) => errors?.map(({ extensions }) => extensions.code);
const logInOf = ({ email, password }: { email: string; password: string }) => ({ email, password });

describe('no transaction starts', () => {
  /** The first call creates the document's plan, and the others use it. */
  const TIMES = 4;

  const REFUSED: readonly [
    who: string,
    code: string,
    at: () => TestApp,
    token: () => string | undefined,
    query: string,
    body: object,
  ][] = [
    ['nobody', 'UNAUTHENTICATED', () => app, () => undefined, CREATE, DRAFT],
    ['a forger', 'UNAUTHENTICATED', () => app, () => 'e30.e30.e30', CREATE, DRAFT],
    ['whose budget is spent', 'RATE_LIMITED', () => spent, () => people.owner.token, CREATE, DRAFT],
    ['whose role may not', 'FORBIDDEN', () => app, () => people.bidder.token, CREATE, DRAFT],
    [
      'whose input is bad',
      'VALIDATION_FAILED',
      () => app,
      () => people.owner.token,
      CREATE.replace('A roof', ' '),
      { ...DRAFT, title: ' ' },
    ],
  ];

  it.each(REFUSED)('for %s (%s), through both APIs', async (_who, code, at, token, query, body) => {
    begun(at());
    for (let time = 0; time < TIMES; time += 1) {
      const refused = await at().graphql(query, { token: token(), headers: DRY });
      expect(codesOf(refused)).toEqual([code]);
      expect(refused.headers.get('dry-run')).toBe('true');
      const byRest = await at().rest('POST', '/v1/jobs', { token: token(), headers: DRY, body });
      expect([byRest.body.details.code, byRest.headers.get('dry-run')]).toEqual([code, 'true']);
    }
    expect(begun(at())).toBe(0);
  });

  it('for a malformed Idempotency-Key', async () => {
    begun();
    const headers = { ...DRY, 'idempotency-key': 'x'.repeat(256) };
    expect(codesOf(await app.graphql(CREATE, { token: people.owner.token, headers }))).toEqual(['VALIDATION_FAILED']);
    expect((await app.rest('POST', '/v1/jobs', { token: people.owner.token, headers, body: DRAFT })).status).toBe(400);
    expect(begun()).toBe(0);
  });

  it('for a request that only reads, whose response still says that nothing was kept', async () => {
    const { token } = people.owner;
    begun();
    for (let time = 0; time < TIMES; time += 1) {
      const read = await app.graphql('{ viewer { tokens { available } } jobs { totalCount } }', {
        token,
        headers: DRY,
      });
      expect(read.errors).toBeUndefined();
      expect(read.headers.get('dry-run')).toBe('true');
      expect(read.extensions.dryRun).toEqual({ charges: [], stakes: [], events: [] });
    }
    const byRest = await app.rest('GET', '/v1/jobs', { token, headers: DRY });
    expect([byRest.status, byRest.headers.get('dry-run')]).toEqual([200, 'true']);
    expect(byRest.headers.get('dry-run-effects')).toBe('{"charges":[],"stakes":[],"events":[]}');
    expect(begun()).toBe(0);
  });

  it.each(['1', 'yes', '', 'constructor'])(
    'for a Dry-Run header with the value “%s”, which is rejected',
    async (value) => {
      const { token } = people.owner;
      const headers = { 'dry-run': value };
      const [before] = await app.sql`select count(*)::int as jobs from jobs`;
      const byRest = await app.rest('POST', '/v1/jobs', { token, headers, body: { title: 'A', description: 'B' } });
      expect([byRest.status, byRest.body.error]).toEqual([400, 'Dry-Run must be true or false.']);
      const withoutToken = await app.rest('POST', '/v1/jobs', { headers, body: {} });
      expect(withoutToken.body.details.code).toBe('UNAUTHENTICATED');
      const byGraphql = await app.graphql(CREATE, { token, headers });
      expect(byGraphql.errors?.[0]?.extensions).toMatchObject({
        code: 'VALIDATION_FAILED',
        fields: { 'Dry-Run': 'must be true or false' },
      });
      expect((await app.sql`select count(*)::int as jobs from jobs`)[0]).toEqual(before);
    },
  );

  it("if Dry-Run isn't true, and the response doesn't claim a dry run", async () => {
    const real = await app.graphql(CREATE, { token: people.owner.token, headers: { 'dry-run': 'false' } });
    expect([real.headers.get('dry-run'), real.extensions.dryRun]).toEqual([null, undefined]);
    expect(await app.sql`select 1 from jobs where id = ${real.data.createJob.job.id}`).toHaveLength(1);
  });
});

describe("a dry run's transaction", () => {
  const PUBLISH_AND_CANCEL = `mutation ($id: ID!) {
    publishJob(id: $id) { job {
      status bids { totalCount } timeline { nodes { type } } homeowner { user { email } } availableActions { action
        allowed }
    } }
    cancelJob(id: $id) { job { status timeline(first: 3) { totalCount } } }
  }`;

  it('covers all mutations of a request, starts after the session check, and serves all reads', async () => {
    const { id } = await givenJob(app, 'draft', people);
    app.services.live.activeSessions.forgetAll();
    app.statements();
    const tried = await app.graphql(PUBLISH_AND_CANCEL, { token: people.owner.token, headers: DRY, variables: { id } });
    const statements = app.statements();
    expect(tried.errors).toBeUndefined();
    expect(tried.data.publishJob.job.timeline.nodes.map(({ type }: Json) => type)).toEqual([
      'JOB_CREATED',
      'JOB_PUBLISHED',
    ]);
    expect(tried.data.cancelJob.job).toEqual({ status: 'CANCELLED', timeline: { totalCount: 3 } });
    expect(statements.indexOf('begin')).toBe(1);
    expect(statements[0]).toContain('from "sessions"');
    expect(statements.filter((text) => text === 'begin')).toHaveLength(1);
    const events = await app.sql`select type from events where job_id = ${id}`;
    expect(events.map(({ type }) => type)).toEqual(['job.created']);
  });

  it('is over when the response has arrived, and leaves no lock behind', async () => {
    const { id } = await givenJob(app, 'draft', people);
    await app.graphql(PUBLISH_AND_CANCEL, { token: people.owner.token, headers: DRY, variables: { id } });
    await app.rest('POST', `/v1/jobs/${id}/publish`, { token: people.owner.token, headers: DRY });
    expect(await transactions()).toBe(0);
    expect((await app.rest('POST', `/v1/jobs/${id}/publish`, { token: people.owner.token })).status).toBe(200);
  });

  it("reports a timeout for what it can't read in time", async () => {
    const update = 'updateProfile(input: { user: { firstName: "Carl" } })';
    // After the first mutation, a dry run waits only briefly for locks.
    const query = `mutation { first: ${update} { viewer { id } } second: ${update} { viewer {
      apiKeys(first: 1) { nodes { id } } contractor { reviews(first: 1) { nodes { id } } }
    } } }`;
    const { token } = await contractor(app, 'Carl');
    expect((await app.graphql(query, { token })).errors).toBeUndefined();
    for (const table of ['api_keys', 'reviews']) {
      const { errors } = await app.sql.begin(async (sql) => {
        await sql.unsafe(`lock table ${table} in access exclusive mode`);
        return app.graphql(query, { token, headers: DRY });
      });
      expect([table, new Set(errors?.map(({ extensions }) => extensions.code))]).toEqual([
        table,
        new Set(['OVERLOADED']),
      ]);
    }
  });

  it('keeps the effects from before a refusal and none of what was refused', async () => {
    const { id } = await givenJob(app, 'draft', people);
    const twice =
      'mutation ($id: ID!) { first: publishJob(id: $id) { tokensCharged } second: publishJob(id: $id) { ' +
      'tokensCharged } }';
    const tried = await app.graphql(twice, { token: people.owner.token, headers: DRY, variables: { id } });
    expect(codesOf(tried)).toEqual(['INVALID_TRANSITION']);
    expect(tried.extensions.dryRun).toMatchObject({ charges: [{ amount: 5 }], events: [{ type: 'job.published' }] });
    expect((await app.rest('GET', `/v1/jobs/${id}`, { token: people.owner.token })).body.status).toBe('draft');
  });

  it('waits only briefly for locks after its first mutation, so opposite orders cause no deadlock', async () => {
    const jobs = [await givenJob(app, 'open', people), await givenJob(app, 'open', people)].map(({ id }) => id);
    const { token } = people.owner;
    // Postgres ends a deadlock after this time. By default, a pause of the whole machine can be as long.
    const { database } = app.database.connection;
    await app.sql.unsafe(`alter database ${database} set deadlock_timeout = '30s'`);
    const server = await openTestApp({}, { sameDatabaseAs: app });
    let backends: number[] = [];
    try {
      const inOrder = (ids: readonly string[]) =>
        server.graphql(
          `mutation { ${ids
            .map((id, at) => `m${at}: updateJob(id: "${id}", input: { title: "Another" }) { job { id } }`)
            .join(' ')} }`,
          { token, headers: DRY },
        );
      // Both wait to insert their first event, and have locked their first job.
      const both = await app.sql.begin(async (sql) => {
        await sql`lock table events in share row exclusive mode`;
        const answers = [inOrder(jobs), inOrder(jobs.toReversed())];
        await until(async () => (backends = await waiting()).length === 2);
        return { answers };
      });
      const outcomes = (await Promise.all(both.answers)).map((answer) => codesOf(answer)?.join() ?? 'done');
      expect(outcomes).toContain('OVERLOADED');
      expect(outcomes.filter((outcome) => !['OVERLOADED', 'done'].includes(outcome))).toEqual([]);
    } finally {
      await server.close();
      await app.sql.unsafe(`alter database ${database} reset deadlock_timeout`);
    }
    // A backend reports its deadlocks when it ends, at the latest.
    const left = () => app.sql`select from pg_stat_activity where pid in ${app.sql(backends)}`;
    await until(async () => (await left()).length === 0);
    const [row] = await app.sql`select deadlocks::int from pg_stat_database where datname = current_database()`;
    expect(row).toEqual({ deadlocks: 0 });
  });

  it("doesn't need a second connection: a server with one connection serves twelve at the same time", async () => {
    const { id } = await givenJob(app, 'draft', people);
    const { token } = people.owner;
    const ask = (at: number) =>
      at % 3 === 0
        ? narrow.rest('POST', `/v1/jobs/${id}/publish`, {
            token,
            headers: { ...DRY, 'idempotency-key': `narrow ${at}` },
          })
        : narrow.graphql(PUBLISH_AND_CANCEL, { token, headers: DRY, variables: { id } });
    const answers = await Promise.all(Array.from({ length: 12 }, (_, at) => ask(at)));
    expect(answers.map((answer) => [answer.status, 'errors' in answer ? answer.errors : undefined])).toEqual(
      answers.map(() => [200, undefined]),
    );
  });
});

it("of an award doesn't show the bidder's email or phone number, before or in later fields", async () => {
  const job = await givenJob(app, 'open', people);
  const input = { id: job.id, input: { bidId: job.bids.awardee } };
  const AWARD = `mutation ($id: ID!, $input: AwardJobInput!) {
    awardJob(id: $id, input: $input) {
      job {
        status
        awardedBid { contractor { user { firstName email phone } } }
        bids { nodes { contractor { user { email } } } }
      }
    }
  }`;
  const call = { token: people.owner.token, variables: input };
  const dry = (await app.graphql(AWARD, { ...call, headers: DRY })).data.awardJob.job;
  expect(dry.status).toBe('AWARDED');
  expect(dry.awardedBid.contractor.user).toEqual({ firstName: expect.any(String), email: null, phone: null });
  expect(JSON.stringify(dry)).not.toContain(people.awardee.email);
  const { body } = await app.rest('POST', `/v1/jobs/${job.id}/award`, {
    token: people.owner.token,
    headers: DRY,
    body: { bid_id: job.bids.awardee },
  });
  expect(JSON.stringify(body)).not.toContain(people.awardee.email);
  const real = (await app.graphql(AWARD, call)).data.awardJob.job;
  expect(real.awardedBid.contractor.user.email).toBe(people.awardee.email);
});

describe('opening or ending a session', () => {
  const signUp = (email: string) => ({ email, password: 'a good password', firstName: 'S', lastName: 'U' });
  const expectNotEchoed = ({ headers, extensions }: GraphqlAnswer) =>
    expect([headers.get('dry-run'), extensions?.dryRun]).toEqual([null, undefined]);

  it("happens for real in a dry run and says so, from a document's first call to its fourth", async () => {
    const SIGN_UP =
      'mutation ($input: SignUpHomeownerInput!) { signUpHomeowner(input: $input) { token refreshToken } }';
    for (let time = 0; time < 4; time += 1) {
      const joined = await app.graphql(SIGN_UP, {
        headers: DRY,
        variables: { input: signUp(`dry.${time}@example.test`) },
      });
      expectNotEchoed(joined);
      const { token, refreshToken } = joined.data.signUpHomeowner;
      const REFRESH = 'mutation ($input: RefreshSessionInput!) { refreshSession(input: $input) { token } }';
      const refreshed = await app.graphql(REFRESH, { headers: DRY, variables: { input: { refreshToken } } });
      expectNotEchoed(refreshed);
      expect(refreshed.data.refreshSession.token).toBeTruthy();
      const loggedIn = await app.graphql(`mutation ($logIn: LogInInput!) { ${LOG_IN} }`, {
        headers: DRY,
        variables: { logIn: logInOf(people.owner) },
      });
      expectNotEchoed(loggedIn);
      expect((await app.rest('GET', '/v1/me', { token: loggedIn.data.logIn.token })).status).toBe(200);
      expectNotEchoed(await app.graphql('mutation { logOut { sessionId } }', { token, headers: DRY }));
      expect((await app.rest('GET', '/v1/me', { token })).status).toBe(401);
    }
  });

  it('happens for real through REST too', async () => {
    const { email, password } = people.owner;
    const session = await app.rest('POST', '/v1/auth/login', { headers: DRY, body: { email, password } });
    expect([session.status, session.headers.get('dry-run'), session.headers.get('dry-run-effects')]).toEqual([
      200,
      null,
      null,
    ]);
  });

  it('ignores an invalid value, unless another mutation would read it', async () => {
    const headers = { 'dry-run': 'yes' };
    const variables = { logIn: logInOf(people.owner) };
    for (let time = 0; time < 3; time += 1) {
      const loggedIn = await app.graphql(`mutation ($logIn: LogInInput!) { ${LOG_IN} }`, { headers, variables });
      expect(loggedIn.data.logIn.token).toBeTruthy();
      const refused = await app.graphql(`mutation ($logIn: LogInInput!) { ${LOG_IN} ${JOB} }`, { headers, variables });
      expect([refused.status, codesOf(refused), refused.data]).toEqual([400, ['VALIDATION_FAILED'], undefined]);
    }
    const byRest = await app.rest('POST', '/v1/auth/login', { headers, body: variables.logIn });
    expect(byRest.status).toBe(200);
  });

  const PASSWORD = 'changePassword(input: { currentPassword: "wrong", newPassword: "another password" }) { changed }';
  const JOB = 'createJob(input: { title: "A roof", description: "It leaks." }) { job { id } }';

  it.each([
    ['a login after a job', 'logIn', `mutation ($logIn: LogInInput!) { ${JOB} ${LOG_IN} }`],
    ['a login before a job', 'logIn', `mutation ($logIn: LogInInput!) { ${LOG_IN} ${JOB} }`],
    ['a logout in a fragment', 'logOut', `mutation { ${JOB} ...F } fragment F on Mutation { logOut { sessionId } }`],
    ['slow work after a job', 'changePassword', `mutation { ${JOB} ${PASSWORD} }`],
    ['slow work twice', 'changePassword', `mutation { a: ${PASSWORD} b: ${PASSWORD} }`],
  ])('is rejected among other mutations before any of them runs: %s', async (_what, name, query) => {
    app.statements();
    for (let time = 0; time < 3; time += 1) {
      const variables = { logIn: logInOf(people.owner) };
      const refused = await app.graphql(query, {
        token: people.owner.token,
        headers: DRY,
        ...(query.includes('$logIn') && { variables }),
      });
      expect([refused.status, codesOf(refused), refused.data]).toEqual([400, ['VALIDATION_FAILED'], undefined]);
      expect(refused.errors?.[0]?.extensions.fields).toEqual({ 'Dry-Run': expect.stringContaining(name) });
      expect(refused.errors?.[0]?.message).toBeTruthy();
      expectNotEchoed(refused);
    }
    expect(app.statements()).toEqual([]);
  });

  it('may be combined with __typename, which is not a mutation, and with others outside a dry run', async () => {
    const variables = { logIn: logInOf(people.owner) };
    const alone = await app.graphql(`mutation ($logIn: LogInInput!) { __typename ${LOG_IN} }`, {
      headers: DRY,
      variables,
    });
    expect(alone.data).toMatchObject({ __typename: 'Mutation', logIn: { user: { id: people.owner.userId } } });
    const real = await app.graphql(`mutation ($logIn: LogInInput!) { ${LOG_IN} ${JOB} }`, {
      token: people.owner.token,
      variables,
    });
    expect(real.errors).toBeUndefined();
  });
});

describe('an operation that returns a secret', () => {
  const ENDPOINT = { url: 'https://hooks.example.com/dry' };
  const WEBHOOK = 'webhookEndpoint { id } secret';
  let webhookId: string;
  beforeAll(async () => {
    const made = await app.rest('POST', '/v1/webhooks', { token: people.owner.token, body: ENDPOINT });
    webhookId = made.body.webhook.id;
  });

  it.each([
    ['createApiKey', '/api-keys', { name: 'Dry' }, '(input: { name: "Dry" }) { secret }'],
    ['createWebhookEndpoint', '/webhooks', ENDPOINT, `(input: { url: "${ENDPOINT.url}" }) { ${WEBHOOK} }`],
    ['rotateWebhookSecret', '/webhooks/{id}/rotate-secret', undefined, `(id: "{id}") { ${WEBHOOK} }`],
  ])('has no dry run and changes nothing: %s', async (name, path, body, rest) => {
    const { token } = people.owner;
    const named = (text: string) => text.replace('{id}', webhookId);
    const before = await secretsOf(people.owner.userId);
    const fields = { 'Dry-Run': expect.stringContaining('returns a secret') };
    const byRest = await app.rest('POST', `/v1${named(path)}`, { token, headers: DRY, ...(body && { body }) });
    expect([byRest.status, byRest.body.details.code, byRest.headers.get('dry-run')]).toEqual([
      400,
      'VALIDATION_FAILED',
      'true',
    ]);
    expect(byRest.body.details.fields).toEqual(fields);
    for (const also of ['', 'createJob(input: { title: "A roof", description: "It leaks." }) { job { id } }']) {
      const byGraphql = await app.graphql(`mutation { ${also} ${name}${named(rest)} }`, { token, headers: DRY });
      expect(byGraphql.errors).toMatchObject([
        { path: [name], extensions: { code: 'VALIDATION_FAILED', status: 400, fields } },
      ]);
      expect(byGraphql.headers.get('dry-run')).toBe('true');
    }
    expect(await secretsOf(people.owner.userId)).toEqual(before);
    // A caller who lacks permission is told that first.
    const stranger = await app.rest('POST', `/v1${named(path)}`, { headers: DRY, ...(body && { body }) });
    expect(stranger.status).toBe(401);
  });

  async function secretsOf(userId: string): Promise<Json[]> {
    return app.sql`
      select id, null as secrets from api_keys where user_id = ${userId}
      union all select id, secrets::text from webhook_endpoints where user_id = ${userId} order by id`;
  }
});

describe('slow work is done while no transaction is open:', () => {
  const CHANGE = 'mutation ($input: ChangePasswordInput!) { changePassword(input: $input) { changed } }';
  const change = { old: 'Penny has a password', new: 'Penny has another one' };
  const body = { current_password: change.old, new_password: change.new };
  const input = { currentPassword: change.old, newPassword: change.new };
  /** The number of open transactions at each comparison and each hash. */
  let seen: number[];
  beforeEach(() => {
    seen = [];
    const { passwords } = app.services;
    const { hash, matches } = passwords;
    vi.spyOn(passwords, 'hash').mockImplementation(
      async (...given) => (seen.push(await transactionsMeanwhile()), hash(...given)),
    );
    vi.spyOn(passwords, 'matches').mockImplementation(
      async (...given) => (seen.push(await transactionsMeanwhile()), matches(...given)),
    );
    return () => void vi.restoreAllMocks();
  });

  it('passwords are compared and hashed, in a dry run through both APIs', async () => {
    const penny = await homeowner(app, 'Penny');
    seen = [];
    const byRest = await app.rest('POST', '/v1/me/password', { token: penny.token, headers: DRY, body });
    expect([byRest.status, byRest.headers.get('dry-run')]).toEqual([200, 'true']);
    const byGraphql = await app.graphql(CHANGE, { token: penny.token, headers: DRY, variables: { input } });
    expect([byGraphql.data, byGraphql.headers.get('dry-run')]).toEqual([{ changePassword: { changed: true } }, 'true']);
    expect(seen).toEqual([0, 0, 0, 0]);
    expect(
      (await app.rest('POST', '/v1/auth/login', { body: { email: penny.email, password: penny.password } })).status,
    ).toBe(200);
  });

  it('with a key, once: a repeated call gets the same result without hashing, and other input is refused', async () => {
    const penny = await homeowner(app, 'Penny');
    const call = { token: penny.token, headers: { 'idempotency-key': 'a new password' } };
    seen = [];
    expect((await app.rest('POST', '/v1/me/password', { ...call, body })).status).toBe(200);
    expect(seen).toEqual([0, 0]);
    const again = await app.graphql(CHANGE, { ...call, variables: { input } });
    expect([again.data, again.headers.get('idempotency-replayed')]).toEqual([
      { changePassword: { changed: true } },
      'true',
    ]);
    const other = await app.rest('POST', '/v1/me/password', {
      ...call,
      body: { ...body, new_password: 'Penny has a third one' },
    });
    expect(other.body.details.code).toBe('IDEMPOTENCY_KEY_REUSED');
    expect(seen).toEqual([0, 0]);
  });

  it('eight concurrent calls with one key change it once: the others are told to wait or get its result', async () => {
    const penny = await homeowner(app, 'Penny');
    const call = { token: penny.token, headers: { 'idempotency-key': 'eight' }, body };
    const answers = await Promise.all(Array.from({ length: 8 }, () => app.rest('POST', '/v1/me/password', call)));
    const done = answers.filter(
      ({ status, headers }) => status === 200 && headers.get('idempotency-replayed') === null,
    );
    expect(done).toHaveLength(1);
    const others = answers
      .filter((answer) => !done.includes(answer))
      .map(({ status, body }) => (status === 200 ? 'replayed' : body.details.code));
    expect(others.filter((other) => other !== 'replayed' && other !== 'IDEMPOTENCY_KEY_IN_USE')).toEqual([]);
    expect(
      (await app.rest('POST', '/v1/auth/login', { body: { email: penny.email, password: change.new } })).status,
    ).toBe(200);
  });

  it("a call whose password was changed by another call with its key gets that call's result", async () => {
    const penny = await homeowner(app, 'Penny');
    const call = { token: penny.token, headers: { 'idempotency-key': 'a moment later' }, body };
    const { passwords } = app.services;
    const matches = passwords.matches.bind(passwords);
    // While the first call checks the password, a second one with the same key finishes.
    vi.spyOn(passwords, 'matches').mockImplementationOnce(async (plain) => {
      expect((await app.rest('POST', '/v1/me/password', call)).status).toBe(200);
      const [row] = await app.sql<
        { hash: string }[]
      >`select password_hash as hash from users where id = ${penny.userId}`;
      return matches(plain, row?.hash);
    });
    const late = await app.rest('POST', '/v1/me/password', call);
    expect([late.status, late.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
  });
});

describe('the effects of an award that rejects 110 bids', () => {
  it("are counted in the header, which has no room for them, and are complete in GraphQL's body", async () => {
    const { id, bids } = await givenJob(app, 'open', people);
    await atOnce(Array.from({ length: 109 }), async () => {
      const { token } = await contractor(app, 'Carl');
      expect((await app.rest('POST', `/v1/jobs/${id}/bids`, { token, body: { amount: 10 } })).status).toBe(201);
    });
    const { token } = people.owner;
    const byRest = await app.rest('POST', `/v1/jobs/${id}/award`, {
      token,
      headers: DRY,
      body: { bid_id: bids.awardee },
    });
    expect([byRest.status, byRest.body.status]).toEqual([200, 'awarded']);
    expect(JSON.parse(byRest.headers.get('dry-run-effects') ?? '')).toEqual({
      charges: 0,
      stakes: 0,
      events: 112,
      complete: false,
    });

    const AWARD = 'mutation ($id: ID!, $input: AwardJobInput!) { awardJob(id: $id, input: $input) { job { status } } }';
    const byGraphql = await app.graphql(AWARD, {
      token,
      headers: DRY,
      variables: { id, input: { bidId: bids.awardee } },
    });
    expect(byGraphql.data.awardJob.job.status).toBe('AWARDED');
    const types = byGraphql.extensions.dryRun.events.map(({ type }: Json) => type);
    expect(types.filter((type: string) => type === 'bid.rejected')).toHaveLength(110);
    expect(types).toHaveLength(112);
    expect((await app.rest('GET', `/v1/jobs/${id}`, { token })).body.status).toBe('open');
  });
});
