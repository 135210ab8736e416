/**
 * Whatever goes wrong, a secret that a client sent never appears in the log, in an error, or in the metrics.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { admin } from '../story/cast.js';
import { JWT_SECRET, openTestApp, type Json, type TestApp } from '../setup/app.js';

let app: TestApp;
beforeAll(async () => {
  app = await openTestApp({ LOG_LEVEL: 'trace', METRICS_TOKEN: 'a-token-for-the-metrics' });
});
afterAll(() => app.close());

let marks = 0;
const secrets = new Map<string, string>();
/** A unique string, which can be found wherever it shouldn't be. */
function secret(what: string): string {
  marks += 1;
  const text = `s3cret${marks}Zq${'k'.repeat(marks % 5)}`;
  secrets.set(text, what);
  return text;
}

function keep(what: string, text: string): string {
  secrets.set(text, what);
  return text;
}

const refusals: string[] = [];

async function rest(method: string, path: string, body?: unknown, token?: string): Promise<Json> {
  const answer = await app.rest(method, path, { token, body });
  if (answer.status >= 400) refusals.push(JSON.stringify([...answer.headers, answer.body]));
  return answer.body;
}

async function graphql(query: string, variables?: object, token?: string): Promise<Json> {
  const { data, errors, headers } = await app.graphql(query, { variables, token });
  if (errors) refusals.push(JSON.stringify([...headers, errors]));
  return data;
}

const SIGN_UP = 'mutation ($input: SignUpHomeownerInput!) { signUpHomeowner(input: $input) { token refreshToken } }';
const LOG_IN = 'mutation ($input: LogInInput!) { logIn(input: $input) { token refreshToken } }';
const REFRESH = 'mutation ($input: RefreshSessionInput!) { refreshSession(input: $input) { token refreshToken } }';

let people = 0;
async function join(
  more: object = {},
): Promise<{ email: string; password: string; token: string; refreshToken: string; session: Json }> {
  people += 1;
  const email = `confidant.${people}@example.test`;
  const password = secret('a password');
  const session = await rest('POST', '/v1/auth/signup/homeowner', {
    email,
    password,
    first_name: 'C',
    last_name: 'C',
    ...more,
  });
  if (session.token) {
    keep('an access token', session.token);
    keep('a refresh token', session.refresh_token);
  }
  return { email, password, token: session.token, refreshToken: session.refresh_token, session };
}

it('a day of mistakes reveals no secret', async () => {
  const one = await join();
  const two = await join();
  keep('the key of all tokens', JWT_SECRET);

  await everydayCalls(one, two);
  await mistakesInJson(one);
  await mistakesInGraphql(one);
  await tamperedTokens(one);
  await failuresOfTheDatabase(one);

  await mistakesWithKeys(one);

  const hashes = await app.sql`select password_hash as hash from users union all select hash from refresh_tokens
    union all select secret_hash as hash from api_keys`;
  for (const { hash } of hashes) keep('a hash', hash);
  const headers = { authorization: 'Bearer a-token-for-the-metrics' };
  const metrics = await (await fetch(`${app.url}/metrics`, { headers })).text();
  expect(metrics).toContain('http_request_seconds');
  expect(app.logged.length).toBeGreaterThan(50);
  expect(refusals.length).toBeGreaterThan(40);

  const found: string[] = [];
  for (const [text, what] of secrets) {
    for (const [place, lines] of [
      ['the log', app.logged],
      ['a refusal', refusals],
      ['the metrics', [metrics]],
    ] as const) {
      const line = lines.find((one) => one.includes(text));
      if (line !== undefined) found.push(`${what} in ${place}: ${line.slice(0, 300)}`);
    }
  }
  expect(found).toEqual([]);
});

type Confidant = Awaited<ReturnType<typeof join>>;

