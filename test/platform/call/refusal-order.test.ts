/**
 * A call can be wrong in several ways. The refusal is about the first: authentication, rate limit, role, input, object,
 * and then the rest.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../src/market/store/new-id.js';
import { admin, contractor, homeowner } from '../../story/cast.js';
import { ADMIN, openTestApp, type TestApp } from '../../setup/app.js';
import { byGraphql, byRest, invalid, type Refused } from '../../apis/refused.js';

let open: TestApp;
/** Another server, where everybody's rate limits are used up. */
let spent: TestApp;
const tokens: Record<string, string> = { forger: 'e30.e30.e30' };
const CONTRACTOR = { email: 'carl.orders@example.test', password: 'Carl has a password' };
let contractorId: string;
beforeAll(async () => {
  open = await openTestApp({ RATE_LIMITS: 'off' });
  spent = await openTestApp(
    {
      RATE_LIMITS: 'on',
      RATE_LIMIT_READ: '0',
      RATE_LIMIT_WRITE: '0',
      RATE_LIMIT_LOG_IN_PER_ADDRESS: '0',
      RATE_LIMIT_SIGN_UP: '0',
    },
    { sameDatabaseAs: open },
  );
  tokens.admin = (await admin(open)).token;
  tokens.homeowner = (await homeowner(open, 'Hanna')).token;
  const carl = await contractor(open, 'Carl', CONTRACTOR);
  tokens.contractor = carl.token;
  contractorId = carl.profileId;
  const { body } = await open.rest('POST', '/v1/auth/login', { body: CONTRACTOR });
  tokens.loggedOut = body.token;
  await open.rest('POST', '/v1/auth/logout', { token: body.token });
});
afterAll(async () => {
  await spent.close();
  await open.close();
});

