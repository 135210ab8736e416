import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admin, contractor, homeowner } from '../../../story/cast.js';
import { openTestApp, type Json, type TestApp } from '../../../setup/app.js';
import { byGraphql, byRest, invalid, type Refused } from '../../../apis/refused.js';

let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
});
afterAll(() => app.close());

let arrivals = 0;
const newEmail = () => `new-user.${(arrivals += 1)}@example.test`;
const newUser = (more: object = {}) => ({
  email: newEmail(),
  password: 'a password',
  first_name: 'Nora',
  last_name: 'New',
  ...more,
});

const signUp = (kind: 'homeowner' | 'contractor', body: unknown) =>
  app.rest('POST', `/v1/auth/signup/${kind}`, { body });

const SIGN_UP_HOMEOWNER = `mutation ($input: SignUpHomeownerInput!) { signUpHomeowner(input: $input) {
  token refreshToken tokensAwarded contractor { id }
  user { id email userType firstName lastName phone profilePictureUrl createdAt updatedAt }
  homeowner { id userId addressLine1 city propertyType createdAt } } }`;
const SIGN_UP_CONTRACTOR = `mutation ($input: SignUpContractorInput!) { signUpContractor(input: $input) {
  token refreshToken tokensAwarded homeowner { id }
  user { id email userType firstName lastName phone }
  contractor { id userId companyName serviceAreas specialties verified completedJobs ratingAverage ratingCount } } }`;

async function usersWith(email: string): Promise<number> {
  const [row] = await app.sql`select count(*)::int as count from users where email = ${email}`;
  return row?.count;
}

async function balanceOf(userId: string): Promise<number> {
  const [row] = await app.sql`select balance from token_balances where user_id = ${userId}`;
  return row?.balance;
}

async function audit(): Promise<Json> {
  const { data } = await app.graphql('{ auditTokens { ok mismatches { userId kept summed } } }', {
    token: (await admin(app)).token,
  });
  return data.auditTokens;
}

const KSUID = '[0-9A-Za-z]{27}';
const id = (prefix: string) => expect.stringMatching(new RegExp(`^${prefix}_${KSUID}$`));
const MOMENT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

