/** `npm run admin`: the operator creates admins, with or without a running server. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { processesOf } from '../embedded/processes.js';
import { logIn, readiness, signUp } from './callers.js';
import { clone, type Clone } from './clone.js';
import { start, startServer, type Ended } from './processes.js';

const EMAIL = 'ada@example.test';

let project: Clone;

beforeAll(() => {
  project = clone();
});
afterAll(() => project.remove());

function admin(dataFolder: string, words: string[], input: string): Promise<Ended> {
  return start(project, [process.execPath, 'dist/admin.js', ...words], { DATA_DIR: dataFolder }, input).ended;
}

it('an admin made without a server can log in when one starts', async () => {
  const dataFolder = project.dataFolder();
  const server = startServer(project, { DATA_DIR: dataFolder });
  await server.url;
  await server.stop();
  const { code, output } = await admin(dataFolder, ['create', EMAIL], 'ada keeps the house\n');
  const done = `Done: ${EMAIL} can log in as an admin, in the database in ${resolve(dataFolder)}.\n`;
  expect({ code, output }).toEqual({ code: 0, output: done });
  expect(processesOf(dataFolder)).toEqual([]);

  const url = await startServer(project, { DATA_DIR: dataFolder }).url;
  expect(await logIn(url, EMAIL, 'ada keeps the house')).toMatchObject({
    status: 200,
    body: { user: { user_type: 'admin' } },
  });
});

it('where no server has made a database none is made: the admin would be in one that nobody reads', async () => {
  const dataFolder = project.dataFolder();
  const { code, output } = await admin(dataFolder, ['create', EMAIL], 'ada keeps the house\n');
  expect(code).toBe(1);
  expect(output).toContain(`There is no database in ${resolve(dataFolder)}: give DATA_DIR or DATABASE_URL`);
  expect(existsSync(join(dataFolder, 'postgres'))).toBe(false);
});

it('with a running server: an admin is made, given another password, and their sessions end', async () => {
  const dataFolder = project.dataFolder();
  const url = await startServer(project, { DATA_DIR: dataFolder }).url;

  expect((await admin(dataFolder, ['create', EMAIL], 'ada keeps the house')).code).toBe(0);
  const { body } = await logIn(url, EMAIL, 'ada keeps the house');
  const seesHerself = async () =>
    (await fetch(`${url}/v1/me`, { headers: { authorization: `Bearer ${String(body.token)}` } })).status;
  expect(await seesHerself()).toBe(200);

  expect((await admin(dataFolder, ['set-password', EMAIL], 'ada has changed the locks\n')).code).toBe(0);
  expect(await seesHerself()).toBe(401);
  expect((await logIn(url, EMAIL, 'ada keeps the house')).status).toBe(401);
  expect((await logIn(url, EMAIL, 'ada has changed the locks')).status).toBe(200);
  expect(await readiness(url)).toBe(200);
});

it('nobody is ever promoted, nobody else is given a password, and what is wrong is said in one line', async () => {
  const dataFolder = project.dataFolder();
  const url = await startServer(project, { DATA_DIR: dataFolder }).url;
  const { email, password } = await signUp(url, 'hanna@example.test');

  const [promoted, givenAPassword, unknown, tooShort, noPassword, noAddress, noCommand] = await Promise.all([
    admin(dataFolder, ['create', email], 'another password\n'),
    admin(dataFolder, ['set-password', email], 'another password\n'),
    admin(dataFolder, ['set-password', 'nobody@example.test'], 'another password\n'),
    admin(dataFolder, ['create', EMAIL], 'short\n'),
    admin(dataFolder, ['create', EMAIL], ''),
    admin(dataFolder, ['create', 'ada'], 'ada keeps the house\n'),
    admin(dataFolder, ['promote', email], 'another password\n'),
  ]);
  for (const { code, output } of [promoted, givenAPassword, unknown, tooShort, noPassword, noAddress, noCommand]) {
    expect({ code, lines: output.trimEnd().split('\n').length }, output).toEqual({ code: 1, lines: 1 });
  }
  expect(promoted.output).toContain('belongs to a homeowner');
  expect(givenAPassword.output).toContain('is no admin');
  expect(unknown.output).toContain('is no admin');
  expect(tooShort.output).toContain('8');
  expect(noPassword.output).toContain('No password was given');
  expect(noAddress.output).toContain('email');
  expect(noCommand.output).toContain('npm run admin -- create <email>');

  expect(await logIn(url, email, password)).toMatchObject({ status: 200, body: { user: { user_type: 'homeowner' } } });
});
