import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admin, contractor, homeowner, type Person } from '../../../story/cast.js';
import { until } from '../../../platform/security/until.js';
import { waitingCalls } from '../../../setup/database/waiting-calls.js';
import { openTestApp, type Json, type TestApp } from '../../../setup/app.js';
import { byGraphql, byRest, invalid, snake } from '../../../apis/refused.js';

let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
});
afterAll(() => app.close());

const me = async (person: Person): Promise<Json> => (await app.rest('GET', '/v1/me', { token: person.token })).body;
const put = (person: Person, body: unknown) => app.rest('PUT', '/v1/me', { token: person.token, body });

const PERSON = {
  first_name: 'Zoë',
  last_name: 'O’Brien-Łukasiewicz',
  phone: ' +44 20 7946 0000 ',
  profile_picture_url: 'https://pictures.example.test/zoe.png?size=1',
};
const HOME = {
  address_line1: '1 Main St',
  address_line2: 'Apt "3"',
  city: 'Austin',
  state: 'TX',
  zip_code: '78701',
  country: 'US',
  property_type: 'single_family',
};
const BUSINESS = {
  company_name: 'Carl & Söhne',
  business_type: 'llc',
  license_number: 'TX-1',
  license_state: 'TX',
  insurance_provider: 'Safe; Sound',
  insurance_policy_number: 'P-1',
  years_in_business: 12,
  service_areas: ['Austin', 'Round Rock, TX', '{"quoted"}', 'back\\slash', 'NULL', "d'Or", 'two  words'],
  specialties: ['roofs 🏠'],
  bio: 'A long story.\n\nIn two parts.',
  website: 'http://carl.example.test/',
};

const camel = (name: string) => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
const camelKeys = (object: object) =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [camel(name), value]));
const snakeKeys = (object: object) =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [snake(name), value]));
const selection = (...objects: object[]) => objects.flatMap((object) => Object.keys(object).map(camel)).join(' ');

const UPDATE = `mutation ($input: UpdateProfileInput!) { updateProfile(input: $input) { viewer {
  user { ${selection(PERSON)} } homeowner { ${selection(HOME)} } contractor { ${selection(BUSINESS)} } tokens {
    balance } referralCode } } }`;
const VIEWER =
  `{ viewer { user ` +
  `{ ${selection(PERSON)} } homeowner { ${selection(HOME)} } contractor { ${selection(BUSINESS)} } } }`;

const KINDS = [
  ['homeowner', homeowner, HOME],
  ['contractor', contractor, BUSINESS],
] as const;

