/**
 * A copy of this project in a folder of its own: what a person has after cloning, installing and building. Tests that
 * start real servers use it, so that they never touch the dist of the developer who runs them. Building takes longer
 * than most of these tests, so it is done once a run.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import type { TestProject } from 'vitest/node';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const COPIED = ['src', 'schema', 'package.json', 'tsconfig.json', 'tsconfig.build.json'];

declare module 'vitest' {
  export interface ProvidedContext {
    /** The folder of a clone that is built. */
    built: string;
  }
}

export default function setup(project: TestProject): () => void {
  const built = clone({ built: false });
  const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', 'build'], {
    cwd: built.folder,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`The build failed:\n${stdout}${stderr}`);
  project.provide('built', built.folder);
  return built.remove;
}

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
  if (built) cpSync(join(inject('built'), 'dist'), join(folder, 'dist'), { recursive: true, preserveTimestamps: true });
  let dataFolders = 0;
  return {
    folder,
    dataFolder: () => join(folder, `data-${(dataFolders += 1)}`),
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}
