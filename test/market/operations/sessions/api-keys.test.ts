import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPERATIONS } from '../../../../src/market/operations/index.js';
import { isWrite } from '../../../../src/platform/call/operation.js';
import { ROUTES } from '../../../../src/rest/routes.js';
import { API_KEYS_PER_PERSON_MAX } from '../../../../src/market/rules/market-limits.js';
import { newId } from '../../../../src/market/store/new-id.js';
import { admin, contractor, homeowner, programOf, type Person } from '../../../story/cast.js';
import {
  openTestApp,
  type Answer,
  type CallOptions,
  type GraphqlAnswer,
  type Json,
  type TestApp,
} from '../../../setup/app.js';
import { waitingCalls } from '../../../setup/database/waiting-calls.js';
import { until } from '../../../platform/security/until.js';
import { byGraphql, byRest, invalid, type Refused } from '../../../apis/refused.js';

let app: TestApp;
/** A second instance on the same database. */
let twin: TestApp;
let hanna: Person;
beforeAll(async () => {
  app = await openTestApp();
  twin = await openTestApp({}, { sameDatabaseAs: app });
  hanna = await homeowner(app, 'Hanna');
});
afterAll(async () => {
  await twin.close();
  await app.close();
});

const CREATE = `mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) {
  apiKey { id name access createdAt expiresAt lastUsedAt } secret viewer { user { id } } } }`;
const REVOKE = 'mutation ($id: ID!) { revokeApiKey(id: $id) { apiKey { id name } viewer { user { id } } } }';
const LIST = '{ viewer { apiKeys { totalCount nodes { id name access createdAt expiresAt lastUsedAt } } } }';

const create = (token: string | undefined, body: unknown, at = app, options: CallOptions = {}) =>
  at.rest('POST', '/v1/api-keys', { ...options, token, body });
const graphqlCreate = (token: string | undefined, input: object, at = app, options: CallOptions = {}) =>
  at.graphql(CREATE, { ...options, token, variables: { input } });
const list = async (token: string) => (await app.rest('GET', '/v1/api-keys', { token })).body.data as Json[];
const revoke = (token: string | undefined, id: string, at = app) => at.rest('DELETE', `/v1/api-keys/${id}`, { token });
const graphqlRevoke = (token: string | undefined, id: string) => app.graphql(REVOKE, { token, variables: { id } });
const me = (token: string, at = app) => at.rest('GET', '/v1/me', { token });

const SECRET = /^jmk_[0-9A-Za-z]{40}$/;
const MOMENT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const FORBIDDEN = { status: 403, code: 'FORBIDDEN', fields: [] };
const UNAUTHENTICATED = { status: 401, code: 'UNAUTHENTICATED', fields: [] };

const refusalIn = (answer: Answer<Json> | GraphqlAnswer): Refused =>
  'body' in answer ? byRest(answer) : byGraphql(answer);

/** Both APIs on both instances reject the key for this reason. */
async function expectEnded(secret: string, reason: string): Promise<void> {
  for (const at of [app, twin]) {
    const rest = await me(secret, at);
    expect({ ...byRest(rest), reason: rest.body.details.reason }).toEqual({ ...UNAUTHENTICATED, reason });
    const graphql = await at.graphql('{ viewer { referralCode } }', { token: secret });
    const said = graphql.errors?.[0]?.extensions.reason;
    expect({ ...byGraphql(graphql), reason: said }).toEqual({ ...UNAUTHENTICATED, reason });
  }
}

