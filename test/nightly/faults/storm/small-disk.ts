/**
 * A disk small enough to fill: an in-memory file system that is mounted for one test. If mounting isn't allowed, the
 * test's name says so.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'vitest';

export interface SmallDisk {
  readonly folder: string;
  /** Writes until not a single byte fits. */
  fill(): void;
  free(): void;
  remove(): void;
}

export function smallDisk(megabytes = 64): SmallDisk | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'marketplace-disk-'));
  if (
    spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { stdio: 'ignore' }).status !== 0
  ) {
    rmSync(folder, { recursive: true });
    return undefined;
  }
  chmodSync(folder, 0o777);
  const filler = join(folder, 'filler');
  return {
    folder,
    fill: () => {
      const file = openSync(filler, 'a');
      for (let bytes = 1024 * 1024; bytes >= 1;) {
        try {
          writeSync(file, Buffer.alloc(bytes));
        } catch (error) {
          if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
          bytes = Math.floor(bytes / 2);
        }
      }
      closeSync(file);
    },
    free: () => rmSync(filler),
    remove: () => {
      spawnSync('umount', ['-l', folder]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** With REQUIRE_ALL=1, as in the full run, a disk that can't be mounted is a failure. */
export function onSmallDisk(name: string, timeout: number, body: (disk: SmallDisk) => Promise<void>): void {
  const probe = smallDisk();
  probe?.remove();
  if (!probe && process.env.REQUIRE_ALL !== '1')
    return void it.skip(`${name} (skipped: no file system may be mounted here)`);
  it(name, { timeout }, async () => {
    const disk = smallDisk();
    if (!disk) throw new Error('REQUIRE_ALL=1, and no file system may be mounted here.');
    try {
      await body(disk);
    } finally {
      disk.remove();
    }
  });
}
