import { createHash, createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { isId } from '../../../../src/market/rules/ids.js';
import { SESSION } from '../../../../src/platform/caller-limits.js';
import { admin, contractor, homeowner } from '../../../story/cast.js';
import {
  ADMIN,
  JWT_SECRET,
  openTestApp,
  type Answer,
  type GraphqlAnswer,
  type Json,
  type TestApp,
} from '../../../setup/app.js';
import { byGraphql, byRest, invalid } from '../../../apis/refused.js';
import { until } from '../../../platform/security/until.js';
import { waitingCalls } from '../../../setup/database/waiting-calls.js';

/** The leeway is an hour here, because on a busy machine, a test may take longer than the usual minute. */
vi.mock('../../../../src/platform/caller-limits.js', async (original) => {
  const limits = await original<typeof import('../../../../src/platform/caller-limits.js')>();
  return { ...limits, SESSION: { ...limits.SESSION, leewaySeconds: 3_600 } };
});

let app: TestApp;
/** A second instance on the same database. */
let twin: TestApp;
beforeAll(async () => {
  app = await openTestApp();
  twin = await openTestApp({}, { sameDatabaseAs: app });
});
afterAll(async () => {
  await twin.close();
  await app.close();
});

const ROUNDS = 10;

interface Pair {
  token: string;
  refreshToken: string;
}

const REFRESH =
  'mutation ($input: RefreshSessionInput!) { refreshSession(input: $input) { token refreshToken tokensAwarded ' +
  'user { id } } }';
const refresh = (refresh_token: unknown, at = app) => at.rest('POST', '/v1/auth/refresh', { body: { refresh_token } });
const graphqlRefresh = (refreshToken: string, at = app) =>
  at.graphql(REFRESH, { variables: { input: { refreshToken } } });
const me = (token: string | undefined, at = app) => at.rest('GET', '/v1/me', { token });
const logIn = async ({ email, password }: { email: string; password: string }, at = app): Promise<Pair> => {
  const { body } = await at.rest('POST', '/v1/auth/login', { body: { email, password } });
  return { token: body.token, refreshToken: body.refresh_token };
};

const UNAUTHENTICATED = { status: 401, code: 'UNAUTHENTICATED', fields: [] };
const INVALID_REFRESH_TOKEN = { status: 401, code: 'INVALID_REFRESH_TOKEN', fields: [] };

const hashOf = (token: string) => createHash('sha256').update(token).digest('base64url');

/**
 * Makes it look as if the token was first used this many seconds ago. Returns its successor, which depends on that
 * time.
 */
async function usedAgo(token: string, seconds: number): Promise<string> {
  const [row] = await app.sql`select extract(epoch from used_at) * 1000 as used from refresh_tokens
    where hash = ${hashOf(token)}`;
  const usedAt = new Date(Number(row?.used));
  const earlier = new Date(usedAt.getTime() - seconds * 1000);
  const { successorsOf } = app.services.refreshTokens;
  const [successor] = successorsOf(token, usedAt);
  const [moved] = successorsOf(token, earlier);
  await app.sql`update refresh_tokens set used_at = ${earlier.toISOString()} where hash = ${hashOf(token)}`;
  await app.sql`update refresh_tokens set hash = ${hashOf(moved)} where hash = ${hashOf(successor)}`;
  return moved;
}

function expectRefresh(answer: Answer<Json> | GraphqlAnswer, reason: string): void {
  expect('body' in answer ? byRest(answer) : byGraphql(answer)).toEqual(INVALID_REFRESH_TOKEN);
  expect('body' in answer ? answer.body.details.reason : answer.errors?.[0]?.extensions.reason).toBe(reason);
}

async function moveBack(userId: string, time: string): Promise<void> {
  await app.sql`update sessions set created_at = created_at - ${time}::interval where user_id = ${userId}`;
  await app.sql`update refresh_tokens set created_at = created_at - ${time}::interval
    where session_id in (select id from sessions where user_id = ${userId})`;
}

async function activeLogins(userId: string): Promise<number> {
  const [row] = await app.sql`select count(*)::int as active from sessions
    where user_id = ${userId} and revoked_at is null and id not in (select session_id from api_keys)`;
  return row?.active;
}

/** Takes effect immediately on the instance that ended the session, and on the other once it has been notified. */
async function expectDead({ token, refreshToken }: Pair, endedAt = app): Promise<void> {
  for (const at of [app, twin]) {
    if (at !== endedAt) await until(async () => (await me(token, at)).status === 401);
    expect(byRest(await me(token, at))).toEqual(UNAUTHENTICATED);
    expect(byGraphql(await at.graphql('{ viewer { referralCode } }', { token }))).toEqual(UNAUTHENTICATED);
    expect(byRest(await refresh(refreshToken, at))).toEqual(INVALID_REFRESH_TOKEN);
  }
}

describe('a refresh', () => {
  it('returns a new pair and nothing else, and both work', async () => {
    const hanna = await homeowner(app, 'Hanna');
    const { status, body, headers } = await refresh(hanna.refreshToken);
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['token', 'refresh_token', 'expires_at', 'refresh_expires_at']);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body.refresh_token).not.toBe(hanna.refreshToken);
    expect((await me(body.token)).body.user.id).toBe(hanna.userId);

    const next = await graphqlRefresh(body.refresh_token, twin);
    expect(next.data.refreshSession).toEqual({
      token: expect.any(String),
      refreshToken: expect.stringMatching(/^rft_/),
      tokensAwarded: null,
      user: null,
    });
    // The session is the same, so earlier access tokens keep working until they expire.
    for (const token of [hanna.token, body.token, next.data.refreshSession.token])
      expect((await me(token)).status).toBe(200);
  });

  it('is stored in the database only as a SHA-256', async () => {
    const hanna = await homeowner(app, 'Hanna');
    const rows = await app.sql`select t::text as row from refresh_tokens t where session_id in (select id from sessions
        where user_id = ${hanna.userId})`;
    expect(rows).toHaveLength(1);
    expect(rows[0]?.row).not.toContain(hanna.refreshToken);
    expect(rows[0]?.row).toContain(hashOf(hanna.refreshToken));
  });

  it('says when both tokens expire, like every response with a session', async () => {
    const hanna = await homeowner(app, 'Hanna');
    const { email, password } = hanna;
    const loggedIn = await app.rest('POST', '/v1/auth/login', { body: { email, password } });
    const LOG_IN =
      'mutation ($input: LogInInput!) { logIn(input: $input) { refreshToken expiresAt refreshExpiresAt } }';
    const { data } = await app.graphql(LOG_IN, { variables: { input: { email, password } } });
    const { body } = await refresh(data.logIn.refreshToken);
    for (const { expires_at, refresh_expires_at, refresh_token } of [
      loggedIn.body,
      body,
      {
        expires_at: data.logIn.expiresAt,
        refresh_expires_at: data.logIn.refreshExpiresAt,
        refresh_token: data.logIn.refreshToken,
      },
    ]) {
      const [kept] = await app.sql`
        select expires_at = ${refresh_expires_at}::timestamptz as answered,
          abs(extract(epoch from ${expires_at}::timestamptz - created_at) - 900) < 60 as fifteen
        from refresh_tokens where hash = ${hashOf(refresh_token)}`;
      expect(kept).toEqual({ answered: true, fifteen: true });
    }
  });

  it('with a lost response can be repeated: within the leeway, a token gets the same successor', async () => {
    const hanna = await homeowner(app, 'Hanna');
    const { body: lost } = await refresh(hanna.refreshToken);
    const { body: again } = await refresh(hanna.refreshToken, twin);
    expect({ ...again, token: '', expires_at: '' }).toEqual({ ...lost, token: '', expires_at: '' });
    const successor = await usedAgo(hanna.refreshToken, SESSION.leewaySeconds / 2);
    for (const at of [app, twin]) {
      const { status, body } = await refresh(hanna.refreshToken, at);
      expect({ status, successor: body.refresh_token }).toEqual({ status: 200, successor });
      expect((await me(body.token, twin)).body.user.id).toBe(hanna.userId);
    }
    expect((await graphqlRefresh(hanna.refreshToken)).data.refreshSession.refreshToken).toBe(successor);
    expect((await refresh(successor)).status).toBe(200);
  });

  it('with an older token within its leeway is refused as superseded, and has no other effect', async () => {
    const hanna = await homeowner(app, 'Hanna');
    await refresh(hanna.refreshToken);
    const second = await usedAgo(hanna.refreshToken, SESSION.leewaySeconds / 2);
    const { body: third } = await refresh(second);
    for (const at of [app, twin]) {
      expectRefresh(await refresh(hanna.refreshToken, at), 'superseded');
      expectRefresh(await graphqlRefresh(hanna.refreshToken, at), 'superseded');
      // The token just before the newest still gets the newest again.
      expect((await refresh(second, at)).body.refresh_token).toBe(third.refresh_token);
    }
    expect((await me(third.token)).status).toBe(200);
    expect((await refresh(third.refresh_token)).status).toBe(200);
  });

  it('with a token used longer ago is theft: the session ends, and the call is refused', async () => {
    for (const replay of [refresh, graphqlRefresh]) {
      const hanna = await homeowner(app, 'Hanna');
      const other = await logIn(hanna);
      const { body } = await refresh(hanna.refreshToken);
      const successor = await usedAgo(hanna.refreshToken, SESSION.leewaySeconds + 1);
      expectRefresh(await replay(hanna.refreshToken), 'reused');
      await expectDead({ token: hanna.token, refreshToken: hanna.refreshToken });
      await expectDead({ token: body.token, refreshToken: successor });
      expectRefresh(await replay(successor), 'session_ended');
      expect((await me(other.token)).status).toBe(200);
    }
  });

  it('with an older token after its leeway is also theft', async () => {
    const hanna = await homeowner(app, 'Hanna');
    await refresh(hanna.refreshToken);
    const second = await usedAgo(hanna.refreshToken, SESSION.leewaySeconds + 1);
    const { body: third } = await refresh(second);
    expectRefresh(await refresh(hanna.refreshToken, twin), 'reused');
    await expectDead({ token: third.token, refreshToken: third.refresh_token }, twin);
  });

  it(`with one token, twenty times in parallel, ${ROUNDS} times, gives all calls one refresh token`, async () => {
    const hanna = await homeowner(app, 'Hanna');
    let current = hanna.refreshToken;
    for (let round = 0; round < ROUNDS; round += 1) {
      const pairs = await Promise.all(
        Array.from({ length: 20 }, async (_, i): Promise<Pair> => {
          const at = i % 2 === 0 ? app : twin;
          if (i % 5 === 0) return (await graphqlRefresh(current, at)).data.refreshSession;
          const { body } = await refresh(current, at);
          return { token: body.token, refreshToken: body.refresh_token };
        }),
      );
      const [next = ''] = new Set(pairs.map(({ refreshToken }) => refreshToken));
      expect(pairs.map(({ refreshToken }) => refreshToken)).toEqual(pairs.map(() => next));
      expect(next).toMatch(/^rft_[0-9A-Za-z]{27}$/);
      expect(next).not.toBe(current);
      expect((await me(pairs[round % 20]?.token, twin)).body.user.id).toBe(hanna.userId);
      current = next;
    }
    const [kept] = await app.sql`select count(*)::int as tokens, count(used_at)::int as used from refresh_tokens
        join sessions on sessions.id = session_id where user_id = ${hanna.userId}`;
    expect(kept).toEqual({ tokens: ROUNDS + 1, used: ROUNDS });
  });

  it('can be repeated by instances in the middle of a secret rotation', async () => {
    const next = 'the next secret that tests know, 32 bytes';
    const before = await openTestApp({ JWT_PREVIOUS_SECRET: next }, { sameDatabaseAs: app });
    const after = await openTestApp({ JWT_SECRET: next, JWT_PREVIOUS_SECRET: JWT_SECRET }, { sameDatabaseAs: app });
    try {
      for (const [first, then] of [
        [before, after],
        [after, before],
      ] as const) {
        const hanna = await homeowner(first, 'Hanna');
        const { body } = await refresh(hanna.refreshToken, first);
        const again = await refresh(hanna.refreshToken, then);
        expect(again.body.refresh_token).toBe(body.refresh_token);
        for (const at of [before, after]) expect((await me(again.body.token, at)).status).toBe(200);
        expect((await refresh(body.refresh_token, then)).status).toBe(200);
      }
      // An instance that never had the secret can't derive the successor, but doesn't end the session.
      const hanna = await homeowner(app, 'Hanna');
      const { body } = await refresh(hanna.refreshToken, after);
      expectRefresh(await refresh(hanna.refreshToken, app), 'superseded');
      expect((await refresh(body.refresh_token, app)).status).toBe(200);
    } finally {
      await before.close();
      await after.close();
    }
  });

  it('token lasts 30 days, and a session 90, however often it is refreshed', async () => {
    const hanna = await homeowner(app, 'Hanna');
    const [fresh] = await app.sql`
      select extract(day from ends_at - sessions.created_at)::int as session, extract(day
        from expires_at - refresh_tokens.created_at)::int as token
      from sessions join refresh_tokens on session_id = sessions.id where user_id = ${hanna.userId}`;
    expect(fresh).toEqual({ session: 90, token: 30 });

    await app.sql`update sessions set ends_at = now() + interval '5 days' where user_id = ${hanna.userId}`;
    const { body } = await refresh(hanna.refreshToken);
    const [late] = await app.sql`select expires_at = ends_at as pipelined from refresh_tokens
        join sessions on sessions.id = session_id where hash = ${hashOf(body.refresh_token)}`;
    expect(late).toEqual({ pipelined: true });

    await app.sql`update refresh_tokens set expires_at = now() - interval '1 ms'
        where hash = ${hashOf(body.refresh_token)}`;
    expectRefresh(await refresh(body.refresh_token), 'expired');
    // A late refresh isn't treated as theft.
    expect((await me(body.token)).status).toBe(200);
  });

  it('is refused, like everything else, once the session is too old', async () => {
    const hanna = await homeowner(app, 'Hanna');
    await app.sql`update sessions set ends_at = now() - interval '1 ms' where user_id = ${hanna.userId}`;
    // Both instances have cached when the session used to end, so they must forget it.
    for (const { services } of [app, twin]) services.live.activeSessions.forgetAll();
    await expectDead(hanna);
  });

  it("with something that isn't a refresh token is refused", async () => {
    const hanna = await homeowner(app, 'Hanna');
    const strangers = [
      '',
      'rft_',
      hanna.token,
      hanna.userId,
      `rft_${'0'.repeat(27)}`,
      `rft_${'z'.repeat(27)}`,
      `${hanna.refreshToken} `,
      hanna.refreshToken.toLowerCase(),
      hashOf(hanna.refreshToken),
      'x'.repeat(10_000),
      '\u0000',
    ];
    for (const token of strangers) {
      const reason = isId('refreshToken', token) ? 'invalid' : 'malformed';
      expectRefresh(await refresh(token), reason);
      expectRefresh(await graphqlRefresh(token), reason);
    }
    for (const token of [undefined, null, 7, [hanna.refreshToken], {}])
      expect(byRest(await refresh(token))).toEqual(invalid('refresh_token'));
    expect((await refresh(hanna.refreshToken)).status).toBe(200);
  });
});

