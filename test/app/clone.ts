/**
 * A copy of this project in its own folder, as after cloning, installing, and building. Tests that start real servers
 * use it, so they never touch the developer's own `dist`.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import { folderInMemory, temporaryFolder } from '../setup/temporary-folder.js';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const COPIED = ['src', 'schema', 'package.json', 'tsconfig.json', 'tsconfig.build.json'];

export interface Clone {
  readonly folder: string;
  /** The path of a new data folder. It doesn't exist yet. */
  dataFolder(): string;
  /** A data folder that a server has used once. Its database is migrated and empty. */
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
  // On a slow disk, a server's Postgres may not respond for seconds. The server's calls then fail.
  const { path: folder, remove } = temporaryFolder('clone', folderInMemory());
  for (const name of COPIED) cpSync(join(PROJECT, name), join(folder, name), { recursive: true });
  symlinkSync(join(PROJECT, 'node_modules'), join(folder, 'node_modules'));
  let dataFolders = 0;
  const dataFolder = () => join(folder, `data-${(dataFolders += 1)}`);
  return {
    folder,
    dataFolder,
    usedDataFolder: () => {
      const copy = dataFolder();
      // `cp` keeps the owner. Postgres rejects a folder that it doesn't own.
      const { status, stderr } = spawnSync('cp', ['-a', inject('firstStart').dataFolder, copy], { encoding: 'utf8' });
      if (status !== 0) throw new Error(`The data folder could not be copied: ${stderr}`);
      return copy;
    },
    remove,
  };
}
