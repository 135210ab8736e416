/** Which schemas a server serves, and what it says of others to whoever asks whether it is ready. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openTestApp, type Json, type TestApp } from '../app.js';
import { migrations } from '../migrate-up-to.js';

const READY = { status: 200, body: { status: 'ready', busy: false } };
const NEWEST = migrations().at(-1)!.when;
const OLDEST_SERVED = '0026_jobs_of_awardee';

let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
});
afterAll(() => app.close());

/** Only the time of the newest counts. */
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

/** What was logged of readiness. */
const said = () =>
  app.logged
    .map((line) => JSON.parse(line) as Json)
    .filter(({ msg }) => / ready/.test(msg))
    .map(({ level, reason, msg }) => [level, reason ?? msg]);

it('serves the schema of the release before, and none that is older', async () => {
  const oldest = migrations().find(({ tag }) => tag === OLDEST_SERVED)!.when;
  await migratedUpTo(oldest);
  expect(await app.rest('GET', '/readyz')).toMatchObject(READY);

  await migratedUpTo(oldest - 1);
  const reason = 'the schema is older than this build needs: run npm run migrate';
  for (const _ of ['first', 'second'])
    expect(await app.rest('GET', '/readyz')).toMatchObject({ status: 503, body: { status: reason } });
  expect(said()).toEqual([['warn', reason]]);
});

it('serves a schema that is newer, until a migration takes away what this build uses', async () => {
  await migratedUpTo(NEWEST + 1);
  expect(await app.rest('GET', '/readyz')).toMatchObject(READY);

  await app.sql`update oldest_build set newest_migration = ${NEWEST + 1}`;
  const reason = 'the schema is newer than this build can serve: replace this server by a newer release';
  expect(await app.rest('GET', '/readyz')).toMatchObject({ status: 503, body: { status: reason } });
  await app.sql`update oldest_build set newest_migration = ${NEWEST}`;
  expect(await app.rest('GET', '/readyz')).toMatchObject(READY);
  expect(said()).toEqual([
    ['warn', reason],
    ['info', 'this server is ready again'],
  ]);
});

it('is not ready on a database without any schema', async () => {
  await app.sql`alter table drizzle.__drizzle_migrations rename to away`;
  const { status, body } = await app.rest('GET', '/readyz');
  await app.sql`alter table drizzle.away rename to __drizzle_migrations`;
  expect([status, body.status]).toEqual([503, 'the schema is older than this build needs: run npm run migrate']);
});
