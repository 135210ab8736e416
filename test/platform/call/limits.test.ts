import type { Services } from '../../../src/market/operations/services.js';
import { BUDGETS, type BudgetName } from '../../../src/market/rules/rate-limits.js';
import jwt from 'jsonwebtoken';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { refuse } from '../../../src/market/rules/errors.js';
import { contractor, homeowner, type Person } from '../../story/cast.js';
import { JWT_SECRET, openTestApp, type Answer, type GraphqlAnswer, type Json, type TestApp } from '../../setup/app.js';
import { byGraphql, byRest } from '../../apis/refused.js';

const apps: TestApp[] = [];
afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

/** An app whose named rate limits are small enough to use up. */
async function open(limits: Record<string, number> = {}, more: Record<string, string> = {}): Promise<TestApp> {
  const variables = Object.fromEntries(
    Object.entries(limits).map(([name, max]) => [`RATE_LIMIT_${name}`, String(max)]),
  );
  const app = await openTestApp({ RATE_LIMITS: 'on', TRUST_PROXY_HOPS: '1', ...variables, ...more });
  apps.push(app);
  return app;
}

const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
const LOG_IN = 'mutation ($input: LogInInput!) { logIn(input: $input) { token } }';

const restLogIn = (app: TestApp, email: string, password: string, address = '192.0.2.1') =>
  app.rest('POST', '/v1/auth/login', { body: { email, password }, ...from(address) });
const graphqlLogIn = (app: TestApp, email: string, password: string, address = '192.0.2.1') =>
  app.graphql(LOG_IN, { variables: { input: { email, password } }, ...from(address) });

const LIMITED = { status: 429, code: 'RATE_LIMITED', fields: [] };

/** The status that REST would return, for either API. */
const statusOf = (answer: Answer<Json> | GraphqlAnswer): number =>
  'body' in answer ? answer.status : (answer.errors?.[0]?.extensions.status ?? answer.status);
const statuses = async (calls: readonly Promise<Answer<Json> | GraphqlAnswer>[]): Promise<number[]> =>
  (await Promise.all(calls)).map(statusOf);
const count = (all: readonly number[], status: number) => all.filter((one) => one === status).length;

