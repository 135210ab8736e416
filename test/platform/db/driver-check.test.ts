import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import postgres from 'postgres';
import { assertDriverIsPatched } from '../../../src/platform/db/driver-check.js';
import { freshDatabase } from '../../setup/postgres.js';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'marketplace-driver-')));
afterAll(() => rmSync(folder, { recursive: true }));

describe('the Postgres driver', () => {
  test('is patched in this installation', () => {
    expect(() => assertDriverIsPatched()).not.toThrow();
  });

  test('makes no further attempt to connect after its client is closed between two attempts', async () => {
    const server = createServer((socket) => socket.destroy());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const sql = postgres({ host: '127.0.0.1', port, max: 1, backoff: () => 0.2, onnotice: () => {} });
    await expect(sql`select 1`).rejects.toThrow('CONNECTION_CLOSED');
    const second = sql`select 1`.catch((error: Error) => error.message);
    let later = 0;
    server.on('connection', () => (later += 1));
    await sql.end({ timeout: 0 });
    expect(await second).toContain('CONNECTION_DESTROYED');
    // Waits as long as the attempt would have.
    await sleep(400);
    expect(later).toBe(0);
    server.close();
  });

  test('keeps a bounded number of prepared statements per connection, and prepares again what it closed', async () => {
    const database = await freshDatabase();
    const sql = postgres({ ...database.connection, max: 1, fetch_types: false });
    const prepared = async () =>
      Number(
        (await sql.unsafe<[{ count: string }]>('select count(*) from pg_prepared_statements', [], { prepare: true }))[0]
          .count,
      );
    const add = async (n: number) =>
      (await sql.unsafe<[{ sum: number }]>(`select ${n} + $1::int as sum`, [1], { prepare: true }))[0].sum;
    for (let n = 0; n < 700; n += 1) expect(await add(n)).toBe(n + 1);
    expect(await prepared()).toBeLessThanOrEqual(252);
    expect(await prepared()).toBeGreaterThan(200);
    expect(await Promise.all([0, 699, 1, 350].map(add))).toEqual([1, 700, 2, 351]);
    // One statement with two parameter types, and then failing statements that fill the cache.
    const kinds = (value: boolean | string) => sql.unsafe('select $1::text as kind', [value], { prepare: true });
    expect([...(await kinds(true)), ...(await kinds('yes')), ...(await kinds(false))]).toEqual([
      { kind: 'true' },
      { kind: 'yes' },
      { kind: 'false' },
    ]);
    for (let n = 1_000; n < 1_300; n += 1)
      await expect(sql.unsafe(`select ${n} / $1::int`, [0], { prepare: true })).rejects.toThrow('division by zero');
    expect(await add(5)).toBe(6);
    expect(await prepared()).toBeLessThanOrEqual(252);
    await sql.end();
    await database.drop();
  });

  test('closes the statement that was used longest ago, not the one that was prepared first', async () => {
    const database = await freshDatabase();
    const sql = postgres({ ...database.connection, max: 1, fetch_types: false });
    const send = (text: string) => sql.unsafe<[{ sum: number }]>(text, [1], { prepare: true });
    const inUse = 'select -1 + $1::int as sum';
    const namesOf = async (text: string) =>
      (await sql`select name from pg_prepared_statements where statement = ${text}`.values()).flat();
    await send(inUse);
    const names = await namesOf(inUse);
    for (let n = 0; n < 600; n += 1) {
      await send(`select ${n} + $1::int as sum`);
      if (n % 100 === 0) await send(inUse);
    }
    expect(await namesOf(inUse)).toEqual(names);
    expect(await namesOf('select 0 + $1::int as sum')).toEqual([]);
    await sql.end();
    await database.drop();
  });

  test('is rejected as npm publishes it, with the command that fixes it', async () => {
    cpSync('node_modules/postgres', join(folder, 'node_modules/postgres'), { recursive: true });
    execFileSync('git', ['apply', '--reverse', join(process.cwd(), 'patches/postgres+3.4.9.patch')], {
      cwd: folder,
      env: { PATH: process.env['PATH'], GIT_CEILING_DIRECTORIES: tmpdir() },
    });
    const published: { default: object } = await import(
      /* @vite-ignore */ pathToFileURL(join(folder, 'node_modules/postgres/src/index.js')).href
    );
    expect(() => assertDriverIsPatched(published.default)).toThrow(
      /Run `npm ci` without --ignore-scripts\. .+ && npm prune --omit=dev/,
    );
  });

  test('without the patch tool, ends an installation with the commands for production', () => {
    const { status, stderr } = spawnSync(process.execPath, [join(process.cwd(), 'patches/apply.js')], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect(stderr).toContain('npm ci && npm run build && npm prune --omit=dev --omit=optional');
    expect(status).toBe(1);
  });
});