/** Creates an API key through each API, and sends it in the wrong places. */
async function mistakesWithKeys({ token }: Confidant): Promise<void> {
  const { body } = await app.rest('POST', '/v1/api-keys', { token, body: { name: 'One' } });
  const CREATE = 'mutation { createApiKey(input: { name: "Two" }) { secret } }';
  const { data } = await app.graphql(CREATE, { token });
  for (const key of [body.secret, data.createApiKey.secret]) {
    keep('an API key', key);
    await rest('POST', '/v1/jobs', { title: key }, key);
    await rest('POST', '/v1/me/password', { current_password: key, new_password: key }, key);
    await rest('POST', '/v1/auth/refresh', { refresh_token: key });
    await rest('GET', '/v1/me', undefined, `${key}x`);
    await graphql(`{ job(id: "${key}") { id } }`, {}, key);
  }
}

async function everydayCalls(one: Confidant, two: Confidant): Promise<void> {
  await rest('POST', '/v1/auth/login', { email: one.email, password: secret('a wrong password') });
  await rest('POST', '/v1/auth/login', { email: secret('a password in place of the email'), password: '' });
  await graphql(LOG_IN, {
    input: {
      email: `${secret('a password in place of the email')}@example.test`,
      password: secret('a wrong password'),
    },
  });
  await rest(
    'POST',
    '/v1/me/password',
    { current_password: secret('a wrong password'), new_password: secret('a new password') },
    one.token,
  );
  await rest(
    'POST',
    '/v1/me/password',
    { current_password: two.password, new_password: keep('a new password', `${secret('a new password')} for two`) },
    two.token,
  );
  const refreshed = await rest('POST', '/v1/auth/refresh', { refresh_token: two.refreshToken });
  keep('an access token', refreshed.token);
  keep('a refresh token', refreshed.refresh_token);
  await rest('POST', '/v1/auth/refresh', { refresh_token: two.refreshToken });
  await graphql(REFRESH, { input: { refreshToken: two.refreshToken } });
  await rest('POST', '/v1/auth/signup/contractor', {
    email: one.email,
    password: secret('a password'),
    first_name: 'C',
    last_name: 'C',
  });
  await rest('POST', '/v1/auth/logout', undefined, two.token);
  await rest('GET', '/v1/me', undefined, two.token);
  const ada = await admin(app);
  keep('an admin’s token', ada.token);
  await rest(
    'POST',
    '/v1/tokens/adjustments',
    { user_id: one.session.user.id, amount: -500, reason: 'too many' },
    ada.token,
  );
}

async function mistakesInJson(one: Confidant): Promise<void> {
  const password = () => secret('a password');
  const bodies: unknown[] = [
    { email: 'x', password: password() },
    { email: 'x@example.test', password: [password()] },
    { email: 'x@example.test', password: { is: password() } },
    { email: 'x@example.test', password: `${password()}\u0000` },
    { email: 'x@example.test', password: password().repeat(20), first_name: 'X', last_name: 'X' },
    { email: 'x@example.test', passwort: password(), first_name: 'X', last_name: 'X' },
    { email: 'x@example.test', password: 'long enough', first_name: 'X', last_name: 'X', referral_code: password() },
    `{"email":"x@example.test","password":"${password()}"`,
    `{"email":"x@example.test","password":"${password()}\n"}`,
    `"${password()}"`,
    [password()],
  ];
  for (const body of bodies) {
    await rest('POST', '/v1/auth/signup/homeowner', body);
    await rest('POST', '/v1/auth/login', body);
    await rest('POST', '/v1/me/password', body, one.token);
    await rest('POST', '/v1/auth/refresh', body);
  }
  await rest('GET', `/v1/me?access_token=${one.token}`);
  await rest('GET', `/v1/tokens/transactions?after=${secret('a misplaced secret')}`, undefined, one.token);
}

