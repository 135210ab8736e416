/** The server on its own database: it starts, drains, survives kills, and doesn't share its folder. */
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { Agent, get, request, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it, vi } from 'vitest';
import { postmasterOf, processesOf } from '../platform/embedded/processes.js';
import { until } from '../platform/security/until.js';
import { logIn, patiently, signUp, untilReady, type Account } from './callers.js';
import { clone, type Clone } from './clone.js';
import { startServer, type Started } from './processes.js';

const ON_SIGNALS = `
  import { createRequire } from "node:module";
  const { cache } = createRequire(process.cwd() + "/dist/main.js");
  process.on("SIGCONT", () => console.log("Places:", Object.keys(cache).some((file) => file.includes("zipcodes"))));
  process.on("SIGUSR2", () => void Promise.reject(new Error("dropped")));
  process.on("SIGWINCH", () => { throw new Error("thrown") });`;

let project: Clone;
let dataFolder: string;
let server: Started;
let url: string;
let account: Account;

const startWithSignals = () =>
  startServer(project, {
    DATA_DIR: dataFolder,
    RATE_LIMITS: 'off',
    NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(ON_SIGNALS)}"`,
  });

/** The first tests share this server. The last of them kills it. */
beforeAll(async () => {
  project = clone();
  dataFolder = project.usedDataFolder();
  server = startWithSignals();
  url = await server.url;
  account = await signUp(url, 'survivor@example.test');
});
afterAll(() => project.remove());

it('npm start builds, creates the database, and prints all URLs, and a signal to npm ends everything', async () => {
  const { url, output, ...first } = inject('firstStart');
  for (const said of [
    'Compiling TypeScript…',
    `Creating a database in ${first.dataFolder}…`,
    `${url}/graphql`,
    `${url}/v1/docs`,
    `${url}/healthz`,
    `${url}/readyz`,
  ])
    expect(output).toContain(said);
  expect(first).toMatchObject({ code: 0 });
  expect(first.databaseProcesses).toBeGreaterThan(0);
  await untilGone(first.dataFolder);
});