describe.each(KINDS)('a %s', (kind, join, profile) => {
  it('writes every field through REST and reads it through both APIs', async () => {
    const person = await join(app, 'Zoe');
    const { status, body } = await put(person, { user: PERSON, [kind]: profile });
    expect(status).toBe(200);
    expect(body.user).toMatchObject(PERSON);
    expect(body[kind]).toMatchObject(profile);
    expect(await me(person)).toEqual(body);
    const { data } = await app.graphql(VIEWER, { token: person.token });
    expect(snakeKeys(data.viewer.user)).toEqual(PERSON);
    expect(snakeKeys(data.viewer[kind])).toEqual(profile);
    expect(data.viewer[kind === 'homeowner' ? 'contractor' : 'homeowner']).toBeNull();
  });

  it('writes every field through GraphQL, and clears each with null', async () => {
    const person = await join(app, 'Zoe');
    const written = await app.graphql(UPDATE, {
      token: person.token,
      variables: { input: { user: camelKeys(PERSON), [kind]: camelKeys(profile) } },
    });
    expect(snakeKeys(written.data.updateProfile.viewer.user)).toEqual(PERSON);
    expect(snakeKeys(written.data.updateProfile.viewer[kind])).toEqual(profile);

    const { first_name: _first, last_name: _last, ...clearable } = PERSON;
    const nulls = (object: object) => Object.fromEntries(Object.keys(object).map((name) => [name, null]));
    const cleared = await put(person, { user: nulls(clearable), [kind]: nulls(profile) });
    expect(cleared.status).toBe(200);
    expect(cleared.body.user).toMatchObject({ ...nulls(clearable), first_name: PERSON.first_name });
    expect(cleared.body[kind]).toMatchObject({
      ...nulls(profile),
      ...(kind === 'contractor' && { service_areas: [], specialties: [] }),
    });

    await app.graphql(UPDATE, { token: person.token, variables: { input: { [kind]: camelKeys(profile) } } });
    const byNull = await app.graphql(UPDATE, {
      token: person.token,
      variables: { input: { [kind]: nulls(camelKeys(profile)) } },
    });
    expect(snakeKeys(byNull.data.updateProfile.viewer[kind])).toEqual({
      ...nulls(profile),
      ...(kind === 'contractor' && { service_areas: [], specialties: [] }),
    });
  });

  it("clears text with a blank one, and keeps what wasn't sent", async () => {
    const person = await join(app, 'Zoe');
    await put(person, { user: PERSON, [kind]: profile });
    const [field = ''] = Object.keys(profile);
    const { body } = await put(person, { [kind]: { [field]: ' \t ' } });
    expect(body[kind]).toMatchObject({ ...profile, [field]: null });
    expect(body.user).toMatchObject(PERSON);
  });

  it('sends GET /v1/me back whole, and nothing changes, not even the time', async () => {
    const person = await join(app, 'Zoe');
    const before = (await put(person, { user: PERSON, [kind]: profile })).body;
    const { status, body } = await put(person, before);
    expect({ status, body }).toEqual({ status: 200, body: before });

    const elsewhere = { ...before.user, created_at: before.user.created_at.replace('Z', '+00:00') };
    expect((await put(person, { user: elsewhere })).body).toEqual(before);

    const turned = Object.fromEntries(
      Object.entries(before)
        .toReversed()
        .map(([name, part]) => [
          name,
          typeof part === 'string' ? part : Object.fromEntries(Object.entries(part as object).toReversed()),
        ]),
    );
    expect(
      (await put(person, { ...turned, user: { ...before.user, phone: '7', updated_at: 'whenever' } })).body,
    ).toMatchObject({ user: { phone: '7' }, [kind]: before[kind] });
  });

  it('is told the name of every changed read-only field, and nothing is kept', async () => {
    const person = await join(app, 'Zoe');
    const before = await me(person);
    const changedUser = {
      ...before.user,
      id: 'usr_x',
      email: 'other@example.test',
      user_type: 'admin',
      created_at: '2020-01-01T00:00:00.000Z',
      first_name: 'Changed',
    };
    const changedProfile = {
      ...before[kind],
      id: person.userId,
      user_id: person.profileId,
      created_at: null,
      ...(kind === 'contractor' && { verified: true, completed_jobs: 9, rating_average: 5, rating_count: 1 }),
    };
    const refused = byRest(
      await put(person, {
        ...before,
        user: changedUser,
        [kind]: changedProfile,
        referral_code: 'ABCDEFGH',
        tokens: { ...before.tokens, balance: 1_000 },
      }),
    );
    const changed = [
      'user.id',
      'user.email',
      'user.user_type',
      'user.created_at',
      `${kind}.id`,
      `${kind}.user_id`,
      `${kind}.created_at`,
      'referral_code',
      'tokens',
    ];
    expect(refused).toEqual(
      invalid(
        ...changed,
        ...(kind === 'contractor'
          ? ['contractor.verified', 'contractor.completed_jobs', 'contractor.rating_average', 'contractor.rating_count']
          : []),
      ),
    );
    expect(await me(person)).toEqual(before);
  });

  it('changes both parts or neither', async () => {
    const person = await join(app, 'Zoe');
    const before = await me(person);
    const [field = ''] = Object.keys(profile);
    expect(
      byRest(await put(person, { user: { first_name: 'Zoe-Ann' }, [kind]: { [field]: 'x'.repeat(201) } })),
    ).toEqual(invalid(`${kind}.${field}`));
    expect(
      byRest(
        await put(person, { user: { first_name: 'Zoe-Ann', email: 'other@example.test' }, [kind]: { [field]: 'New' } }),
      ),
    ).toEqual(invalid('user.email'));
    expect(await me(person)).toEqual(before);
    const both = await put(person, { user: { first_name: 'Zoe-Ann' }, [kind]: { [field]: 'New' } });
    expect(both.body).toMatchObject({ user: { first_name: 'Zoe-Ann' }, [kind]: { [field]: 'New' } });
  });

  it("can't write the other role's profile", async () => {
    const person = await join(app, 'Zoe');
    const other = kind === 'homeowner' ? 'contractor' : 'homeowner';
    const before = await me(person);
    expect(byRest(await put(person, { user: { first_name: 'Zoe-Ann' }, [other]: {} }))).toEqual(invalid(other));
    const refused = await app.graphql(UPDATE, {
      token: person.token,
      variables: { input: { user: { firstName: 'Zoe-Ann' }, [other]: {} } },
    });
    expect(byGraphql(refused)).toEqual(invalid(other));
    expect(await me(person)).toEqual(before);
  });

  it('loses nothing in many concurrent writes', async () => {
    const person = await join(app, 'Zoe');
    const writes = Object.entries({ ...profile }).map(([name, value]) => put(person, { [kind]: { [name]: value } }));
    for (const { status } of await Promise.all(writes)) expect(status).toBe(200);
    expect((await me(person))[kind]).toMatchObject(profile);
  });
});

