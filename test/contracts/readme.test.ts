/** The README's first session, pasted unchanged into a shell next to a server that has just been started. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { needs } from '../setup/needs.js';
import { clone, type Clone } from '../app/clone.js';
import { startServer } from '../app/processes.js';

const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
const WRITTEN_ADDRESS = 'http://localhost:4000';
const SESSION = sectionOf('A first session');

let project: Clone;

beforeAll(() => {
  project = clone();
});
afterAll(() => project.remove());

needs('curl').it('every command of the first session works, in the order in which it stands there', async () => {
  const dataFolder = project.usedDataFolder();
  const url = await startServer(project, { DATA_DIR: dataFolder }).url;
  const commands = blocks(SESSION, 'sh').join('\n').replaceAll(WRITTEN_ADDRESS, url);
  // Pasted as they are; only a refusal, which a reader would see, must end it here.
  const strict = 'set -euo pipefail\ncurl() { command curl --fail-with-body "$@"; }\n';

  const { code, output } = await run(`${strict}${commands}`, { DATA_DIR: dataFolder, BCRYPT_COST: '4' });
  expect(output).not.toContain('"errors"');
  expect(output.match(/[\]}][[{]/g), 'answers that stand on one line').toBeNull();
  expect(code, output).toBe(0);
});

it('the first session can be pasted again and again: each address in it is new each time', () => {
  const addresses = SESSION.match(/\S+@example\.com/g) ?? [];
  expect(addresses.length).toBeGreaterThan(5);
  expect(addresses.filter((address) => !/\$ME|\$RANDOM/.test(address))).toEqual([]);
});

it('the address of the server is written once, for whoever has it elsewhere', () => {
  expect(SESSION.split(WRITTEN_ADDRESS)).toHaveLength(2);
  expect(SESSION).toContain(`export BASE=${WRITTEN_ADDRESS} `);
});

const READMES = [
  'README.md',
  'docs/decisions.md',
  'src/README.md',
  'src/graphql/README.md',
  'src/market/README.md',
  'src/platform/README.md',
  'src/rest/README.md',
  'test/README.md',
  'test/bench/README.md',
  'patches/README.md',
];

it('the README can be read in one sitting', () => expect(README.split('\n').length).toBeLessThan(200));

it.each(['graphql', 'market', 'platform', 'rest'])('src/%s has a README of one page', (folder) => {
  const text = readFileSync(new URL(`../../src/${folder}/README.md`, import.meta.url), 'utf8');
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(45);
});

it.each(READMES)('%s names files and folders that exist, and npm scripts that package.json has', (name) => {
  const root = new URL('../../', import.meta.url);
  const file = new URL(name, root);
  const text = readFileSync(file, 'utf8');
  const { scripts } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const named = [...text.matchAll(/npm run (?:--silent )?([\w:]+)/g)].map(([, script]) => script ?? '');
  expect(named.filter((script) => !(script in scripts))).toEqual([]);

  const inCode = [...text.matchAll(/`([\w.-]+(?:\/[\w.-]*)+|[\w.-]+\.(?:ts|md|yaml)|Dockerfile|\.env\.example)`/g)].map(
    ([, path]) => path ?? '',
  );
  const linked = [...text.matchAll(/\]\(([^)#:]+)\)/g)].map(([, path]) => path ?? '');
  const paths = [...inCode, ...linked].filter((path) => !/^(https?:|\/)/.test(path));
  expect(paths.length).toBeGreaterThan(3);
  expect(paths.filter((path) => ![file, root].some((from) => existsSync(new URL(path, from))))).toEqual([]);
});

it('src/README.md names what the code has', () => {
  const root = new URL('../../', import.meta.url);
  const code = ['src', 'test', 'schema/migrations'].flatMap((folder) =>
    readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(?:ts|js|sql|json)$/.test(name) && !name.includes('node_modules'))
      .map((name) => readFileSync(new URL(`${folder}/${name}`, root), 'utf8')),
  );
  const words = new Set(code.join('\n').match(/\w+/g));
  const text = readFileSync(new URL('src/README.md', root), 'utf8');
  const names = [...text.matchAll(/`(?:\w+\.)?(\w+)`/g)].map(([, name]) => name ?? '');
  expect(names.length).toBeGreaterThan(50);
  expect(names.filter((name) => !words.has(name))).toEqual([]);
});

function sectionOf(title: string): string {
  const section = README.split(/^## /m).find((text) => text.startsWith(`${title}\n`));
  if (!section) throw new Error(`README.md has no section "${title}".`);
  return section;
}

function blocks(section: string, language: string): string[] {
  return [...section.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(([, text]) => text ?? '');
}

function run(commands: string, environment: Record<string, string>): Promise<{ code: number | null; output: string }> {
  const shell = spawn('bash', ['-c', commands], { cwd: project.folder, env: { ...process.env, ...environment } });
  let output = '';
  shell.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  shell.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((resolve) => shell.once('close', (code) => resolve({ code, output })));
}
