/**
 * Builds the single-page app of `spa/` as its developers would. The app has its own lock file, the files that
 * docs/clients.md prints, and types by codegen. TypeScript checks it, and Vite builds it. React, Apollo Client, and
 * graphcache keep their warnings for developers. Each run builds in its own folder inside the app's folder, where Node
 * finds Vite and TypeScript.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { vi } from 'vitest';
import { WebSocket } from 'ws';
import { filesIn, GUIDE } from '../../setup/guide.js';
import { packagesOf } from '../../setup/packages.js';

const run = promisify(execFile);

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
export const SPA = join(ROOT, 'test/nightly/browser/spa');
const SOURCES = [
  'src',
  'apollo.html',
  'urql.html',
  'tsconfig.json',
  'vite.config.ts',
  'package.json',
  'package-lock.json',
];

export interface Site {
  readonly url: string;
  /** Once it resolves, the site serves the pages. */
  build(api: string): Promise<void>;
  close(): Promise<void>;
}

/** Has its address before its pages, because the API needs the address at startup. */
export async function openSite(): Promise<Site> {
  const folder = newFolder();
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://site');
    const file = /^\/(?:assets\/)?[\w-]+\.(?:html|js)$/.test(pathname) ? contentOf(folder, pathname) : undefined;
    if (!file) return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': TYPES[extname(pathname)] }).end(file);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    build: (api) => build(folder, api),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const TYPES: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript' };

function contentOf(folder: string, pathname: string): Buffer | undefined {
  try {
    return readFileSync(join(folder, 'site', pathname));
  } catch {
    return undefined;
  }
}

export function newFolder(): string {
  mkdirSync(join(SPA, 'dist'), { recursive: true });
  return mkdtempSync(join(SPA, 'dist/'));
}

/** Writes the app's files and generates types, with one of the configurations that docs/clients.md prints. */
export async function writeFiles(folder: string, config: 'codegen.ts' | 'codegen-listed.ts'): Promise<void> {
  for (const name of SOURCES) cpSync(join(SPA, name), join(folder, name), { recursive: true });
  cpSync(join(ROOT, 'schema/api.graphql'), join(folder, 'api.graphql'));
  printDocumentedFiles(folder);
  symlinkSync(await packagesOf(SPA), join(folder, 'node_modules'));
  const codegen = join(folder, 'node_modules/@graphql-codegen/cli/esm/bin.js');
  await node(folder, codegen, ['--config', config]);
}

async function build(folder: string, api: string): Promise<void> {
  await writeFiles(folder, 'codegen.ts');
  await Promise.all([
    node(folder, 'node_modules/typescript/bin/tsc', ['--project', '.']),
    node(folder, 'node_modules/vite/bin/vite.js', ['build', '--mode', 'development'], {
      NODE_ENV: 'development',
      VITE_API: `${api}/graphql`,
    }),
  ]);
}

/** The files of codegen go to the root, all others to `src`. */
function printDocumentedFiles(folder: string): void {
  for (const [name, code] of filesIn([...GUIDE.values()].join('\n')))
    writeFileSync(join(folder, name.startsWith('codegen') ? '' : 'src', name), code);
}

async function node(folder: string, program: string, args: string[], env: Record<string, string> = {}): Promise<void> {
  await shell(folder, process.execPath, [resolve(ROOT, program), ...args], env);
}

async function shell(folder: string, program: string, args: string[], env: Record<string, string> = {}): Promise<void> {
  const { NODE_ENV: _, ...inherited } = process.env;
  try {
    await run(program, args, { cwd: folder, env: { ...inherited, ...env } });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error });
  }
}

/** The parts of a browser that the app's modules need in Node. */
export function stubBrowser(): void {
  const kept = new Map<string, string>();
  vi.stubGlobal('window', Object.assign(new EventTarget(), { navigator: { userAgent: 'Node' } }));
  vi.stubGlobal('WebSocket', WebSocket);
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  });
}