describe('an API key', () => {
  it('is created through both APIs, with a secret that is shown once and stored only as a SHA-256', async () => {
    const owner = await homeowner(app, 'Olga');
    const { status, body, headers } = await create(owner.token, { name: ' Nightly export ' });
    const made = { id: expect.stringMatching(/^key_[0-9A-Za-z]{27}$/), name: 'Nightly export', created_at: MOMENT };
    const apiKey = { ...made, access: 'full', expires_at: null, last_used_at: null };
    expect({ status, body }).toEqual({ status: 201, body: { api_key: apiKey, secret: expect.stringMatching(SECRET) } });
    expect(headers.get('cache-control')).toBe('no-store');

    const expiresAt = '2999-01-02T03:04:05.678Z';
    const { data } = await graphqlCreate(owner.token, { name: 'Import', expiresAt });
    expect(data.createApiKey).toEqual({
      apiKey: {
        id: expect.stringMatching(/^key_/),
        name: 'Import',
        access: 'FULL',
        createdAt: MOMENT,
        expiresAt,
        lastUsedAt: null,
      },
      secret: expect.stringMatching(SECRET),
      viewer: { user: { id: owner.userId } },
    });

    const listed = await list(owner.token);
    expect(listed.map(({ id }) => id)).toEqual([data.createApiKey.apiKey.id, body.api_key.id]);
    const seen = await app.graphql(LIST, { token: owner.token });
    expect(seen.data.viewer.apiKeys).toMatchObject({
      totalCount: 2,
      nodes: [data.createApiKey.apiKey, { expiresAt: null }],
    });
    expect(JSON.stringify([listed, seen.data])).not.toMatch(/jmk_/);

    const rows = await app.sql`select k::text as row from api_keys k where user_id = ${owner.userId}`;
    for (const secret of [body.secret, data.createApiKey.secret] as string[]) {
      expect(rows.some(({ row }) => row.includes(secret))).toBe(false);
      expect(rows.some(({ row }) => row.includes(createHash('sha256').update(secret).digest('base64url')))).toBe(true);
    }
  });

  it('acts as its owner, in both APIs and on every instance', async () => {
    for (const person of [hanna, await contractor(app, 'Carl'), await admin(app)]) {
      const { token } = await programOf(app, person);
      for (const at of [app, twin]) {
        expect((await me(token, at)).body.user.id).toBe(person.userId);
        const { data } = await at.graphql('{ viewer { user { id } tokens { available } } }', { token });
        expect(data.viewer.user.id).toBe(person.userId);
      }
    }
    const program = await programOf(app, hanna);
    const job = await app.rest('POST', '/v1/jobs', { token: program.token, body: { title: 'T', description: 'D' } });
    expect([job.status, job.body.homeowner_id]).toEqual([201, hanna.profileId]);
  });

  it('is readable only by its owner, at the URL from its creation, until it’s revoked', async () => {
    const owner = await homeowner(app, 'Lotte');
    const { body, headers } = await create(owner.token, { name: 'Import' });
    const address = headers.get('location') ?? '';
    const read = (token?: string) => app.rest('GET', address, { ...(token && { token }) });
    const found = await read(owner.token);
    expect([found.status, found.body]).toEqual([200, body.api_key]);
    expect(byRest(await read(hanna.token))).toEqual(FORBIDDEN);
    expect(byRest(await read())).toEqual(UNAUTHENTICATED);
    const unknown = await app.rest('GET', `/v1/api-keys/${newId('apiKey')}`, { token: owner.token });
    await revoke(owner.token, body.api_key.id);
    for (const answer of [unknown, await read(owner.token)])
      expect(byRest(answer)).toEqual({ status: 404, code: 'NOT_FOUND', fields: [] });
  });

  it("can't change email, password, sessions, or keys", async () => {
    const { token } = await programOf(app, hanna);
    const [{ id }] = (await list(hanna.token)) as [Json];
    const password = { current_password: hanna.password, new_password: 'a better password' };
    const CHANGE = 'mutation ($input: ChangePasswordInput!) { changePassword(input: $input) { __typename } }';
    const input = { currentPassword: hanna.password, newPassword: 'a better password' };
    for (const answer of [
      await app.rest('POST', '/v1/me/password', { token, body: password }),
      await app.graphql(CHANGE, { token, variables: { input } }),
      await app.rest('POST', '/v1/auth/logout', { token }),
      await app.graphql('mutation { logOut { __typename } }', { token }),
      await create(token, { name: 'Another' }),
      await graphqlCreate(token, { name: 'Another' }),
      await app.rest('GET', '/v1/api-keys', { token }),
      await app.rest('GET', `/v1/api-keys/${id}`, { token }),
      await app.graphql(LIST, { token }),
      await revoke(token, id),
      await graphqlRevoke(token, id),
    ]) {
      expect(refusalIn(answer)).toEqual(FORBIDDEN);
      expect('body' in answer ? answer.body.error : answer.errors?.[0]?.message).toMatch(/^An API key can’t do this/);
    }
    expect((await me(token)).status).toBe(200);
    const { email } = hanna;
    expect((await app.rest('POST', '/v1/auth/login', { body: { email, password: hanna.password } })).status).toBe(200);
    // The other fields in the same document are returned.
    const both = await app.graphql('{ viewer { referralCode apiKeys { totalCount } } }', { token });
    expect(both.data.viewer).toEqual({ referralCode: hanna.referralCode, apiKeys: null });
  });

  it('can manage webhooks through both APIs with full access, and otherwise only read them', async () => {
    const { token } = await programOf(app, hanna);
    const made = await app.rest('POST', '/v1/webhooks', { token, body: { url: 'https://hooks.example.com/' } });
    expect([made.status, made.body.secret]).toEqual([201, expect.stringMatching(/^whsec_/)]);
    const { id } = made.body.webhook;
    const ROTATE = 'mutation ($id: ID!) { rotateWebhookSecret(id: $id) { secret } }';
    const rotated = await app.graphql(ROTATE, { token, variables: { id } });
    expect(rotated.data.rotateWebhookSecret.secret).toMatch(/^whsec_/);
    const { body: reader } = await create(hanna.token, { name: 'Reports', access: 'read' });
    expect(byRest(await app.rest('DELETE', `/v1/webhooks/${id}`, { token: reader.secret }))).toEqual(FORBIDDEN);
    expect((await app.rest('GET', `/v1/webhooks/${id}`, { token: reader.secret })).status).toBe(200);
    const body = { status: 'paused' };
    expect((await app.rest('PUT', `/v1/webhooks/${id}`, { token, body })).body.status).toBe('paused');
    expect((await app.rest('DELETE', `/v1/webhooks/${id}`, { token })).status).toBe(200);
    // Secrets are never stored, so the idempotency key is ignored. The second call creates another endpoint.
    const headers = { 'Idempotency-Key': 'webhook' };
    const twice = async () =>
      (await app.rest('POST', '/v1/webhooks', { token, headers, body: { url: 'https://hooks.example.com/' } })).body;
    expect((await twice()).webhook.id).not.toBe((await twice()).webhook.id);
  });

  it('can do everything else: these operations and no others need a session', () => {
    const needing = Object.values<{ name: string; needsSession?: boolean }>(OPERATIONS).filter(
      (one) => one.needsSession,
    );
    const names = needing.map(({ name }) => name).sort();
    expect(names).toEqual([
      'apiKey',
      'apiKeys',
      'changeEmail',
      'changePassword',
      'createApiKey',
      'endOtherSessions',
      'endSession',
      'endUserSessions',
      'logOut',
      'requestEmailVerification',
      'revokeApiKey',
      'session',
      'sessions',
      'settleEmailUndo',
    ]);
  });

  it('that only reads does no write in either API, and reads whatever its owner reads', async () => {
    const ada = await admin(app);
    for (const person of [hanna, await contractor(app, 'Carl'), ada]) {
      const { data } = await graphqlCreate(person.token, { name: 'Reports', access: 'READ' });
      const { apiKey, secret: token } = data.createApiKey;
      expect([apiKey.access, (await list(person.token))[0]?.access]).toEqual(['READ', 'read']);
      for (const { method, path, operation } of ROUTES.filter((route) => route.operation.allows !== 'anyone')) {
        const address = `/v1${path.replaceAll(/\{\w+\}/g, 'x')}`;
        const { status, body } = await app.rest(method, address, { token, ...(method !== 'GET' && { body: {} }) });
        const refused = [status, body.details?.code];
        if (isWrite(operation)) expect(refused, `${method} ${path}`).toEqual([403, 'FORBIDDEN']);
        else expect(String(body.error), `${method} ${path}`).not.toMatch(/^This API key is read-only/);
      }
      for (const at of [app, twin]) expect((await me(token, at)).body.user.id).toBe(person.userId);
    }
    const body = { title: 'T', description: 'D' };
    const { body: made } = await create(hanna.token, { name: 'Reports', access: 'read' });
    const token = made.secret as string;
    const before = await app.sql`select count(*)::int as jobs from jobs`;
    const write = await app.rest('POST', '/v1/jobs', { token, body });
    expect([byRest(write), write.body.error]).toEqual([FORBIDDEN, expect.stringMatching(/^This API key is read-only/)]);
    const dry = await app.rest('POST', '/v1/jobs', { token, body, headers: { 'dry-run': 'true' } });
    expect(byRest(dry)).toEqual(FORBIDDEN);
    const mutation = 'mutation ($input: CreateJobInput!) { createJob(input: $input) { job { id } } }';
    expect(byGraphql(await app.graphql(mutation, { token, variables: { input: body } }))).toEqual(FORBIDDEN);
    expect(await app.sql`select count(*)::int as jobs from jobs`).toEqual(before);
    expect((await app.graphql('{ jobs { totalCount } }', { token })).errors).toBeUndefined();
    expect(invalid('access')).toEqual(byRest(await create(hanna.token, { name: 'Reports', access: 'write' })));
  });

  it("consumes its owner's budgets", async () => {
    const strict = await openTestApp({ RATE_LIMITS: 'on', RATE_LIMIT_WRITE: '3', RATE_LIMIT_READ: '4' });
    try {
      const person = await homeowner(strict, 'Petra');
      const { token } = await programOf(strict, person);
      const read = (by: string) => strict.rest('GET', '/v1/tokens', { token: by });
      // Petra has read her account once, when she joined.
      expect([(await read(token)).status, (await read(person.token)).status, (await read(token)).status]).toEqual([
        200, 200, 200,
      ]);
      for (const by of [token, person.token]) expect((await read(by)).status).toBe(429);
      const write = (by: string) =>
        strict.rest('POST', '/v1/jobs', { token: by, body: { title: 'T', description: 'D' } });
      expect([(await write(token)).status, (await write(person.token)).status]).toEqual([201, 201]);
      for (const by of [token, person.token]) expect((await write(by)).status).toBe(429);
    } finally {
      await strict.close();
    }
  });

  it("says when it was last used, to the minute, and a use isn't a write of its own", async () => {
    const owner = await homeowner(app, 'Uma');
    const { token } = await programOf(app, owner);
    await me(token);
    await app.services.keyUses.flush();
    app.statements();
    for (let use = 0; use < 5; use += 1) expect((await me(token)).status).toBe(200);
    const written = app.statements().filter((text) => !text.startsWith('select'));
    const isOfUses = (text: string) => text.includes('/* updateLastUsed */');
    expect(written.filter((text) => !isOfUses(text))).toEqual([]);
    // At the start of a new minute, the next interval's write includes this key again.
    expect(written.filter(isOfUses).length).toBeLessThanOrEqual(1);
    await app.services.keyUses.flush();
    const [key] = (await list(owner.token)) as [Json];
    expect(key.last_used_at).toMatch(/:00\.000Z$/);
    expect(Math.abs(Date.now() - Date.parse(key.last_used_at))).toBeLessThan(10 * 60_000);
    await app.services.keyUses.flush();
    expect((await list(owner.token))[0]).toEqual(key);
  });
});

