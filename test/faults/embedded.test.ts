/** The embedded Postgres when its server is killed or meets another: real kill -9, real races. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { findRunningPostgres, startEmbeddedPostgres, type EmbeddedOptions } from '../../src/store/embedded.js';
import { logIn, signUp } from '../start/callers.js';
import { clone, type Clone } from '../start/clone.js';
import { startServer } from '../start/processes.js';
import {
  ask,
  connectionOf,
  killLeftProcesses,
  postmasterOf,
  processesOf,
  startProcess,
  type ServerProcess,
} from '../store/embedded-process.js';
import { expectTimed } from '../timing.js';
import { chanceFrom } from '../seed.js';

const chance = chanceFrom(12);

const root = realpathSync(mkdtempSync(join(tmpdir(), 'marketplace-kills-')));
chmodSync(root, 0o711);
vi.setConfig({ testTimeout: 300_000 });
let folders = 0;
const newFolder = () => join(root, `data-${(folders += 1)}`);
const isGone = (folder: string) => vi.waitFor(() => expect(processesOf(folder)).toEqual([]), 100_000);

afterAll(async () => {
  killLeftProcesses();
  await isGone(`${root}/`);
  rmSync(root, { recursive: true, force: true, maxRetries: 5 });
});

/** One in this very process, ended with its test however that goes. */
async function startHere(folder: string, options?: EmbeddedOptions) {
  const server = await startEmbeddedPostgres(folder, options);
  onTestFinished(() => server.stop());
  return server;
}

async function givenServerWithRow(folder: string): Promise<ServerProcess> {
  const server = startProcess(folder);
  await ask(await connectionOf(server), 'create table if not exists kept as select 42 as answer');
  return server;
}

async function expectRecovery(folder: string): Promise<void> {
  const server = startProcess(folder);
  expect(await ask(await connectionOf(server), 'select answer from kept')).toEqual([{ answer: 42 }]);
  await server.stop();
  expect(readdirSync(folder)).toEqual(['postgres']);
}

function killAll(folder: string, which: (command: string) => boolean): void {
  for (const { pid, command } of processesOf(folder)) if (which(command)) process.kill(pid, 'SIGKILL');
}

const isWatchdog = (command: string) => command.includes('read _');
const isPostmaster = (command: string) => /bin\/postgres -D/.test(command);

describe('after kill -9 of the server', () => {
  test('its Postgres ends by itself, and what was committed is there at the next start', async () => {
    const folder = newFolder();
    const server = await givenServerWithRow(folder);
    await server.kill('SIGKILL');
    await isGone(folder);
    await expectRecovery(folder);
  });

  test('the next start does not wait for the old Postgres to be gone by itself', async () => {
    const folder = newFolder();
    const server = await givenServerWithRow(folder);
    await server.kill('SIGKILL');
    await expectRecovery(folder);
  });

  test('a Postgres that lived on as an orphan, busy with a query, makes room for the next', async () => {
    const folder = newFolder();
    const server = await givenServerWithRow(folder);
    const query = ask(await connectionOf(server), 'select pg_sleep(600)').catch((error: Error) => error.message);
    killAll(folder, isWatchdog);
    await server.kill('SIGKILL');
    const orphan = postmasterOf(folder);
    expect(processesOf(folder).map(({ pid }) => pid)).toContain(orphan);

    await expectRecovery(folder);
    expect(processesOf(folder)).toEqual([]);
    expect(await query).toMatch(/terminating connection|CONNECTION_CLOSED/);
  });

  test('files of a Postgres killed with it do not bar the next', async () => {
    const folder = newFolder();
    const server = await givenServerWithRow(folder);
    // It would start its Postgres again before it is killed itself.
    process.kill(server.pid, 'SIGSTOP');
    killAll(folder, isWatchdog);
    killAll(folder, isPostmaster);
    await server.kill('SIGKILL');
    expect(
      existsSync(join(folder, 'postgres/postmaster.pid')) &&
        existsSync(join(folder, 'socket/.s.PGSQL.5432.lock')) &&
        existsSync(join(folder, 'server.lock')),
    ).toBe(true);
    await expectRecovery(folder);
  });

  test('a cluster half made does not brick the folder, whenever the kill came', async () => {
    for (let round = 0; round < 6; round += 1) {
      const folder = newFolder();
      const server = startProcess(folder);
      await vi.waitFor(
        () => expect(readdirSync(folder).some((name) => name.startsWith('postgres.unfinished-'))).toBe(true),
        { timeout: 100_000, interval: 5 },
      );
      await new Promise((resolve) => setTimeout(resolve, chance() * 700));
      await server.kill('SIGKILL');

      const next = startProcess(folder);
      expect(await ask(await connectionOf(next), 'select current_database() as name')).toEqual([
        { name: 'marketplace' },
      ]);
      await next.stop();
      expect(readdirSync(folder)).toEqual(['postgres']);
    }
  });

  test('a disposable folder vanishes', async () => {
    const folder = newFolder();
    const server = startProcess(folder, { options: { disposable: true, settings: ['fsync=off'] } });
    await connectionOf(server);
    await server.kill('SIGKILL');
    await vi.waitFor(() => expect(existsSync(folder)).toBe(false), 100_000);
  });
});

