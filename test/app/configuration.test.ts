/**
 * A server with an invalid configuration doesn't start, and reports every invalid variable. If it only can't reach its
 * mail server, it starts.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigError, readConfig, SECRETS, VARIABLES } from '../../src/app/config.js';
import { createLog } from '../../src/platform/telemetry/log.js';
import { welcome } from '../../src/app/welcome.js';
import { until } from '../platform/security/until.js';
import { clone, type Clone } from './clone.js';
import { start, startServer, type Environment } from './processes.js';

let project: Clone;

beforeAll(() => {
  project = clone();
});
afterAll(() => project.remove());

async function refused(environment: Environment): Promise<string> {
  const dataFolder = project.dataFolder();
  const { code, output } = await startServer(project, { DATA_DIR: dataFolder, ...environment }).ended;
  expect({ code, dataFolderExists: existsSync(dataFolder) }).toEqual({ code: 1, dataFolderExists: false });
  return output;
}

/** What is wrong with these variables. */
function problemsOf(environment: Environment): readonly string[] {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

it('names all invalid variables together, and starts nothing', async () => {
  const output = await refused({
    PORT: 'http',
    NODE_ENV: 'staging',
    DATABASE_URL: 'mysql://somewhere',
    JWT_SECRET: 'short',
    CORS_ORIGINS: 'https://app.example/path',
    RATE_LIMITS: 'maybe',
    LOG_LEVEL: 'whisper',
    ADMIN_EMAIL: 'ada@example.test',
  });
  expect(output).toContain('NODE_ENV must be production, development, or test');
  expect(output).toContain('LOG_LEVEL must be one of fatal, error,');
  for (const variable of ['PORT', 'NODE_ENV', 'DATABASE_URL', 'JWT_SECRET', 'CORS_ORIGINS', 'RATE_LIMITS'])
    expect(output).toMatch(new RegExp(`^ {2}- ${variable} \\S`, 'm'));
  expect(output).not.toMatch(/\n\s+at |node_modules/);
  expect(output).not.toContain('short');
});

it('reads .env without overriding variables, and reports an unreachable database without its password', async () => {
  const file = join(project.folder, '.env');
  const DATABASE_URL = 'postgres://someone:hidden-word@127.0.0.1:1/nothing';
  writeFileSync(file, `# written by someone\nPORT=from the file\nDATABASE_URL=${DATABASE_URL}\n`);
  try {
    const output = await refused({ PORT: '0' });
    expect(output).toContain('127.0.0.1:1');
    expect(output).toContain('cannot be used');
    expect(output).not.toContain('hidden-word');
  } finally {
    rmSync(file);
  }
});

it.each([
  ['main.js', 'The database at DATABASE_URL cannot be used: '],
  ['commands/migrate.js', ''],
])('%s names each address of a database that cannot be reached', async (file, before) => {
  const twoAddresses = `import dns from 'node:dns';
    const addresses = [{ address: '127.0.0.1', family: 4 }, { address: '127.0.0.2', family: 4 }];
    dns.lookup = (host, options, done) => done(null, addresses);`;
  const environment = {
    DATABASE_URL: 'postgres://owner@two-addresses.test:1/nothing',
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(twoAddresses)}`,
  };
  const reason = 'connect ECONNREFUSED 127.0.0.1:1, connect ECONNREFUSED 127.0.0.2:1';
  expect(await start(project, [process.execPath, `dist/${file}`], environment).ended).toMatchObject({
    code: 1,
    output: `${before}${reason}\n`,
  });
});

it.each([
  [{ NODE_ENV: 'production' }, 'JWT_SECRET must be set to at least 32 bytes in production'],
  [{ NODE_ENV: 'production', JWT_SECRET: 'x'.repeat(31) }, 'JWT_SECRET must be at least 32 bytes long'],
  [{ ADMIN_EMAIL: 'ada@example.test' }, /ADMIN_EMAIL .*ADMIN_PASSWORD/],
  [{ ADMIN_PASSWORD: 'ada keeps the house' }, /ADMIN_EMAIL .*ADMIN_PASSWORD/],
])('rejects %o', (environment, problem) => {
  expect(() => readConfig(environment)).toThrow(problem);
});

describe('a secret in a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'secrets-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  let files = 0;
  const file = (text: string) => {
    const path = join(folder, `secret-${(files += 1)}`);
    writeFileSync(path, text);
    return path;
  };
  const VALID: Readonly<Record<(typeof SECRETS)[number], string>> = {
    DATABASE_URL: 'postgres://owner@127.0.0.1/market',
    DATABASE_DIRECT_URL: 'postgres://owner@127.0.0.1/market',
    DATABASE_REPLICA_URL: 'postgres://owner@127.0.0.1/market',
    SMTP_URL: 'smtp://user:password@mail.example:587',
    MAILBOX_SECRET: 'the_mailbox_of_a_test',
    REDIS_URL: 'redis://:password@127.0.0.1',
    JWT_SECRET: 'a'.repeat(32),
    JWT_PREVIOUS_SECRET: 'b'.repeat(32),
    ADMIN_PASSWORD: ' ada keeps the house ',
    STRIPE_SECRET_KEY: 'sk_test_1',
    STRIPE_WEBHOOK_SECRET: 'whsec_1',
    METRICS_TOKEN: 'sixteen-letters!',
  };
  const others = { ADMIN_EMAIL: 'ada@example.test', MAIL_FROM: 'a@b.example' };

  it('has the same effect as the variable, without the line break at the end of the file', () => {
    for (const ending of ['', '\n', '\r\n']) {
      const named = Object.entries(VALID).map(([name, value]) => [`${name}_FILE`, file(value + ending)]);
      expect(readConfig({ ...others, ...Object.fromEntries(named) })).toEqual(readConfig({ ...others, ...VALID }));
    }
  });

  it('works for every variable whose name says that it has a secret or a password', () => {
    const named = /SECRET|PASSWORD|^METRICS_TOKEN$|^(DATABASE|REDIS|SMTP)\w*_URL$/;
    expect([...SECRETS].toSorted()).toEqual(
      Object.keys(VARIABLES)
        .filter((name) => named.test(name))
        .toSorted(),
    );
  });

  it.each([
    ['missing', () => join(folder, 'missing'), /^JWT_SECRET_FILE names a file that can’t be read: ENOENT.+missing/],
    ['a folder', () => folder, /^JWT_SECRET_FILE names a file that can’t be read: EISDIR/],
    ['empty', () => file(''), /^JWT_SECRET_FILE names an empty file: \/.+secret-/],
    ['only a line break', () => file('\n'), /^JWT_SECRET_FILE names an empty file: \/.+secret-/],
    ['too short', () => file('short\n'), /^JWT_SECRET must be at least 32 bytes long$/],
  ])('if the file is %s, the server reports it along with other invalid variables', (_, path, problem) => {
    const problems = problemsOf({ NODE_ENV: 'production', JWT_SECRET_FILE: path(), PORT: 'http' });
    expect(problems).toHaveLength(2);
    expect(problems).toEqual(expect.arrayContaining([expect.stringMatching(problem), 'PORT must be a whole number']));
  });

  it('can’t be set along with the variable', () => {
    const JWT_SECRET_FILE = file(VALID.JWT_SECRET);
    expect(problemsOf({ JWT_SECRET: VALID.JWT_SECRET, JWT_SECRET_FILE })).toEqual([
      'JWT_SECRET_FILE and JWT_SECRET can’t both be set',
    ]);
    expect(readConfig({ JWT_SECRET: '', JWT_SECRET_FILE }).JWT_SECRET).toBe(VALID.JWT_SECRET);
  });
});

it('starts without its mail server, and the log says why emails wait', async () => {
  const server = startServer(project, {
    DATA_DIR: project.usedDataFolder(),
    SMTP_URL: 'smtp://sender:hidden-word@127.0.0.1:1',
    MAIL_FROM: 'market@example.test',
  });
  await server.url;
  const message = 'the mail server (SMTP_URL) cannot be used: emails wait until it can';
  const line = () =>
    server
      .output()
      .split('\n')
      .find((text) => text.includes(message) && text.endsWith('}'));
  await until(() => line() !== undefined);
  expect(JSON.parse(line() ?? '')).toMatchObject({ level: 'warn', code: 'ESOCKET' });
  expect(server.output()).not.toContain('hidden-word');
});

it('has a playground by default, except in production or if only listed documents can run', () => {
  const inProduction = { NODE_ENV: 'production', JWT_SECRET: 'x'.repeat(32), BCRYPT_COST: '10' };
  const listed = { PERSISTED_DOCUMENTS: 'only', PERSISTED_DOCUMENTS_FILE: 'list.json' };
  expect([{}, inProduction, listed].map((env) => readConfig(env).playground)).toEqual([true, false, false]);
  expect(readConfig({ ...listed, GRAPHQL_PLAYGROUND: 'on' }).playground).toBe(true);
});

it('logs its address in production, whatever the log level', () => {
  const logged: string[] = [];
  const log = createLog('fatal', {
    destination: new Writable({ write: (line, _, done) => (logged.push(String(line)), done()) }),
  });
  welcome(
    'http://127.0.0.1:4000',
    readConfig({ NODE_ENV: 'production', JWT_SECRET: 'x'.repeat(32), BCRYPT_COST: '10' }),
    log,
  );
  expect(logged.map((line) => JSON.parse(line).msg)).toEqual([expect.stringContaining('http://127.0.0.1:4000')]);
});