it('A stopping server also waits for uses that it is already writing', async () => {
  const owner = await homeowner(app, 'Ute');
  const { token } = await programOf(app, owner);
  let writes: Promise<void>[] = [];
  let isWritten = false;
  await app.sql.begin(async (tx) => {
    await tx`select from api_keys where user_id = ${owner.userId} for update`;
    await me(token);
    writes = [app.services.keyUses.flush(), app.services.keyUses.flush().then(() => void (isWritten = true))];
    await until(async () => (await waitingCalls(app.sql)) === 1);
    expect(isWritten).toBe(false);
  });
  await Promise.all(writes);
  expect((await list(owner.token))[0]?.last_used_at).toMatch(/Z$/);
});

describe('an API key is refused', () => {
  it('immediately and everywhere after it was revoked in either API, and others continue', async () => {
    for (const by of [revoke, graphqlRevoke]) {
      const owner = await homeowner(app, 'Rita');
      const [one, other] = [await programOf(app, owner), await programOf(app, owner)];
      for (const at of [app, twin]) expect((await me(one.token, at)).status).toBe(200);
      const [, older] = await list(owner.token);
      const answer = await by(owner.token, older.id);
      if ('body' in answer) {
        const body = { status: 200, message: expect.any(String), data: {} };
        expect([answer.status, answer.body]).toEqual([200, body]);
      } else {
        const { apiKey, viewer } = answer.data.revokeApiKey;
        expect([apiKey, viewer.user]).toEqual([{ id: older.id, name: older.name }, { id: owner.userId }]);
      }
      await expectEnded(one.token, 'session_ended');
      expect((await me(other.token)).status).toBe(200);
      expect((await list(owner.token)).map(({ id }) => id)).not.toContain(older.id);
      // Revoking it again changes nothing.
      expect((await revoke(owner.token, older.id)).status).toBe(200);
    }
  });

  it('after it has expired', async () => {
    const owner = await homeowner(app, 'Xenia');
    const { body } = await create(owner.token, { name: 'Short', expires_at: '2999-01-01T00:00:00+02:00' });
    expect(body.api_key.expires_at).toBe('2998-12-31T22:00:00.000Z');
    expect((await me(body.secret)).status).toBe(200);
    await app.sql`update sessions set ends_at = now() - interval '1 ms'
      where id = (select session_id from api_keys where id = ${body.api_key.id})`;
    await expectEnded(body.secret, 'expired');
    expect(await list(owner.token)).toEqual([]);
  });

  it('after a password change', async () => {
    const owner = await homeowner(app, 'Paula');
    const { token } = await programOf(app, owner);
    expect((await me(token, twin)).status).toBe(200);
    const body = { current_password: owner.password, new_password: 'a better password' };
    expect((await app.rest('POST', '/v1/me/password', { token: owner.token, body })).status).toBe(200);
    await expectEnded(token, 'session_ended');
    expect(await list(owner.token)).toEqual([]);
  });

  it('if nobody knows it, like any invalid token, and that counts against the address', async () => {
    await expectEnded(`jmk_${'0'.repeat(40)}`, 'invalid');
    for (const bearer of ['jmk_', `jmk_${'0'.repeat(39)}`, `jmk_${'0'.repeat(41)}`, `JMK_${'0'.repeat(40)}`])
      await expectEnded(bearer, 'malformed');
    const strict = await openTestApp({ RATE_LIMITS: 'on', RATE_LIMIT_INVALID_TOKEN: '2' });
    try {
      const guess = (last: number) => me(`jmk_${'0'.repeat(39)}${last}`, strict);
      expect([(await guess(1)).status, (await guess(2)).status, (await guess(3)).status]).toEqual([401, 401, 429]);
      const { token } = await programOf(strict, await homeowner(strict, 'Nina'));
      expect((await me(token, strict)).status).toBe(200);
    } finally {
      await strict.close();
    }
  });
});

