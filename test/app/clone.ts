/**
 * A copy of this project in a folder of its own: what a person has after cloning, installing and building. Tests that
 * start real servers use it, so that they never touch the dist of the developer who runs them.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const COPIED = ['src', 'schema', 'package.json', 'tsconfig.json', 'tsconfig.build.json'];

export interface Clone {
  readonly folder: string;
  /** A new data folder's path; nothing is there yet. */
  dataFolder(): string;
  /** A data folder in which a server has run once: its database is migrated and empty. */
  usedDataFolder(): string;
  remove(): void;
}

export function clone(): Clone {
  const copy = cloneUnbuilt();
  const { folder: built } = inject('firstStart');
  cpSync(join(built, 'dist'), join(copy.folder, 'dist'), { recursive: true, preserveTimestamps: true });
  return copy;
}

export function cloneUnbuilt(): Clone {
  // As root, Postgres runs as somebody else, who must be able to pass through.
  const folder = mkdtempSync(join(tmpdir(), 'marketplace-clone-'));
  chmodSync(folder, 0o711);
  for (const name of COPIED) cpSync(join(PROJECT, name), join(folder, name), { recursive: true });
  symlinkSync(join(PROJECT, 'node_modules'), join(folder, 'node_modules'));
  let dataFolders = 0;
  const dataFolder = () => join(folder, `data-${(dataFolders += 1)}`);
  return {
    folder,
    dataFolder,
    usedDataFolder: () => {
      const copy = dataFolder();
      // By `cp`, which keeps the owner: Postgres refuses a folder that is not its own.
      const { status, stderr } = spawnSync('cp', ['-a', inject('firstStart').dataFolder, copy], { encoding: 'utf8' });
      if (status !== 0) throw new Error(`The data folder could not be copied: ${stderr}`);
      return copy;
    },
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}
