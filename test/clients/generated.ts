/**
 * A generator makes a REST client from the OpenAPI document. The client compiles and goes through both stories of a
 * job. Every response is checked against the document.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { openapi } from '../../src/rest/openapi/openapi.js';
import { expectAsDocumented } from '../story/documented.js';
import { ADMIN, type TestApp } from '../setup/app.js';
import { packagesOf } from '../setup/packages.js';

const HERE = import.meta.dirname;

export interface Generator {
  /** The folder of its packages and its story. */
  readonly folder: string;
  readonly name: string;
  /** The commands that make the client from `openapi.json`. */
  readonly commands: readonly Command[];
}

/** A client can call the global `fetch`, so its story replaces that. */
const send = globalThis.fetch;

type Command = readonly [program: string, ...args: string[]];

/** The client calls the server, or a proxy in front of it. */
export async function expectStories(
  app: TestApp,
  { folder: from, name, commands }: Generator,
  baseUrl = app.url,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'clients-'));
  try {
    for (const file of ['tsconfig.json', 'stories/stories.ts']) cpSync(join(HERE, file), join(folder, file));
    for (const file of ['package.json', `stories/${name}.ts`]) cpSync(join(from, file), join(folder, file));
    symlinkSync(await packagesOf(from), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'openapi.json'), JSON.stringify(openapi()));
    for (const command of commands) await run(folder, ...command);
    await run(folder, 'tsc', '--project', '.');
    const { story } = await import(pathToFileURL(join(folder, 'built', `${name}.js`)).href);
    await tell(baseUrl, story);
  } finally {
    globalThis.fetch = send;
    rmSync(folder, { recursive: true, force: true });
  }
}

async function tell(baseUrl: string, story: (given: object) => Promise<void>): Promise<void> {
  const answered = new Set<string>();
  await story({
    baseUrl,
    admin: ADMIN,
    fetch: async (request: Request) => {
      const response = await send(request);
      const { pathname } = new URL(request.url);
      const { status, headers } = response;
      expectNoViolation(response);
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
}

/** A validating proxy reports violations in a header. Requests that must fail can break the document's rules. */
function expectNoViolation({ ok, headers }: Response): void {
  const violations = JSON.parse(headers.get('sl-violations') ?? '[]') as { location: string[] }[];
  expect(violations.filter(({ location: [place] }) => ok || place === 'response')).toEqual([]);
}

/** A program's output says why it failed. Compilers write errors to stdout. */
async function run(folder: string, program: string, ...args: string[]): Promise<void> {
  const command = join(folder, 'node_modules', '.bin', program);
  await promisify(execFile)(command, args, { cwd: folder, maxBuffer: 2 ** 24 }).catch((error: { stdout: string }) => {
    throw new Error(`${program} failed:\n${error.stdout}`, { cause: error });
  });
}
