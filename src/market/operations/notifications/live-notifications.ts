/** Notifications as their recipient can read them now: the event, with a title and a sentence for this person. */
import type { EventStream, Live } from '../../../platform/live/live.js';
import type { PositionRange } from '../../../platform/live/fan-out.js';
import { PAGE } from '../../../platform/caller-limits.js';
import type { Db } from '../../../platform/db/database.js';
import type { BidId, JobId } from '../../rules/ids.js';
import {
  notificationFor,
  type NotifiedType,
  readersOfAccount,
  readersOfJob,
  type NotificationReader,
} from '../../rules/notifications.js';
import { partyToOwn } from '../../rules/parties.js';
import { eventFor, readerOfEvent } from '../../rules/reading/timeline.js';
import type { Viewer } from '../../rules/viewer.js';
import type { AccountEvent } from '../../store/events/account-event-log.js';
import type { JobEvent } from '../../store/events/events.js';
import type { LiveEntry } from '../../store/events/live-batch.js';
import { isSearcher, mustWait } from '../events/live-events.js';
import { listNotifications, type StoredNotification } from '../../store/notifications/notifications.js';

export interface Notification {
  readonly position: string;
  readonly type: NotifiedType;
  readonly title: string;
  readonly sentence: string;
  readonly jobId: JobId | null;
  readonly bidId: BidId | null;
  readonly event: JobEvent | AccountEvent;
  readonly isRead: boolean;
}

export function readStored(
  viewer: Viewer,
  { isRead, isAwardee, jobEvent, accountEvent }: StoredNotification,
): Notification {
  if (jobEvent) return ofJob(viewer, eventFor(viewer, partyToOwn(viewer.role, isAwardee), jobEvent), isAwardee, isRead);
  if (accountEvent) return ofAccount(viewer, accountEvent, isRead);
  throw new Error('A notification has no event.');
}

/** Undefined if the viewer can no longer read the event or this build doesn't know its type. New events are unread. */
function readLive(viewer: Viewer, entry: LiveEntry): Notification | undefined {
  if (!('homeownerId' in entry)) {
    const { type, userId } = entry.event;
    const isNotified = notificationFor(type, readersOfAccount(userId === viewer.userId)) !== undefined;
    return isNotified ? ofAccount(viewer, entry.event, false) : undefined;
  }
  const party = readerOfEvent(viewer, entry, 'mine');
  if (!party) return undefined;
  const { type, bidderId } = entry.event;
  const isAwardee = party === 'awardee';
  if (!notificationFor(type, readersOfJob(viewer.role, isAwardee, bidderId !== null))) return undefined;
  return ofJob(viewer, eventFor(viewer, party, entry.event), isAwardee, false);
}

function ofJob({ role }: Viewer, event: JobEvent, isAwardee: boolean, isRead: boolean): Notification {
  const { jobId, bidId } = event;
  return { ...wordsFor(event, readersOfJob(role, isAwardee, event.bidderId !== null)), jobId, bidId, event, isRead };
}

function ofAccount({ userId }: Viewer, event: AccountEvent, isRead: boolean): Notification {
  return { ...wordsFor(event, readersOfAccount(event.userId === userId)), jobId: null, bidId: null, event, isRead };
}

function wordsFor({ type, position }: JobEvent | AccountEvent, readers: readonly NotificationReader[]) {
  const entry = notificationFor(type, readers);
  if (!entry || position === null) throw new Error(`Nobody is notified of ${type}.`);
  return { position, type, title: entry.title, sentence: entry.sentence };
}

export function openNotifications(
  live: Pick<Live<LiveEntry>, 'open'>,
  viewer: Viewer,
  after: string | null | undefined,
  db: Db,
): EventStream<Notification> {
  const selection = {
    key: viewer.userId,
    readerId: viewer.contractorId,
    read: (entry: LiveEntry) => readLive(viewer, entry),
    isDelayedFrom: (entry: LiveEntry) => mustWait(viewer, entry),
    readPage: async (on: Db, range: PositionRange, isDelayed: boolean) => {
      const page = await readNotificationPage(on, viewer, range);
      return isDelayed || !(await isSearcher(on, viewer)) ? page : undefined;
    },
  };
  return live.open(selection, after == null ? undefined : BigInt(after), db);
}

/** Reads the stored notifications of a range, oldest first. */
export async function readNotificationPage(db: Db, viewer: Viewer, { after, upTo }: PositionRange) {
  const request = { size: PAGE.perPageMax, before: [String(after)], isBackward: true, upTo: String(upTo) };
  const { rows, hasPrevious } = await listNotifications(db, viewer, request);
  const newest = rows[0]?.position;
  return {
    events: rows.map((row) => readStored(viewer, row)).toReversed(),
    upTo: hasPrevious && newest ? BigInt(newest) : upTo,
  };
}
