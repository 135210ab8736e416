/**
 * Admins search all accounts, and go from a person to their profile. A contractor can be verified without ever having
 * bid.
 */
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { admin, contractor, homeowner, type Person } from '../../../story/cast.js';
import { ADMIN, isLookUpOfSession, openTestApp, type Json, type TestApp } from '../../../setup/app.js';
import { byGraphql, byRest, invalid } from '../../../apis/refused.js';

let app: TestApp;
let ada: Person;
const people: Record<string, Person> = {};

beforeAll(async () => {
  app = await openTestApp();
  ada = await admin(app);
  for (const [name, join] of [
    ['Hanna', homeowner],
    ['Carl', contractor],
    ['Otto', homeowner],
    ['Cora', contractor],
    ['Carla', contractor],
  ] as const)
    people[name] = await join(app, name);
  await app.rest('POST', `/v1/contractors/${people.Carla!.profileId}/verify`, { token: ada.token });
  const body = { user: { last_name: '100%_sure' } };
  await app.rest('PUT', '/v1/me', { token: people.Cora!.token, body });
});
afterAll(() => app.close());

const nameOf = ({ id, email }: Json) =>
  email === ADMIN.email ? 'Ada' : Object.entries(people).find(([, { userId }]) => userId === id)?.[0];

/** The accounts that both APIs find, in pages of two. Also checks the total count. */
async function found(query: string, filter: string): Promise<unknown[]> {
  const byCursor: unknown[] = [];
  let said = 0;
  for (let after: string | null = null, more = true; more;) {
    const { data, errors } = await app.graphql(
      `query ($after: String) { users(first: 2, after: $after, filter: { ${filter} }) {
        totalCount nodes { id email } pageInfo { hasNextPage endCursor } } }`,
      { token: ada.token, variables: { after } },
    );
    expect(errors).toBeUndefined();
    byCursor.push(...data.users.nodes.map(nameOf));
    ({ endCursor: after, hasNextPage: more } = data.users.pageInfo);
    said = data.users.totalCount;
  }
  expect(byCursor).toHaveLength(said);
  const byNumber: unknown[] = [];
  for (let page = 1; page <= Math.ceil(said / 2); page += 1) {
    const { body } = await app.rest('GET', `/v1/users?per_page=2&page=${page}&${query}`, { token: ada.token });
    expect([page, body.pagination?.total]).toEqual([page, said]);
    byNumber.push(...body.data.map(nameOf));
  }
  expect(byNumber).toEqual(byCursor);
  return byCursor;
}

const ALL = ['Carla', 'Cora', 'Otto', 'Carl', 'Hanna', 'Ada'];

test.each([
  ['', '', ALL],
  ['search=CARL', 'search: "CARL"', ['Carla', 'Carl']],
  ['search=carl+of', 'search: "carl of"', ['Carl']],
  ['search=@example', 'search: "@example"', ALL],
  ['search=%25_', 'search: "%_"', ['Cora']],
  ['search=of+Testcarl', 'search: "of Testcarl"', []],
  ['user_type=contractor', 'userType: CONTRACTOR', ['Carla', 'Cora', 'Carl']],
  ['user_type=admin', 'userType: ADMIN', ['Ada']],
  ['verified=true', 'verified: true', ['Carla']],
  ['verified=false', 'verified: false', ['Cora', 'Carl']],
  ['verified=false&user_type=contractor', 'verified: false, userType: CONTRACTOR', ['Cora', 'Carl']],
  ['verified=false&user_type=homeowner', 'verified: false, userType: HOMEOWNER', []],
  ['verified=false&search=carl', 'verified: false, search: "carl"', ['Carl']],
  ['user_type=homeowner&search=example', 'userType: HOMEOWNER, search: "example"', ['Otto', 'Hanna']],
])('an admin who searches for “%s” finds them, newest first', async (query, filter, names) => {
  expect(await found(query, filter)).toEqual(names);
});