describe('logins', () => {
  it('to one account from one address are limited to ten a minute, through both APIs together', async () => {
    const app = await open();
    const hanna = await homeowner(app, 'Hanna');
    const calls = Array.from({ length: 12 }, (_, i) =>
      (i % 2 === 0 ? restLogIn : graphqlLogIn)(app, hanna.email, i < 6 ? hanna.password : 'wrong'),
    );
    const all = await statuses(calls);
    expect([count(all, 429), count(all, 200) + count(all, 401)]).toEqual([2, 10]);
    expect(byRest(await restLogIn(app, ` ${hanna.email.toUpperCase()}`, hanna.password))).toEqual(LIMITED);
    expect(byGraphql(await graphqlLogIn(app, hanna.email, hanna.password))).toEqual(LIMITED);
    // Neither another address nor another account is affected.
    expect((await restLogIn(app, hanna.email, hanna.password, '192.0.2.2')).status).toBe(200);
    expect((await restLogIn(app, 'someone.else@example.test', 'wrong')).status).toBe(401);
  });

  it('with an unknown email are limited like those with a known one', async () => {
    const app = await open({ LOG_IN_PER_ACCOUNT_AND_ADDRESS: 3 });
    const all = await statuses(Array.from({ length: 5 }, () => restLogIn(app, 'nobody@example.test', 'wrong')));
    expect([count(all, 401), count(all, 429)]).toEqual([3, 2]);
  });

  it('from one address are limited, whoever they are for and however they are sent', async () => {
    const app = await open({ LOG_IN_PER_ADDRESS: 6 });
    const all = await statuses([
      ...Array.from({ length: 4 }, (_, i) => restLogIn(app, `nobody.${i}@example.test`, 'wrong')),
      ...Array.from({ length: 4 }, (_, i) => graphqlLogIn(app, `someone.${i}@example.test`, 'wrong')),
    ]);
    expect([count(all, 401), count(all, 429)]).toEqual([6, 2]);
    // The rate limit comes before the input.
    expect(byRest(await app.rest('POST', '/v1/auth/login', { body: '{', ...from('192.0.2.1') }))).toEqual(LIMITED);
  });

  it("count an IPv6 /64 as one address, and trust only the proxy's entry for it", async () => {
    const app = await open({ LOG_IN_PER_ADDRESS: 4 });
    const all = await statuses(
      Array.from({ length: 6 }, (_, i) =>
        restLogIn(app, `nobody.${i}@example.test`, 'wrong', `203.0.113.${i}, 2001:db8::${i + 1}`),
      ),
    );
    expect([count(all, 401), count(all, 429)]).toEqual([4, 2]);
    expect((await restLogIn(app, 'nobody@example.test', 'wrong', '2001:db8:0:1::1')).status).toBe(401);
  });

  it('that fail are counted per account over all addresses, including unknown emails', async () => {
    const app = await open({ LOG_IN_FAILURES_PER_ACCOUNT: 5 });
    const hanna = await homeowner(app, 'Hanna');
    let address = 0;
    const next = () => `198.51.100.${(address += 1)}`;
    for (let i = 0; i < 8; i += 1) expect((await restLogIn(app, hanna.email, hanna.password, next())).status).toBe(200);
    for (const email of [hanna.email, 'nobody@example.test']) {
      const all = await statuses(
        Array.from({ length: 8 }, (_, i) => (i % 2 === 0 ? restLogIn : graphqlLogIn)(app, email, 'wrong', next())),
      );
      expect([count(all, 401), count(all, 429)]).toEqual([5, 3]);
    }
    expect(byRest(await restLogIn(app, hanna.email, hanna.password, next()))).toEqual(LIMITED);
  });

  it("can't be guessed around: guesses at the current password also count as failures", async () => {
    const app = await open({ LOG_IN_FAILURES_PER_ACCOUNT: 3 });
    const hanna = await homeowner(app, 'Hanna');
    const change = (current_password: string) =>
      app.rest('POST', '/v1/me/password', {
        token: hanna.token,
        body: { current_password, new_password: 'another password' },
      });
    const all = await statuses(Array.from({ length: 5 }, () => change('wrong')));
    expect([count(all, 401), count(all, 429)]).toEqual([3, 2]);
    expect(byRest(await restLogIn(app, hanna.email, hanna.password))).toEqual(LIMITED);
  });

  it("don't count as failures if the password wasn't checked for lack of capacity, in either operation", async () => {
    const app = await open({ LOG_IN_FAILURES_PER_ACCOUNT: 2, LOG_IN_PER_ACCOUNT_AND_ADDRESS: 2 });
    const { email, password, token } = await homeowner(app, 'Hanna');
    const change = () =>
      app.rest('POST', '/v1/me/password', { token, body: { current_password: password, new_password: 'a new one' } });
    const full = vi.spyOn(app.services.passwords, 'matches').mockImplementation(async () => {
      throw refuse('OVERLOADED', { details: { retryAfter: 1 } });
    });
    for (const call of [change, () => restLogIn(app, email, password), () => graphqlLogIn(app, email, password)])
      for (let times = 0; times < 3; times += 1) expect(statusOf(await call())).toBe(503);
    full.mockRestore();
    expect((await change()).status).toBe(200);
  });
});