describe('creating or revoking an API key is refused', () => {
  it('in the usual order of errors', async () => {
    const strict = await openTestApp({ RATE_LIMITS: 'on', RATE_LIMIT_WRITE: '5' });
    try {
      const owner = await homeowner(strict, 'Ines');
      const program = await programOf(strict, owner);
      const bad = { name: 7, expires_at: 'soon', extra: true };
      expect(byRest(await create(undefined, bad, strict))).toEqual(UNAUTHENTICATED);
      expect(byRest(await create(program.token, bad, strict))).toEqual(FORBIDDEN);
      expect(byRest(await create(owner.token, bad, strict))).toEqual(invalid('name', 'expires_at', 'extra'));
      expect(byRest(await revoke(owner.token, 'key_x', strict))).toMatchObject({ status: 404, code: 'NOT_FOUND' });
      expect(byRest(await create(owner.token, { name: 'A', expires_at: '2001-01-01T00:00:00Z' }, strict))).toEqual(
        invalid('expires_at'),
      );
      const LIMITED = { status: 429, code: 'RATE_LIMITED', fields: [] };
      expect(byRest(await create(program.token, bad, strict))).toEqual(LIMITED);
      expect(byRest(await create(undefined, bad, strict))).toEqual(UNAUTHENTICATED);
    } finally {
      await strict.close();
    }
  });

  it('for an invalid name or time, in both APIs', async () => {
    const cases: readonly (readonly [string, object])[] = [
      ['name', { name: '' }],
      ['name', { name: '  ' }],
      ['name', { name: 'x'.repeat(101) }],
      ['name', { name: 'a\0b' }],
      ['expires_at', { name: 'A', expires_at: '2999-01-01' }],
      ['expires_at', { name: 'A', expires_at: '2999-02-30T00:00:00Z' }],
      ['expires_at', { name: 'A', expires_at: '2999-01-01T00:00:00' }],
      ['expires_at', { name: 'A', expires_at: `2999-01-01T00:00:00.${'0'.repeat(50)}Z` }],
      ['expires_at', { name: 'A', expires_at: 32_503_680_000 }],
    ];
    const past = { name: '', expires_at: '2001-01-01T00:00:00Z' };
    expect(byRest(await create(hanna.token, past))).toEqual(invalid('name', 'expires_at'));
    for (const [field, body] of cases) {
      const { expires_at: expiresAt, ...rest } = body as { expires_at?: unknown };
      expect(byRest(await create(hanna.token, body)), JSON.stringify(body)).toEqual(invalid(field));
      expect(byGraphql(await graphqlCreate(hanna.token, { ...rest, expiresAt }))).toEqual(invalid(field));
    }
  });

  it("if the key is unknown or someone else's", async () => {
    const stranger = await homeowner(app, 'Sven');
    await programOf(app, hanna);
    const [{ id }] = (await list(hanna.token)) as [Json];
    const NOT_FOUND = { status: 404, code: 'NOT_FOUND', fields: [] };
    for (const by of [revoke, graphqlRevoke]) {
      expect(refusalIn(await by(stranger.token, id))).toEqual(FORBIDDEN);
      expect(refusalIn(await by((await admin(app)).token, id))).toEqual(FORBIDDEN);
      for (const nobodys of [`key_${'0'.repeat(27)}`, 'key_', 'x', hanna.userId])
        expect(refusalIn(await by(stranger.token, nobodys))).toEqual(NOT_FOUND);
    }
    expect((await list(hanna.token)).map((key) => key.id)).toContain(id);
  });

  it(`with more than ${API_KEYS_PER_PERSON_MAX} active ones, even for two calls at the same time`, async () => {
    for (let round = 0; round < 3; round += 1) {
      const owner = await homeowner(app, 'Zoe');
      for (let made = 1; made < API_KEYS_PER_PERSON_MAX; made += 1) await programOf(app, owner);
      const two = await Promise.all([
        create(owner.token, { name: 'One' }),
        graphqlCreate(owner.token, { name: 'Other' }, twin),
      ]);
      const refused = two.filter((answer) => ('body' in answer ? answer.status === 400 : answer.errors));
      expect(refused.map(refusalIn)).toEqual([invalid()]);
      expect(await list(owner.token)).toHaveLength(API_KEYS_PER_PERSON_MAX);
      expect(refusalIn(await create(owner.token, { name: 'Late' }))).toEqual(invalid());
      // Revoking or expiring a key makes room for another.
      const [{ id }] = (await list(owner.token)) as [Json];
      await revoke(owner.token, id);
      await programOf(app, owner);
      await app.sql`update sessions set ends_at = now() - interval '1 ms' where id =
        (select session_id from api_keys where user_id = ${owner.userId} order by created_at limit 1)`;
      await programOf(app, owner);
    }
  });
});

