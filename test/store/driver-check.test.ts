import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import postgres from 'postgres';
import { assertDriverIsPatched } from '../../src/store/driver-check.js';
import { freshDatabase } from '../postgres.js';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'marketplace-driver-')));
afterAll(() => rmSync(folder, { recursive: true }));

describe('the Postgres driver', () => {
  test('is patched in this installation', () => {
    expect(() => assertDriverIsPatched()).not.toThrow();
  });

  test('keeps a bounded number of prepared statements on a connection, and prepares again what had to make room', async () => {
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
    // A statement of two kinds of parameters, and one that fails while others make room for it.
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

  // As published it keeps all of it, some 9,000 bytes, and collecting young space costs five times as much: see the
  // patch of src/query.js.
  test('lets an answer die young: next to nothing of it comes into old space', async () => {
    const database = await freshDatabase();
    const child = fileURLToPath(new URL('answers-die-young.child.mjs', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--no-opt',
      child,
      JSON.stringify(database.connection),
    ]);
    const { collections, bytesAnAnswer } = JSON.parse(stdout) as { collections: number; bytesAnAnswer: number };
    expect(collections).toBeGreaterThan(2);
    expect(bytesAnAnswer).toBeLessThan(500);
    await database.drop();
  });

  test('is refused as npm publishes it, with the command that cures it', async () => {
    cpSync('node_modules/postgres', join(folder, 'node_modules/postgres'), { recursive: true });
    execFileSync('git', ['apply', '--reverse', join(process.cwd(), 'patches/postgres+3.4.9.patch')], {
      cwd: folder,
      env: { PATH: process.env['PATH'], GIT_CEILING_DIRECTORIES: tmpdir() },
    });
    for (const entry of ['src/index.js', 'cjs/src/index.js']) {
      const published: { default: object } = await import(
        /* @vite-ignore */ pathToFileURL(join(folder, 'node_modules/postgres', entry)).href
      );
      expect(() => assertDriverIsPatched(published.default)).toThrow(/npx patch-package --error-on-fail/);
    }
  });
});
