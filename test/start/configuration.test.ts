/** A server with a wrong configuration does not start, and reports every wrong variable. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
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

it('names every wrong variable at once, and starts nothing', async () => {
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
  expect(output).toContain('NODE_ENV must be production, development or test');
  expect(output).toContain('LOG_LEVEL must be one of fatal, error,');
  for (const variable of ['PORT', 'NODE_ENV', 'DATABASE_URL', 'JWT_SECRET', 'CORS_ORIGINS', 'RATE_LIMITS'])
    expect(output).toMatch(new RegExp(`^ {2}- ${variable} \\S`, 'm'));
  expect(output).not.toMatch(/\n\s+at |node_modules/);
  expect(output).not.toContain('short');
});

it('asks for a JWT_SECRET in production, in words', async () => {
  expect(await refused({ NODE_ENV: 'production' })).toContain('JWT_SECRET must be set in production');
});

it('finds a JWT_SECRET of 31 bytes too short in production', async () => {
  expect(await refused({ NODE_ENV: 'production', JWT_SECRET: 'x'.repeat(31) })).toContain(
    'JWT_SECRET must be at least 32 bytes long',
  );
});

it('says in production where it is open, whatever is logged besides', async () => {
  const server = startServer(project, {
    DATA_DIR: project.dataFolder(),
    NODE_ENV: 'production',
    JWT_SECRET: 'x'.repeat(32),
    BCRYPT_COST: '10',
    LOG_LEVEL: 'fatal',
  });
  const url = await server.url;
  const { output } = await server.stop();
  expect(
    output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).msg),
  ).toEqual([expect.stringContaining(url)]);
});

it('asks for ADMIN_EMAIL and ADMIN_PASSWORD together', async () => {
  expect(await refused({ ADMIN_EMAIL: 'ada@example.test' })).toMatch(/ADMIN_EMAIL .*ADMIN_PASSWORD/);
});

it('says that a database cannot be reached, and which, without its password', async () => {
  const output = await refused({ DATABASE_URL: 'postgres://someone:hidden-word@127.0.0.1:1/nothing' });
  expect(output).toContain('127.0.0.1:1');
  expect(output).not.toContain('hidden-word');
});

it('reads a file .env in its folder, which overrides nothing', async () => {
  const file = join(project.folder, '.env');
  writeFileSync(file, '# written by somebody\nPORT=from the file\nLOG_LEVEL=whisper\n');
  try {
    const output = await refused({ PORT: 'from the shell', BCRYPT_COST: '99' });
    for (const variable of ['PORT', 'LOG_LEVEL', 'BCRYPT_COST']) expect(output).toContain(`- ${variable} `);
    expect(await refused({ PORT: '0', LOG_LEVEL: 'info', DATABASE_URL: 'postgres://127.0.0.1:1/nothing' })).toContain(
      'cannot be used',
    );
  } finally {
    rmSync(file);
  }
});