describe('a login', () => {
  it(`ends the session used least recently, if the user then has more than ${SESSION.perAccountMax}`, async () => {
    const [hanna, hugo] = await Promise.all([homeowner(app, 'Hanna'), homeowner(app, 'Hugo')]);
    const { token } = hanna;
    const key = (await app.rest('POST', '/v1/api-keys', { token, body: { name: 'a program' } })).body.secret;
    const unused = await logIn(hanna);
    await moveBack(hanna.userId, '2 hours');
    const { body: refreshed } = await refresh(hanna.refreshToken);
    await app.sql`insert into sessions (id, user_id, created_at, ends_at)
      select 'ses_' || lpad(n::text, 27, '0'), ${hanna.userId}, now() - interval '1 hour', now() + interval '1 day'
      from generate_series(1, ${SESSION.perAccountMax - 3}) n`;

    await logIn(hanna);
    expect(await activeLogins(hanna.userId)).toBe(SESSION.perAccountMax);
    const newest = await logIn(hanna);
    expect(await activeLogins(hanna.userId)).toBe(SESSION.perAccountMax);

    await expectDead(unused);
    for (const active of [refreshed.token, newest.token, hugo.token, key])
      expect((await me(active, twin)).status).toBe(200);
  });
});

describe('a logout', () => {
  it("immediately ends the session's tokens on every instance, and no other session", async () => {
    const hanna = await homeowner(app, 'Hanna');
    const other = await logIn(hanna, twin);
    expect((await me(hanna.token, twin)).status).toBe(200);
    const { status, body } = await app.rest('POST', '/v1/auth/logout', { token: hanna.token });
    expect({ status, body }).toEqual({ status: 200, body: { status: 200, message: expect.any(String), data: {} } });
    await expectDead(hanna);
    expect(byRest(await app.rest('POST', '/v1/auth/logout', { token: hanna.token }))).toEqual(UNAUTHENTICATED);
    expect((await me(other.token)).status).toBe(200);
    expect((await refresh(other.refreshToken)).status).toBe(200);
  });

  it('through GraphQL returns the session that it ended, like `endSession`', async () => {
    const hanna = await homeowner(app, 'Hanna');
    const { data } = await app.graphql('mutation { logOut { sessionId session { id isCurrent } } }', {
      token: hanna.token,
    });
    const { sessionId, session } = data.logOut;
    expect(session).toEqual({ id: sessionId, isCurrent: true });
    const [row] = await app.sql`select id from sessions where user_id = ${hanna.userId}`;
    expect(row?.id).toBe(sessionId);
  });

  it('through GraphQL does the same, including for the rest of the request', async () => {
    const hanna = await homeowner(app, 'Hanna');
    const answer = await app.graphql('mutation { a: logOut { sessionId } b: logOut { sessionId } }', {
      token: hanna.token,
    });
    expect(answer.errors?.[0]?.extensions.code).toBe('UNAUTHENTICATED');
    const [row] =
      await app.sql`select id, revoked_at is not null as revoked from sessions where user_id = ${hanna.userId}`;
    expect(row).toEqual({ id: expect.stringMatching(/^ses_/), revoked: true });
    await expectDead(hanna);
  });

  it('at the same moment as a refresh leaves nothing active', async () => {
    for (let round = 0; round < 10; round += 1) {
      const hanna = await homeowner(app, 'Hanna');
      const [refreshed] = await Promise.all([
        refresh(hanna.refreshToken),
        twin.rest('POST', '/v1/auth/logout', { token: hanna.token }),
      ]);
      await expectDead(hanna, twin);
      if (refreshed.status === 200)
        await expectDead({ token: refreshed.body.token, refreshToken: refreshed.body.refresh_token }, twin);
    }
  });
});