describe('two servers on one folder', () => {
  test('the second gets an error that names the folder and the process, and the first does not notice', async () => {
    const folder = newFolder();
    const first = await givenServerWithRow(folder);
    const second = startProcess(folder);
    expect((await second.report).error).toBe(
      `Another server (process ${first.pid}) runs on the data folder ${folder}. Stop it first, or give this one a ` +
        `folder of its own.`,
    );
    expect(await ask(await connectionOf(first), 'select answer from kept')).toEqual([{ answer: 42 }]);
    await first.stop();
  });

  test('a command finds the database of a running server, and none where no server runs', async () => {
    const folder = newFolder();
    expect(findRunningPostgres(folder)).toBeUndefined();
    const server = startProcess(folder);
    const connection = await connectionOf(server);
    expect(findRunningPostgres(folder)).toEqual(connection);
    await server.kill('SIGKILL');
    expect(findRunningPostgres(folder)).toBeUndefined();
    await isGone(folder);
  });

  test('one process cannot start it twice either', async () => {
    const folder = newFolder();
    const server = await startHere(folder);
    await expect(startEmbeddedPostgres(folder)).rejects.toThrow(`process ${process.pid}`);
    await server.stop();
  });

  test.each(['a new folder', "a dead server's lock", 'a lock that a power cut emptied'])(
    'of eight that race for %s exactly one starts',
    async (what) => {
      const folder = newFolder();
      mkdirSync(folder, { mode: 0o711 });
      if (what !== 'a new folder')
        writeFileSync(
          join(folder, 'server.lock'),
          what.includes('emptied') ? '' : JSON.stringify({ pid: 1, startedAt: 'long ago/1', id: 'x' }),
        );
      const racers = Array.from({ length: 8 }, () => startProcess(folder));
      const reports = await Promise.all(racers.map((racer) => racer.report));

      const winner = racers.findIndex((_, index) => reports[index]?.connection);
      const refusals = reports.filter(({ error }) =>
        error?.includes(`Another server (process ${racers[winner]?.pid}) runs on the data folder ${folder}`),
      );
      expect(refusals).toHaveLength(7);
      await racers[winner]?.stop();
      expect(readdirSync(folder)).toEqual(['postgres']);
    },
  );
});

