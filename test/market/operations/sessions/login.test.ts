import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contractor, homeowner, type Person } from '../../../story/cast.js';
import { ADMIN, openTestApp, type Answer, type Json, type TestApp } from '../../../setup/app.js';
import { byGraphql, byRest, invalid } from '../../../apis/refused.js';

let app: TestApp;
let hanna: Person;
beforeAll(async () => {
  app = await openTestApp({ BCRYPT_COST: '7' });
  hanna = await homeowner(app, 'Hanna');
});
afterAll(() => app.close());

const logIn = (body: unknown) => app.rest('POST', '/v1/auth/login', { body });
const LOG_IN =
  `mutation ($input: LogInInput!) { logIn(input: $input) { token refreshToken tokensAwarded user { ` +
  `id email userType } homeowner { id } contractor { id } } }`;

describe('logging in', () => {
  it('returns a token, a refresh token, and the person, and opens a session', async () => {
    const { status, body } = await logIn({ email: hanna.email, password: hanna.password });
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['token', 'refresh_token', 'expires_at', 'refresh_expires_at', 'user']);
    expect(body.user).toMatchObject({
      id: hanna.userId,
      email: hanna.email,
      user_type: 'homeowner',
      first_name: 'Hanna',
    });
    expect(JSON.stringify(body)).not.toContain('hash');
    expect((await app.rest('GET', '/v1/me', { token: body.token })).body.user).toEqual(body.user);
  });

  it('returns the same through GraphQL, for people with any role', async () => {
    const carl = await contractor(app, 'Carl');
    for (const [{ email, password }, userType] of [
      [hanna, 'HOMEOWNER'],
      [carl, 'CONTRACTOR'],
      [ADMIN, 'ADMIN'],
    ] as const) {
      const { data } = await app.graphql(LOG_IN, { variables: { input: { email, password } } });
      expect(data.logIn).toMatchObject({
        token: expect.any(String),
        refreshToken: expect.stringMatching(/^rft_/),
        user: { email, userType },
        homeowner: null,
        contractor: null,
        tokensAwarded: null,
      });
    }
  });

  it("ignores the email's case, but not the password's", async () => {
    expect((await logIn({ email: `  ${hanna.email.toUpperCase()} `, password: hanna.password })).status).toBe(200);
    for (const password of [
      hanna.password.toUpperCase(),
      ` ${hanna.password}`,
      `${hanna.password} `,
      hanna.password.slice(0, -1),
      '',
    ]) {
      expect(byRest(await logIn({ email: hanna.email, password })).code).toBe('INVALID_CREDENTIALS');
    }
  });

  it('accepts no password that only starts with the right one', async () => {
    const long = 'p'.repeat(72);
    const body = { email: 'long.one@example.test', password: long, first_name: 'Lea', last_name: 'Long' };
    const { token } = (await app.rest('POST', '/v1/auth/signup/homeowner', { body })).body;
    for (const password of [`${long}p`, `${long}${'x'.repeat(100)}`, `${long}\u0000`]) {
      expect(byRest(await logIn({ email: body.email, password })).code).toBe('INVALID_CREDENTIALS');
      const change = await app.rest('POST', '/v1/me/password', {
        token,
        body: { current_password: password, new_password: 'another password' },
      });
      expect(byRest(change).code).toBe('INVALID_CREDENTIALS');
    }
    expect(byRest(await logIn({ email: hanna.email, password: `${hanna.password}\u0000more` })).code).toBe(
      'INVALID_CREDENTIALS',
    );
    expect((await logIn({ email: body.email, password: long })).status).toBe(200);
  });

  it('refuses a wrong password and an unknown email with the same message', async () => {
    const wrong = await logIn({ email: hanna.email, password: 'not her password' });
    const unknown = await logIn({ email: 'nobody@example.test', password: 'not her password' });
    expect(byRest(wrong)).toEqual({ status: 401, code: 'INVALID_CREDENTIALS', fields: [] });
    expect(withoutId(unknown)).toEqual(withoutId(wrong));
    expect(namesOf(unknown)).toEqual(namesOf(wrong));

    const [first, second] = await Promise.all(
      [hanna.email, 'nobody@example.test'].map((email) =>
        app.graphql(LOG_IN, { variables: { input: { email, password: 'not her password' } } }),
      ),
    );
    expect(first && byGraphql(first)).toEqual({ status: 401, code: 'INVALID_CREDENTIALS', fields: [] });
    expect({ ...second?.errors?.[0]?.extensions, requestId: '' }).toEqual({
      ...first?.errors?.[0]?.extensions,
      requestId: '',
    });
    expect(second?.errors?.[0]?.message).toBe(first?.errors?.[0]?.message);
  });

  it('refuses an invalid email or password by name', async () => {
    expect(byRest(await logIn({}))).toEqual(invalid('email', 'password'));
    expect(byRest(await logIn({ email: 'e'.repeat(255), password: 'p'.repeat(1_001) }))).toEqual(
      invalid('email', 'password'),
    );
    expect(byRest(await logIn({ email: ['a'], password: null, remember_me: true }))).toEqual(
      invalid('email', 'password', 'remember_me'),
    );
    expect(byRest(await logIn({ email: 'not an email', password: 'x' })).code).toBe('INVALID_CREDENTIALS');
  });
});

function withoutId({ status, body }: Answer<Json>): object {
  return { status, body: { ...body, details: { ...body.details, request_id: '' } } };
}

function namesOf({ headers }: Answer<Json>): string[] {
  return [...headers.keys()].sort();
}
