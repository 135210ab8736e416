/** `npm run admin`: the operator creates admins, with or without a running server. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrate } from '../../src/platform/db/migrate.js';
import { processesOf } from '../platform/embedded/processes.js';
import { logIn, patiently, patientUrl, signUp } from '../app/callers.js';
import { clone, type Clone } from '../app/clone.js';
import { ownDatabase } from '../app/own-database.js';
import { start, startServer, type Ended, type Environment } from '../app/processes.js';

const EMAIL = 'ada@example.test';

let project: Clone;
let dataFolder: string;

beforeAll(() => {
  project = clone();
  dataFolder = project.usedDataFolder();
});
afterAll(() => project.remove());

function admin(dataFolder: string, words: string[], input: string): Promise<Ended> {
  return start(project, [process.execPath, 'dist/commands/admin.js', ...words], { DATA_DIR: dataFolder }, input).ended;
}

it('without a server: creates an admin, but never a database that no server would use', async () => {
  const { code, output } = await admin(dataFolder, ['create', EMAIL], 'ada keeps the house\n');
  const folder = resolve(dataFolder);
  const done = `Done: ${EMAIL} can log in as an admin in the database in ${folder}.\n`;
  expect({ code, output }).toEqual({ code: 0, output: `Starting the database in ${folder}…\n${done}` });
  expect(processesOf(dataFolder)).toEqual([]);

  const empty = project.dataFolder();
  const refused = await admin(empty, ['create', EMAIL], 'ada keeps the house\n');
  expect(refused.code).toBe(1);
  expect(refused.output).toContain(`There is no database in ${resolve(empty)}. Set DATA_DIR or DATABASE_URL`);
  expect(existsSync(join(empty, 'postgres'))).toBe(false);
});

it('emails a confirmed admin about a new password, although only the servers know SMTP_URL', async () => {
  const database = await ownDatabase();
  try {
    await migrate({ url: database.url });
    const environment = { DATABASE_URL: patientUrl(database.url), TRUST_PROXY_HOPS: '1' };
    const run = (act: string, password: string, more: Environment = {}) =>
      start(project, [process.execPath, 'dist/commands/admin.js', act, EMAIL], { ...environment, ...more }, password)
        .ended;
    expect(await run('create', 'ada keeps the house\n')).toMatchObject({ code: 0 });
    await database.sql`update users set email_verified = true`;
    const settings = { MAIL_FROM: 'no-reply@example.test', ADMIN_EMAIL: EMAIL };
    expect(await run('set-password', 'ada has changed the locks\n', settings)).toMatchObject({ code: 0 });
    const mails = await database.sql`select kind, email, outcome from mails`;
    expect(mails).toEqual([{ kind: 'password_changed', email: EMAIL, outcome: null }]);
  } finally {
    await database.drop();
  }
});

it('with a server: an admin logs in, a new password ends her sessions, and nobody is promoted', async () => {
  const url = await startServer(project, { DATA_DIR: dataFolder }).url;
  const { status, body } = await logIn(url, EMAIL, 'ada keeps the house');
  expect({ status, body }).toMatchObject({ status: 200, body: { user: { user_type: 'admin' } } });
  const headers = { authorization: `Bearer ${String(body.token)}` };
  const seesHerself = async () => (await patiently(() => fetch(`${url}/v1/me`, { headers }))).status;
  expect(await seesHerself()).toBe(200);

  expect((await admin(dataFolder, ['set-password', EMAIL], 'ada has changed the locks\n')).code).toBe(0);
  expect(await seesHerself()).toBe(401);
  expect((await logIn(url, EMAIL, 'ada keeps the house')).status).toBe(401);
  expect((await logIn(url, EMAIL, 'ada has changed the locks')).status).toBe(200);

  const { email, password } = await signUp(url, 'hanna@example.test');
  const refused = await Promise.all([
    admin(dataFolder, ['create', email], 'another password'),
    admin(dataFolder, ['create', EMAIL], ''),
    admin(dataFolder, ['promote', email], 'another password\n'),
  ]);
  // Each error is one line.
  expect(refused.map(({ code, output }) => ({ code, output }))).toEqual([
    {
      code: 1,
      output: expect.stringMatching(/^hanna@example\.test belongs to a homeowner, who can’t become an admin.*\n$/),
    },
    { code: 1, output: 'No password was given.\n' },
    { code: 1, output: expect.stringMatching(/^Usage: npm run admin -- create <email>.*\n$/) },
  ]);
  expect(await logIn(url, email, password)).toMatchObject({ status: 200, body: { user: { user_type: 'homeowner' } } });
});
