/** `npm run backup` and `npm run restore`: the embedded database, with or without a running server. */
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { processesOf } from '../embedded/processes.js';
import { logIn, signUp, type Account } from './callers.js';
import { clone, type Clone } from './clone.js';
import { start, startServer } from './processes.js';

let project: Clone;

beforeAll(() => {
  project = clone();
});
afterAll(() => project.remove());

function run(program: 'backup' | 'restore', words: string[], environment: Record<string, string>) {
  return start(project, [process.execPath, `dist/${program}.js`, ...words], environment).ended;
}

it('under writes: a backup holds all that was acknowledged before, nothing by halves, and sessions go on', async () => {
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
    output: `Done: the database in ${resolve(folder)} stands in ${resolve(backup)} too.\n`,
  });
  expect(during.length).toBeGreaterThan(2);
  expect(statSync(backup).mode & 0o777).toBe(0o700);

  const restored = project.dataFolder();
  const { code, output } = await run('restore', [backup], { DATA_DIR: restored });
  expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining('All tokens add up.\n') });
  const accounts = Number(/(\d+) accounts, (\d+) transfers/.exec(output)?.[1]);
  expect(output).toContain(`${accounts} accounts, ${accounts} transfers of tokens, 0 jobs`);
  expect(accounts).toBeGreaterThanOrEqual(2);
  expect(accounts).toBeLessThanOrEqual(during.length + 1);
  expect(processesOf(restored)).toEqual([]);

  const anew = await startServer(project, { DATA_DIR: restored }).url;
  // The token was signed by the server that is gone: its secret is part of the backup.
  const me = await fetch(`${anew}/v1/me`, { headers: { authorization: `Bearer ${before.token}` } });
  expect(me.status).toBe(200);
  expect((await logIn(anew, after.email, after.password)).status).toBe(401);
  expect((await signUp(anew, after.email)).token).not.toBe('');
});

it('without a server: nothing is overwritten, a part of a backup is none, refusals say what to do', async () => {
  const [folder, empty] = [project.usedDataFolder(), project.dataFolder()];
  const backup = join(project.folder, 'quiet');
  expect(await run('backup', [backup], { DATA_DIR: folder })).toMatchObject({ code: 0 });
  expect(processesOf(folder)).toEqual([]);
  const incomplete = join(project.folder, 'incomplete');
  mkdirSync(join(incomplete, 'postgres'), { recursive: true });

  const url = 'postgres://somebody@127.0.0.1:1/marketplace';
  const refused = await Promise.all([
    run('backup', [backup], { DATA_DIR: folder }),
    run('backup', [], { DATA_DIR: folder }),
    run('backup', [join(project.folder, 'new')], { DATA_DIR: empty }),
    run('backup', [join(project.folder, 'new')], { DATA_DIR: folder, DATABASE_URL: url }),
    run('restore', [backup], { DATA_DIR: folder }),
    run('restore', [incomplete], { DATA_DIR: empty }),
    run('restore', [backup], { DATA_DIR: empty, DATABASE_URL: url }),
  ]);
  expect(refused.map(({ code, output }) => [code, output.replace(/^Starting the database.*\n/, '')])).toEqual([
    [1, `There is something at ${backup} already. Name a new folder.\n`],
    [1, expect.stringMatching(/^Usage: npm run backup -- <folder>.*\n$/)],
    [1, expect.stringMatching(/^There is no database in .*: give DATA_DIR.*\n$/)],
    [1, expect.stringMatching(/^DATABASE_URL names .*pg_dump.*\n$/)],
    [1, expect.stringMatching(/^There is a database in .* already, and it is not overwritten.*\n$/)],
    [1, `There is no backup in ${incomplete}.\n`],
    [1, expect.stringMatching(/^DATABASE_URL names .*pg_restore.*\n$/)],
  ]);
  expect(existsSync(empty)).toBe(false);
  expect(readdirSync(project.folder).filter((name) => name.includes('new') || name.includes('incomplete-'))).toEqual(
    [],
  );
});
