/**
 * The effects of a suspension. Only `users.suspended_at` decides whether someone is suspended, and a queued task ends
 * the suspension at a set time. `suspendUser` ends the person's sessions, API keys, streams, and pending email changes,
 * and pauses their webhooks until they resume them. Until the person is restored, `insertSession` doesn't open
 * sessions. Their open jobs disappear from contractors' lists and accept no bids, but contractors who have already bid
 * can read them by their IDs (`listedJobs` and `isOpenToBids`). Their live bids stay but can't be awarded
 * (`lockVisibleJob`). Existing work continues, such as jobs in progress and disputes. Everything that the person wrote
 * is kept.
 */
import { refuse, unauthorized } from '../errors.js';
import type { Refusal } from '../../../platform/errors.js';
import type { UserId } from '../ids.js';

/** The message doesn't contain the reason, which only admins can see. */
export function accountSuspended(until: Date | null, now: Date): Refusal {
  const end = until && ` until ${(until.getTime() - now.getTime() < DAY_MS ? TIME : DAY).format(until)}`;
  const message = `This account is suspended${end ?? ''}. Contact support if you think this is a mistake.`;
  return unauthorized('INVALID_CREDENTIALS', 'suspended', message, { until });
}

const DAY_MS = 86_400_000;
const DAY_PARTS = { month: 'long', day: 'numeric', year: 'numeric', timeZone: 'UTC' } as const;
const DAY = new Intl.DateTimeFormat('en-US', DAY_PARTS);
const TIME = new Intl.DateTimeFormat('en-US', {
  ...DAY_PARTS,
  hour: 'numeric',
  minute: '2-digit',
  timeZoneName: 'short',
});

/**
 * At least one admin always remains: the caller. No other admin can suspend the caller at the same time, because the
 * transaction locks all admins' rows.
 */
export function assertMaySuspend(adminId: UserId, personId: UserId): void {
  if (personId === adminId) throw refuse('FORBIDDEN', { message: 'You can’t suspend yourself.' });
}
