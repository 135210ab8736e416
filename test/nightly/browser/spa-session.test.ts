/**
 * The session of docs/clients.md: how it continues, how it ends, and whose it is. The tests run in Node, with the
 * browser's storage in memory.
 */
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openTestApp, type TestApp } from '../../setup/app.js';
import { allNumbered } from '../../platform/live/positions.js';
import { admin, homeowner, type Person } from '../../story/cast.js';
import { newFolder, stubBrowser, writeFiles } from './spa-site.js';

interface Stories {
  whoByHash(api: string, first?: () => void): Promise<unknown>;
  firstEvent(api: string): Promise<unknown>;
  firstEventOfJob(api: string, jobId: string): Promise<unknown>;
  nextEvent(api: string, cause: () => Promise<unknown>): Promise<Next>;
  signUpWith(api: string, input: object): Promise<void>;
  logInWith(api: string, input: object): Promise<void>;
}

interface Next {
  position: string;
  event: { type: string; jobId: string; position: string };
  before: object;
  after: object;
}

interface Session {
  readSession(): object | undefined;
  writeSession(session: object | undefined): void;
  renewSession(api: string): Promise<void>;
}

let apollo: Stories;
let urql: Stories;
let session: Session;
let app: TestApp;
let listed: TestApp;
let hanna: Person;
let api: string;
const folder = newFolder();

beforeAll(async () => {
  const [opened] = await Promise.all([openTestApp(), writeFiles(folder, 'codegen-listed.ts')]);
  app = opened;
  listed = await openTestApp(
    { PERSISTED_DOCUMENTS: 'only', PERSISTED_DOCUMENTS_FILE: join(folder, 'gql/persisted-documents.json') },
    { sameDatabaseAs: app },
  );
  api = `${listed.url}/graphql`;
  stubBrowser();
  const stories = (name: string) => import(join(folder, 'src/stories', `${name}.ts`));
  [apollo, urql, session] = await Promise.all([stories('apollo'), stories('urql'), stories('session')]);
  hanna = await homeowner(app, 'Hanna');
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await listed?.close();
  await app?.close();
});
beforeEach(() => signIn(hanna));

function signIn({ userId, token, refreshToken }: Person): void {
  session.writeSession({ userId, token, refreshToken });
}