it('prints the link to the mailbox, and stores its secret in DATA_DIR, readable only by its owner', async () => {
  const file = join(dataFolder, 'mailbox-secret');
  const link = `${url}/mailbox?secret=${readFileSync(file, 'utf8')}`;
  expect(server.output()).toContain(`    Mailbox         ${link}\n`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect((await fetch(link, { redirect: 'manual' })).status).toBe(303);
  expect((await fetch(`${url}/mailbox`)).status).toBe(403);
});

it('places are loaded before the first job needs them', async () => {
  process.kill(server.pid, 'SIGCONT');
  await until(() => server.output().includes('Places: '));
  expect(server.output()).toContain('Places: true');
});

it('an unhandled rejection is logged, and doesn’t end anyone’s calls', async () => {
  process.kill(server.pid, 'SIGUSR2');
  await until(() => server.output().includes('unhandled promise rejection'));
  expect(server.output()).toContain('dropped');
  await untilReady(url);
});

it('a second server in the same data folder exits with an explanation, and the first one keeps running', async () => {
  const second = await startServer(project, { DATA_DIR: dataFolder }).ended;
  expect(second.code).toBe(1);
  expect(second.output).toContain(`Another server (process ${server.pid}) is using the data folder ${dataFolder}.`);
  expect(second.output).not.toMatch(/\n\s+at /);
  await untilReady(url);
});

it('a start on a used port fails and names the port, and leaves no database running', async () => {
  const another = project.usedDataFolder();
  const { code, output } = await startServer(project, { DATA_DIR: another, PORT: new URL(url).port }).ended;

  expect(code).toBe(1);
  const port = Number(new URL(url).port);
  const sentence = `Port ${port} on 127.0.0.1 is in use by another program. Choose another port: npm start`;
  expect(output.trimEnd().split('\n').at(-1)).toBe(`${sentence} -- --port ${port + 1}`);
  await untilGone(another);
});

it('a database that dies twice is restarted each time, and the server logs it and can write', async () => {
  const WAIT = { timeout: 100_000, interval: 20 };
  let people = 0;
  for (let death = 1; death <= 2; death += 1) {
    process.kill(postmasterOf(dataFolder), 'SIGKILL');
    // A signup whose response was lost may have succeeded.
    await vi.waitFor(() => signUp(url, `person.${(people += 1)}@example.test`), WAIT);
    // The signup may also have used the old database, just before it died.
    await until(() => server.output().split('The embedded Postgres is running again.').length > death);
  }
  // Another connection may notice only now that Postgres has died.
  const { email, password } = account;
  await vi.waitFor(async () => expect((await logIn(url, email, password)).status).toBe(200), WAIT);
  expect(server.output()).toContain('The embedded Postgres exited unexpectedly. Starting it again.');
});

it('an account survives kill -9, and an uncaught exception is logged and ends the process', async () => {
  await server.stop('SIGKILL');

  const second = startWithSignals();
  const { email, password, token } = account;
  expect((await logIn(await second.url, email, password)).status).toBe(200);
  // The secret survived too, so the earlier session still works.
  const authorization = `Bearer ${token}`;
  const url = await second.url;
  expect((await patiently(() => fetch(`${url}/v1/me`, { headers: { authorization } }))).status).toBe(200);

  process.kill(second.pid, 'SIGWINCH');
  const { code, output } = await second.ended;
  expect(code).not.toBe(0);
  const line = output.split('\n').find((text) => text.includes('"level":"fatal"')) ?? '{}';
  const msg = 'uncaught exception: the server is exiting';
  expect(JSON.parse(line)).toMatchObject({ msg, err: { message: 'thrown' } });
  await untilGone(dataFolder);
});

it('SIGTERM under load: every call in progress gets its response, the exit is clean, and Postgres ends', async () => {
  const dataFolder = project.usedDataFolder();
  // A user may use a fifth of the connections, so no call waits for one. On a busy machine, it could wait too long.
  const server = startServer(project, { DATA_DIR: dataFolder, RATE_LIMITS: 'off', DATABASE_POOL_SIZE: '100' });
  const url = await server.url;
  const { token } = await signUp(url, 'busy@example.test');

  const load = callWithoutPause(`${url}/v1/me`, token, 20);
  await until(() => load.answered.length > 200);
  const beforeTheSignal = load.answered.length;
  const { code, output } = await server.stop();
  await load.ended;

  expect(load.answered.length).toBeGreaterThanOrEqual(beforeTheSignal);
  expect(new Set(load.answered)).toEqual(new Set([200]));
  // Every request that the server read got its response. A starved client may send one on a connection that the server
  // is closing because it was idle for 250 ms: the system resets it, and the server never reads it.
  const answered = output.split('\n').filter((line) => line.includes('/v1/me') && line.includes('"msg":"answered"'));
  expect(answered).toHaveLength(load.answered.length);
  expect(output).not.toContain('client disconnected');
  expect(['ECONNREFUSED', 'ECONNRESET']).toEqual(expect.arrayContaining(load.refused));
  expect(code).toBe(0);
  expect(output).toContain('"msg":"stopped"');
  await untilGone(dataFolder);
});

it('SIGTERM while logins wait for their hashes or at the API: all of them get a response', async () => {
  const server = startServer(project, { DATA_DIR: project.usedDataFolder(), RATE_LIMITS: 'off', BCRYPT_COST: '8' });
  const url = await server.url;
  const account = await signUp(url, 'owner@example.test');

  const hashing = Array.from({ length: 20 }, () => sendLogIn(url, account));
  await Promise.all(hashing.map(({ sent }) => sent));
  // The server is frozen while these arrive. When it thaws, it finds them and the signal.
  process.kill(server.pid, 'SIGSTOP');
  const atTheApi = Array.from({ length: 20 }, () => sendLogIn(url, account));
  await Promise.all(atTheApi.map(({ sent }) => sent));
  const ended = server.stop();
  process.kill(server.pid, 'SIGCONT');

  const calls = [...hashing, ...atTheApi];
  const answers = await Promise.all(calls.map(({ answered }) => answered));
  expect(answers.filter((status) => status !== 200 && status !== 503)).toEqual([]);
  expect((await ended).code).toBe(0);
  expect((await ended).output).not.toContain('before the response');
});

it('a signal during the first start ends it cleanly, and the next start succeeds', async () => {
  const dataFolder = project.dataFolder();
  // This only raises the limit for the whole stop. A server that is still starting has no requests to wait for.
  const interrupted = startServer(project, { DATA_DIR: dataFolder, LAME_DUCK_SECONDS: '300' });
  await until(() => processesOf(dataFolder).length > 0);
  expect((await interrupted.stop()).code).toBe(0);
  await untilGone(dataFolder);

  await untilReady(await startServer(project, { DATA_DIR: dataFolder }).url);
});

interface Load {
  readonly answered: number[];
  readonly refused: string[];
  readonly ended: Promise<unknown>;
}

/** Each caller keeps its connection, and calls again immediately until a call fails. */
function callWithoutPause(url: string, token: string, callers: number): Load {
  const answered: number[] = [];
  const refused: string[] = [];
  const agent = new Agent({ keepAlive: true });
  const call = () =>
    new Promise<number>((resolve, reject) => {
      get(url, { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
        response.once('error', reject);
        response.once('end', () => resolve(response.statusCode ?? 0));
        response.resume();
      }).once('error', reject);
    });
  const caller = async () => {
    try {
      for (;;) answered.push(await call());
    } catch (error) {
      refused.push(error instanceof Error && 'code' in error ? String(error.code) : String(error));
    }
  };
  return {
    answered,
    refused,
    ended: Promise.all(Array.from({ length: callers }, caller)).finally(() => agent.destroy()),
  };
}

interface Call {
  /** Resolves once the system has connected it and accepted all its data. */
  readonly sent: Promise<unknown>;
  readonly answered: Promise<number>;
}

function sendLogIn(url: string, { email, password }: Account): Call {
  const call = request(`${url}/v1/auth/login`, {
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json' },
  });
  const sent = once(call, 'finish');
  const answered = new Promise<number>((resolve, reject) => {
    call.once('error', reject);
    call.once('response', (response: IncomingMessage) => {
      response.resume();
      response.once('error', reject).once('end', () => resolve(response.statusCode ?? 0));
    });
  });
  call.end(JSON.stringify({ email, password }));
  return { sent, answered };
}

async function untilGone(dataFolder: string): Promise<void> {
  await until(() => processesOf(dataFolder).length === 0);
}
