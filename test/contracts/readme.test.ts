/** The documentation for people: its commands run as written, and the files that it names exist. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { needs } from '../setup/needs.js';
import { clone, type Clone } from '../app/clone.js';
import { startServer, type Started } from '../app/processes.js';

const ROOT = new URL('../../', import.meta.url);
const read = (name: string) => readFileSync(new URL(name, ROOT), 'utf8');

const README = read('README.md');
const TUTORIAL = read('docs/tutorial.md');
const WRITTEN_ADDRESS = 'http://localhost:4000';

let project: Clone;
let environment: Readonly<Record<string, string>>;
let server: Started;
let url: string;

beforeAll(async () => {
  project = clone();
  environment = { DATA_DIR: project.usedDataFolder(), BCRYPT_COST: '4' };
  server = startServer(project, environment);
  url = await server.url;
});
afterAll(async () => {
  await server.stop();
  project.remove();
});

needs('curl').it('a newcomer who copies the first call of the README gets the response that it shows', async () => {
  const [, section = ''] = README.split('## Get your first response');
  const [, call = ''] = blocks(section, 'sh');
  const { code, output } = await run(call.replace('curl', 'curl --silent'));
  expect(code, output).toBe(0);
  expect(output.trim()).toBe(blocks(section, 'json')[0]?.trim());
});

needs('curl').it('a newcomer who pastes the tutorial into a shell completes every step', async () => {
  // A failed request ends the shell. In a terminal, the reader would see it.
  const strict = 'set -euo pipefail\ncurl() { command curl --fail-with-body "$@"; }\n';
  const { code, output } = await run(strict + blocks(TUTORIAL, 'sh').join('\n'));
  expect(output).not.toContain('"errors"');
  expect(output.match(/[\]}][[{]/g), 'responses on the same line').toBeNull();
  expect(code, output).toBe(0);
  expect(output).toContain('"missingFields":["category","urgency","addressLine1","city","state"]');
  expect(output).toMatch(/^dry-run-effects: \{"charges":\[\{[^}]*"amount":5,"reason":"publish"\}\]/im);
  const balances = [...output.matchAll(/"balance":(\d+),"held":(\d+),"available":(\d+)/g)];
  expect(balances.map(([, ...tokens]) => tokens.join(' '))).toEqual(
    [
      ['25 0 25', '25 0 25'], // Carl's new account, and the same account after he has edited it.
      ['5 0 5', '25 0 25'], // After the story with GraphQL: Hanna's and Carl's.
      ['25 5 20', '0 0 0', '25 0 25'], // Carl's during the story with REST, then Hanna's and Carl's at its end.
      ['25 0 25', '25 0 25'], // Hanna's with the tokens from the referral and from Ada, before and after the dry run.
    ].flat(),
  );
  const statuses = output.split('\n').filter((line) => /^[a-z_]+$/.test(line));
  expect(statuses.join(' ')).toBe(
    'open awarded in_progress in_review completed ' +
      'open awarded in_progress in_review disputed disputed escalated decision_reached appealed completed',
  );
});

needs('curl').it("a reader whose command fails sees the server's error", async () => {
  const [address = '', functions = ''] = blocks(TUTORIAL, 'sh');
  const setup = `set -eo pipefail\n${address}\n${functions}\n`;
  const byRest = await run(`${setup}JOB=$(rest POST /jobs wrong '{}' | field id)`);
  expect([byRest.code, byRest.output]).toEqual([1, expect.stringContaining('"reason":"malformed"')]);
  const byGraphql = await run(`${setup}JOB=$(graphql '' 'mutation { logOut { sessionId } }' | field data.logOut)`);
  expect([byGraphql.code, byGraphql.output]).toEqual([1, expect.stringContaining('has no bearer token')]);
  const fine = await run(`${setup}echo '{"data": {"id": "job_1"}, "errors": null}' | field data.id`);
  expect(fine).toEqual({ code: 0, output: 'job_1\n' });
});

it('the tutorial can be repeated: each of its email addresses is new each time', () => {
  const addresses =
    blocks(TUTORIAL, 'sh')
      .join('\n')
      .match(/\S+@example\.com/g) ?? [];
  expect(addresses.length).toBeGreaterThan(5);
  expect(addresses.filter((address) => !/\$ME/.test(address))).toEqual([]);
});

it('a reader whose server is elsewhere changes its URL once', () => {
  const commands = blocks(TUTORIAL, 'sh').join('\n');
  expect(commands.split(WRITTEN_ADDRESS)).toHaveLength(2);
  expect(commands).toContain(`export BASE=${WRITTEN_ADDRESS} `);
});

it('the README has at most 150 lines', () => expect(README.trimEnd().split('\n').length).toBeLessThanOrEqual(150));

it('the pictures of the README are less than 200 KB each', () => {
  const pictures = [...README.matchAll(/src="([^"]+)"/g)].map(([, path = '']) => path);
  expect(pictures).toEqual(['docs/images/playground-light.png', 'docs/images/playground-dark.png']);
  for (const path of pictures) expect(statSync(new URL(path, ROOT)).size).toBeLessThan(200_000);
});

it('docs/README.md lists every page of its folder', () => {
  const files = readdirSync(new URL('docs/', ROOT), { recursive: true, encoding: 'utf8' });
  const pages = files.filter((name) => name.endsWith('.md') && name !== 'README.md');
  const index = read('docs/README.md');
  expect(pages.filter((name) => !index.includes(`](${name})`))).toEqual([]);
});

const PAGES = [
  'README.md',
  'CHANGELOG.md',
  'docs/README.md',
  'docs/configuration.md',
  'docs/decisions.md',
  'docs/tutorial.md',
  'src/README.md',
  'src/graphql/README.md',
  'src/market/README.md',
  'src/platform/README.md',
  'src/platform/graphql/executor/README.md',
  'src/platform/quotas/README.md',
  'src/rest/README.md',
  'test/README.md',
  'test/bench/README.md',
  'patches/README.md',
];

it.each([...PAGES, 'schema/lifecycle.md'])('no row of a table in %s is longer than 200 characters', (name) => {
  expect(
    read(name)
      .split('\n')
      .filter((line) => line.startsWith('|') && line.length > 200),
  ).toEqual([]);
});

it.each(['graphql', 'market', 'platform', 'rest'])('src/%s has a README of one page', (folder) => {
  expect(read(`src/${folder}/README.md`).trimEnd().split('\n').length).toBeLessThanOrEqual(45);
});

it.each(PAGES)('%s names files and folders that exist, and npm scripts that package.json has', (name) => {
  const file = new URL(name, ROOT);
  const text = readFileSync(file, 'utf8');
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const named = [...text.matchAll(/npm run (?:--silent )?([\w:]+)/g)].map(([, script]) => script ?? '');
  expect(named.filter((script) => !(script in scripts))).toEqual([]);

  const inCode = [...text.matchAll(/`([\w.-]+(?:\/[\w.-]*)+|[\w.-]+\.(?:ts|md|yaml)|Dockerfile|\.env\.example)`/g)].map(
    ([, path]) => path ?? '',
  );
  const linked = [...text.matchAll(/\]\(([^)#:]+)\)/g)].map(([, path]) => path ?? '');
  const paths = [...inCode, ...linked].filter((path) => !/^(https?:|\/)/.test(path));
  expect(paths.filter((path) => ![file, ROOT].some((from) => existsSync(new URL(path, from))))).toEqual([]);
});

it('src/README.md only has names that are also in the code', () => {
  const code = ['src', 'test', 'schema/migrations'].flatMap((folder) =>
    readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(?:ts|js|sql|json)$/.test(name) && !name.includes('node_modules'))
      .map((name) => read(`${folder}/${name}`)),
  );
  const words = new Set(code.join('\n').match(/\w+/g));
  const text = read('src/README.md');
  const names = [...text.matchAll(/`(?:\w+\.)?(\w+)`/g)].map(([, name]) => name ?? '');
  expect(names.length).toBeGreaterThan(50);
  expect(names.filter((name) => !words.has(name))).toEqual([]);
});

function blocks(section: string, language: string): string[] {
  return [...section.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(([, text]) => text ?? '');
}

function run(commands: string): Promise<{ code: number | null; output: string }> {
  const shell = spawn('bash', ['-c', commands.replaceAll(WRITTEN_ADDRESS, url)], {
    cwd: project.folder,
    env: { ...process.env, ...environment },
  });
  let output = '';
  shell.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  shell.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((resolve) => shell.once('close', (code) => resolve({ code, output })));
}
