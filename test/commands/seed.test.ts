/** `npm run seed`: a filled database satisfies the same invariants as one that grew call by call. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkDatabase } from '../setup/database/checker.js';
import { clone, type Clone } from '../app/clone.js';
import { logIn, patiently, patientUrl } from '../app/callers.js';
import { ownDatabase } from '../app/own-database.js';
import { start, startServer, type Environment } from '../app/processes.js';

let project: Clone;
beforeAll(() => {
  project = clone();
});
afterAll(() => project.remove());

it('fills an empty database with the requested number of jobs, and rejects any other database', async () => {
  const DATA_DIR = project.usedDataFolder();
  const seed = (jobs: string) => start(project, ['node', 'dist/commands/seed.js', '--jobs', jobs], { DATA_DIR }).ended;
  expect(await seed('500')).toMatchObject({ code: 0, output: expect.stringContaining('Done: 500 jobs') });
  const server = startServer(project, { DATA_DIR });
  const url = await server.url;
  const { status, body } = await logIn(url, 'person2@example.test', 'demo password');
  expect(status).toBe(200);
  const count = async (query: string) => {
    const headers = { authorization: `Bearer ${String(body.token)}` };
    const listed = await patiently(() => fetch(`${url}/v1/jobs?per_page=1${query}`, { headers }));
    return ((await listed.json()) as { pagination: { total: number } }).pagination.total;
  };
  expect(await count('')).toBeGreaterThanOrEqual(200);
  const near = await Promise.all(['02108', '97205'].map((zip) => count(`&near_zip=${zip}&within_miles=30`)));
  expect(Math.min(...near)).toBeGreaterThan(5);
  await server.stop();

  expect(await seed('500')).toMatchObject({ code: 1, output: expect.stringContaining('Set DATA_DIR to an empty one') });
  expect(await seed('two')).toMatchObject({ code: 1, output: expect.stringContaining('from 20 to 5000000') });
});

it('works for an owner without superuser rights, not in production, and never migrates a used database', async () => {
  const database = await ownDatabase();
  const { sql } = database;
  const owner = `owner_${process.pid}`;
  const name = new URL(database.url).pathname.slice(1);
  await sql.unsafe(`create role ${owner} login; alter database ${name} owner to ${owner}`);
  try {
    const { href } = Object.assign(new URL(database.url), { username: owner });
    const seed = (more: Environment = {}) =>
      start(project, ['node', 'dist/commands/seed.js', '--jobs', '20'], { DATABASE_URL: patientUrl(href), ...more })
        .ended;
    const refused = await seed({ NODE_ENV: 'production', BCRYPT_COST: '10' });
    expect(refused).toMatchObject({
      code: 1,
      output: expect.stringContaining('A production database can’t be seeded'),
    });
    expect(await seed()).toMatchObject({ code: 0, output: expect.stringContaining('Done: 20 jobs') });
    const migrations = 'select created_at from drizzle.__drizzle_migrations order by created_at desc';
    await sql.unsafe(`delete from drizzle.__drizzle_migrations where created_at = (${migrations} limit 1)`);
    const older = await sql.unsafe(migrations);
    expect(await seed()).toMatchObject({
      code: 1,
      output: expect.stringContaining('Set DATABASE_URL to an empty one'),
    });
    expect(await sql.unsafe(migrations)).toEqual(older);
    expect(await checkDatabase(sql)).toEqual([]);
  } finally {
    await sql.unsafe(`alter database ${name} owner to current_user; reassign owned by ${owner} to current_user`);
    await sql.unsafe(`drop owned by ${owner}; drop role ${owner}`);
    await database.drop();
  }
});
