/** Folders that are deleted however this process ends. */
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TemporaryFolder {
  readonly path: string;
  remove(): void;
}

/** The folder is in `parent`, by default the system's folder for temporary files. */
export function temporaryFolder(name: string, parent = tmpdir()): TemporaryFolder {
  const path = mkdtempSync(join(parent, `marketplace-${name}-`));
  // As root, Postgres runs as another user, who must be able to enter the folder.
  chmodSync(path, 0o711);
  // Waits on a pipe that the system closes when this process ends. Then deletes the folder, repeatedly if a process
  // still writes to it.
  const loop = 'n=0; while [ -e "$1" ] && [ $n -lt 50 ]; do rm -rf "$1"; sleep 0.2; n=$((n+1)); done';
  const shell = spawn('/bin/sh', ['-c', `read _ || { ${loop}; }`, 'sh', path], {
    detached: true,
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  shell.unref();
  return {
    path,
    remove: () => {
      rmSync(path, { recursive: true, force: true, maxRetries: 5 });
      shell.stdin.end('\n');
    },
  };
}

const MEMORY_BYTES = 2 * 1_024 ** 3;

/** Returns Linux's folder in memory if it has enough space, otherwise the folder for temporary files. */
export function folderInMemory(): string {
  const inMemory = '/dev/shm';
  try {
    const { bavail, bsize } = statfsSync(inMemory);
    return bavail * bsize >= MEMORY_BYTES ? inMemory : tmpdir();
  } catch {
    return tmpdir();
  }
}
