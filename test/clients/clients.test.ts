/**
 * REST clients made from the OpenAPI document by two generators: they compile, and go through both stories of a job,
 * every answer of which is checked against the document.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openapi } from '../../src/rest/openapi.js';
import { expectAsDocumented } from '../documented.js';
import { ADMIN, openTestApp, type TestApp } from '../app.js';
import { packagesOf } from '../packages.js';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'clients-'));

let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
  for (const name of ['package.json', 'tsconfig.json', 'stories']) {
    cpSync(join(HERE, name), join(folder, name), { recursive: true });
  }
  symlinkSync(await packagesOf(HERE), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(openapi()));
  await program('openapi-typescript', './openapi.json', '-o', 'stories/schema.ts');
  await program('openapi-ts', '-i', './openapi.json', '-o', 'stories/hey', '-c', '@hey-api/client-fetch');
  await program('tsc', '--project', '.');
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await app.close();
});

describe('A client generated from the OpenAPI document', () => {
  it.each(['openapi-fetch', 'hey-api'])('goes through both stories of a job: %s', async (name) => {
    const answered = new Set<string>();
    const { story } = await import(pathToFileURL(join(folder, 'built', `${name}.js`)).href);
    await story({
      baseUrl: app.url,
      admin: ADMIN,
      fetch: async (request: Request) => {
        const response = await fetch(request);
        const { pathname } = new URL(request.url);
        const { status, headers } = response;
        expectAsDocumented(request.method, pathname, { status, headers, body: await response.clone().json() });
        answered.add(`${request.method} ${pathname.replaceAll(/\w+_\w{27}/g, '{id}')} ${status}`);
        return response;
      },
    });
    expect([...answered]).toEqual(
      expect.arrayContaining([
        'POST /v1/auth/signup/homeowner 400',
        'PUT /v1/jobs/{id} 200',
        'POST /v1/jobs/{id}/approve 200',
        'POST /v1/jobs/{id}/finalize-appeal 200',
        'DELETE /v1/api-keys/{id} 200',
        'GET /v1/me 401',
      ]),
    );
  });
});

/** What a program says is why it failed; a compiler says it as output rather than as an error. */
async function program(name: string, ...given: string[]): Promise<void> {
  const command = join(folder, 'node_modules', '.bin', name);
  await promisify(execFile)(command, given, { cwd: folder, maxBuffer: 2 ** 24 }).catch((error: { stdout: string }) => {
    throw new Error(`${name} failed:\n${error.stdout}`, { cause: error });
  });
}
