/**
 * What a suspension does to a person. One truth: `users.suspended_at`; an end that was set beforehand is a task of the
 * queue. What is done already goes on: jobs under way, disputes, and what was written.
 */
import { refuse } from './errors.js';
import type { UserId } from './ids.js';
import type { Role } from './viewer.js';
import type { WebhookPauseReason } from './webhooks.js';

/** Of what is theirs: how it stands while they are suspended, as the store and the policies do it. */
export const SUSPENDED = {
  /** Ended with the suspension, as all of their streams are; none is opened before they are restored. */
  sessionsAndKeys: 'ended',
  /** They stay paused after that: whoever was suspended resumes their own. */
  webhooks: 'suspended' satisfies WebhookPauseReason,
  /** Nobody finds them who has not bid on them, and nobody bids on them. */
  openJobs: 'hidden',
  /** They wait, and cannot be awarded. */
  liveBids: 'not to be awarded',
} as const;

/** An account under its lock. */
export interface LockedPerson {
  readonly id: UserId;
  readonly userType: Role;
  readonly suspendedAt: Date | null;
}

/** Refuses what would leave the service without an admin; all admins are locked, so that none goes meanwhile. */
export function assertMaySuspend(adminId: UserId, person: LockedPerson, locked: readonly LockedPerson[]): void {
  if (person.id === adminId) throw refuse('FORBIDDEN', { message: 'You may not suspend yourself.' });
  const others = locked.filter(
    ({ id, userType, suspendedAt }) => id !== person.id && userType === 'admin' && !suspendedAt,
  );
  if (others.length === 0) throw refuse('FORBIDDEN', { message: 'This is the last admin who is not suspended.' });
}
