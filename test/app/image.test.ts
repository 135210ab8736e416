/**
 * Runs the steps of the Docker image in a folder, without Docker. It copies the packages that `npm prune --omit=dev
 * --omit=optional` would keep from here, according to the lock file, so it works without a network.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { VARIABLES } from '../../src/app/config.js';
import { JWT_SECRET } from '../setup/app.js';
import { logIn, patientUrl } from './callers.js';
import { clone, type Clone } from './clone.js';
import { ownDatabase, type OwnDatabase } from './own-database.js';
import { start, type Environment } from './processes.js';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const METRICS_TOKEN = 'sixteen-letters!';

let image: Pick<Clone, 'folder' | 'remove'>;
let database: OwnDatabase;
let environment: Environment;

beforeAll(async () => {
  image = buildImage();
  database = await ownDatabase();
  const { url } = database;
  environment = { NODE_ENV: 'production', BCRYPT_COST: '10', DATABASE_URL: patientUrl(url), JWT_SECRET, METRICS_TOKEN };
});
afterAll(async () => {
  await database.drop();
  image.remove();
});

/** As in the Dockerfile: the packages without development ones, the compiled code, and the files that it reads. */
function buildImage(): typeof image {
  const built = clone();
  const folder = mkdtempSync(join(tmpdir(), 'marketplace-image-'));
  for (const path of ['dist', 'schema/migrations', 'src/pages/playground/steps'])
    cpSync(join(built.folder, path), join(folder, path), { recursive: true });
  built.remove();
  const copied = ['package.json', 'package-lock.json', ...productionPackages()];
  // As hard links if possible, because these are eighty megabytes in thousands of files.
  const copy = (how: string) => spawnSync('cp', [how, '--parents', ...copied, folder], { cwd: PROJECT }).status;
  if (copy('-rl') !== 0 && copy('-r') !== 0) throw new Error('The packages could not be copied.');
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }) };
}

function versionOfPackage(): string {
  return (JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as { version: string }).version;
}

interface LockedPackage {
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly devOptional?: boolean;
}

function productionPackages(): string[] {
  const lock = JSON.parse(readFileSync(join(PROJECT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockedPackage>;
  };
  const isInside = (path: string) => path.indexOf('node_modules/') !== path.lastIndexOf('node_modules/');
  return Object.entries(lock.packages)
    .filter(([path, { dev, optional, devOptional }]) => path !== '' && !dev && !optional && !devOptional)
    .map(([path]) => path)
    .filter((path) => !isInside(path));
}

it('has the patched driver, but not the tool that patched it', () => {
  expect(existsSync(join(image.folder, 'node_modules/patch-package'))).toBe(false);
  const driver = readFileSync(join(image.folder, 'node_modules/postgres/src/index.js'), 'utf8');
  expect(driver).toContain('survivesDeadBackends');
  const written = ['deploy/Dockerfile', 'docs/operating.md', 'docs/configuration.md'].map((name) =>
    readFileSync(join(PROJECT, name), 'utf8'),
  );
  for (const text of written) expect(text).toContain('npm run build && npm prune --omit=dev --omit=optional');
});

it('`npm run migrate` and `npm run admin` work without a compiler', async () => {
  const migrated = await start(image, ['npm', 'run', '--silent', 'migrate'], environment).ended;
  expect(migrated.code, migrated.output).toBe(0);
  const command = ['npm', 'run', '--silent', 'admin', '--', 'create', 'ada@example.test'];
  // The command doesn't sign anything.
  const unsigned = { ...environment, JWT_SECRET: undefined };
  const { code, output } = await start(image, command, unsigned, 'ada keeps the house\n').ended;
  expect(code, output).toBe(0);
  expect(output).toMatch(/^Done: ada@example\.test can log in as an admin in the database \w+ on .+\.\n$/);
});

it('`npm start` works, hides the playground, and protects the metrics', async () => {
  const server = start(image, ['npm', '--silent', 'start'], environment);
  const url = await server.url;
  expect((await logIn(url, 'ada@example.test', 'ada keeps the house')).status).toBe(200);
  // A server in production only writes JSON.
  const instance = `${hostname()}:0`;
  for (const line of server.output().trim().split('\n'))
    expect(JSON.parse(line)).toMatchObject({ level: expect.any(String), instance, version: versionOfPackage() });
  expect(await (await fetch(url)).json()).toEqual({
    graphql: '/graphql',
    rest: '/v1',
    rest_reference: '/v1/docs',
    openapi: '/v1/openapi.json',
    lifecycle: '/lifecycle',
    health: '/healthz',
    readiness: '/readyz',
  });
  const page = await fetch(`${url}/graphql`, { headers: { accept: 'text/html' } });
  expect(await page.text()).toContain('The playground is off');

  const metrics = (token: string) =>
    fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}`, 'x-forwarded-for': '203.0.113.9' } });
  expect((await metrics(METRICS_TOKEN)).status).toBe(200);
  expect((await metrics('another token of its length')).status).toBe(403);
});

it('starts like the systemd unit, reports its version, and has a playground if that is on', async () => {
  const unit = readFileSync(join(PROJECT, 'deploy/marketplace@.service'), 'utf8');
  const [program, ...args] = /^ExecStart=(.+)$/m.exec(unit)?.[1]?.split(' ') ?? [];
  expect(program).toBe('/usr/bin/node');
  // systemd copies the secrets to a folder, which is %d in the unit.
  const [, credentials = ''] = /^Environment=(.+%d.+)$/m.exec(unit) ?? [];
  const { JWT_SECRET, METRICS_TOKEN, ...others } = environment;
  for (const [name, text] of Object.entries({ JWT_SECRET, METRICS_TOKEN })) {
    expect(unit).toContain(`\nLoadCredential=${name}:/etc/marketplace/${name}\n`);
    writeFileSync(join(image.folder, name), `${text}\n`);
  }
  const files = Object.fromEntries(
    credentials.split(' ').map((each) => each.replace('%d', image.folder).split('=') as [string, string]),
  );
  const url = await start(image, [process.execPath, ...args], { ...others, ...files, GRAPHQL_PLAYGROUND: 'on' }).url;
  const authorization = `Bearer ${METRICS_TOKEN}`;
  expect((await fetch(`${url}/metrics`, { headers: { authorization } })).status).toBe(200);
  expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ status: 'ok', version: versionOfPackage() });
  expect(await (await fetch(`${url}/graphql/playground/start.js`)).text()).toContain('mutation SignUp(');
});

it('Compose only sets known variables, including the token for the metrics', () => {
  const compose = readFileSync(join(PROJECT, 'deploy/compose.yaml'), 'utf8');
  const server = /^ {2}server:\n(?<lines>(?: {4}.*\n)+)/m.exec(compose)?.groups?.lines ?? '';
  const named = [...server.matchAll(/^ {6}([A-Z_]+):/gm)].map(([, name]) => name ?? '');
  expect(named.filter((name) => !(name in VARIABLES))).toEqual([]);
  expect(named).toEqual(expect.arrayContaining(['JWT_SECRET', 'JWT_PREVIOUS_SECRET', 'METRICS_TOKEN']));
  // A `.env` for a server without Compose doesn't change where this one listens.
  expect(named).toEqual(expect.arrayContaining(['NODE_ENV', 'HOST', 'PORT']));
  expect(server).toMatch(/^ {4}env_file:\n {6}- path: \.env\n {8}required: false\n/m);
  // All callers come through HAProxy, which reports their real addresses.
  expect(server).not.toContain('ports:');
  expect(server).toMatch(/^ {6}TRUST_PROXY_HOPS: 1$/m);
});
