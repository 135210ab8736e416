/**
 * Relay: its compiler accepts the schema, its store never confuses two objects, and its pages grow both ways. It shows
 * the results of mutations and subscriptions without another query. graphql-eslint's rules for Relay schemas also pass.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { getNamedType, isObjectType, printSchema, type GraphQLInterfaceType, type GraphQLObjectType } from 'graphql';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { schema } from '../../../src/graphql/schema.js';
import { openTestApp, type TestApp } from '../../setup/app.js';
import { homeowner } from '../../story/cast.js';
import { DRAFT } from '../../story/journey.js';
import { packagesOf } from '../../setup/packages.js';

const FILES = ['package.json', 'pages.ts', 'relay.config.json', 'story.ts', 'tsconfig.json', 'eslint.config.js'];

let app: TestApp;
let folder: string;
beforeAll(async () => {
  app = await openTestApp();
  folder = mkdtempSync(join(tmpdir(), 'relay-'));
  const from = join(import.meta.dirname, 'relay');
  for (const file of FILES) cpSync(join(from, file), join(folder, file));
  mkdirSync(join(folder, '__generated__'));
  symlinkSync(await packagesOf(from), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'api.graphql'), printSchema(schema));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await app.close();
});

async function run(program: string, ...args: string[]): Promise<string> {
  const command = join(folder, 'node_modules', '.bin', program);
  const { stdout } = await promisify(execFile)(command, args, { cwd: folder, maxBuffer: 2 ** 24 }).catch(
    (error: { stdout: string; stderr: string }) => {
      throw new Error(`${program} failed:\n${error.stdout}${error.stderr}`, { cause: error });
    },
  );
  return stdout;
}

it("a Relay client shows a homeowner's pages", async () => {
  await run('relay-compiler', 'relay.config.json');
  await run('tsc', '--project', '.');
  const olive = await homeowner(app, 'Olive');
  for (const title of ['One', 'Two', 'Three', 'Four'])
    await app.rest('POST', '/v1/jobs', { token: olive.token, body: { ...DRAFT, title } });

  const { story } = await import(pathToFileURL(join(folder, 'built', 'story.js')).href);
  const told = await story({ url: app.url, token: olive.token, userId: olive.userId, WebSocket });

  expect(told.user[0]).toMatchObject({ node: { id: olive.userId, firstName: 'Olive' } });
  expect(told.user[1]).toEqual(told.user[0]);
  expect(told.titles).toEqual({
    'the first two': ['Four', 'Three'],
    'and two more': ['Four', 'Three', 'Two', 'One'],
    'with a new one': ['The newest', 'Four', 'Three', 'Two', 'One'],
    'without it': ['Four', 'Three', 'Two', 'One'],
    'the last two': ['Two', 'One'],
  });
  expect(told.heard).toBe('OPEN');
  const [before, after] = told.tokens.map(({ viewer }: { viewer: { tokens: object } }) => viewer.tokens);
  expect([before, after]).toEqual([{ available: 10 }, { available: 5 }]);
});

it("graphql-eslint finds no violation of Relay's rules in the schema", async () => {
  expect(await run('eslint', 'api.graphql')).toBe('');
});

it('every entry of a list is a node, except those that only their list can identify', () => {
  const entries = Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type) && type.name.endsWith('Edge'))
    .map((type) => getNamedType((type as GraphQLObjectType).getFields()['node']!.type));
  const withoutId = entries.filter((entry) => !isObjectType(entry) || !entry.getInterfaces().some(isNode));
  // A revision is identified by its bid and version, and a notification by its reader and position.
  expect(withoutId.map(({ name }) => name).toSorted()).toEqual(['BidRevision', 'Notification']);
});

const isNode = ({ name }: GraphQLInterfaceType) => name === 'Node';