async function mistakesInGraphql(one: Confidant): Promise<void> {
  const password = () => secret('a password');
  const input = { email: 'y@example.test', firstName: 'Y', lastName: 'Y' };
  const wrong: unknown[] = [
    { email: 'y@example.test', password: password() },
    { ...input, password: [password()] },
    { ...input, password: { is: password() } },
    { ...input, password: password(), extra: 1 },
    { ...input, password: password(), email: 5 },
    { ...input, password: password(), firstName: null },
    { ...input, password: `${password()} "; Field at "input"; x`, phone: [] },
    password(),
    [password()],
    null,
  ];
  for (const value of wrong) {
    await graphql(SIGN_UP, { input: value });
    await graphql(LOG_IN, { input: value });
  }
  await graphql(SIGN_UP, { input: { ...input, password: 12_345_678_987 } });
  keep('a password of digits', '12345678987');
  const literals = [
    `mutation { logIn(input: { email: "y@example.test", password: ["${password()}"] }) { token } }`,
    `mutation { logIn(input: { email: "y@example.test", password: ${password()} }) { token } }`,
    `mutation { logIn(input: { email: "y@example.test", password: 98765432123 }) { token } }`,
    `mutation { logIn(input: { email: "y@example.test" "${password()}" }) { token } }`,
    `mutation { logIn(input: { email: "y@example.test", password: ` +
      `"""${password()}""" """${password()}""" }) { token } }`,
    `mutation { logIn(input: "${password()}") { token } }`,
    `mutation { logIn("${password()}") { token } }`,
    `mutation { logIn(input: { email: "y@example.test", password: "${password()}", more: 1 }) { token } }`,
    `mutation { logIn(input: { password: "${password()}" }) { token } }`,
    `mutation { a: logIn(input: { email: "y@example.test", password: "${password()}" }) { token } b: logIn(input: ` +
      `{ email: "y@example.test", password: "${password()}" }) { token } }`,
    `mutation { a: logIn(input: { email: "y@example.test", password: "${password()}" }) { token } a: logIn(input: ` +
      `{ email: "y@example.test", password: "${password()}" }) { token } }`,
    `mutation { refreshSession(input: { refreshToken: ["${one.refreshToken}"] }) { token } }`,
    `mutation { logIn(input: { email: "y@example.test", password: "${password()}`,
    `mutation { logIn(input: { email: "y@example.test", password: "${password()}\\q" }) { token } }`,
  ];
  keep('a password of digits', '98765432123');
  for (const query of literals) await graphql(query);
}

async function tamperedTokens(one: Confidant): Promise<void> {
  for (const token of [`${one.token}x`, one.token.slice(0, -2), one.refreshToken, secret('a made-up token')]) {
    await rest('GET', '/v1/me', undefined, token);
    await graphql('{ viewer { referralCode } }', undefined, token);
  }
  const truncated = one.refreshToken.slice(0, -1);
  await rest('POST', '/v1/auth/refresh', { refresh_token: truncated });
  await graphql(REFRESH, { input: { refreshToken: truncated } });
}

/** Postgres quotes rows and values that it rejects, even across several lines. */
async function failuresOfTheDatabase(one: Confidant): Promise<void> {
  const { sql } = app;
  await sql`alter table users add constraint nobody_by_this_name check (last_name <> 'Refused')`;
  await join({ last_name: 'Refused' });
  await graphql(SIGN_UP, {
    input: { email: 'z@example.test', password: secret('a password'), firstName: 'Z', lastName: 'Refused' },
  });
  await sql`alter table users drop constraint nobody_by_this_name`;

  await sql`drop index users_words`;
  await sql`alter table users alter column phone type integer using null`;
  await join({ phone: secret('a private phone') });
  await join({ phone: `\n${secret('a private phone')}\n    at ${secret('a private phone')}\n` });
  await sql`alter table users alter column phone type text`;

  await sql`alter table refresh_tokens rename to elsewhere`;
  await join();
  await graphql(LOG_IN, { input: { email: one.email, password: one.password } });
  await rest('POST', '/v1/auth/refresh', { refresh_token: one.refreshToken });
  await sql`alter table elsewhere rename to refresh_tokens`;

  await sql`alter table users rename column password_hash to hidden`;
  await rest('POST', '/v1/auth/login', { email: one.email, password: one.password });
  await rest(
    'POST',
    '/v1/me/password',
    { current_password: one.password, new_password: secret('a new password') },
    one.token,
  );
  await sql`alter table users rename column hidden to password_hash`;
}
