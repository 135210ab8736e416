/**
 * What a suspension does to a person. One truth: `users.suspended_at`; an end that was set beforehand is a task of the
 * queue. Their sessions, keys and streams end with it, and none is opened before they are restored. Their webhooks are
 * paused, until they resume them themselves. No contractor's list has their open jobs, and nobody bids on them; who has
 * bid reads them all the same, by identifier. Their live bids wait, and cannot be awarded. What is done already goes
 * on: jobs under way, disputes, and what was written.
 */
import { refuse, unauthorized } from '../errors.js';
import type { Refusal } from '../../../platform/errors.js';
import type { UserId } from '../ids.js';
import type { Role } from '../viewer.js';

/** The error when a suspended user logs in with the right password. Only admins see the reason. */
export function suspended(until: Date | null): Refusal {
  const end = until && ` until ${DAY.format(until)}`;
  const message = `This account is suspended${end ?? ''}. Contact support if you think this is a mistake.`;
  return unauthorized('INVALID_CREDENTIALS', 'suspended', message, { until });
}

const DAY = new Intl.DateTimeFormat('en-US', { month: 'long', day: 'numeric', year: 'numeric', timeZone: 'UTC' });

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
