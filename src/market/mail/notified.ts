/** Reads a stored notification for an email: its text, and whether its recipient can still read it. */
import { ACCOUNT_EVENT_TYPES_FOR_ADMINS } from '../rules/account-events.js';
import type { JobId, UserId } from '../rules/ids.js';
import {
  notificationFor,
  NOTIFICATIONS,
  notifiedTypesOf,
  readersOfAccount,
  readersOfJob,
  type Channel,
  type NotificationEntry,
  type NotifiedType,
} from '../rules/notifications.js';
import { readerOfEvent } from '../rules/reading/timeline.js';
import type { Role } from '../rules/viewer.js';
import type { NotifiedRow } from '../store/notifications/notification-emails.js';

export interface Notified {
  readonly userId: UserId;
  readonly role: Role;
  readonly email: string;
  readonly position: string;
  readonly type: NotifiedType;
  readonly jobId: JobId | null;
  readonly entry: NotificationEntry;
  /** Off if the person doesn't want or can't get an email about it. */
  readonly channel: Channel;
}

/** Undefined if the person can't read the event anymore. */
export function readNotified(row: NotifiedRow): Notified | undefined {
  const { userId, role, email, position, setting, matchAlert, wantsMatches, canGetEmail } = row;
  const what = row.event ? aboutJob(row, row.event) : aboutAccount(row);
  // After an upgrade, another server may write types that this build doesn't know.
  if (!what || !Object.hasOwn(NOTIFICATIONS, what.type)) return undefined;
  const entry = notificationFor(what.type, what.readers);
  if (!entry) return undefined;
  const wanted = isFixedFor(role, what.type) ? entry.channel : (setting ?? matchAlert ?? entry.channel);
  const channel = canGetEmail && !entry.hasOwnEmail && wantsMatches ? wanted : 'off';
  return { userId, role, email, position, type: what.type, jobId: what.jobId, entry, channel };
}

/**
 * True if people with this role can't choose a channel for the type. For a contractor, a type may be fixed for jobs
 * that they were awarded, and off for other jobs that they bid on.
 */
export function isFixedFor(role: Role, type: NotifiedType): boolean {
  return notifiedTypesOf(role).some((one) => one.type === type && one.isFixed);
}

function aboutJob(row: NotifiedRow, event: NonNullable<NotifiedRow['event']>) {
  const { role, homeownerId, contractorId, ownBids, matchAlert, ...ofJob } = row;
  const bids = contractorId === null ? [] : ownBids.map((bid) => ({ contractorId, status: bid }));
  const matches = matchAlert === null || contractorId === null ? [] : [contractorId];
  const job = { ...ofJob, event, homeownerId: event.homeownerId, bids, matches };
  const party = readerOfEvent({ role, homeownerId, contractorId }, job, 'mine');
  if (!party) return undefined;
  const { type, jobId } = event;
  return { type, jobId, readers: readersOfJob(role, party === 'awardee', event.bidderId !== null) };
}

function aboutAccount({ role, userId, accountEvent }: NotifiedRow) {
  if (!accountEvent) return undefined;
  const { type } = accountEvent;
  const isOwn = accountEvent.userId === userId;
  if (!isOwn && (role !== 'admin' || !ACCOUNT_EVENT_TYPES_FOR_ADMINS.includes(type))) return undefined;
  return { type, jobId: null, readers: readersOfAccount(isOwn) };
}
