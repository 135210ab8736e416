/** A backup of the embedded database while what it copies is made shorter. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findRunningPostgres } from '../../src/embedded/embedded.js';
import { until } from '../security/until.js';
import { clone, type Clone } from '../start/clone.js';
import { start, startServer } from '../start/processes.js';

let project: Clone;
beforeAll(() => {
  project = clone();
});
afterAll(() => project.remove());

function run(program: 'backup' | 'restore', words: string[], environment: Record<string, string>) {
  return start(project, [process.execPath, `dist/${program}.js`, ...words], environment).ended;
}

it('a file that is made shorter meanwhile ends its copy there, and none is made inside of DATA_DIR', async () => {
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
  expect([inside.code, inside.output]).toEqual([1, expect.stringContaining('is inside of the database')]);
});