it('a session that ends while its call waits changes nothing', async () => {
  const hanna = await homeowner(app, 'Hanna');
  const writing = await app.sql.begin(async (tx) => {
    await tx`select from users where id = ${hanna.userId} for update`;
    const call = put(hanna, { user: { phone: '+1 512 555 0199' } });
    await until(async () => (await waitingCalls(app.sql)) === 1);
    await tx`update sessions set revoked_at = now() where user_id = ${hanna.userId}`;
    return [call];
  });
  const [answer] = await Promise.all(writing);
  expect([answer?.status, answer?.body.details.reason]).toEqual([401, 'session_ended']);
  expect(await app.sql`select phone from users where id = ${hanna.userId}`).toEqual([{ phone: null }]);
});

it('an admin has a name to edit but no profile', async () => {
  const ada = await admin(app);
  expect(Object.keys(await me(ada)).sort()).toEqual(['referral_code', 'tokens', 'user']);
  expect((await put(ada, { user: { first_name: 'Ada' } })).body.user.first_name).toBe('Ada');
  expect(byRest(await put(ada, { homeowner: {}, contractor: {} }))).toEqual(invalid('homeowner', 'contractor'));
});

it('an empty body changes nothing', async () => {
  const hanna = await homeowner(app, 'Hanna');
  const before = await me(hanna);
  expect((await app.rest('PUT', '/v1/me', { token: hanna.token })).body).toEqual(before);
  expect((await put(hanna, { user: {}, homeowner: null })).body).toEqual(before);
});

