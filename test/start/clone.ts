/**
 * A copy of this project in a folder of its own, built there once: what a person has after cloning and installing.
 * Tests that start real servers use it, so that they never touch the dist of the developer who runs them.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const COPIED = ['src', 'schema', 'package.json', 'tsconfig.json', 'tsconfig.build.json'];

export interface Clone {
  readonly folder: string;
  /** A new data folder's path; nothing is there yet. */
  dataFolder(): string;
  remove(): void;
}

export function clone({ built = true } = {}): Clone {
  // As root, Postgres runs as somebody else, who must be able to pass through.
  const folder = mkdtempSync(join(tmpdir(), 'marketplace-clone-'));
  chmodSync(folder, 0o711);
  for (const name of COPIED) cpSync(join(PROJECT, name), join(folder, name), { recursive: true });
  symlinkSync(join(PROJECT, 'node_modules'), join(folder, 'node_modules'));
  if (built) build(folder);
  let dataFolders = 0;
  return {
    folder,
    dataFolder: () => join(folder, `data-${(dataFolders += 1)}`),
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}

function build(folder: string): void {
  const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', 'build'], { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(`The build failed:\n${stdout}${stderr}`);
}