describe('signing up', () => {
  it('as a homeowner returns every field, credits 10 tokens, and logs in', async () => {
    const sent = newUser({ phone: ' +1 (512) 555-0100 ext 7 ' });
    const { status, body } = await signUp('homeowner', sent);
    expect(status).toBe(201);
    expect(body).toEqual({
      token: expect.any(String),
      refresh_token: id('rft'),
      expires_at: MOMENT,
      refresh_expires_at: MOMENT,
      user: {
        id: id('usr'),
        email: sent.email,
        user_type: 'homeowner',
        first_name: 'Nora',
        last_name: 'New',
        phone: ' +1 (512) 555-0100 ext 7 ',
        email_verified: false,
        email_undeliverable: false,
        email_undo: null,
        email_undo_address: null,
        suspended_at: null,
        suspended_until: null,
        profile_picture_url: null,
        created_at: MOMENT,
        updated_at: MOMENT,
      },
      homeowner: {
        id: id('hmw'),
        user_id: body.user.id,
        address_line1: null,
        address_line2: null,
        city: null,
        state: null,
        zip_code: null,
        country: null,
        property_type: null,
        created_at: MOMENT,
        updated_at: MOMENT,
      },
      tokens_awarded: 10,
      confirmation_sent: true,
    });
    const me = await app.rest('GET', '/v1/me', { token: body.token });
    expect(me.body).toEqual({
      user: body.user,
      homeowner: body.homeowner,
      tokens: { balance: 10, held: 0, available: 10, bought: 0, debt: 0 },
      referral_code: expect.stringMatching(/^[2-9A-HJKMNP-Z]{8}$/),
    });
  });

  it('as a contractor returns every field, credits 25 tokens, and logs in', async () => {
    const { status, body } = await signUp('contractor', newUser({ company_name: '  Nora & Co  ' }));
    expect(status).toBe(201);
    expect(body).toEqual({
      token: expect.any(String),
      refresh_token: id('rft'),
      expires_at: MOMENT,
      refresh_expires_at: MOMENT,
      user: expect.objectContaining({ user_type: 'contractor', phone: null }),
      contractor: {
        id: id('ctr'),
        user_id: body.user.id,
        company_name: 'Nora & Co',
        business_type: null,
        license_number: null,
        license_state: null,
        insurance_provider: null,
        insurance_policy_number: null,
        years_in_business: null,
        service_areas: [],
        specialties: [],
        bio: null,
        website: null,
        verified: false,
        suspended: false,
        completed_jobs: 0,
        rating_average: null,
        rating_count: 0,
        created_at: MOMENT,
        updated_at: MOMENT,
      },
      tokens_awarded: 25,
      confirmation_sent: true,
    });
    expect((await app.rest('GET', '/v1/tokens', { token: body.token })).body).toEqual({
      balance: 25,
      held: 0,
      available: 25,
      bought: 0,
      debt: 0,
    });
  });

  it('returns the same through GraphQL', async () => {
    const email = newEmail();
    const asHomeowner = await app.graphql(SIGN_UP_HOMEOWNER, {
      variables: { input: { email, password: 'a password', firstName: 'Nora', lastName: 'New' } },
    });
    expect(asHomeowner.data.signUpHomeowner).toMatchObject({
      token: expect.any(String),
      refreshToken: id('rft'),
      tokensAwarded: 10,
      contractor: null,
      user: { id: id('usr'), email, userType: 'HOMEOWNER', phone: null, createdAt: MOMENT },
      homeowner: { id: id('hmw'), city: null },
    });
    const input = {
      email: newEmail(),
      password: 'a password',
      firstName: 'Nora',
      lastName: 'New',
      companyName: 'Nora & Co',
      phone: null,
    };
    const asContractor = await app.graphql(SIGN_UP_CONTRACTOR, { variables: { input } });
    expect(asContractor.data.signUpContractor).toMatchObject({
      tokensAwarded: 25,
      homeowner: null,
      user: { userType: 'CONTRACTOR' },
      contractor: {
        id: id('ctr'),
        companyName: 'Nora & Co',
        serviceAreas: [],
        specialties: [],
        verified: false,
        completedJobs: 0,
        ratingAverage: null,
      },
    });
  });

  it('keeps one account per email, however it is spelled', async () => {
    const email = newEmail();
    expect((await signUp('homeowner', newUser({ email: `  ${email.toUpperCase()}\n` }))).body.user.email).toBe(email);
    for (const spelling of [email, email.toUpperCase(), ` ${email} `]) {
      for (const kind of ['homeowner', 'contractor'] as const) {
        expect(byRest(await signUp(kind, newUser({ email: spelling })))).toEqual({
          status: 400,
          code: 'EMAIL_TAKEN',
          fields: ['email'],
        });
      }
    }
    const again = await app.graphql(SIGN_UP_HOMEOWNER, {
      variables: { input: { email, password: 'a password', firstName: 'Nora', lastName: 'New' } },
    });
    expect(byGraphql(again)).toEqual({ status: 400, code: 'EMAIL_TAKEN', fields: ['email'] });
    expect(await usersWith(email)).toBe(1);
  });

  it('fifty times at once with one email creates one account and one bonus', async () => {
    const rita = await homeowner(app, 'Rita');
    const email = newEmail();
    const spellings = [email, email.toUpperCase(), `  ${email}`, `${email[0]?.toUpperCase()}${email.slice(1)} `];
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        signUp(
          i % 2 === 0 ? 'homeowner' : 'contractor',
          newUser({ email: spellings[i % spellings.length], referral_code: rita.referralCode }),
        ),
      ),
    );
    const [joined, ...others] = answers.toSorted((a, b) => a.status - b.status);
    expect(joined?.status).toBe(201);
    expect(new Set(others.map((answer) => byRest(answer).code))).toEqual(new Set(['EMAIL_TAKEN']));
    expect(await usersWith(email)).toBe(1);
    expect(await balanceOf(rita.userId)).toBe(20);
    expect(await balanceOf(joined?.body.user.id)).toBe(joined?.body.tokens_awarded);
    const [profiles] =
      await app.sql`select (select count(*) from homeowners where user_id = ${joined?.body.user.id}) + (select
        count(*) from contractors where user_id = ${joined?.body.user.id}) as count`;
    expect(Number(profiles?.count)).toBe(1);
    expect(await audit()).toEqual({ ok: true, mismatches: [] });
  });
});

