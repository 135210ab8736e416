/** Data folders for tests of the embedded Postgres. They're deleted after the file. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, vi } from 'vitest';
import { startEmbeddedPostgres } from '../../../src/platform/embedded/embedded.js';
import { ask, connectionOf, killLeftProcesses, processesOf, startProcess, type ServerProcess } from './processes.js';

export const root = realpathSync(mkdtempSync(join(tmpdir(), 'marketplace-embedded-')));
chmodSync(root, 0o711);
let folders = 0;
export const newFolder = () => join(root, `data-${(folders += 1)}`);
/** A folder that a server has used and stopped on. */
export function usedFolder(): string {
  const folder = newFolder();
  execFileSync('cp', ['-a', template, folder]);
  return folder;
}
const template = newFolder();
beforeAll(async () => (await startEmbeddedPostgres(template)).stop());

export const isGone = (folder: string) => vi.waitFor(() => expect(processesOf(folder)).toEqual([]), 100_000);
afterAll(async () => {
  killLeftProcesses();
  await isGone(`${root}/`);
  rmSync(root, { recursive: true, force: true, maxRetries: 5 });
});

/** Starts Postgres in this process. It ends with its test, even if the test fails. */
export async function startHere(...given: Parameters<typeof startEmbeddedPostgres>) {
  const server = await startEmbeddedPostgres(...given);
  onTestFinished(() => server.stop());
  return server;
}

export async function givenServerWithRow(folder: string): Promise<ServerProcess> {
  const server = startProcess(folder);
  await ask(await connectionOf(server), 'create table kept as select 42 as answer');
  return server;
}

/** Expects the next start to work, to find all committed data, and to leave nothing behind. */
export async function expectRecovery(folder: string): Promise<void> {
  const server = startProcess(folder);
  expect(await ask(await connectionOf(server), 'select answer from kept')).toEqual([{ answer: 42 }]);
  await server.stop();
  expect(readdirSync(folder)).toEqual(['postgres']);
  expect(processesOf(folder)).toEqual([]);
}
