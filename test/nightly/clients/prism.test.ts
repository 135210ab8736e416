/** Prism as a proxy that checks every request and response against the OpenAPI document, with its own code. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openapi } from '../../../src/rest/openapi/openapi.js';
import { openTestApp, type TestApp } from '../../setup/app.js';
import { expectStories } from '../../clients/generated.js';
import { packagesOf } from '../../setup/packages.js';

const CLIENT = join(import.meta.dirname, '../../clients');

let app: TestApp;
let proxy: ChildProcess;
let proxyUrl: string;
const folder = mkdtempSync(join(tmpdir(), 'prism-'));
beforeAll(async () => {
  app = await openTestApp();
  const document = join(folder, 'openapi.json');
  writeFileSync(document, JSON.stringify(openapi()));
  const program = join(await packagesOf(import.meta.dirname), '.bin/prism');
  proxy = spawn(program, ['proxy', document, app.url, '--port', '0', '--multiprocess', 'false']);
  proxyUrl = await listening(proxy);
});
afterAll(async () => {
  proxy.kill();
  if (proxy.exitCode === null) await once(proxy, 'exit');
  rmSync(folder, { recursive: true, force: true });
  await app.close();
});

async function listening({ stdout, stderr }: ChildProcess): Promise<string> {
  let output = '';
  return new Promise((resolve, reject) => {
    for (const channel of [stdout, stderr])
      channel?.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        const url = /is listening on (http:\S+)/.exec(output)?.[1];
        if (url !== undefined) resolve(url);
      });
    stdout?.on('close', () => reject(new Error(`Prism ended:\n${output}`)));
  });
}

it('has no objections to both stories of a job', () =>
  expectStories(
    app,
    {
      folder: CLIENT,
      name: 'openapi-fetch',
      commands: [['openapi-typescript', './openapi.json', '-o', 'stories/schema.ts']],
    },
    proxyUrl,
  ));

it('says what is wrong with an invalid request', async () => {
  const response = await fetch(`${proxyUrl}/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"email":1}',
  });
  expect(response.status).toBe(400);
  expect(JSON.parse(response.headers.get('sl-violations') ?? '[]')).not.toEqual([]);
});
