/** A backup of the embedded database during writes, and while the files that it copies are truncated. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findRunningPostgres } from '../../src/platform/embedded/embedded.js';
import { processesOf } from '../platform/embedded/processes.js';
import { until } from '../platform/security/until.js';
import { logIn, signUp, type Account } from '../app/callers.js';
import { clone, type Clone } from '../app/clone.js';
import { start, startServer } from '../app/processes.js';

let project: Clone;
beforeAll(() => {
  project = clone();
});
afterAll(() => project.remove());

function run(program: 'backup' | 'restore', words: string[], environment: Record<string, string>) {
  return start(project, [process.execPath, `dist/commands/${program}.js`, ...words], environment).ended;
}

it('under writes: a backup has everything acknowledged before, nothing partial, and sessions continue', async () => {
  const folder = project.usedDataFolder();
  const server = startServer(project, { DATA_DIR: folder, RATE_LIMIT_SIGN_UP_PER_ADDRESS: '10000' });
  const url = await server.url;
  const before = await signUp(url, 'before@example.test');
  const during: Account[] = [];
  let isBusy = true;
  const joining = [0, 1].map(async (line) => {
    for (let n = 0; isBusy; n += 1) during.push(await signUp(url, `during-${line}-${n}@example.test`));
  });
  const backup = join(project.folder, 'backup');
  const done = await run('backup', [backup], { DATA_DIR: folder });
  isBusy = false;
  await Promise.all(joining);
  const after = await signUp(url, 'after@example.test');
  await server.stop('SIGKILL');
  expect(done).toMatchObject({
    code: 0,
    output: `Done: the database in ${resolve(folder)} was copied to ${resolve(backup)}.\n`,
  });
  expect(during.length).toBeGreaterThan(2);
  expect(statSync(backup).mode & 0o777).toBe(0o700);

  const restored = project.dataFolder();
  const { code, output } = await run('restore', [backup], { DATA_DIR: restored });
  expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining('All tokens add up.\n') });
  const accounts = Number(/(\d+) accounts, (\d+) token transfers/.exec(output)?.[1]);
  expect(output).toContain(`${accounts} accounts, ${accounts} token transfers, 0 jobs`);
  expect(accounts).toBeGreaterThanOrEqual(2);
  expect(accounts).toBeLessThanOrEqual(during.length + 1);
  expect(processesOf(restored)).toEqual([]);

  const anew = await startServer(project, { DATA_DIR: restored }).url;
  // The previous server signed the token, whose secret is part of the backup.
  const me = await fetch(`${anew}/v1/me`, { headers: { authorization: `Bearer ${before.token}` } });
  expect(me.status).toBe(200);
  expect((await logIn(anew, after.email, after.password)).status).toBe(401);
  expect((await signUp(anew, after.email)).token).not.toBe('');
});

it('a file that is truncated meanwhile ends its copy there, and no backup is made inside DATA_DIR', async () => {
  const folder = project.usedDataFolder();
  const server = startServer(project, { DATA_DIR: folder });
  await server.url;
  const connection = findRunningPostgres(folder);
  const sql = postgres({ ...connection, max: 1, onnotice: () => {} });
  await sql`create table large as select repeat('x', 700) as text from generate_series(1, 300000)`;
  const target = join(project.folder, 'shrunk');
  const copying = run('backup', [`${target}/`], { DATA_DIR: folder });
  const [{ file = '' } = {}] = await sql`select pg_relation_filepath('large') as file`;
  const partOfCopy = () =>
    readdirSync(project.folder)
      .filter((name) => name.startsWith('shrunk'))
      .some((name) => existsSync(join(project.folder, name, 'postgres', file)));
  await until(partOfCopy);
  await sql`truncate large`;
  await sql.end();
  expect(await copying).toMatchObject({ code: 0 });
  expect((await run('restore', [target], { DATA_DIR: project.dataFolder() })).code).toBe(0);
  const inside = await run('backup', [join(folder, 'marketplace-1')], { DATA_DIR: folder });
  expect([inside.code, inside.output]).toEqual([1, expect.stringContaining('is inside the database')]);
});
