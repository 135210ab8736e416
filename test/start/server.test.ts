/** The server on its own database: it starts, drains, survives being killed, and keeps its folder to itself. */
import { once } from 'node:events';
import { Agent, get, request, type IncomingMessage } from 'node:http';
import { mkdirSync } from 'node:fs';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { postmasterOf, processesOf } from '../embedded/processes.js';
import { until } from '../security/until.js';
import { expectTimed } from '../timing.js';
import { logIn, readiness, signUp, type Account } from './callers.js';
import { clone, type Clone } from './clone.js';
import { start, startServer } from './processes.js';

let project: Clone;

beforeAll(() => {
  project = clone();
});
afterAll(() => project.remove());

it('a promise that fails and that nothing waits for is logged, and ends nobody’s calls', async () => {
  const dropped = 'process.on("SIGUSR2", () => void Promise.reject(new Error("dropped")))';
  const server = startServer(project, {
    DATA_DIR: project.dataFolder(),
    NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(dropped)}"`,
  });
  const url = await server.url;
  process.kill(server.pid, 'SIGUSR2');
  await until(() => server.output().includes('unhandled promise rejection'));
  expect(server.output()).toContain('dropped');
  expect(await readiness(url)).toBe(200);
  expect((await server.stop()).code).toBe(0);
});

it('an error that nothing catches ends the process, and is a line of the log', async () => {
  const thrown = 'process.on("SIGUSR2", () => { throw new Error("thrown") })';
  const server = startServer(project, {
    DATA_DIR: project.dataFolder(),
    NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(thrown)}"`,
  });
  await server.url;
  process.kill(server.pid, 'SIGUSR2');
  const { code, output } = await server.ended;
  expect(code).not.toBe(0);
  const line = output.split('\n').find((text) => text.includes('"level":"fatal"')) ?? '{}';
  expect(JSON.parse(line)).toMatchObject({ msg: 'uncaught exception: the server ends', err: { message: 'thrown' } });
});

it('a first start makes the database, is ready, and says where everything is', async () => {
  const dataFolder = project.dataFolder();
  const server = startServer(project, { DATA_DIR: dataFolder });
  const url = await server.url;

  expect(await readiness(url)).toBe(200);
  for (const said of [`${url}/graphql`, `${url}/v1/docs`, `${url}/healthz`, `${url}/readyz`])
    expect(server.output()).toContain(said);
  expect(processesOf(dataFolder).length).toBeGreaterThan(0);

  expect((await server.stop()).code).toBe(0);
  await untilGone(dataFolder);
});

it('SIGTERM under load: every call that was begun is answered, the exit is clean, and Postgres is gone', async () => {
  const dataFolder = project.dataFolder();
  const server = startServer(project, { DATA_DIR: dataFolder, RATE_LIMITS: 'off' });
  const url = await server.url;
  const { token } = await signUp(url, 'busy@example.test');

  const load = callWithoutPause(`${url}/v1/me`, token, 20);
  await until(() => load.answered.length > 200);
  const beforeTheSignal = load.answered.length;
  const { code, output } = await server.stop();
  await load.ended;

  expect(load.answered.length).toBeGreaterThanOrEqual(beforeTheSignal);
  expect(new Set(load.answered)).toEqual(new Set([200]));
  expect(new Set(load.refused)).toEqual(new Set(['ECONNREFUSED']));
  expect(code).toBe(0);
  expect(output).toContain('"msg":"stopped"');
  await untilGone(dataFolder);
});