describe('signups and refreshes', () => {
  it('from one address are limited through both APIs together', async () => {
    const app = await open({ SIGN_UP: 4 });
    const SIGN_UP = 'mutation ($input: SignUpContractorInput!) { signUpContractor(input: $input) { token } }';
    const all = await statuses(
      Array.from({ length: 6 }, (_, i) => {
        const email = `new-user.${i}@example.test`;
        const password = 'a password';
        return i % 2 === 0
          ? app.rest('POST', '/v1/auth/signup/homeowner', {
              body: { email, password, first_name: 'N', last_name: 'N' },
              ...from('192.0.2.7'),
            })
          : app.graphql(SIGN_UP, {
              variables: { input: { email, password, firstName: 'N', lastName: 'N' } },
              ...from('192.0.2.7'),
            });
      }),
    );
    expect([count(all, 200) + count(all, 201), count(all, 429)]).toEqual([4, 2]);
    const [kept] = await app.sql`select count(*)::int as users from users where email like 'new-user.%'`;
    expect(kept).toEqual({ users: 4 });
  });

  it('of one session are limited, however new its tokens', async () => {
    const app = await open({ REFRESH: 3 });
    const hanna = await homeowner(app, 'Hanna');
    let refresh_token = hanna.refreshToken;
    for (let i = 0; i < 3; i += 1)
      refresh_token = (await app.rest('POST', '/v1/auth/refresh', { body: { refresh_token } })).body.refresh_token;
    expect(byRest(await app.rest('POST', '/v1/auth/refresh', { body: { refresh_token } }))).toEqual(LIMITED);
    const hugo = await homeowner(app, 'Hugo');
    expect((await app.rest('POST', '/v1/auth/refresh', { body: { refresh_token: hugo.refreshToken } })).status).toBe(
      200,
    );
  });
});

describe('reads and writes', () => {
  const reader = async (app: TestApp): Promise<Person> => contractor(app, 'Carl');

  it('by one person share a budget over both APIs, and an alias counts like a request', async () => {
    const app = await open({ READ: 6 });
    const carl = await reader(app); // Joining already uses one read.
    const twice = await app.graphql(
      '{ a: viewer { referralCode } b: viewer { referralCode tokenTransactions { nodes { id } } } }',
      { token: carl.token },
    );
    expect(twice.errors).toBeUndefined();
    expect((await app.rest('GET', '/v1/tokens', { token: carl.token })).status).toBe(200);
    const thrice = await app.graphql(
      '{ a: viewer { referralCode } b: viewer { referralCode } c: viewer { referralCode } }',
      { token: carl.token },
    );
    expect(thrice.status).toBe(200);
    expect(Object.values(thrice.data).filter((viewer) => viewer === null)).toHaveLength(1);
    expect(byGraphql(thrice)).toEqual(LIMITED);
    expect(byRest(await app.rest('GET', '/v1/me', { token: carl.token }))).toEqual(LIMITED);
    // Writes have their own limit, and so does each person.
    expect((await app.rest('PUT', '/v1/me', { token: carl.token, body: {} })).status).toBe(200);
    expect((await app.rest('GET', '/v1/me', { token: (await reader(app)).token })).status).toBe(200);
  });

  it('report in headers what is left and when to retry', async () => {
    const app = await open({ READ: 3, WRITE: 0 });
    const carl = await reader(app);
    const read = await app.rest('GET', '/v1/tokens', { token: carl.token });
    expect(read.headers.get('ratelimit-policy')).toBe('"read";q=3;w=60');
    expect(read.headers.get('ratelimit')).toMatch(/^"read";r=1;t=([1-9]|[1-5]\d|60)$/);
    expect(read.headers.get('retry-after')).toBeNull();
    const byAlias = await app.graphql('{ viewer { referralCode } }', { token: carl.token });
    expect(byAlias.headers.get('ratelimit')).toMatch(/^"read";r=0;t=([1-9]|[1-5]\d|60)$/);

    for (const refused of [
      await app.rest('GET', '/v1/tokens', { token: carl.token }),
      await app.rest('PUT', '/v1/me', { token: carl.token, body: '{' }),
    ]) {
      expect(byRest(refused)).toEqual(LIMITED);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
      expect(refused.body.details.retry_after).toBe(Number(refused.headers.get('retry-after')));
    }
    const byGraph = await app.graphql('{ viewer { referralCode } }', { token: carl.token });
    expect(byGraphql(byGraph)).toEqual(LIMITED);
    expect(byGraph.errors?.[0]?.extensions.retryAfter).toBe(Number(byGraph.headers.get('retry-after')));
  });

  it('report and refuse nothing if no limit is configured', async () => {
    const app = await open({ READ: 0 }, { RATE_LIMITS: 'off' });
    const carl = await reader(app);
    expect((await app.rest('GET', '/v1/tokens', { token: carl.token })).status).toBe(200);
  });
});

