/**
 * Chooses the folder of the socket: the data folder, or, where that path is too long for a socket, has characters that
 * the driver cannot use, or is not accessible to Postgres, a private folder for temporary files, named after the data
 * folder.
 */
import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { giveTo, type Account } from './account.js';

export function prepareSocketFolder(
  folder: string,
  account: Account,
  { port, inside }: { port: number; inside: boolean },
): string {
  const name = shortNameOf(folder);
  const candidates = [...(inside ? [join(folder, 'socket')] : []), join(tmpdir(), name), join('/tmp', name)];
  const chosen = candidates.find((candidate) => fits(join(candidate, `.s.PGSQL.${port}.lock`)));
  if (!chosen)
    throw new Error(`The path of the folder for temporary files, ${tmpdir()}, is too long for a socket. Set TMPDIR.`);
  makePrivate(chosen, account);
  return chosen;
}

/** The name for a data folder among the temporary files. */
export function shortNameOf(folder: string): string {
  return `marketplace-${createHash('sha256').update(folder).digest('hex').slice(0, 16)}`;
}

/**
 * The lock file of a dead server's socket has a process id that may be reused by now, so the folder is emptied first.
 */
function makePrivate(path: string, account: Account): void {
  const present = lstatSync(path, { throwIfNoEntry: false });
  if (present && ![process.getuid?.(), account.uid].includes(present.uid)) {
    throw new Error(`${path} belongs to another user, so it cannot hold the database's socket. Remove it.`);
  }
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { mode: 0o700 });
  chmodSync(path, 0o700);
  giveTo(account, path);
}

const PATH_BYTES_MAX = process.platform === 'darwin' ? 103 : 107;

/** The driver splits a host at commas and colons, and Postgres splits its setting at commas and quotes. */
function fits(path: string): boolean {
  return Buffer.byteLength(path) <= PATH_BYTES_MAX && !/[,:"'\s]/.test(path);
}
