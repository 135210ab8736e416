/** A server with an invalid configuration doesn't start, and reports every invalid variable. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readConfig } from '../../src/app/config.js';
import { createLog } from '../../src/platform/telemetry/log.js';
import { welcome } from '../../src/app/welcome.js';
import { clone, type Clone } from './clone.js';
import { startServer, type Environment } from './processes.js';

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
  writeFileSync(file, `# written by somebody\nPORT=from the file\nDATABASE_URL=${DATABASE_URL}\n`);
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
  [{ NODE_ENV: 'production' }, 'JWT_SECRET must be set to at least 32 bytes in production'],
  [{ NODE_ENV: 'production', JWT_SECRET: 'x'.repeat(31) }, 'JWT_SECRET must be at least 32 bytes long'],
  [{ ADMIN_EMAIL: 'ada@example.test' }, /ADMIN_EMAIL .*ADMIN_PASSWORD/],
  [{ ADMIN_PASSWORD: 'ada keeps the house' }, /ADMIN_EMAIL .*ADMIN_PASSWORD/],
])('rejects %o', (environment, problem) => {
  expect(() => readConfig(environment)).toThrow(problem);
});

it('logs its address in production, whatever the log level', () => {
  const logged: string[] = [];
  const log = createLog('fatal', new Writable({ write: (line, _, done) => (logged.push(String(line)), done()) }));
  welcome(
    'http://127.0.0.1:4000',
    readConfig({ NODE_ENV: 'production', JWT_SECRET: 'x'.repeat(32), BCRYPT_COST: '10' }),
    log,
  );
  expect(logged.map((line) => JSON.parse(line).msg)).toEqual([expect.stringContaining('http://127.0.0.1:4000')]);
});
