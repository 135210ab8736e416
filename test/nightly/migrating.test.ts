/** Migrations run separately from startup, by `npm run migrate`, while servers wait for them or stop meanwhile. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freeAddress } from '../deploy/proxy.js';
import { migrateUpTo, migrations } from '../setup/database/migrate-up-to.js';
import { until } from '../platform/security/until.js';
import { readiness, signUp } from '../app/callers.js';
import { clone, type Clone } from '../app/clone.js';
import { ownDatabase, type OwnDatabase } from '../app/own-database.js';
import { start, startServer, type Environment } from '../app/processes.js';

const ADMIN = { ADMIN_EMAIL: 'ada@example.test', ADMIN_PASSWORD: 'ada keeps the house' };
const LAST = migrations().at(-1)!.tag;

let project: Clone;
let database: OwnDatabase;
let environment: Environment;
beforeAll(async () => {
  project = clone();
  database = await ownDatabase();
  environment = { DATABASE_URL: database.url, NODE_ENV: 'production', BCRYPT_COST: '10', JWT_SECRET: 'x'.repeat(32) };
});
afterAll(async () => {
  await database.drop();
  project.remove();
});

const migrate = () => start(project, [process.execPath, 'dist/commands/migrate.js'], environment);

it('a server that waits for another instance says so once, and stops immediately with a clean exit', async () => {
  await database.sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(7203118)`;
    const [{ pid } = {}] = await tx`select pg_backend_pid() as pid`;
    const address = await freeAddress();
    const server = startServer(project, { ...environment, PORT: address.split(':')[1] });
    const waiting = `"holder":${pid},"msg":"waiting for another instance that is migrating the database"`;
    await until(() => server.output().includes(waiting));
    const probe = async (path: string) => {
      const answer = await fetch(`http://${address}${path}`).catch(() => undefined);
      return answer && [answer.status, await answer.json()];
    };
    await until(async () => (await probe('/healthz')) !== undefined);
    expect(await probe('/healthz')).toEqual([200, { status: 'ok' }]);
    expect(await probe('/readyz')).toEqual([503, { status: 'another instance is migrating the database' }]);

    const { code, output } = await server.stop();
    expect(code, output).toBe(0);
    expect(output.split('waiting for another instance')).toHaveLength(2);
  });
  expect(await database.sql`select to_regclass('users') as users`).toEqual([{ users: null }]);
});

it('with MIGRATE_ON_START=off, a server is alive but not ready until the command has run', async () => {
  const address = await freeAddress();
  const [url, PORT] = [`http://${address}`, address.split(':')[1]];
  const server = startServer(project, { ...environment, ...ADMIN, MIGRATE_ON_START: 'off', PORT });
  await until(() => server.output().includes('this server is not ready'));
  const reason = 'the schema is older than this build needs: run npm run migrate';
  const answer = await fetch(`${url}/readyz`);
  expect([answer.status, await answer.json()]).toEqual([503, { status: reason }]);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);

  const done = await migrate().ended;
  const name = new URL(database.url).pathname.slice(1);
  expect(done.output).toMatch(
    `Done: ran ${migrations().length} migrations, up to ${LAST}, in the database ${name} on `,
  );
  await server.url;
  expect(await readiness(url)).toBe(200);
  await signUp(url, 'hanna@example.test');
  expect(server.output().split(reason)).toHaveLength(2);
});

it('a server that is told to stop while it waits for the command stops', async () => {
  const empty = await ownDatabase();
  const server = startServer(project, { ...environment, DATABASE_URL: empty.url, MIGRATE_ON_START: 'off' });
  await until(() => server.output().includes('this server is not ready'));
  expect((await server.stop()).code).toBe(0);
  await empty.drop();
});

it("no admin is created on a schema that the command hasn't migrated", async () => {
  const before = await ownDatabase();
  await migrateUpTo(before.sql, 5);
  const words = [process.execPath, 'dist/commands/admin.js', 'create', ADMIN.ADMIN_EMAIL];
  const admin = start(project, words, { ...environment, DATABASE_URL: before.url }, `${ADMIN.ADMIN_PASSWORD}\n`);
  expect(await admin.ended).toMatchObject({
    code: 1,
    output: 'Nothing was changed: the schema is older than this build needs: run npm run migrate.\n',
  });
  await before.drop();
});

it('the command names each migration that it runs on a database with a schema', async () => {
  const before = await ownDatabase();
  await migrateUpTo(before.sql, migrations().length - 1);
  environment = { ...environment, DATABASE_URL: before.url };
  expect((await migrate().ended).output).toContain(`Running ${LAST} …\nDone: ran 1 migrations, up to ${LAST}, in `);
  await before.drop();
});