describe('A phone number', () => {
  const WAYS = ['+1 512 555 0100', '(512) 555-0100', '512.555.0100', '15125550100', '512-555-0100 or 512-555-0199'];

  beforeAll(async () => {
    const body = { user: { phone: '+44 20 7946 0958' } };
    await app.rest('PUT', '/v1/me', { token: people.Otto!.token, body });
  });

  test.each(WAYS)('that Hanna wrote as %s is found in every notation', async (phone) => {
    await app.rest('PUT', '/v1/me', { token: people.Hanna!.token, body: { user: { phone } } });
    for (const search of [...WAYS.slice(0, -1), '+1 (512) 555/0100', '555-0100', ' 5550100'])
      expect(await found(`search=${encodeURIComponent(search)}`, `search: "${search}"`)).toEqual(['Hanna']);
    expect(await found(`search=${encodeURIComponent(phone)}`, `search: "${phone}"`)).toEqual(['Hanna']);
    expect(await found('search=512+555+0101', 'search: "512 555 0101"')).toEqual([]);
  });

  test('from another country is found with its country code, and by a part as it was written', async () => {
    for (const search of ['+442079460958', '020 7946 0958'.slice(1), '7946 09'])
      expect(await found(`search=${encodeURIComponent(search)}`, `search: "${search}"`)).toEqual(['Otto']);
  });
});

test('an account with a pending email undo is found by its former address, until support decides', async () => {
  const find = () => found('search=former.Hanna@', 'search: "former.Hanna@"');
  expect(await find()).toEqual([]);
  const { userId } = people.Hanna!;
  await app.sql`update users set email_undo = 'pending', email_undo_address = 'former.hanna@example.test'
    where id = ${userId}`;
  expect(await find()).toEqual(['Hanna']);
  expect(await found('search=former.h&email_undo=pending', 'search: "former.h", emailUndo: PENDING')).toEqual([
    'Hanna',
  ]);
  await app.sql`update users set email_undo = 'settled' where id = ${userId}`;
  expect(await find()).toEqual([]);
  await app.sql`update users set email_undo = null, email_undo_address = null where id = ${userId}`;
});

test('an account and its profile always have the same creation time, and so the same place in lists', async () => {
  const { Carl: carl, Carla: carla } = people as Record<'Carl' | 'Carla', Person>;
  const orders = () => Promise.all([found('', ''), found('user_type=contractor', 'userType: CONTRACTOR')]);
  await app.sql`update contractors set created_at = created_at - interval '1 year' where id = ${carla.profileId}`;
  expect(await orders()).toEqual([ALL, ['Carla', 'Cora', 'Carl']]);
  expect(await found('verified=false', 'verified: false')).toEqual(['Cora', 'Carl']);
  const move = (by: string) =>
    app.sql`update users set created_at = created_at + ${by}::interval where id = ${carl.userId}`;
  await move('1 year');
  expect(await found('user_type=contractor', 'userType: CONTRACTOR')).toEqual(['Carl', 'Carla', 'Cora']);
  expect(await found('verified=false', 'verified: false')).toEqual(['Carl', 'Cora']);
  await app.sql.begin(async (tx) => {
    await tx`insert into users (id, email, user_type, first_name, last_name, password_hash, referral_code)
      select 'usr_late', 'late@example.test', user_type, first_name, last_name, password_hash, 'LATE'
        from users where id = ${carl.userId}`;
    const [row] = await tx`insert into contractors (id, user_id, created_at)
          values ('ctr_late', 'usr_late', '2020-01-01') returning
      created_at = now()::timestamptz(3) as is_of_account`;
    expect(row?.is_of_account).toBe(true);
    await tx`delete from contractors where id = 'ctr_late'`;
    await tx`delete from users where id = 'usr_late'`;
  });
  await move('-1 year');
  expect(await orders()).toEqual([ALL, ['Carla', 'Cora', 'Carl']]);
});

test('an admin finds a contractor who never bid, and verifies them', async () => {
  const LOOK =
    `{ users(filter: { search: "cora" }) { nodes { userType homeowner { id } contractor { id verified ` +
    `licenseNumber } } } }`;
  const { data } = await app.graphql(LOOK, { token: ada.token });
  const profileId = people.Cora!.profileId;
  expect(data.users.nodes).toEqual([
    { userType: 'CONTRACTOR', homeowner: null, contractor: { id: profileId, verified: false, licenseNumber: null } },
  ]);
  const VERIFY = 'mutation ($id: ID!) { verifyContractor(id: $id) { contractor { verified } } }';
  const verified = await app.graphql(VERIFY, { token: ada.token, variables: { id: profileId } });
  expect(verified.data.verifyContractor.contractor).toEqual({ verified: true });
  expect(await found('verified=true', 'verified: true')).toEqual(['Carla', 'Cora']);
  await app.sql`update contractors set verified = false where id = ${profileId}`;
});