describe("a profile's values", () => {
  let carl: Person;
  beforeAll(async () => {
    carl = await contractor(app, 'Carl');
  });

  const LIMITS: [field: string, good: unknown, bad: unknown][] = [
    ['company_name', 'x'.repeat(200), 'x'.repeat(201)],
    ['company_name', '👷'.repeat(200), '👷'.repeat(201)],
    ['company_name', `  ${'x'.repeat(200)}  `, 'NUL\u0000'],
    ['license_number', '7', 7],
    ['license_state', 'é'.repeat(200), 'half \ud83d'],
    ['business_type', 'x'.repeat(64), 'x'.repeat(65)],
    ['bio', '✍'.repeat(10_000), 'x'.repeat(10_001)],
    ['years_in_business', 0, -1],
    ['years_in_business', 500, 501],
    ['years_in_business', null, 1.5],
    ['years_in_business', 1, '1'],
    ['website', 'HTTPS://example.test', 'javascript:alert(1)'],
    ['website', 'http://example.test/a?b#c', 'example.test'],
    ['website', `https://example.test/${'x'.repeat(1_979)}`, `https://example.test/${'x'.repeat(1_980)}`],
    [
      'service_areas',
      Array.from({ length: 50 }, (_, i) => `area ${i}`),
      Array.from({ length: 51 }, (_, i) => `area ${i}`),
    ],
    ['service_areas', [], 'Austin'],
    ['specialties', ['🏠'.repeat(100)], { 0: 'roofs' }],
  ];
  it('include list entries of at most 100 characters', async () => {
    const refused = await put(carl, { contractor: { specialties: ['roofs', '🏠'.repeat(101)] } });
    expect(byRest(refused)).toEqual(invalid('contractor.specialties.1'));
  });

  it.each(LIMITS)('%s (case %#)', async (field, good, bad) => {
    const { status, body } = await put(carl, { contractor: { [field]: good } });
    expect(status).toBe(200);
    expect(body.contractor[field]).toEqual(typeof good === 'string' ? good.trim() : good);
    expect(byRest(await put(carl, { contractor: { [field]: bad } }))).toEqual(invalid(`contractor.${field}`));
    expect((await me(carl)).contractor[field]).toEqual(body.contractor[field]);
  });

  it('name each bad list entry by its index', async () => {
    const specialties = ['roofs', ' ', 'x'.repeat(201), 5, null];
    expect(byRest(await put(carl, { contractor: { specialties } }))).toEqual(
      invalid(...[1, 2, 3, 4].map((at) => `contractor.specialties.${at}`)),
    );
  });

  it("count a phone's emoji as one character, and keep the number as it was sent", async () => {
    const phone = ` ${'☎'.repeat(99)}${'📞'.repeat(99)} `;
    expect((await put(carl, { user: { phone } })).body.user.phone).toBe(phone);
    expect(byRest(await put(carl, { user: { phone: `${phone}x` } }))).toEqual(invalid('user.phone'));
  });

  it('never include a null or blank name', async () => {
    expect(byRest(await put(carl, { user: { first_name: null, last_name: ' ' } }))).toEqual(
      invalid('user.first_name', 'user.last_name'),
    );
    const refused = await app.graphql(UPDATE, {
      token: carl.token,
      variables: { input: { user: { firstName: null, lastName: ' ' } } },
    });
    expect(byGraphql(refused)).toEqual(invalid('user.first_name', 'user.last_name'));
  });

  it('exclude unknown and misspelled names everywhere', async () => {
    const sent = {
      user: { firstName: 'C', nickname: 'C', password: 'x', 'a.B': 1 },
      contractor: { companyName: 'C', ratingSum: 5, rating_sum: 5 },
      user_type: 'admin',
      User: {},
    };
    expect(byRest(await put(carl, sent))).toEqual(
      invalid(
        'user.firstName',
        'user.nickname',
        'user.password',
        'user.a.B',
        'contractor.companyName',
        'contractor.ratingSum',
        'contractor.rating_sum',
        'user_type',
        'User',
      ),
    );
    expect(byRest(await put(carl, { user: 'Carl', contractor: [], homeowner: 5 }))).toEqual(
      invalid('user', 'contractor', 'homeowner'),
    );
  });
});

