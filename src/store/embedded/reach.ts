/**
 * Lets Postgres work below a folder that its user may not enter, for example when root starts the server in /root. Its
 * programs are linked into an accessible folder, and it finds its data in its working folder, which root has entered
 * for it; no permissions are changed.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, lstatSync, mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Account } from './account.js';
import type { Binaries } from './binaries.js';
import { hasProc } from './processes.js';
import { shortNameOf } from './socket.js';

export interface Reach {
  readonly binaries: Binaries;
  /** False where Postgres' user may not enter the data folder. */
  readonly seesFolder: boolean;
  /** The path by which a Postgres whose working folder is `cluster` finds its data. */
  pathOf(cluster: string): string;
  clear(): void;
}

export function reachFor(account: Account, folder: string, binaries: Binaries): Reach {
  const seesFolder = mayEnter(account, folder);
  const seesPrograms = mayEnter(account, dirname(binaries.postgres));
  if ((!seesFolder || !seesPrograms) && !hasProc) throw closed(account, seesFolder ? binaries.postgres : folder);
  const links = join(tmpdir(), `${shortNameOf(folder)}-programs`);
  return {
    binaries: seesPrograms ? binaries : linkPrograms(binaries, links, account),
    seesFolder,
    pathOf: (cluster) => (seesFolder ? cluster : '/proc/self/cwd'),
    clear: () => rmSync(links, { recursive: true, force: true }),
  };
}

function mayEnter(account: Account, folder: string): boolean {
  if (account.uid === undefined) return true;
  return spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { ...account, cwd: '/', stdio: 'ignore' }).status === 0;
}

function linkPrograms(binaries: Binaries, links: string, account: Account): Binaries {
  const present = lstatSync(links, { throwIfNoEntry: false });
  if (present && present.uid !== 0) throw new Error(`${links} belongs to another user. Remove it.`);
  rmSync(links, { recursive: true, force: true });
  mkdirSync(links, { mode: 0o755 });
  // The programs find each other by relative paths, so the whole tree is copied; as links where the file system allows
  // it.
  const tree = dirname(dirname(binaries.postgres));
  if (spawnSync('cp', ['-al', tree, join(links, 'native')], { stdio: 'ignore' }).status !== 0) {
    cpSync(tree, join(links, 'native'), { recursive: true, force: true, verbatimSymlinks: true });
  }
  if (!mayEnter(account, links)) throw closed(account, links);
  return { initdb: join(links, 'native/bin/initdb'), postgres: join(links, 'native/bin/postgres') };
}

function closed(account: Account, path: string): Error {
  return new Error(
    `Postgres refuses to run as root, so it runs as user ${account.uid}, who may not enter ${path}. ` +
      'Move it to an open folder, start the server as an ordinary user, or set DATABASE_URL.',
  );
}
