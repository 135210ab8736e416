/** The schemas that a server supports, and what its readiness check says about others. */
import postgres from 'postgres';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { openTestApp, type Json, type TestApp } from '../../setup/app.js';
import { connect } from '../../../src/platform/db/database.js';
import { unreadinessOf } from '../../../src/platform/db/readiness.js';
import { until } from '../security/until.js';
import { migrations } from '../../setup/database/migrate-up-to.js';

const READY = { status: 200, body: { status: 'ready', busy: false } };
const NEWEST = migrations().at(-1)!.when;
const OLDEST_SERVED = '0056_saved_searches';

let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
});
afterAll(() => app.close());

/** Only the newest migration's time counts. */
async function migratedUpTo(when: number): Promise<void> {
  await app.sql`delete from drizzle.__drizzle_migrations`;
  await app.sql`insert into drizzle.__drizzle_migrations (hash, created_at) values ('-', ${when})`;
}

beforeEach(async () => {
  await migratedUpTo(NEWEST);
  await app.sql`update oldest_build set newest_migration = ${NEWEST}`;
  expect(await app.rest('GET', '/readyz')).toMatchObject(READY);
  app.logged.length = 0;
});

const said = () =>
  app.logged
    .map((line) => JSON.parse(line) as Json)
    .filter(({ msg }) => / ready/.test(msg))
    .map(({ level, reason, msg }) => [level, reason ?? msg]);

it("serves the previous release's schema, but no older one", async () => {
  const oldest = migrations().find(({ tag }) => tag === OLDEST_SERVED)!.when;
  await migratedUpTo(oldest);
  expect(await app.rest('GET', '/readyz')).toMatchObject(READY);

  await migratedUpTo(oldest - 1);
  const reason = 'the schema is older than this build needs: run npm run migrate';
  for (const _ of ['first', 'second'])
    expect(await app.rest('GET', '/readyz')).toMatchObject({ status: 503, body: { status: reason } });
  expect(said()).toEqual([['warn', reason]]);
});

it('serves a newer schema, until a migration removes something that this build uses', async () => {
  await migratedUpTo(NEWEST + 1);
  expect(await app.rest('GET', '/readyz')).toMatchObject(READY);

  await app.sql`update oldest_build set newest_migration = ${NEWEST + 1}`;
  const reason = 'the schema is too new for this build: replace this server with a newer release';
  expect(await app.rest('GET', '/readyz')).toMatchObject({ status: 503, body: { status: reason } });
  await app.sql`update oldest_build set newest_migration = ${NEWEST}`;
  expect(await app.rest('GET', '/readyz')).toMatchObject(READY);
  expect(said()).toEqual([
    ['warn', reason],
    ['info', 'this server is ready again'],
  ]);
});

it("isn't ready on a database without a schema", async () => {
  await app.sql`alter table drizzle.__drizzle_migrations rename to away`;
  const { status, body } = await app.rest('GET', '/readyz');
  await app.sql`alter table drizzle.away rename to __drizzle_migrations`;
  expect([status, body.status]).toEqual([503, 'the schema is older than this build needs: run npm run migrate']);
});

it('is ready while the database accepts no more connections, and names a missing privilege', async () => {
  await app.sql`create role narrow login connection limit 1`;
  const connection = { ...app.database.connection, username: 'narrow' };
  const unready = async () => {
    const db = connect(connection, { poolSize: 1 });
    return unreadinessOf(db).finally(() => db.close());
  };
  try {
    expect(await unready()).toBe('the role in DATABASE_URL cannot read the table of migrations in the schema drizzle');
    const only = postgres({ ...connection, max: 1 });
    await only`select 1`;
    expect(await unready()).toBe('the database accepts no more connections');
    await only.end();
  } finally {
    await app.sql`drop role narrow`;
  }
});

it('queries the database once or twice, however many ask at the same time', async () => {
  const { probe, quotas } = app.services;
  const asked = vi.spyOn(probe, 'send');
  const asking = await app.sql.begin(async (tx) => {
    await tx`lock table drizzle.__drizzle_migrations`;
    const all = Array.from({ length: 50 }, () => app.rest('GET', '/readyz'));
    await until(() => quotas.connections.inUse() >= all.length);
    return all;
  });
  for (const { status } of await Promise.all(asking)) expect(status).toBe(200);
  const checks = asked.mock.calls.filter(([{ name }]) => name === 'lastMigration');
  expect(checks.length).toBeGreaterThan(0);
  expect(checks.length).toBeLessThan(5);
  asked.mockRestore();
});
