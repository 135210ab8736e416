/**
 * What a suspension does. `users.suspended_at` alone decides whether somebody is suspended, and a queued task ends it
 * at a set time. The person's sessions, keys, and streams end, and none can be opened before they are restored. Their
 * webhooks are paused until they resume them. Their open jobs aren't listed to contractors, and nobody can bid on them,
 * but those who have bid can still read them by identifier. Their live bids wait and can't be awarded. Existing work
 * continues: jobs in progress, disputes, and what was written.
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

/**
 * Refuses a suspension that would leave the service without an admin. All admins are locked, so none can leave in the
 * meantime.
 */
export function assertMaySuspend(adminId: UserId, person: LockedPerson, locked: readonly LockedPerson[]): void {
  if (person.id === adminId) throw refuse('FORBIDDEN', { message: 'You may not suspend yourself.' });
  const others = locked.filter(
    ({ id, userType, suspendedAt }) => id !== person.id && userType === 'admin' && !suspendedAt,
  );
  if (others.length === 0) throw refuse('FORBIDDEN', { message: 'This is the last admin who is not suspended.' });
}