describe('invalid tokens', () => {
  it('count against the address, forged access tokens and unknown refresh tokens together', async () => {
    const app = await open({ INVALID_TOKEN: 4 });
    const hanna = await homeowner(app, 'Hanna');
    const forged = `${hanna.token.slice(0, -6)}aaaaaa`;
    const all = await statuses([
      app.rest('GET', '/v1/me', { token: forged, ...from('192.0.2.9') }),
      app.rest('POST', '/v1/me/password', { token: 'x', body: '{', ...from('192.0.2.9') }),
      app.graphql('{ viewer { referralCode } }', { token: forged, ...from('192.0.2.9') }),
      app.rest('POST', '/v1/auth/refresh', { body: { refresh_token: 'rft_guess' }, ...from('192.0.2.9') }),
    ]);
    expect(all).toEqual([401, 401, 401, 401]);
    expect(byRest(await app.rest('GET', '/v1/me', { token: forged, ...from('192.0.2.9') }))).toEqual(LIMITED);
    expect(
      byGraphql(await app.graphql('{ viewer { referralCode } }', { token: forged, ...from('192.0.2.9') })),
    ).toEqual(LIMITED);
    expect(
      byRest(
        await app.rest('POST', '/v1/auth/refresh', { body: { refresh_token: 'rft_guess' }, ...from('192.0.2.9') }),
      ),
    ).toEqual(LIMITED);
    // A good token isn't a guess, and another address has its own limit.
    expect((await app.rest('GET', '/v1/me', { token: hanna.token, ...from('192.0.2.9') })).status).toBe(200);
    expect((await app.rest('GET', '/v1/me', { token: forged, ...from('192.0.2.10') })).status).toBe(401);
  });
});

describe('access tokens that have merely expired', () => {
  it('consume their own budget of the address, not the budget for invalid ones', async () => {
    const app = await open({ INVALID_TOKEN: 2, EXPIRED_TOKEN: 4 });
    const hanna = await homeowner(app, 'Hanna');
    const expired = jwt.sign({ ...(jwt.decode(hanna.token) as object), exp: 1 }, JWT_SECRET, {
      keyid: jwt.decode(hanna.token, { complete: true })?.header.kid ?? '',
    });
    const forged = `${hanna.token.slice(0, -6)}aaaaaa`;
    const call = (token: string, address = '192.0.2.9') => app.rest('GET', '/v1/me', { token, ...from(address) });
    // The calls run in parallel, so any of them may come last.
    const all = await statuses(Array.from({ length: 5 }, () => call(expired)));
    expect([count(all, 401), count(all, 429)]).toEqual([4, 1]);
    const ofForged = await statuses(Array.from({ length: 3 }, () => call(forged)));
    expect([count(ofForged, 401), count(ofForged, 429)]).toEqual([2, 1]);
    expect((await call(expired, '192.0.2.10')).body.details.reason).toBe('expired');
    expect((await call(hanna.token)).status).toBe(200);
  });
});

describe('the configured limits', () => {
  const names = Object.keys(BUDGETS) as BudgetName[];
  const maxOf = ({ budget }: Services) => Object.fromEntries(names.map((name) => [name, budget(name).max]));

  it('match the documentation, times ten per address outside production', async () => {
    const { services } = await open();
    expect(maxOf(services)).toEqual({
      logInPerAccountAndAddress: 10,
      logInPerAddress: 1_200,
      logInFailuresPerAccount: 300,
      signUp: 600,
      refresh: 60,
      read: 600,
      write: 120,
      invalidToken: 1_200,
      expiredToken: 6_000,
      paymentEvents: 12_000,
      replay: 30,
      mailPerRecipient: 3,
      mailPerCaller: 20,
      mailPerAddress: 2_000,
    });
    const production = await open({}, { NODE_ENV: 'production', BCRYPT_COST: '10' });
    expect(maxOf(production.services)).toMatchObject({
      logInPerAccountAndAddress: 10,
      logInPerAddress: 120,
      signUp: 60,
      invalidToken: 120,
      expiredToken: 600,
    });
  });
});
