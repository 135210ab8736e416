/** Names and other single lines can't forge log lines or emails, or look like something else, through both APIs. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestApp, type TestApp } from '../setup/app.js';
import { homeowner, type Person } from '../story/cast.js';

let app: TestApp;
let hanna: Person;
beforeAll(async () => {
  app = await openTestApp();
  hanna = await homeowner(app, 'Hanna');
});
afterAll(() => app.close());

const PROBLEM = 'must be a single line without control characters or characters that change the text direction';
const FORBIDDEN = [
  '\n',
  '\r',
  '\t',
  '\u0007',
  '\u007f',
  '\u0085',
  '\u2028',
  '\u2029',
  '\u202a',
  '\u202e',
  '\u2066',
  '\u2069',
];
const codeOf = (sign: string) => `U+${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;

describe.each(FORBIDDEN.map((sign) => [codeOf(sign), sign]))('a line with %s', (_code, sign) => {
  const line = `Han${sign}na`;

  it('is rejected as a name, and nobody signs up with it', async () => {
    const before = await app.sql`select count(*) from users`;
    const body = { email: 'nora@example.test', password: 'a password', first_name: line, last_name: 'Hill' };
    const { status, body: answer } = await app.rest('POST', '/v1/auth/signup/homeowner', { body });
    expect([status, answer.details.fields]).toEqual([400, { first_name: PROBLEM }]);
    expect(await app.sql`select count(*) from users`).toEqual(before);
  });

  it('is rejected by GraphQL as a job’s title and city', async () => {
    const input = { title: line, description: 'It leaks.', city: line };
    const { errors } = await app.graphql(
      'mutation ($input: CreateJobInput!) { createJob(input: $input) { job { id } } }',
      { token: hanna.token, variables: { input } },
    );
    expect(errors?.[0]?.extensions).toMatchObject({
      code: 'VALIDATION_FAILED',
      fields: { title: PROBLEM, city: PROBLEM },
    });
  });
});

it('a name can contain marks that mixed scripts need, and a description keeps its lines and tabs', async () => {
  const named = await app.rest('PUT', '/v1/me', {
    token: hanna.token,
    body: { user: { first_name: 'חנה\u200e (Hanna)', last_name: '\n Hill \t' } },
  });
  expect(named.body.user).toMatchObject({ first_name: 'חנה\u200e (Hanna)', last_name: 'Hill' });
  const description = 'It leaks:\n\t- in the kitchen\r\n\t- in the hall';
  const { body } = await app.rest('POST', '/v1/jobs', { token: hanna.token, body: { title: 'A roof', description } });
  expect(body.description).toBe(description);
});

it('a body can be as long through REST as through GraphQL', async () => {
  const long = 'x'.repeat(120 * 1024);
  const byRest = await app.rest('POST', '/v1/jobs', {
    token: hanna.token,
    body: { title: 'A roof', description: long },
  });
  const { errors } = await app.graphql(
    'mutation ($input: CreateJobInput!) { createJob(input: $input) { job { id } } }',
    { token: hanna.token, variables: { input: { title: 'A roof', description: long } } },
  );
  expect([byRest.status, byRest.body.details.fields]).toEqual([400, errors?.[0]?.extensions.fields]);
});