describe('A session', () => {
  it('continues on a server that runs only listed documents', async () => {
    const before = session.readSession();
    await session.renewSession(api);
    expect(session.readSession()).toEqual({
      userId: hanna.userId,
      token: expect.any(String),
      refreshToken: expect.any(String),
    });
    expect(session.readSession()).not.toEqual(before);
  });

  it('ends if its refresh token is unknown', async () => {
    session.writeSession({ token: hanna.token, refreshToken: `rft_${'x'.repeat(43)}` });
    await session.renewSession(api);
    expect(session.readSession()).toBeUndefined();
  });

  it('stays if a refresh fails for another reason, and the call fails with a message', async () => {
    await expect(session.renewSession(`${app.url}/elsewhere/graphql`)).rejects.toThrow(
      'There is nothing at /elsewhere/v1/auth/refresh. GET /v1 lists every path.',
    );
    expect(session.readSession()).toBeDefined();
  });

  it('retries a refresh if the response is lost or the server is overloaded', async () => {
    const { refreshToken } = await homeowner(app, 'Olga');
    session.writeSession({ token: hanna.token, refreshToken });
    const answers = ['lost', 503, 429, 'HTML', 'passed on'];
    const server = createServer((request, response) => {
      const next = answers.shift();
      if (next === 'lost') return void response.destroy();
      if (next !== 'passed on') return void response.writeHead(typeof next === 'number' ? next : 200).end('{');
      const { url = '' } = request;
      void fetch(app.url + url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ refresh_token: refreshToken }),
      }).then(async (answer) => response.writeHead(answer.status).end(await answer.text()));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    await session.renewSession(`http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`);
    expect(answers).toEqual([]);
    expect(session.readSession()).not.toMatchObject({ refreshToken });
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
});

const CLIENTS: [name: string, stories: () => Stories][] = [
  ['Apollo Client', () => apollo],
  ['urql', () => urql],
];

describe.each(CLIENTS)('A subscription with %s', (_, stories) => {
  const jobOf = async ({ token }: Person): Promise<string> =>
    (await app.rest('POST', '/v1/jobs', { token, body: { title: 'A roof', description: 'It leaks.' } })).body.id;

  it('opens by its hash on a server that runs only listed documents', async () => {
    const olga = await homeowner(app, 'Olga');
    await jobOf(olga);
    signIn(olga);
    expect(await stories().firstEvent(api)).toMatchObject({ actorId: olga.userId });
  });

  it('stops if its text isn’t on the list, and the app learns why', async () => {
    await expect(stories().firstEventOfJob(api, await jobOf(hanna))).rejects.toThrow('VALIDATION_FAILED');
  });

  it('opens by its text on other servers, and the app learns that it can’t see a job', async () => {
    const anywhere = `${app.url}/graphql`;
    expect(await stories().firstEventOfJob(anywhere, await jobOf(hanna))).toMatchObject({
      position: expect.stringMatching(/^\d+$/),
    });
    const olgas = await jobOf(await homeowner(app, 'Olga'));
    await expect(stories().firstEventOfJob(anywhere, olgas)).rejects.toThrow(/FORBIDDEN|NOT_FOUND/);
  });
});

describe.each(CLIENTS)('The first position with %s', (_, stories) => {
  const write = async ({ token }: Person, title: string): Promise<string> =>
    (await app.rest('POST', '/v1/jobs', { token, body: { title, description: 'It leaks.' } })).body.id;

  it('is before the first event of a user without events', async () => {
    const olga = await homeowner(app, 'Olga');
    signIn(olga);
    let id = '';
    const { position, event } = await stories().nextEvent(`${app.url}/graphql`, async () => {
      id = await write(olga, 'A roof');
    });
    expect(position).toBe('0');
    expect(event).toMatchObject({ type: 'JOB_CREATED', jobId: id });
  });

  it('is after all earlier events, and leaves cached lists of events as they are', async () => {
    const olga = await homeowner(app, 'Olga');
    signIn(olga);
    for (const title of ['A roof', 'A gate', 'A fence']) await write(olga, title);
    await allNumbered(app);
    let id = '';
    const next = await stories().nextEvent(`${app.url}/graphql`, async () => {
      id = await write(olga, 'A door');
    });
    expect(next.event).toMatchObject({ type: 'JOB_CREATED', jobId: id });
    expect(BigInt(next.event.position)).toBeGreaterThan(BigInt(next.position));
    expect(next.after).toEqual(next.before);
  });
});

describe.each(CLIENTS)('An error that `send` throws with %s', (_, stories) => {
  it('has the fields to correct', async () => {
    const input = { email: 'not an address', password: 'a good password', firstName: 'Hanna', lastName: 'Hill' };
    await expect(stories().signUpWith(`${app.url}/graphql`, input)).rejects.toMatchObject({
      message: expect.stringMatching(/\w/),
      code: 'VALIDATION_FAILED',
      fields: { email: expect.any(String) },
    });
  });

  it('says why a suspended user can’t log in, and until when', async () => {
    const { userId, email, password } = await homeowner(app, 'Olga');
    const until = '2100-01-01T00:00:00.000Z';
    const body = { reason: 'Asked for money in advance.', until };
    const { token } = await admin(app);
    expect((await app.rest('POST', `/v1/users/${userId}/suspend`, { token, body })).status).toBe(200);
    await expect(stories().logInWith(`${app.url}/graphql`, { email, password })).rejects.toMatchObject({
      code: 'INVALID_CREDENTIALS',
      reason: 'suspended',
      until,
    });
  });
});

describe.each(CLIENTS)('A session with %s', (_, stories) => {
  it('ends at the first call after the server has ended it', async () => {
    const olga = await homeowner(app, 'Olga');
    await app.rest('POST', '/v1/auth/logout', { token: olga.token });
    signIn(olga);
    // Without a token, `viewer` is null.
    await stories()
      .whoByHash(api)
      .catch(() => undefined);
    expect(session.readSession()).toBeUndefined();
  });

  it('continues if its access token is malformed', async () => {
    const { userId, refreshToken } = await homeowner(app, 'Olga');
    session.writeSession({ userId, token: 'none', refreshToken });
    expect(await stories().whoByHash(api)).toMatchObject({ id: userId });
  });

  it('of another user isn’t sent by an older client', async () => {
    const olga = await homeowner(app, 'Olga');
    const who = await stories()
      .whoByHash(api, () => signIn(olga))
      .catch(() => undefined);
    expect(who).toBeUndefined();
    expect(session.readSession()).toMatchObject({ token: olga.token });
  });
});