test('an admin gets from a person to their profile, through REST too', async () => {
  const { body } = await app.rest('GET', '/v1/users', { token: ada.token });
  const profiles = new Map(body.data.map((user: Json) => [nameOf(user), [user.homeowner_id, user.contractor_id]]));
  expect(profiles.get('Hanna')).toEqual([people.Hanna!.profileId, null]);
  expect(profiles.get('Carl')).toEqual([null, people.Carl!.profileId]);
  expect(profiles.get('Ada')).toEqual([null, null]);
  expect((await app.rest('GET', `/v1/contractors/${people.Carl!.profileId}`, { token: ada.token })).status).toBe(200);
});

test('everyone gets from a person to their profile in one statement, and to nothing private', async () => {
  const { Hanna: hanna, Carl: carl } = people as Record<'Hanna' | 'Carl', Person>;
  const profile = { homeowner: { address_line1: '1 Hidden Lane', city: 'Austin' } };
  await app.rest('PUT', '/v1/me', { token: hanna.token, body: profile });
  const READ =
    `query ($id: ID!) { node(id: $id) { ... on User { firstName homeowner { id addressLine1 city user ` +
    `{ email } } contractor { id } } } }`;
  const read = async (reader: Person, id: string) =>
    (await app.graphql(READ, { token: reader.token, variables: { id } })).data.node;
  const home = { id: hanna.profileId, city: 'Austin' };
  const own = { ...home, addressLine1: '1 Hidden Lane', user: { email: hanna.email } };
  expect(await read(hanna, hanna.userId)).toEqual({ firstName: 'Hanna', homeowner: own, contractor: null });
  expect((await read(ada, hanna.userId)).homeowner).toEqual(own);
  expect((await read(carl, hanna.userId)).homeowner).toEqual({ ...home, addressLine1: null, user: { email: null } });
  expect(await read(hanna, carl.userId)).toEqual({
    firstName: 'Carl',
    homeowner: null,
    contractor: { id: carl.profileId },
  });
  expect((await read(hanna, ada.userId)).contractor).toBeNull();

  const PAGE = '{ users(first: 100) { nodes { id homeowner { city } contractor { verified } } } }';
  app.statements();
  const { data } = await app.graphql(PAGE, { token: ada.token });
  const statements = app.statements().filter((text) => !isLookUpOfSession(text));
  expect([statements.length, data.users.nodes.length]).toEqual([2, await countUsers()]);
});

async function countUsers(): Promise<number> {
  return (await app.sql`select count(*)::int as users from users`)[0]?.users;
}

describe('an invalid request', () => {
  test.each([
    ['user_type=robot', 'user_type', undefined],
    ['verified=1', 'verified', undefined],
    [`search=${'x'.repeat(201)}`, 'search', `filter: { search: "${'x'.repeat(201)}" }`],
    ['email=a', 'email', undefined],
    ['after=x', 'after', 'after: "x"'],
  ])('with “%s” is refused by this list', async (query, field, inGraphql) => {
    expect(byRest(await app.rest('GET', `/v1/users?${query}`, { token: ada.token }))).toEqual(invalid(field));
    if (inGraphql === undefined) return;
    const answer = await app.graphql(`{ users(${inGraphql}) { totalCount } }`, { token: ada.token });
    expect(byGraphql(answer)).toEqual(invalid(field));
  });

  it('by anyone but an admin is refused', async () => {
    for (const { token } of Object.values(people)) {
      const refused = byRest(await app.rest('GET', '/v1/users?search=a', { token }));
      expect(refused).toEqual({ status: 403, code: 'FORBIDDEN', fields: [] });
    }
    expect((await app.rest('GET', '/v1/users')).status).toBe(401);
  });
});
