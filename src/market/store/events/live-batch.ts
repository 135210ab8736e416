/** Batches of new events for all of a server's streams. Notification streams also get account events. */
import { isId, type UserId } from '../../rules/ids.js';
import type { Db } from '../../../platform/db/database.js';
import { LIVE } from '../../../platform/service-limits.js';
import { notifiedUsers } from '../notifications/notifications.js';
import { selectAccountBatch, type AccountEvent } from './account-event-log.js';
import { readBatch, type BatchedEvent } from './event-log.js';

interface Notified {
  /** The users who have an open stream and are notified of the event. */
  readonly notified?: readonly UserId[];
}

export type JobEntry = BatchedEvent & Notified;

export interface AccountEntry extends Notified {
  readonly event: AccountEvent;
}

/** A job event's entry has a `homeownerId`, and an account event's doesn't. */
export type LiveEntry = JobEntry | AccountEntry;

interface Range {
  readonly after: bigint;
  readonly upTo: bigint;
}

/** Notification streams have user IDs as keys. Without such a stream, only job events are read. */
export async function readLiveBatch(
  db: Db,
  range: Range,
  contractorIds: readonly string[],
  keys: readonly string[],
  isMatched = false,
): Promise<LiveEntry[]> {
  const userIds = keys.filter((key): key is UserId => isId('user', key));
  if (userIds.length === 0) return readBatch(db, range, contractorIds, isMatched);
  const [ofJobs, ofAccounts] = await Promise.all([
    readBatch(db, range, contractorIds, isMatched),
    selectAccountBatch(db, { after: String(range.after), upTo: String(range.upTo) }),
  ]);
  const entries = [...ofJobs, ...ofAccounts.map((event) => ({ event }))]
    .toSorted((one, other) => (positionOf(one) < positionOf(other) ? -1 : 1))
    .slice(0, LIVE.batchEventsMax);
  const last = entries.at(-1);
  if (!last) return [];
  const rows = await notifiedUsers(db, { after: range.after, upTo: positionOf(last) }, userIds);
  const notified = new Map<string, UserId[]>();
  for (const { position, userId } of rows) notified.set(position, [...(notified.get(position) ?? []), userId]);
  return entries.map((entry) => Object.assign(entry, { notified: notified.get(entry.event.position ?? '') ?? [] }));
}

function positionOf({ event }: LiveEntry): bigint {
  return BigInt(event.position ?? 0);
}