describe('a referral', () => {
  it('gives 10 tokens to each party, whatever the case of the code', async () => {
    const rita = await contractor(app, 'Rita');
    const first = await signUp('homeowner', newUser({ referral_code: rita.referralCode }));
    const second = await signUp('contractor', newUser({ referral_code: ` ${rita.referralCode.toLowerCase()} ` }));
    expect([first.body.tokens_awarded, second.body.tokens_awarded]).toEqual([20, 35]);
    expect(await balanceOf(rita.userId)).toBe(45);
    expect(await balanceOf(second.body.user.id)).toBe(35);

    const history = await app.rest('GET', '/v1/tokens/transactions', { token: second.body.token });
    expect(
      history.body.data.map((transfer: Json) => [
        transfer.reason,
        transfer.amount,
        transfer.from_account,
        transfer.to_account,
        transfer.referral_user_id,
      ]),
    ).toEqual(
      expect.arrayContaining([
        ['signup_bonus', 25, 'issuance', second.body.user.id, null],
        ['referral_bonus', 10, 'issuance', second.body.user.id, rita.userId],
      ]),
    );
    const [rewards] =
      await app.sql`select array_agg(referral_user_id order by created_at, id) as parties from token_transfers
        where user_id = ${rita.userId} and reason = 'referral_bonus'`;
    expect(rewards?.parties).toBe(`{${first.body.user.id},${second.body.user.id}}`);
  });

  it('by an admin counts like any other', async () => {
    const ada = await admin(app);
    expect((await signUp('homeowner', newUser({ referral_code: ada.referralCode }))).body.tokens_awarded).toBe(20);
  });

  const NOBODYS = [
    '',
    ' ',
    'ZZZZZZZZ',
    'ABCDEFG',
    'ABCDEFGHJ',
    'O0O0O0O0',
    '1IL1IL1I',
    'Ⓐ2345678',
    '%',
    '________',
    "' or 1=1",
    '\u0000'.repeat(8),
    'x'.repeat(5_000),
    '\ud800ABCDEFG',
  ];
  it.each(NOBODYS)('code %j belongs to nobody, and nobody signs up with it', async (code) => {
    const sent = newUser({ referral_code: code });
    expect(byRest(await signUp('homeowner', sent))).toEqual({
      status: 400,
      code: 'UNKNOWN_REFERRAL_CODE',
      fields: ['referral_code'],
    });
    const input = { email: sent.email, password: 'a password', firstName: 'Nora', lastName: 'New', referralCode: code };
    expect(byGraphql(await app.graphql(SIGN_UP_HOMEOWNER, { variables: { input } })).code).toBe(
      'UNKNOWN_REFERRAL_CODE',
    );
    expect(await usersWith(sent.email)).toBe(0);
  });

  it('code of null counts as no code', async () => {
    expect((await signUp('homeowner', newUser({ referral_code: null }))).body.tokens_awarded).toBe(10);
  });
});

