/**
 * Locks a data folder for one server. The lock is a file that names its holder; it is created complete, as a link to a
 * finished draft, so that exactly one of many concurrent attempts succeeds. A process replaces a dead holder's file
 * only while it holds a second lock, named after the content of that file: of two that both saw it stale, the slower
 * finds other content and does not replace the winner's file.
 */
import { createHash, randomUUID } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isAlive, ownMark, type ProcessMark } from './processes.js';

export interface FolderLock {
  release(): void;
}

export async function lockFolder(folder: string): Promise<FolderLock> {
  const file = join(folder, LOCK);
  for (let attempt = 1; ; attempt += 1) {
    const outcome = tryToLock(file);
    if ('release' in outcome) return outcome;
    if (!outcome.mayPass || attempt === ATTEMPTS) throw heldBy(outcome.pid, folder);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Whether a living process holds the lock at this moment. */
export function isLocked(folder: string): boolean {
  const found = read(join(folder, LOCK));
  const holder = found === undefined ? undefined : parse(found);
  return holder !== undefined && isAlive(holder);
}

const LOCK = 'server.lock';
const ATTEMPTS = 100;

interface Refused {
  readonly pid: number;
  /** The holder is only replacing a dead holder's lock, or has just released it. */
  readonly mayPass: boolean;
}

function tryToLock(file: string): FolderLock | Refused {
  const mine = JSON.stringify({ ...ownMark(), id: randomUUID() });
  const draft = join(dirname(file), `.lock-${randomUUID()}`);
  writeFileSync(draft, mine, { mode: 0o644 });
  try {
    if (!link(draft, file)) {
      const refused = replaceIfStale(draft, file);
      if (refused) return refused;
    }
    return { release: () => releaseIf(file, mine) };
  } finally {
    rmSync(draft, { force: true });
  }
}

function replaceIfStale(draft: string, file: string): Refused | undefined {
  const found = read(file);
  if (found === undefined) return { pid: 0, mayPass: true };
  const holder = parse(found);
  if (holder && isAlive(holder)) return { pid: holder.pid, mayPass: false };

  const takeover = tryToLock(`${file}-${createHash('sha256').update(found).digest('hex').slice(0, 16)}`);
  if (!('release' in takeover)) return { ...takeover, mayPass: true };
  try {
    if (read(file) !== found) return { pid: 0, mayPass: true };
    renameSync(draft, file);
    return undefined;
  } finally {
    takeover.release();
  }
}

function heldBy(pid: number, folder: string): Error {
  return new Error(
    `Another server (process ${pid}) runs on the data folder ${folder}. Stop it first, or give this one a folder ` +
      `of its own.`,
  );
}

function link(draft: string, file: string): boolean {
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

function releaseIf(file: string, mine: string): void {
  if (read(file) === mine) rmSync(file, { force: true });
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Undefined for the damaged file that a power cut may leave, which has no holder. */
function parse(content: string): ProcessMark | undefined {
  try {
    const { pid, startedAt } = JSON.parse(content) as Partial<ProcessMark>;
    return Number.isSafeInteger(pid) && pid && startedAt ? { pid, startedAt: String(startedAt) } : undefined;
  } catch {
    return undefined;
  }
}
