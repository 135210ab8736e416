/** `npm run seed`: an empty database filled, which keeps every promise that one does which grew call by call. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { clone, type Clone } from './clone.js';
import { logIn } from './callers.js';
import { start, startServer } from './processes.js';

let project: Clone;
beforeAll(() => {
  project = clone();
});
afterAll(() => project.remove());

it('fills an empty database with as many jobs as one says, and no other', async () => {
  const DATA_DIR = project.dataFolder();
  const seed = (jobs: string) =>
    start(project, ['npm', 'run', '--silent', 'seed', '--', '--jobs', jobs], { DATA_DIR }).ended;
  expect(await seed('2000')).toMatchObject({ code: 0, output: expect.stringContaining('Done: 2000 jobs') });
  const server = startServer(project, { DATA_DIR });
  const url = await server.url;
  const { status, body } = await logIn(url, 'person2@example.test', 'demo password');
  expect(status).toBe(200);
  const listed = await fetch(`${url}/v1/jobs?per_page=1`, {
    headers: { authorization: `Bearer ${String(body.token)}` },
  });
  const { pagination } = (await listed.json()) as { pagination: { total: number } };
  expect(pagination.total).toBeGreaterThanOrEqual(800);
  await server.stop();

  expect(await seed('2000')).toMatchObject({ code: 1, output: expect.stringContaining('has people already') });
  expect(await seed('two')).toMatchObject({ code: 1, output: expect.stringContaining('from 20 to 5000000') });
});