it('SIGTERM while log-ins wait for their hashes, and some at the API: all of them are answered', async () => {
  const server = startServer(project, { DATA_DIR: project.dataFolder(), RATE_LIMITS: 'off', BCRYPT_COST: '8' });
  const url = await server.url;
  const account = await signUp(url, 'owner@example.test');

  const hashing = Array.from({ length: 20 }, () => sendLogIn(url, account));
  await Promise.all(hashing.map(({ sent }) => sent));
  // It stands still while these come, and finds them and the signal when it goes on.
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

it('an account is still there after kill -9 and a second start', async () => {
  const environment = { DATA_DIR: project.dataFolder() };
  const killed = startServer(project, environment);
  const { email, password, token } = await signUp(await killed.url, 'survivor@example.test');
  await killed.stop('SIGKILL');

  const url = await startServer(project, environment).url;
  expect((await logIn(url, email, password)).status).toBe(200);
  // The secret was kept too, so the log-in from before still holds.
  expect((await fetch(`${url}/v1/me`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(200);
});

it('a database that dies is started again, its server writes within two seconds (timed), and logs it', async () => {
  const dataFolder = project.dataFolder();
  const server = startServer(project, { DATA_DIR: dataFolder, RATE_LIMITS: 'off' });
  const url = await server.url;
  const before = await signUp(url, 'before@example.test');
  const WAIT = { timeout: 100_000, interval: 20 };
  const recoveriesMs: number[] = [];
  for (let death = 1; death <= 3; death += 1) {
    process.kill(postmasterOf(dataFolder), 'SIGKILL');
    const killed = performance.now();
    await vi.waitFor(() => signUp(url, `after.${death}@example.test`), WAIT);
    recoveriesMs.push(performance.now() - killed);
  }
  // What else the machine has to do can only make it slower: the best of them is the server's own.
  expectTimed(() => expect(Math.min(...recoveriesMs)).toBeLessThan(2_000));
  // Another connection may notice only now that its Postgres has died.
  await vi.waitFor(async () => expect((await logIn(url, before.email, before.password)).status).toBe(200), WAIT);
  const { code, output } = await server.stop();
  expect(code).toBe(0);
  expect(output).toContain('The embedded Postgres has ended by itself, and is started again.');
  await untilGone(dataFolder);
});

it('a second server on the same data folder is told so, and the first goes on', async () => {
  const environment = { DATA_DIR: project.dataFolder() };
  const first = startServer(project, environment);
  const url = await first.url;

  const second = await startServer(project, environment).ended;
  expect(second.code).toBe(1);
  expect(second.output).toContain(
    `Another server (process ${first.pid}) runs on the data folder ${environment.DATA_DIR}.`,
  );
  expect(second.output).not.toMatch(/\n\s+at /);
  expect(await readiness(url)).toBe(200);
});

it('two servers with two data folders live side by side and share nothing', async () => {
  const servers = [
    startServer(project, { DATA_DIR: project.dataFolder() }),
    startServer(project, { DATA_DIR: project.dataFolder() }),
  ];
  const [one = '', other = ''] = await Promise.all(servers.map((server) => server.url));
  const { email, password } = await signUp(one, 'here.only@example.test');

  expect((await logIn(one, email, password)).status).toBe(200);
  expect((await logIn(other, email, password)).status).toBe(401);
});

it('a signal in the middle of the first start ends it cleanly, and the next start succeeds', async () => {
  const dataFolder = project.dataFolder();
  const interrupted = startServer(project, { DATA_DIR: dataFolder });
  await until(() => processesOf(dataFolder).length > 0);
  expect((await interrupted.stop()).code).toBe(0);
  await untilGone(dataFolder);

  expect(await readiness(await startServer(project, { DATA_DIR: dataFolder }).url)).toBe(200);
});

it('a port that is taken is named, and no database is left running', async () => {
  const taken = await startServer(project, { DATA_DIR: project.dataFolder() }).url;
  const dataFolder = project.dataFolder();
  const { code, output } = await startServer(project, { DATA_DIR: dataFolder, PORT: new URL(taken).port }).ended;

  expect(code).toBe(1);
  expect(output).toContain(`address already in use 127.0.0.1:${new URL(taken).port}`);
  await untilGone(dataFolder);
});

it('npm start builds what is not built, and a signal to npm reaches the server', async () => {
  const fresh = clone({ built: false });
  try {
    const dataFolder = fresh.dataFolder();
    mkdirSync(dataFolder);
    const server = start(fresh, ['npm', 'start'], { DATA_DIR: dataFolder });
    expect(await readiness(await server.url)).toBe(200);
    expect((await server.stop()).code).toBe(0);
    await untilGone(dataFolder);
  } finally {
    fresh.remove();
  }
});

interface Load {
  readonly answered: number[];
  readonly refused: string[];
  readonly ended: Promise<unknown>;
}

/** Each caller keeps its connection and calls again at once, until it is refused. */
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
  /** The system has connected it and has all of it. */
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
