/** On SIGHUP, a server applies a changed log level and changed limits, and nothing else. In a terminal, it stops. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../platform/security/until.js';
import { needs } from '../setup/needs.js';
import { signUp } from './callers.js';
import { clone, type Clone } from './clone.js';
import { start, startServer, type Started } from './processes.js';

let project: Clone;
let server: Started;
let url: string;
let token: string;
const STREAM_BODY = JSON.stringify({ query: 'subscription { myEvents { id } }' });
const OLD_SECRET = 'the secret at the start, of 32 bytes';
const NEW_SECRET = 'the secret after a change, of 32 bytes';

function writeConfig(...lines: string[]): void {
  writeFileSync(join(project.folder, 'market.env'), `JWT_SECRET='${OLD_SECRET}'\n${lines.join('\n')}\n`);
}

/** Sends SIGHUP, and returns what the server logs until the configuration is reloaded or rejected. */
async function reload(): Promise<{ msg: string; [field: string]: unknown }[]> {
  const before = server.output().length;
  process.kill(server.pid, 'SIGHUP');
  const text = () => server.output().slice(before);
  await until(() => /configuration (not )?reloaded.*\n/.test(text()));
  // The next line, if any, is written together with this one.
  await fetch(`${url}/healthz`);
  return text()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { msg: string })
    .filter(({ msg }) => /reloaded|restarts/.test(msg));
}

async function readLimit(): Promise<string | null> {
  const response = await fetch(`${url}/v1/me`, { headers: { authorization: `Bearer ${token}` } });
  expect(response.status).toBe(200);
  return response.headers.get('ratelimit-policy');
}

/** Starts a stream, and returns whether it stays open. */
async function openStream(): Promise<boolean> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept: 'text/event-stream' };
  const response = await fetch(`${url}/graphql/stream`, { method: 'POST', headers, body: STREAM_BODY });
  const chunk = await response.body?.getReader().read();
  const text = new TextDecoder().decode(chunk?.value);
  if (/RATE_LIMITED/.test(text)) return false;
  expect([response.status, text]).toEqual([200, expect.stringMatching(/^:/)]);
  return true;
}

beforeAll(async () => {
  project = clone();
  writeConfig('LOG_LEVEL=warn', 'RATE_LIMIT_READ=50', 'QUOTA_STREAMS_PER_ADDRESS=1');
  server = startServer(project, {
    CONFIG_FILE: join(project.folder, 'market.env'),
    DATA_DIR: project.usedDataFolder(),
    RATE_LIMIT_WRITE: '40',
  });
  url = await server.url;
  ({ token } = await signUp(url, 'hanna@example.test'));
});
afterAll(async () => {
  await server.stop();
  project.remove();
});

describe('after SIGHUP', () => {
  it('new limits and a new log level apply, and streams stay open', async () => {
    expect(await readLimit()).toContain('q=50;');
    expect([await openStream(), await openStream()]).toEqual([true, false]);
    expect(server.output()).not.toContain('"route":"GET /v1/me"');

    writeConfig('LOG_LEVEL=info', 'RATE_LIMIT_READ=60', 'QUOTA_STREAMS_PER_ADDRESS=2');
    expect(await reload()).toEqual([
      expect.objectContaining({
        msg: 'configuration reloaded',
        changed: ['RATE_LIMIT_READ', 'QUOTA_STREAMS_PER_ADDRESS', 'LOG_LEVEL'],
      }),
    ]);
    expect(await readLimit()).toContain('q=60;');
    expect([await openStream(), await openStream()]).toEqual([true, false]);
    await until(() => server.output().includes('"route":"GET /v1/me"'));
  });

  it('an invalid value changes nothing, and the log names it', async () => {
    writeConfig('LOG_LEVEL=error', 'RATE_LIMIT_READ=many');
    const [line] = await reload();
    expect(line).toMatchObject({
      level: 'error',
      err: { message: expect.stringContaining('RATE_LIMIT_READ must be') },
    });
    expect(await readLimit()).toContain('q=60;');
  });

  it('a removed file changes nothing', async () => {
    rmSync(join(project.folder, 'market.env'));
    const [line] = await reload();
    expect(line).toMatchObject({
      level: 'error',
      err: { message: expect.stringContaining('CONFIG_FILE names a file') },
    });
    expect(await readLimit()).toContain('q=60;');
  });

  it('other variables keep their values, and the log names them without their values', async () => {
    writeConfig(
      'RATE_LIMIT_READ=60',
      'QUOTA_STREAMS_PER_ADDRESS=2',
      `JWT_SECRET='${NEW_SECRET}'`,
      'RATE_LIMIT_WRITE=1',
    );
    const lines = await reload();
    expect(lines).toEqual([
      expect.objectContaining({ msg: 'configuration reloaded', changed: [] }),
      expect.objectContaining({ level: 'warn', variables: ['JWT_SECRET'] }),
    ]);
    expect(server.output()).not.toContain(NEW_SECRET);
    // The session was signed with the old secret.
    expect(await readLimit()).toContain('q=60;');
  });

  it('a variable that was removed from the file gets its default', async () => {
    writeConfig();
    expect((await reload())[0]).toMatchObject({ changed: ['RATE_LIMIT_READ', 'QUOTA_STREAMS_PER_ADDRESS'] });
    expect(await readLimit()).toContain('q=600;');
  });
});

needs('script').it(
  'when its terminal is closed, a server stops as after SIGTERM, and loses no line of its log',
  async () => {
    const file = join(project.folder, 'terminal.log');
    const log = () => (existsSync(file) ? readFileSync(file, 'utf8') : '');
    const command = `exec "${process.execPath}" dist/main.js >"${file}" 2>&1`;
    const terminal = start(project, ['script', '--quiet', '--command', command, '/dev/null'], {
      DATA_DIR: project.usedDataFolder(),
    });
    await until(() => log().includes('is running at'));
    await terminal.stop('SIGKILL');
    await until(() => log().includes('"msg":"stopped"'));
    expect(log()).toContain('"signal":"SIGHUP"');
  },
);