const UNAUTHENTICATED: Refused = { status: 401, code: 'UNAUTHENTICATED', fields: [] };
const LIMITED: Refused = { status: 429, code: 'RATE_LIMITED', fields: [] };
const FORBIDDEN: Refused = { status: 403, code: 'FORBIDDEN', fields: [] };
const NOT_FOUND: Refused = { status: 404, code: 'NOT_FOUND', fields: [] };
const MALFORMED: Refused = { status: 400, code: 'MALFORMED_REQUEST', fields: [] };
const WRONG_TYPE: Refused = { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE', fields: [] };
const refused = (code: string, status: number, ...fields: string[]): Refused => ({ status, code, fields });

type Who = 'nobody' | 'forger' | 'loggedOut' | 'contractor' | 'homeowner' | 'admin';
type Where = 'open' | 'spent';

const ADJUST = '/v1/tokens/adjustments';
const VERIFY = (id: string) => `/v1/contractors/${id}/verify`;
const nobodysId = newId('contractor');
/** On this route, the statement that does the work also checks the session. */
const CHECK_IN = `/v1/jobs/${newId('job')}/checkin`;

describe('REST refuses', () => {
  const CASES: [
    what: string,
    where: Where,
    who: Who,
    method: string,
    path: string,
    body: unknown,
    expected: Refused,
  ][] = [
    ['nobody, though the body is broken and the budget spent', 'spent', 'nobody', 'POST', ADJUST, '{', UNAUTHENTICATED],
    ['a forger likewise', 'spent', 'forger', 'POST', ADJUST, '{', UNAUTHENTICATED],
    ['nobody at a thing that does not exist', 'open', 'nobody', 'GET', '/v1/contractors/x', undefined, UNAUTHENTICATED],
    [
      'too many calls, though the role is wrong and the body broken',
      'spent',
      'contractor',
      'POST',
      ADJUST,
      '{',
      LIMITED,
    ],
    [
      'too many calls at a thing that does not exist',
      'spent',
      'homeowner',
      'GET',
      '/v1/contractors/x',
      undefined,
      LIMITED,
    ],
    ['too many logins, though the body is broken', 'spent', 'nobody', 'POST', '/v1/auth/login', '{', LIMITED],
    [
      'too many sign-ups, though the body is empty',
      'spent',
      'nobody',
      'POST',
      '/v1/auth/signup/homeowner',
      {},
      LIMITED,
    ],
    ['the wrong role, though the body is broken', 'open', 'contractor', 'POST', ADJUST, '{', FORBIDDEN],
    [
      'the wrong role, though the body is of another type',
      'open',
      'contractor',
      'POST',
      ADJUST,
      new TextEncoder().encode('x'),
      FORBIDDEN,
    ],
    ['the wrong role, though every field is bad', 'open', 'homeowner', 'POST', ADJUST, { amount: 'x' }, FORBIDDEN],
    ['the wrong role at a thing that does not exist', 'open', 'contractor', 'POST', VERIFY('x'), undefined, FORBIDDEN],
    ['a session that is over, though the budget is spent', 'spent', 'loggedOut', 'POST', CHECK_IN, {}, UNAUTHENTICATED],
    ['a session that is over, though the body is broken', 'open', 'loggedOut', 'POST', CHECK_IN, '{', UNAUTHENTICATED],
    [
      'a session that is over at a thing that does not exist',
      'open',
      'loggedOut',
      'POST',
      CHECK_IN,
      {},
      UNAUTHENTICATED,
    ],
    ['too many steps, though the role is wrong', 'spent', 'homeowner', 'POST', CHECK_IN, {}, LIMITED],
    ['too many steps of a thing that does not exist', 'spent', 'contractor', 'POST', CHECK_IN, {}, LIMITED],
    [
      'the wrong role for a step, though the body is bad',
      'open',
      'homeowner',
      'POST',
      CHECK_IN,
      { wish: 1 },
      FORBIDDEN,
    ],
    ['a bad step of a thing that does not exist', 'open', 'contractor', 'POST', CHECK_IN, { wish: 1 }, invalid('wish')],
    ['a step of a thing that does not exist', 'open', 'contractor', 'POST', CHECK_IN, {}, NOT_FOUND],
    ['a body of another type', 'open', 'admin', 'POST', ADJUST, new TextEncoder().encode('x'), WRONG_TYPE],
    ['a broken body', 'open', 'admin', 'POST', ADJUST, '{', MALFORMED],
    ['a body that is no object', 'open', 'admin', 'POST', ADJUST, '[]', MALFORMED],
    ['a broken body, though the thing does not exist', 'open', 'admin', 'POST', VERIFY('x'), '{', MALFORMED],
    [
      'a bad shape, every field at once',
      'open',
      'admin',
      'POST',
      ADJUST,
      { user_id: 'x', amount: 0, wish: 1 },
      invalid('user_id', 'amount', 'reason', 'wish'),
    ],
    [
      'a bad shape, though the thing does not exist',
      'open',
      'admin',
      'POST',
      VERIFY('x'),
      { wish: 1 },
      invalid('wish'),
    ],
    [
      'a bad query, though the thing does not exist',
      'open',
      'admin',
      'GET',
      '/v1/contractors/x?wish=1',
      undefined,
      invalid('wish'),
    ],
    [
      'what the path says, said in the body',
      'open',
      'admin',
      'POST',
      VERIFY(nobodysId),
      { id: nobodysId },
      invalid('id'),
    ],
    ['a malformed id in a path', 'open', 'admin', 'POST', VERIFY('x'), undefined, NOT_FOUND],
    ['an id of nothing in a path', 'open', 'admin', 'POST', VERIFY(nobodysId), {}, NOT_FOUND],
    [
      'an id of nothing in a path to read',
      'open',
      'homeowner',
      'GET',
      `/v1/contractors/${nobodysId}`,
      undefined,
      NOT_FOUND,
    ],
    [
      'a malformed id in a body',
      'open',
      'admin',
      'POST',
      ADJUST,
      { user_id: nobodysId, amount: 1, reason: 'x' },
      invalid('user_id'),
    ],
    [
      'an id of nothing in a body',
      'open',
      'admin',
      'POST',
      ADJUST,
      { user_id: newId('user'), amount: 1, reason: 'x' },
      invalid('user_id'),
    ],
    [
      'a bad new password before a wrong old one',
      'open',
      'contractor',
      'POST',
      '/v1/me/password',
      { current_password: 'wrong', new_password: 'x' },
      invalid('new_password'),
    ],
    [
      'a wrong old password before a new one that is the email',
      'open',
      'contractor',
      'POST',
      '/v1/me/password',
      { current_password: 'wrong', new_password: CONTRACTOR.email },
      refused('INVALID_CREDENTIALS', 401),
    ],
    [
      'a bad shape before a read-only field that was changed',
      'open',
      'contractor',
      'PUT',
      '/v1/me',
      { user: { phone: 7, email: 'x' } },
      invalid('user.phone'),
    ],
    [
      'a bad shape before an email that is taken',
      'open',
      'nobody',
      'POST',
      '/v1/auth/signup/homeowner',
      { email: ADMIN.email, password: 'x', first_name: 'A', last_name: 'B' },
      invalid('password'),
    ],
    [
      'an email that is taken',
      'open',
      'forger',
      'POST',
      '/v1/auth/signup/homeowner',
      { email: ADMIN.email, password: 'a password', first_name: 'A', last_name: 'B' },
      refused('EMAIL_TAKEN', 400, 'email'),
    ],
  ];
  it.each(CASES)('%s', async (_what, where, who, method, path, body, expected) => {
    const headers: Record<string, string> = body instanceof Uint8Array ? { 'content-type': 'text/plain' } : {};
    const app = where === 'open' ? open : spent;
    expect(byRest(await app.rest(method, path, { token: tokens[who], body, headers }))).toEqual(expected);
  });

  it('and changes nothing', async () => {
    const [kept] = await open.sql`select count(*)::int as users, (select verified from contractors
        where id = ${contractorId}) as verified, (select count(*)::int from token_transfers) as transfers from users`;
    expect(kept).toEqual({ users: 3, verified: false, transfers: 2 });
  });
});

it("An ended session consumes nobody's budget", async () => {
  const narrow = await openTestApp({ RATE_LIMITS: 'on', RATE_LIMIT_WRITE: '1' }, { sameDatabaseAs: open });
  const step = (token: string | undefined) => narrow.rest('POST', CHECK_IN, { token, body: {} });
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const answer = await step(tokens.loggedOut);
    expect(byRest(answer)).toEqual(UNAUTHENTICATED);
    expect(answer.headers.get('ratelimit')).not.toContain('write');
  }
  expect([byRest(await step(tokens.contractor)), byRest(await step(tokens.contractor))]).toEqual([NOT_FOUND, LIMITED]);
  await narrow.close();
});