describe('a signup is refused, and the error names the field', () => {
  const EURO = '€'; // Three bytes in UTF-8.
  const REFUSED: [
    what: string,
    kind: 'homeowner' | 'contractor',
    sent: Record<string, unknown>,
    ...fields: string[],
  ][] = [
    [
      'nothing at all',
      'homeowner',
      { email: undefined, password: undefined, first_name: undefined, last_name: undefined },
      'email',
      'password',
      'first_name',
      'last_name',
    ],
    ['a password of 7 bytes', 'homeowner', { password: '1234567' }, 'password'],
    ['a password of 73 bytes', 'homeowner', { password: 'p'.repeat(73) }, 'password'],
    ['a password of 25 three-byte characters', 'homeowner', { password: EURO.repeat(25) }, 'password'],
    ['a password with NUL', 'homeowner', { password: 'pass\u0000word' }, 'password'],
    ['a password with half a character', 'homeowner', { password: 'pass\ud83dword' }, 'password'],
    [
      'the email as the password',
      'contractor',
      { email: 'taken.as@example.test', password: ' TAKEN.as@example.test' },
      'password',
    ],
    [
      'the email as the password, among other mistakes',
      'homeowner',
      { email: 'taken.as@example.test', password: ' TAKEN.as@example.test', first_name: '', wish: 1 },
      'password',
      'first_name',
      'wish',
    ],
    ['an email without a dot', 'homeowner', { email: 'nora@localhost' }, 'email'],
    ['an email of 255 characters', 'homeowner', { email: `${'n'.repeat(242)}@example.test` }, 'email'],
    ['an email with NUL', 'homeowner', { email: 'no\u0000ra@example.test' }, 'email'],
    ['a blank name', 'homeowner', { first_name: ' \t ' }, 'first_name'],
    ['a name of 101 characters', 'homeowner', { last_name: 'n'.repeat(101) }, 'last_name'],
    [
      'numbers for texts',
      'contractor',
      { email: 1, password: 12_345_678, first_name: true, last_name: [], phone: {}, company_name: 5, referral_code: 7 },
      'email',
      'password',
      'first_name',
      'last_name',
      'phone',
      'company_name',
      'referral_code',
    ],
    [
      'null for what must be there',
      'homeowner',
      { email: null, password: null, first_name: null, last_name: null },
      'email',
      'password',
      'first_name',
      'last_name',
    ],
    ['a company of a homeowner', 'homeowner', { company_name: 'Nora & Co' }, 'company_name'],
    [
      'unknown names',
      'homeowner',
      { nickname: 'N', role: 'admin', user_type: 'admin', id: 'usr_1' },
      'nickname',
      'role',
      'user_type',
      'id',
    ],
    [
      'names in camelCase',
      'contractor',
      { firstName: 'Nora', companyName: 'Nora & Co', referralCode: 'ABCDEFGH' },
      'firstName',
      'companyName',
      'referralCode',
    ],
    [
      'names in other spellings',
      'homeowner',
      {
        First_Name: 'Nora',
        'first-name': 'Nora',
        first__name: 'Nora',
        _first_name: 'Nora',
        '!email': 'x',
        '': 'x',
        'a.b': 1,
      },
      'First_Name',
      'first-name',
      'first__name',
      '_first_name',
      '!email',
      '',
      'a.b',
    ],
    [
      'names that objects are born with',
      'homeowner',
      { constructor: 1, toString: 1, hasOwnProperty: 1, valueOf: 1 },
      'constructor',
      'toString',
      'hasOwnProperty',
      'valueOf',
    ],
    [
      'every mistake at once',
      'homeowner',
      { email: 'x', password: 'x', first_name: '', phone: 7, wish: 1 },
      'email',
      'password',
      'first_name',
      'phone',
      'wish',
    ],
  ];
  it.each(REFUSED)('%s', async (_what, kind, sent, ...fields) => {
    const body = newUser(sent);
    const refused: Refused = byRest(await signUp(kind, body));
    expect(refused).toEqual(invalid(...fields));
    const [counted] = await app.sql`select count(*)::int as count from users
        where email = ${String(body.email).trim().toLowerCase().replaceAll('\0', '')}`;
    expect(counted?.count).toBe(0);
  });

  it('with a __proto__, which changes nothing either', async () => {
    const { email, ...rest } = newUser();
    const body =
      `{"__proto__": {"email": "${email}"}, "constructor": {"prototype": {"polluted": ` +
      `1}}, ${JSON.stringify(rest).slice(1)}`;
    expect(byRest(await signUp('homeowner', body))).toEqual(invalid('__proto__', 'constructor', 'email'));
    expect(({} as Json).polluted).toBeUndefined();
  });

  it('through GraphQL too, with every bad field', async () => {
    const input = { email: 'x', password: 'x', firstName: ' ', lastName: 'n'.repeat(101), phone: 'p'.repeat(201) };
    const refused = await app.graphql(SIGN_UP_HOMEOWNER, { variables: { input } });
    expect(byGraphql(refused)).toEqual(invalid('email', 'password', 'first_name', 'last_name', 'phone'));
    expect(refused.status).toBe(200);
  });
});

describe('a signup is accepted', () => {
  const ACCEPTED: [what: string, sent: Record<string, unknown>][] = [
    ['with a password of 8 bytes', { password: '12345678' }],
    ['with a password of 72 bytes', { password: 'p'.repeat(72) }],
    ['with a password of 24 three-byte characters', { password: '€'.repeat(24) }],
    ['with a password of two four-byte characters', { password: '🔑🔑' }],
    ['with a password of blanks', { password: ' '.repeat(8) }],
    ['with names of 100 characters', { first_name: 'n'.repeat(100), last_name: '👷'.repeat(100) }],
    ['with a phone of 200 characters', { phone: '☎️'.repeat(100) }],
  ];
  it.each(ACCEPTED)('%s, and the password logs in', async (_what, sent) => {
    const body = newUser(sent);
    expect((await signUp('homeowner', body)).status).toBe(201);
    expect(
      (await app.rest('POST', '/v1/auth/login', { body: { email: body.email, password: body.password } })).status,
    ).toBe(200);
  });
});