describe('a password change', () => {
  const change = (token: string, current_password: unknown, new_password: unknown, at = app) =>
    at.rest('POST', '/v1/me/password', { token, body: { current_password, new_password } });

  it("ends the user's other sessions and nobody else's, and only the new password works", async () => {
    const hanna = await homeowner(app, 'Hanna');
    const hugo = await homeowner(app, 'Hugo');
    const other = await logIn(hanna, twin);
    const { status, body } = await change(hanna.token, hanna.password, 'a better password');
    const answer = { status: 200, message: expect.any(String), data: {}, notice_sent: false };
    expect({ status, body }).toEqual({ status: 200, body: answer });
    await expectDead(other);
    expect((await me(hanna.token, twin)).status).toBe(200);
    expect((await refresh(hanna.refreshToken)).status).toBe(200);
    expect((await me(hugo.token)).status).toBe(200);
    expect(
      (await app.rest('POST', '/v1/auth/login', { body: { email: hanna.email, password: hanna.password } })).status,
    ).toBe(401);
    expect((await logIn({ ...hanna, password: 'a better password' })).token).toEqual(expect.any(String));
  });

  it('through GraphQL does the same, including for admins', async () => {
    const ada = await admin(app);
    const other = await logIn(ADMIN);
    const CHANGE = 'mutation ($input: ChangePasswordInput!) { changePassword(input: $input) { changed } }';
    const to = (currentPassword: string, newPassword: string) =>
      app.graphql(CHANGE, { token: ada.token, variables: { input: { currentPassword, newPassword } } });
    expect((await to(ADMIN.password, 'ada keeps another house')).data.changePassword).toEqual({ changed: true });
    await expectDead(other);
    expect(byGraphql(await to(ADMIN.password, 'ada keeps a third house'))).toEqual({
      status: 401,
      code: 'INVALID_CREDENTIALS',
      fields: [],
    });
    expect((await to('ada keeps another house', ADMIN.password)).data.changePassword).toEqual({ changed: true });
  });

  it('fails with a wrong password, or for a bad new one, and changes nothing', async () => {
    const hanna = await homeowner(app, 'Hanna');
    expect(byRest(await change(hanna.token, 'wrong', 'a better password'))).toEqual({
      status: 401,
      code: 'INVALID_CREDENTIALS',
      fields: [],
    });
    expect(byRest(await change(hanna.token, hanna.password, 'short'))).toEqual(invalid('new_password'));
    expect(byRest(await change(hanna.token, hanna.password, hanna.email.toUpperCase()))).toEqual(
      invalid('new_password'),
    );
    expect(byRest(await change(hanna.token, undefined, null))).toEqual(invalid('current_password', 'new_password'));
    expect((await logIn(hanna)).token).toEqual(expect.any(String));
  });

  it('whose session ends while the password is hashed changes nothing', async () => {
    const hanna = await homeowner(app, 'Hanna');
    const thief = await logIn(hanna);
    const changing = await app.sql.begin(async (tx) => {
      await tx`select from users where id = ${hanna.userId} for update`;
      const call = change(thief.token, hanna.password, 'his from now on');
      await until(async () => (await waitingCalls(app.sql)) === 1);
      await tx`update sessions set revoked_at = now() where user_id = ${hanna.userId}`;
      return [call];
    });
    const [{ status, body } = { status: 0, body: {} }] = await Promise.all(changing);
    expect([status, body.details?.reason]).toEqual([401, 'session_ended']);
    expect((await logIn(hanna)).token).toEqual(expect.any(String));
  });

  it('made twice at the same time happens once, and ends the other session', async () => {
    for (let round = 0; round < 5; round += 1) {
      const hanna = await homeowner(app, 'Hanna');
      const thief = await logIn(hanna);
      const answers = await Promise.all([
        change(hanna.token, hanna.password, 'hers from now on'),
        change(thief.token, hanna.password, 'his from now on', twin),
      ]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
      const [winner, loser, at] = answers[0].status === 200 ? [hanna, thief, app] : [thief, hanna, twin];
      expect((await me(winner.token)).status).toBe(200);
      await expectDead(loser, at);
    }
  });

  it('leaves no session active that the old password opened in the meantime', async () => {
    for (let round = 0; round < 10; round += 1) {
      const hanna = await homeowner(app, 'Hanna');
      const racing = Array.from({ length: 8 }, (_, i) => logIn(hanna, i % 2 === 0 ? app : twin));
      const [changed, ...opened] = await Promise.all([
        change(hanna.token, hanna.password, 'a better password'),
        ...racing,
      ]);
      expect(changed.status).toBe(200);
      const [alive] = await app.sql`select count(*)::int as sessions from sessions where user_id = ${hanna.userId}
          and revoked_at is null`;
      expect(alive).toEqual({ sessions: 1 });
      for (const { token } of opened) if (token !== undefined) expect((await me(token, twin)).status).toBe(401);
      expect((await me(hanna.token)).status).toBe(200);
    }
  });
});

describe('an access token', () => {
  it('lasts 15 minutes, and names the user, the session, and the role', async () => {
    const carl = await contractor(app, 'Carl');
    const [header, payload] = partsOf(carl.token)
      .slice(0, 2)
      .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()));
    expect(header).toEqual({ alg: 'HS256', typ: 'JWT', kid: expect.any(String) });
    expect(payload).toEqual({
      iss: 'job-marketplace',
      aud: 'job-marketplace',
      sub: carl.userId,
      sid: expect.stringMatching(/^ses_/),
      role: 'contractor',
      iat: expect.any(Number),
      exp: payload.iat + 900,
    });
  });

  it('is read only from the header, whatever the case of its scheme', async () => {
    const hanna = await homeowner(app, 'Hanna');
    const get = (authorization: string) => app.rest('GET', '/v1/me', { headers: { authorization } });
    for (const scheme of ['Bearer', 'bearer', 'BEARER', 'Bearer  '])
      expect((await get(`${scheme} ${hanna.token}`)).status).toBe(200);
    for (const header of [
      '',
      'Bearer',
      'Bearer ',
      hanna.token,
      `Basic ${hanna.token}`,
      `Bearer${hanna.token}`,
      `Bearer ${hanna.token} ${hanna.token}`,
      `Bearer ${hanna.token}, Bearer ${hanna.token}`,
    ]) {
      const answer = await get(header);
      expect(byRest(answer)).toEqual(UNAUTHENTICATED);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
    expect((await app.rest('GET', `/v1/me?access_token=${hanna.token}`)).status).toBe(401);
  });

  it('that is invalid gets the reason, in both APIs', async () => {
    const hanna = await homeowner(app, 'Hanna');
    const gone = await homeowner(app, 'Greta');
    await app.rest('POST', '/v1/auth/logout', { token: gone.token });
    const bearers: readonly (readonly [reason: string, authorization: string | undefined])[] = [
      ['missing', undefined],
      ['missing', ''],
      ['malformed', 'Bearer'],
      ['malformed', `Basic ${hanna.token}`],
      ['malformed', `Bearer ${hanna.token} ${hanna.token}`],
      ['malformed', 'Bearer rubbish'],
      ['invalid', `Bearer ${hanna.token.slice(0, -6)}aaaaaa`],
      ['expired', `Bearer ${expired(hanna.token)}`],
      ['session_ended', `Bearer ${gone.token}`],
    ];
    for (const [reason, authorization] of bearers) {
      const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
      const rest = await app.rest('GET', '/v1/me', { headers });
      expect({ ...byRest(rest), reason: rest.body.details.reason }).toEqual({ ...UNAUTHENTICATED, reason });
      const graphql = await app.graphql('{ viewer { referralCode } }', { headers });
      const said = graphql.errors?.[0]?.extensions.reason;
      expect({ ...byGraphql(graphql), reason: said }).toEqual({ ...UNAUTHENTICATED, reason });
    }
    const { body: empty } = await app.rest('GET', '/v1/me', { headers: { authorization: 'Bearer ' } });
    expect(empty.error).toMatch(/^The Authorization header has no bearer token\. /);
    const wrong = { email: hanna.email, password: 'wrong' };
    const { body } = await app.rest('POST', '/v1/auth/login', { body: wrong });
    expect(body.details).toMatchObject({ code: 'INVALID_CREDENTIALS', reason: 'wrong_credentials' });
  });

  it('signed with the previous secret is valid, and new ones are signed with the current one', async () => {
    const hanna = await homeowner(app, 'Hanna');
    const renewed = await openTestApp(
      { JWT_SECRET: 'the secret that comes after it, 32 bytes', JWT_PREVIOUS_SECRET: JWT_SECRET },
      { sameDatabaseAs: app },
    );
    try {
      expect((await me(hanna.token, renewed)).status).toBe(200);
      const { body } = await refresh(hanna.refreshToken, renewed);
      expect((await me(body.token, renewed)).status).toBe(200);
      // The old instance doesn't know the new secret.
      expect((await me(body.token)).status).toBe(401);
    } finally {
      await renewed.close();
    }
  });

  it("is ignored by operations that don't need one, however bad it is", async () => {
    const hanna = await homeowner(app, 'Hanna');
    const body = { email: hanna.email, password: hanna.password };
    expect((await app.rest('POST', '/v1/auth/login', { body, token: 'rubbish' })).status).toBe(200);
  });
});

function partsOf(token: string): string[] {
  return token.split('.');
}

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

function signed(header: string, payload: string, secret: string): string {
  return `${header}.${payload}.${createHmac('sha256', secret).update(`${header}.${payload}`).digest('base64url')}`;
}

/** The same token, signed by the server itself, but expired. */
function expired(token: string): string {
  const [header = '', payload = ''] = partsOf(token);
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
  return signed(header, encoded({ ...claims, exp: claims.iat - 1 }), JWT_SECRET);
}
