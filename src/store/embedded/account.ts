/**
 * Chooses the user that Postgres runs as. Postgres refuses root, so a server run by root starts it as the owner of the
 * data, or as `postgres` where the machine has such a user, or as `nobody`; no user is created. A server run by another
 * user starts it as that user.
 */
import { spawnSync } from 'node:child_process';
import { chownSync, statSync } from 'node:fs';

/** Both numbers, or neither for the current user; options of `spawn`. */
export type Account = { uid: number; gid: number } | { uid?: undefined; gid?: undefined };

export function chooseAccount(cluster: string): Account {
  if (process.getuid?.() !== 0) return {};
  const owner = statSync(cluster, { throwIfNoEntry: false });
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const account = lookUp('postgres') ?? lookUp('nobody');
  if (!account)
    throw new Error(
      'Postgres refuses to run as root, and this machine has neither a user postgres nor nobody. Set DATABASE_URL.',
    );
  return account;
}

export function giveTo(account: Account, path: string): void {
  if (account.uid !== undefined) chownSync(path, account.uid, account.gid);
}

function lookUp(name: string): Account | undefined {
  const [uid, gid] = ['-u', '-g'].map((option) => {
    const { status, stdout } = spawnSync('id', [option, name], { encoding: 'utf8' });
    return status === 0 ? Number(stdout) : 0;
  });
  return uid && gid ? { uid, gid } : undefined;
}
