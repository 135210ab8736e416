/** A user's own sessions: listed and ended through both APIs, with an immediate effect on every instance. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestApp, type Json, type TestApp } from '../../../setup/app.js';
import { contractor, homeowner, programOf, type Person } from '../../../story/cast.js';
import { until } from '../../../platform/security/until.js';
import { byGraphql, byRest } from '../../../apis/refused.js';

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

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:149.0) Gecko/20100101 Firefox/149.0';
const LIST = `query ($first: Int) { viewer { sessions(first: $first) {
  totalCount nodes { id createdAt lastUsedAt program isCurrent } pageInfo { hasNextPage } } } }`;
const END = 'mutation ($id: ID!) { endSession(id: $id) { session { id isCurrent } } }';
const END_OTHERS = 'mutation { endOtherSessions { endedCount viewer { sessions { nodes { isCurrent } } } } }';

interface LogIn {
  readonly token: string;
  readonly refreshToken: string;
}

async function logIn(person: Person, program?: string): Promise<LogIn> {
  const { status, body } = await app.rest('POST', '/v1/auth/login', {
    body: { email: person.email, password: person.password },
    headers: program === undefined ? {} : { 'user-agent': program },
  });
  expect(status).toBe(200);
  return { token: body.token, refreshToken: body.refresh_token };
}

const list = async (token: string): Promise<Json[]> =>
  (await app.graphql(LIST, { token })).data.viewer.sessions.nodes as Json[];
const listed = async (token: string): Promise<Json[]> =>
  (await app.rest('GET', '/v1/sessions', { token })).body.data as Json[];
const isAlive = async (token: string) => (await twin.rest('GET', '/v1/me', { token })).status === 200;
/** The other instance receives a notification shortly after the commit. */
const ended = (token: string) => until(async () => !(await isAlive(token)));

it("are listed, newest first, with each one's program and the current one marked, and without API keys", async () => {
  const hanna = await homeowner(app, 'Hanna');
  await programOf(app, hanna);
  const laptop = await logIn(hanna, FIREFOX);
  const odd = await logIn(hanna, `curl\\u00e9 ${'x'.repeat(300)}`.normalize());
  const sessions = await list(laptop.token);
  expect(sessions.map(({ isCurrent }) => isCurrent)).toEqual([false, true, false]);
  expect(sessions[1]).toMatchObject({ program: FIREFOX });
  expect(sessions[0]?.program).toHaveLength(200);
  expect(await listed(laptop.token)).toEqual(
    sessions.map(({ id, createdAt, lastUsedAt, program, isCurrent }) => ({
      id,
      created_at: createdAt,
      last_used_at: lastUsedAt,
      program,
      is_current: isCurrent,
    })),
  );
  await app.sql`update refresh_tokens set created_at = created_at - interval '1 hour'`;
  const [before] = await list(laptop.token);
  await app.rest('POST', '/v1/auth/refresh', { body: { refresh_token: odd.refreshToken } });
  const [after] = await list(laptop.token);
  expect(after?.id).toBe(before?.id);
  expect(Date.parse(after?.lastUsedAt) - Date.parse(before?.lastUsedAt)).toBeGreaterThan(3_500_000);
  const { body } = await app.rest('GET', `/v1/sessions/${after?.id}`, { token: odd.token });
  expect(body).toMatchObject({ id: after?.id, is_current: true });
});

it('end one by one, immediately on every instance, and a refresh brings none back', async () => {
  const hanna = await homeowner(app, 'Henry');
  const [stolen, own] = [await logIn(hanna, 'thief'), await logIn(hanna, 'own')];
  expect(await isAlive(stolen.token)).toBe(true);
  const theirs = (await list(own.token)).find(({ program }) => program === 'thief');
  const end = await app.graphql(END, { token: own.token, variables: { id: theirs?.id } });
  expect(end.data).toEqual({ endSession: { session: { id: theirs?.id, isCurrent: false } } });
  await ended(stolen.token);
  const refreshed = await app.rest('POST', '/v1/auth/refresh', { body: { refresh_token: stolen.refreshToken } });
  expect([refreshed.status, refreshed.body.details.reason]).toEqual([401, 'session_ended']);
  expect((await listed(own.token)).map(({ program }) => program)).not.toContain('thief');

  const again = await app.rest('DELETE', `/v1/sessions/${theirs?.id}`, { token: own.token });
  expect(byRest(again)).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  const mine = (await listed(own.token)).find(({ is_current }) => is_current);
  expect((await app.rest('DELETE', `/v1/sessions/${mine?.id}`, { token: own.token })).status).toBe(200);
  await ended(own.token);
  expect(await isAlive(hanna.token)).toBe(true);
});

it('all others end together, while API keys continue', async () => {
  const carlos = await contractor(app, 'Carlos');
  const key = await programOf(app, carlos);
  const others = [await logIn(carlos), await logIn(carlos)];
  const answer = await app.graphql(END_OTHERS, { token: carlos.token });
  expect(answer.data.endOtherSessions).toEqual({
    endedCount: 2,
    viewer: { sessions: { nodes: [{ isCurrent: true }] } },
  });
  for (const { token } of others) await ended(token);
  expect(await isAlive(carlos.token)).toBe(true);
  expect(await isAlive(key.token)).toBe(true);
  const rest = await app.rest('DELETE', '/v1/sessions', { token: carlos.token });
  expect([rest.status, rest.body.message]).toEqual([200, 'All other sessions have ended.']);
});

it('belong only to their user, and not to API keys', async () => {
  const [rita, olga] = [await homeowner(app, 'Rita'), await homeowner(app, 'Olga')];
  const [foreign] = await list(olga.token);
  const key = await programOf(app, rita);
  const refused = [
    await app.rest('GET', `/v1/sessions/${foreign?.id}`, { token: rita.token }),
    await app.rest('DELETE', `/v1/sessions/${foreign?.id}`, { token: rita.token }),
    await app.rest('GET', '/v1/sessions', { token: key.token }),
    await app.rest('DELETE', '/v1/sessions', { token: key.token }),
  ];
  for (const answer of refused) expect(byRest(answer)).toMatchObject({ status: 403, code: 'FORBIDDEN' });
  const node = await app.graphql('query ($id: ID!) { node(id: $id) { __typename id } }', {
    token: rita.token,
    variables: { id: foreign?.id },
  });
  expect(byGraphql(node)).toMatchObject({ code: 'FORBIDDEN' });
  expect(await isAlive(olga.token)).toBe(true);
});
