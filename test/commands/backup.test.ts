/** `npm run backup` and `npm run restore` without a running server. `test/nightly/backup.test.ts` has one. */
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { processesOf } from '../platform/embedded/processes.js';
import { clone, type Clone } from '../app/clone.js';
import { start } from '../app/processes.js';

let project: Clone;

beforeAll(() => {
  project = clone();
});
afterAll(() => project.remove());

function run(program: 'backup' | 'restore', words: string[], environment: Record<string, string>) {
  return start(project, [process.execPath, `dist/commands/${program}.js`, ...words], environment).ended;
}

it('without a server: overwrites nothing, rejects an incomplete backup, and each error says what to do', async () => {
  const [folder, empty] = [project.usedDataFolder(), project.dataFolder()];
  const backup = join(project.folder, 'quiet');
  expect(await run('backup', [backup], { DATA_DIR: folder })).toMatchObject({ code: 0 });
  expect(processesOf(folder)).toEqual([]);
  const incomplete = join(project.folder, 'incomplete');
  mkdirSync(join(incomplete, 'postgres'), { recursive: true });

  const url = 'postgres://someone@127.0.0.1:1/marketplace';
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
    [1, `${backup} already exists. Choose a new folder.\n`],
    [1, expect.stringMatching(/^Usage: npm run backup -- <folder>.*\n$/)],
    [1, expect.stringMatching(/^There is no database in .*\. Set DATA_DIR .*\n$/)],
    [1, expect.stringMatching(/^DATABASE_URL is set, .*pg_dump.*\n$/)],
    [1, expect.stringMatching(/already has a database, which won't be overwritten\. Move it away,.*\n$/)],
    [1, `There is no backup in ${incomplete}.\n`],
    [1, expect.stringMatching(/^DATABASE_URL is set, .*pg_restore.*\n$/)],
  ]);
  expect(existsSync(empty)).toBe(false);
  expect(readdirSync(project.folder).filter((name) => name.includes('new') || name.includes('incomplete-'))).toEqual(
    [],
  );
});