describe('a contractor', () => {
  const READ =
    `query ($id: ID!) { contractor(id: $id) { id userId ${selection(BUSINESS)} verified completedJobs ` +
    `ratingAverage ratingCount suspended createdAt updatedAt } }`;

  it('can be read by anyone signed in; license and policy numbers are for them and for admins', async () => {
    const carl = await contractor(app, 'Carl');
    await put(carl, { contractor: BUSINESS });
    const whole = (await me(carl)).contractor;
    const others = { ...whole, license_number: null, insurance_policy_number: null, suspended: null };
    for (const [reader, seen] of [
      [carl, whole],
      [await admin(app), whole],
      [await homeowner(app, 'Hanna'), others],
      [await contractor(app, 'Cleo'), others],
    ] as const) {
      const byPath = await app.rest('GET', `/v1/contractors/${carl.profileId}`, { token: reader.token });
      expect({ status: byPath.status, body: byPath.body }).toEqual({ status: 200, body: seen });
      const byField = await app.graphql(READ, { token: reader.token, variables: { id: carl.profileId } });
      expect(snakeKeys(byField.data.contractor)).toEqual(seen);
    }
  });

  it('is verified only by an admin', async () => {
    const carl = await contractor(app, 'Carl');
    const ada = await admin(app);
    const verify = (person: Person, id = carl.profileId) =>
      app.rest('POST', `/v1/contractors/${id}/verify`, { token: person.token });
    for (const person of [carl, await homeowner(app, 'Hanna')]) {
      expect(byRest(await verify(person))).toEqual({ status: 403, code: 'FORBIDDEN', fields: [] });
      const byField = await app.graphql(
        'mutation ($id: ID!) { verifyContractor(id: $id) { contractor { verified } } }',
        { token: person.token, variables: { id: carl.profileId } },
      );
      expect(byGraphql(byField)).toEqual({ status: 403, code: 'FORBIDDEN', fields: [] });
    }
    expect((await me(carl)).contractor.verified).toBe(false);
    const verified = await verify(ada);
    expect(verified.body).toMatchObject({ id: carl.profileId, verified: true });
    expect((await verify(ada)).body).toEqual(verified.body);
    const byField = await app.graphql('mutation ($id: ID!) { verifyContractor(id: $id) { contractor { verified } } }', {
      token: ada.token,
      variables: { id: carl.profileId },
    });
    expect(byField.data.verifyContractor.contractor).toEqual({ verified: true });
    expect((await me(carl)).contractor.verified).toBe(true);
  });

  it('loses verification if an admin gives a reason, and the admin and the reason are recorded', async () => {
    const [ada, carl] = [await admin(app), await contractor(app, 'Carl')];
    const acts = () => app.sql`select * from admin_actions where user_id = ${carl.userId}
      and action = 'unverifyContractor' order by created_at`;
    const listed = async () =>
      (await app.rest('GET', '/v1/contractors?verified=true', { token: carl.token })).body.data.map(
        ({ id }: Json) => id,
      );
    const rest = (person: Person, body: object = { reason: 'The licence ran out.' }, headers = {}) =>
      app.rest('POST', `/v1/contractors/${carl.profileId}/unverify`, { token: person.token, body, headers });
    const UNVERIFY =
      'mutation ($id: ID!, $input: UnverifyContractorInput!) { unverifyContractor(id: $id, input: $input) ' +
      '{ contractor { id verified } } }';
    const graphql = (person: Person) =>
      app.graphql(UNVERIFY, {
        token: person.token,
        variables: { id: carl.profileId, input: { reason: 'A complaint.' } },
      });

    const before = await rest(ada);
    expect([before.status, before.body.verified]).toEqual([200, false]);
    await app.rest('POST', `/v1/contractors/${carl.profileId}/verify`, { token: ada.token });
    expect(await listed()).toContain(carl.profileId);
    for (const person of [carl, await homeowner(app, 'Hanna')]) {
      expect(byRest(await rest(person))).toEqual({ status: 403, code: 'FORBIDDEN', fields: [] });
      expect(byGraphql(await graphql(person))).toEqual({ status: 403, code: 'FORBIDDEN', fields: [] });
    }
    for (const body of [{}, { reason: ' ' }]) expect(byRest(await rest(ada, body))).toEqual(invalid('reason'));
    const dry = await rest(ada, undefined, { 'Dry-Run': 'true' });
    expect([dry.body.verified, (await me(carl)).contractor.verified, await acts()]).toEqual([false, true, []]);

    const once = { 'Idempotency-Key': `unverify ${carl.profileId}` };
    const [first, again] = [await rest(ada, undefined, once), await rest(ada, undefined, once)];
    expect(first.body).toMatchObject({ id: carl.profileId, verified: false });
    expect(again.body).toEqual(first.body);
    expect((await rest(ada)).body).toEqual(first.body);
    expect((await me(carl)).contractor).toEqual(first.body);
    expect(await listed()).not.toContain(carl.profileId);
    const kept = { admin_id: ada.userId, action: 'unverifyContractor', user_id: carl.userId };
    expect(await acts()).toMatchObject([{ ...kept, reason: 'The licence ran out.' }]);

    await app.rest('POST', `/v1/contractors/${carl.profileId}/verify`, { token: ada.token });
    const byField = await graphql(ada);
    expect(byField.data.unverifyContractor.contractor).toEqual({ id: carl.profileId, verified: false });
    expect(await acts()).toMatchObject([kept, { ...kept, reason: 'A complaint.', id: expect.stringMatching(/^act_/) }]);
  });

  it("who doesn't exist is not found, however the ID is spelled", async () => {
    const hanna = await homeowner(app, 'Hanna');
    const ada = await admin(app);
    const NOT_FOUND = { status: 404, code: 'NOT_FOUND', fields: [] };
    for (const id of [
      `ctr_${'0'.repeat(27)}`,
      hanna.profileId,
      hanna.userId,
      'ctr_',
      'x',
      '%00',
      '..%2f..',
      `ctr_${'z'.repeat(27)}`,
      "'",
      '%F0%9F%91%B7',
      'constructor',
    ]) {
      expect(byRest(await app.rest('GET', `/v1/contractors/${id}`, { token: hanna.token }))).toEqual(NOT_FOUND);
      expect(byRest(await app.rest('POST', `/v1/contractors/${id}/verify`, { token: ada.token }))).toEqual(NOT_FOUND);
      const body = { reason: 'Why not.' };
      expect(byRest(await app.rest('POST', `/v1/contractors/${id}/unverify`, { token: ada.token, body }))).toEqual(
        NOT_FOUND,
      );
      const byField = await app.graphql(READ, { token: hanna.token, variables: { id: decodeURIComponent(id) } });
      expect(byField.data).toEqual({ contractor: null });
      expect(byGraphql(byField)).toEqual(NOT_FOUND);
    }
  });
});

it('an admin finds every account, newest first, and nobody else does', async () => {
  const [ada, carl, hanna] = [await admin(app), await contractor(app, 'Carl'), await homeowner(app, 'Hanna')];
  const USERS =
    'query ($after: String) { users(first: 2, after: $after) { nodes { id email phone userType } pageInfo { ' +
    'hasNextPage hasPreviousPage endCursor } totalCount } }';
  const first = (await app.graphql(USERS, { token: ada.token })).data.users;
  expect(first.nodes.map((user: Json) => user.email)).toEqual([hanna.email, carl.email]);
  const [all] = await app.sql`select count(*)::int as users from users`;
  expect(first.totalCount).toBe(all?.users);
  const second = (await app.graphql(USERS, { token: ada.token, variables: { after: first.pageInfo.endCursor } })).data
    .users;
  expect(second.pageInfo.hasPreviousPage).toBe(true);
  expect(second.nodes.map((user: Json) => user.id)).not.toContain(carl.userId);
  for (const person of [carl, hanna]) {
    const refused = await app.graphql(USERS, { token: person.token });
    expect(refused.data).toEqual({ users: null });
    expect(byGraphql(refused)).toEqual({ status: 403, code: 'FORBIDDEN', fields: [] });
  }
});