describe('creating a key', () => {
  it('happens whatever Idempotency-Key says, and stores no secret', async () => {
    const owner = await homeowner(app, 'Ida');
    const headers = { 'idempotency-key': 'k' };
    const answers = [
      await create(owner.token, { name: 'A' }, app, { headers }),
      await create(owner.token, { name: 'A' }, app, { headers }),
    ];
    const graphql = await graphqlCreate(owner.token, { name: 'A' }, app, { headers });
    for (const { headers: answered } of [...answers, graphql]) expect(answered.get('idempotency-replayed')).toBeNull();
    const secrets = [...answers.map(({ body }) => body.secret), graphql.data.createApiKey.secret];
    expect(new Set(secrets).size).toBe(3);
    for (const secret of secrets) expect((await me(secret)).body.user.id).toBe(owner.userId);
    expect(await app.sql`select 1 from idempotency_records where user_id = ${owner.userId}`).toEqual([]);
  });

  it('and revoking it, which has no secret, can be tried and repeated', async () => {
    const owner = await homeowner(app, 'Ilse');
    const { token } = await programOf(app, owner);
    const [{ id }] = (await list(owner.token)) as [Json];
    const path = `/v1/api-keys/${id}`;
    const tried = await app.rest('DELETE', path, { token: owner.token, headers: { 'dry-run': 'true' } });
    expect([tried.status, tried.headers.get('dry-run')]).toEqual([200, 'true']);
    expect((await me(token)).status).toBe(200);
  });

  it("doesn't happen for a session that a password change ends in the meantime", async () => {
    for (let round = 0; round < 8; round += 1) {
      const owner = await homeowner(app, 'Mona');
      const { email, password } = owner;
      const { body: thief } = await app.rest('POST', '/v1/auth/login', { body: { email, password } });
      const change = { current_password: password, new_password: 'a better password' };
      const [changed, ...made] = await Promise.all([
        app.rest('POST', '/v1/me/password', { token: owner.token, body: change }),
        ...Array.from({ length: 4 }, (_, i) => create(thief.token, { name: 'His' }, i % 2 === 0 ? app : twin)),
      ]);
      expect(changed.status).toBe(200);
      for (const { status, body } of made) {
        expect([201, 401]).toContain(status);
        if (status === 201) expect((await me(body.secret)).status).toBe(401);
      }
      expect(await list(owner.token)).toEqual([]);
    }
  });
});
