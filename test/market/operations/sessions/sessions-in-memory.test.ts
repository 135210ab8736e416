/** The sessions that an instance keeps in memory. If it may have missed a session's end, it trusts none of them. */
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import type { SessionId } from '../../../../src/market/rules/ids.js';
import { homeowner, type Person } from '../../../story/cast.js';
import { openTestApp, type TestApp } from '../../../setup/app.js';
import { until } from '../../../platform/security/until.js';
import { databaseWire, type DatabaseWire } from '../../../apis/database-wire.js';

/** Long enough that no test passes just because the database is asked again. */
vi.mock('../../../../src/platform/service-limits.js', async (original) => {
  const limits = await original<typeof import('../../../../src/platform/service-limits.js')>();
  return { ...limits, SESSIONS_IN_MEMORY: { ...limits.SESSIONS_IN_MEMORY, entryAgeMsMax: 3_600_000 } };
});

let app: TestApp;
let wire: DatabaseWire;
/** A second instance, whose connections to the database are never held back. */
let twin: TestApp;
beforeAll(async () => {
  app = await openTestApp({}, { through: async (straight) => (wire = await databaseWire(straight)).connection });
  twin = await openTestApp({}, { sameDatabaseAs: app });
});
afterEach(() => wire.release());
afterAll(async () => {
  await twin.close();
  await app.close();
  wire.close();
});

const me = async ({ token }: Pick<Person, 'token'>, at = app) => (await at.rest('GET', '/v1/me', { token })).status;
const logOut = async ({ token }: Person, at: TestApp) =>
  expect((await at.rest('POST', '/v1/auth/logout', { token })).status).toBe(200);
const logIn = async ({ email, password }: Person): Promise<{ token: string }> =>
  (await twin.rest('POST', '/v1/auth/login', { body: { email, password } })).body;

const sessionOf = ({ token }: Pick<Person, 'token'>): SessionId =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).sid;

/** True if this instance can respond without asking the database. */
const isInMemory = (who: Pick<Person, 'token'>, { services } = app) =>
  services.live.activeSessions.find(sessionOf(who)) !== undefined;

/** A new user whose session this instance knows to be active. */
async function known(name: string): Promise<Person> {
  const person = await homeowner(app, name);
  // On a busy machine, a heartbeat may be late.
  await until(async () => (await me(person)) === 200 && isInMemory(person));
  return person;
}

async function lookUps(work: () => Promise<unknown>): Promise<number> {
  app.statements();
  await work();
  return app.statements().filter((text) => text.includes('from "sessions"')).length;
}

it('a logout on another instance is noticed', async () => {
  const hanna = await known('Hanna');
  await logOut(hanna, twin);
  await until(() => !isInMemory(hanna));
  expect(await me(hanna)).toBe(401);
});

it("a logout notified during a lookup overrides the lookup's result", async () => {
  const hanna = await known('Hanna');
  app.services.live.activeSessions.forgetAll();
  const ended = vi.spyOn(app.services.live.activeSessions, 'forget');
  wire.hold(sessionOf(hanna));
  const answer = me(hanna);
  // The database has found the session active, but its result is still on the way.
  await until(() => wire.held() > 0);
  await logOut(hanna, twin);
  await until(() => ended.mock.calls.some(([session]) => session === sessionOf(hanna)));
  wire.release();
  expect(await answer).toBe(401);
  expect(await me(hanna)).toBe(401);
});

it('an instance without its own heartbeat queries the database on every call, until it gets it again', async () => {
  const [hanna, hugo] = [await known('Hanna'), await known('Hugo')];
  wire.hold('listen "');
  await logOut(hanna, twin);
  await until(async () => (await me(hanna)) === 401);
  expect(isInMemory(hugo)).toBe(false);
  expect(
    await lookUps(async () => {
      for (let times = 0; times < 3; times += 1) expect(await me(hugo)).toBe(200);
    }),
  ).toBe(3);
  wire.release();
  await until(async () => (await me(hugo)) === 200 && isInMemory(hugo));
  expect([await me(hugo), await me(hanna)]).toEqual([200, 401]);
});

it("an instance that starts to listen again doesn't know any sessions", async () => {
  const hanna = await known('Hanna');
  const { activeSessions } = app.services.live;
  const killed = await app.sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query ilike 'listen %'`;
  expect(killed.length).toBe(2);
  await until(() => activeSessions.lastKnownViewer(sessionOf(hanna)) === undefined);
  await until(async () => (await me(hanna)) === 200 && isInMemory(hanna));
});

it('a new password immediately ends the other sessions on the server that set it, and a dry run doesn’t', async () => {
  const hanna = await known('Hanna');
  const other = await logIn(hanna);
  await until(async () => (await me(other)) === 200 && isInMemory(other));
  const change = (headers: Record<string, string>) =>
    app.rest('POST', '/v1/me/password', {
      token: hanna.token,
      headers,
      body: { current_password: hanna.password, new_password: 'a better password' },
    });
  const ended = vi.spyOn(app.services.live.activeSessions, 'forget');
  expect((await change({ 'Dry-Run': 'true' })).status).toBe(200);
  expect(ended.mock.calls.filter(([session]) => session === sessionOf(other))).toEqual([]);
  expect(await me(other)).toBe(200);
  expect((await change({ 'Idempotency-Key': 'once' })).status).toBe(200);
  expect(await me(other)).toBe(401);
  expect(await me(hanna)).toBe(200);
});