describe('a Postgres that dies while its server lives', () => {
  const again = (connection: Parameters<typeof ask>[0], statement: string) =>
    vi.waitFor(() => ask(connection, statement), { timeout: 100_000, interval: 2 });

  test('is started again, with all that was committed, and its server logs it', async () => {
    const folder = newFolder();
    const messages: string[] = [];
    const server = await startHere(folder, { onMessage: (message) => messages.push(message) });
    await ask(server.connection, 'create table kept as select 42 as answer');
    const first = postmasterOf(folder);
    process.kill(first, 'SIGKILL');
    // Some of so many statements arrive while Postgres is down and not yet known to be; they are not reported here.
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => again(server.connection, 'select answer from kept')),
    );
    expect(answers.flat()).toEqual(answers.map(() => ({ answer: 42 })));
    expect(postmasterOf(folder)).not.toBe(first);
    await expect
      .poll(() => messages)
      .toEqual(['The embedded Postgres has ended by itself, and is started again.', 'The embedded Postgres is back.']);
    await server.stop();
    expect(messages).toHaveLength(2);
    expect(readdirSync(folder)).toEqual(['postgres']);
    expect(processesOf(folder)).toEqual([]);
  });

  test('again and again, is given ever longer pauses', async () => {
    const folder = newFolder();
    const messages: string[] = [];
    const server = await startHere(folder, { onMessage: (message) => messages.push(message) });
    for (let death = 1; death <= 3; death += 1) {
      process.kill(postmasterOf(folder), 'SIGKILL');
      await vi.waitFor(() => expect(messages.filter((what) => what.includes('is back'))).toHaveLength(death), {
        timeout: 100_000,
        interval: 20,
      });
    }
    await server.stop();
    expect(messages.filter((what) => what.includes('by itself')).map((what) => /in \d+ ms/.exec(what)?.[0])).toEqual([
      undefined,
      'in 50 ms',
      'in 100 ms',
    ]);
  });

  test.each([0, 60, 200])('leaves nothing behind if it is to stop %i ms later', async (ms) => {
    const folder = newFolder();
    const server = await startHere(folder);
    process.kill(postmasterOf(folder), 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, ms));
    await server.stop();
    expect(processesOf(folder)).toEqual([]);
    expect(readdirSync(folder)).toEqual(['postgres']);
    await expectNewStart(folder);
  });

  test('its complaints are passed on, but not what people sent', async () => {
    const messages: string[] = [];
    const server = await startHere(newFolder(), { onMessage: (message) => messages.push(message) });
    await ask(server.connection, 'create table people (email text primary key)');
    await ask(server.connection, `insert into people values ('hanna@example.test')`);
    for (const statement of [
      `insert into people values ('hanna@example.test')`,
      `select 'hanna'::int`,
      'select secret from nowhere',
    ]) {
      await expect(ask(server.connection, statement)).rejects.toThrow();
    }
    const [victim] = await ask(server.connection, 'select pg_backend_pid() as pid');
    expect(victim).toBeDefined();
    const sleeping = ask(server.connection, 'select pg_sleep(60)').catch(() => 'gone');
    const end = () =>
      ask(
        server.connection,
        `select pg_terminate_backend(pid) from pg_stat_activity where query like 'select pg_sleep%'`,
      );
    await expect.poll(end).toHaveLength(1);
    await sleeping;
    await expect
      .poll(() => messages)
      .toEqual([
        'Postgres reports: ERROR 42P01 relation "nowhere" does not exist at character 20',
        'Postgres reports: FATAL 57P01 terminating connection due to administrator command',
      ]);
    await server.stop();
  });

  describe('under a whole server', () => {
    let project: Clone;
    beforeAll(() => {
      project = clone();
    });
    afterAll(() => project.remove());

    test('the server goes on, and writes again within two seconds (timed)', async () => {
      const dataFolder = project.dataFolder();
      const server = startServer(project, { DATA_DIR: dataFolder, RATE_LIMITS: 'off' });
      const url = await server.url;
      const before = await signUp(url, 'before@example.test');
      const recoveriesMs: number[] = [];
      for (let death = 1; death <= 3; death += 1) {
        process.kill(postmasterOf(dataFolder), 'SIGKILL');
        const killed = performance.now();
        await vi.waitFor(() => signUp(url, `after.${death}@example.test`), { timeout: 100_000, interval: 20 });
        recoveriesMs.push(performance.now() - killed);
      }
      // What else the machine has to do can only make it slower: the best of them is the server's own.
      expectTimed(() => expect(Math.min(...recoveriesMs)).toBeLessThan(2_000));
      expect((await logIn(url, before.email, before.password)).status).toBe(200);
      expect((await server.stop()).code).toBe(0);
      await isGone(dataFolder);
    });
  });
});

async function expectNewStart(folder: string): Promise<void> {
  const server = await startHere(folder);
  expect(await ask(server.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
  await server.stop();
}
