/** The servers' own role, which the statements in `docs/operating.md` create. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestApp, type TestApp } from '../setup/app.js';
import { freshDatabase, type FreshDatabase } from '../setup/postgres.js';
import { contractor, homeowner } from '../story/cast.js';

const ROLE = 'marketplace_server';
const DOCUMENT = readFileSync(join(import.meta.dirname, '../../docs/operating.md'), 'utf8');

let database: FreshDatabase;
let app: TestApp;
beforeAll(async () => {
  database = await freshDatabase();
  await run(`create role ${ROLE} login`);
  await run(statements());
  app = await openTestApp(
    { MIGRATE_ON_START: 'off' },
    { sameDatabaseAs: { database }, through: async (connection) => ({ ...connection, username: ROLE }) },
  );
});
afterAll(async () => {
  await app.close();
  await run(`drop owned by ${ROLE}; drop role ${ROLE}`);
  await database.drop();
});

/** The documented statements, for the tests' owner. */
function statements(): string {
  const [, section = ''] = DOCUMENT.split('\n### A role for the servers\n');
  const [, text = ''] = /<<'SQL'\n([^]*?)\n *SQL\n/.exec(section) ?? [];
  expect(text).toContain('grant select, insert, update, delete on all tables');
  return text.replaceAll('for role marketplace ', `for role "${database.connection.username}" `);
}

/** Runs the statements as the owner by default. */
async function run(text: string, username = database.connection.username) {
  const sql = postgres({ ...database.connection, username, max: 1, onnotice: () => {} });
  return sql
    .unsafe(text)
    .simple()
    .finally(() => sql.end());
}

it('with this role, Hanna’s job is published and awarded to Carlos', async () => {
  const [hanna, carlos] = await Promise.all([homeowner(app, 'Hanna'), contractor(app, 'Carlos')]);
  const place = { address_line1: '1 Main', city: 'Austin', state: 'TX' };
  const body = { title: 'Sink', description: 'It drips.', category: 'plumbing', urgency: 'standard', ...place };
  const { body: job } = await app.rest('POST', '/v1/jobs', { token: hanna.token, body });
  await app.rest('POST', `/v1/jobs/${job.id}/publish`, { token: hanna.token });
  const offer = { token: carlos.token, body: { amount: 100, guaranteed_view: true } };
  const { body: bid } = await app.rest('POST', `/v1/jobs/${job.id}/bids`, offer);
  const awarded = await app.rest('POST', `/v1/jobs/${job.id}/award`, { token: hanna.token, body: { bid_id: bid.id } });
  expect([awarded.status, awarded.body.status]).toEqual([200, 'awarded']);
  expect(await app.services.db.send({ name: 'whoAmI', text: 'select current_user' }, [])).toEqual([[ROLE]]);
  expect(await app.rest('GET', '/readyz')).toMatchObject({ status: 200 });
});

it('the role can use a later migration’s tables, but can’t create or drop tables', async () => {
  await run('create table later (id serial primary key)');
  await run('insert into later default values', ROLE);
  const none = { code: '42501' };
  await expect(run('create table mine (id integer)', ROLE)).rejects.toMatchObject(none);
  await expect(run('drop table later', ROLE)).rejects.toMatchObject(none);
  await run('drop table later');
});
