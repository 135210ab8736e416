/**
 * What a suspension does. `users.suspended_at` alone decides whether somebody is suspended, and a queued task ends it
 * at a set time. The person's sessions, keys, streams, and pending email changes end, and no session can be opened
 * before they are restored. Their webhooks are paused until they resume them. Their open jobs aren't listed to
 * contractors, and nobody can bid on them, but those who have bid can still read them by identifier. Their live bids
 * wait and can't be awarded. Existing work continues: jobs in progress, disputes, and what was written.
 */
import { refuse, unauthorized } from '../errors.js';
import type { Refusal } from '../../../platform/errors.js';
import type { UserId } from '../ids.js';

/** The error when a suspended user logs in with the right password. Only admins see the reason. */
export function suspended(until: Date | null): Refusal {
  const end = until && ` until ${DAY.format(until)}`;
  const message = `This account is suspended${end ?? ''}. Contact support if you think this is a mistake.`;
  return unauthorized('INVALID_CREDENTIALS', 'suspended', message, { until });
}

const DAY = new Intl.DateTimeFormat('en-US', { month: 'long', day: 'numeric', year: 'numeric', timeZone: 'UTC' });

/** One admin always remains: the caller, who is locked with all other admins and isn't suspended. */
export function assertMaySuspend(adminId: UserId, personId: UserId): void {
  if (personId === adminId) throw refuse('FORBIDDEN', { message: 'You can’t suspend yourself.' });
}
