/**
 * Identifies a process by its id and its start time, since process ids are reused. On Linux the start time is in /proc;
 * elsewhere `ps` shows it, to the second.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

export interface ProcessMark {
  readonly pid: number;
  readonly startedAt: string;
}

export const hasProc = existsSync('/proc/self/stat');

export function ownMark(): ProcessMark {
  return { pid: process.pid, startedAt: startOf(process.pid) ?? UNKNOWN };
}

export function isAlive({ pid, startedAt }: ProcessMark): boolean {
  const now = startOf(pid);
  return now !== undefined && (now === startedAt || now === UNKNOWN || startedAt === UNKNOWN);
}

export async function until(done: () => boolean, timeoutMs: number): Promise<boolean> {
  for (const deadline = Date.now() + timeoutMs; Date.now() < deadline;) {
    if (done()) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return done();
}

/** A process of another user that may not be inspected: it is alive, and its start time is unknown. */
const UNKNOWN = 'unknown';
const ENDED = 'ended';

/** Undefined if there is no such process, or it is a zombie. */
function startOf(pid: number): string | undefined {
  const start = hasProc ? startFromProc(pid) : startFromPs(pid);
  if (start === ENDED) return undefined;
  return start ?? (exists(pid) ? UNKNOWN : undefined);
}

function startFromProc(pid: number): string | undefined {
  try {
    // The name in parentheses may contain any character, so the fields are counted from its end: 0 is the state, 19 the
    // start in ticks since boot.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    if (/[ZX]/.test(fields[0] ?? '')) return ENDED;
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${fields[19]}`;
  } catch {
    return undefined;
  }
}

function startFromPs(pid: number): string | undefined {
  const { status, stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
    encoding: 'utf8',
    env: { PATH: '/bin:/usr/bin', LC_ALL: 'C' },
  });
  return status === 0 ? stdout.trim() || undefined : undefined;
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