describe('GraphQL refuses', () => {
  const adjust = (input: string) => `mutation { adjustTokens(input: { ${input} }) { transfer { id } } }`;
  const CASES: [what: string, where: Where, who: Who, query: string, expected: Refused][] = [
    [
      'nobody, though the fields are bad and the budget spent',
      'spent',
      'nobody',
      adjust('userId: "x", amount: 0, reason: ""'),
      UNAUTHENTICATED,
    ],
    ['a forger likewise', 'spent', 'forger', adjust('userId: "x", amount: 0, reason: ""'), UNAUTHENTICATED],
    ['nobody at a thing that does not exist', 'open', 'nobody', '{ contractor(id: "x") { id } }', UNAUTHENTICATED],
    [
      'too many calls, though the role is wrong and the fields bad',
      'spent',
      'contractor',
      adjust('userId: "x", amount: 0, reason: ""'),
      LIMITED,
    ],
    ['too many calls at a thing that does not exist', 'spent', 'homeowner', '{ contractor(id: "x") { id } }', LIMITED],
    [
      'too many logins, though the fields are bad',
      'spent',
      'nobody',
      `mutation { logIn(input: { email: "${'e'.repeat(300)}", password: "" }) { token } }`,
      LIMITED,
    ],
    [
      'the wrong role, though every field is bad',
      'open',
      'homeowner',
      adjust('userId: "x", amount: 0, reason: ""'),
      FORBIDDEN,
    ],
    [
      'the wrong role at a thing that does not exist',
      'open',
      'contractor',
      'mutation { verifyContractor(id: "x") { contractor { id } } }',
      FORBIDDEN,
    ],
    [
      'the wrong role to a list, though its page is bad',
      'open',
      'contractor',
      '{ users(first: 0) { totalCount } }',
      FORBIDDEN,
    ],
    [
      'a bad shape, every field at once',
      'open',
      'admin',
      adjust('userId: "x", amount: 0, reason: " "'),
      invalid('user_id', 'amount', 'reason'),
    ],
    [
      'a bad page, every argument at once',
      'open',
      'admin',
      '{ users(first: 101, after: 5) { totalCount } }',
      invalid(),
    ],
    [
      'a malformed id as an argument',
      'open',
      'admin',
      'mutation { verifyContractor(id: "x") { contractor { id } } }',
      NOT_FOUND,
    ],
    ['an id of nothing as an argument', 'open', 'homeowner', `{ contractor(id: "${nobodysId}") { id } }`, NOT_FOUND],
    [
      'a malformed id in an input',
      'open',
      'admin',
      adjust(`userId: "${nobodysId}", amount: 1, reason: "x"`),
      invalid('user_id'),
    ],
    [
      'a wrong old password before a new one that is the email',
      'open',
      'contractor',
      `mutation { changePassword(input: { currentPassword: "wrong", ` +
        `newPassword: "${CONTRACTOR.email}" }) { changed } }`,
      refused('INVALID_CREDENTIALS', 401),
    ],
    [
      'an email that is taken',
      'open',
      'forger',
      `mutation { signUpHomeowner(input: { email: "${ADMIN.email}", password: "a password", firstName: "A", ` +
        `lastName: "B" }) { token } }`,
      refused('EMAIL_TAKEN', 400, 'email'),
    ],
  ];
  it.each(CASES)('%s', async (_what, where, who, query, expected) => {
    const app = where === 'open' ? open : spent;
    expect(byGraphql(await app.graphql(query, { token: tokens[who] }))).toEqual(expected);
  });

  it('one field, and returns the others', async () => {
    const { status, data, errors } = await open.graphql(
      '{ viewer { user { firstName } } contractor(id: "x") { id } users { totalCount } }',
      { token: tokens.contractor },
    );
    expect(status).toBe(200);
    expect(data).toEqual({ viewer: { user: { firstName: 'Carl' } }, contractor: null, users: null });
    expect(errors?.map(({ path, extensions }) => [path, extensions.code]).sort()).toEqual([
      [['contractor'], 'NOT_FOUND'],
      [['users'], 'FORBIDDEN'],
    ]);
  });
});
