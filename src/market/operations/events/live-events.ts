/** Live events: which streams get an event, and what a viewer can read of it there. */
import type { EventStream, Live, LiveQueries } from '../../../platform/live/live.js';
import type { PositionRange } from '../../../platform/live/fan-out.js';
import type { JobId } from '../../rules/ids.js';
import { PAGE } from '../../../platform/caller-limits.js';
import { partyToOwn } from '../../rules/parties.js';
import { eventFor, readEvent } from '../../rules/reading/timeline.js';
import type { Viewer } from '../../rules/viewer.js';
import type { Db } from '../../../platform/db/database.js';
import { listEventsOfOneJob, listOwnEvents } from '../../store/events/event-log.js';
import { readLiveBatch, type JobEntry, type LiveEntry } from '../../store/events/live-batch.js';
import type { JobEvent } from '../../store/events/events.js';
import { pollEvents, numberEvents, POSITIONS_CHANNEL } from '../../store/events/positions.js';
import { storeNotifications } from '../../store/notifications/store-notifications.js';
import { SESSIONS_CHANNEL, findEndedSessions } from '../../store/sessions/sessions.js';

export const LIVE_QUERIES: LiveQueries<LiveEntry> = {
  positionsChannel: POSITIONS_CHANNEL,
  sessionsChannel: SESSIONS_CHANNEL,
  numberEvents: numberAndNotify,
  pollEvents,
  findEndedSessions,
  readBatch: readLiveBatch,
  keysOf: (entry) => [...(entry.notified ?? []), ...('homeownerId' in entry ? keysOfJob(entry) : [])],
};

/** Streams hear of a position once its notifications are stored, so a stream of notifications misses nothing. */
function numberAndNotify(db: Db, values: { batch: number }) {
  return db.inTransaction(async (tx) => {
    const [[batch], [step]] = await tx.commitWith(numberEvents(tx, values), storeNotifications(tx, {}));
    if (!batch) throw new Error('Numbering returned nothing.');
    const lastPosition = step?.storedUpTo ?? batch.lastPosition;
    return { ...batch, lastPosition, hasMore: batch.numbered === values.batch || step?.isBehind === true };
  });
}

/** Notification streams have user IDs as keys. All other streams get only job events. */
function keysOfJob({ event, homeownerId, bids }: JobEntry): string[] {
  return [event.jobId, homeownerId, ...new Set(bids.map(({ contractorId }) => contractorId)), ADMINS];
}

const ADMINS = 'admin';

interface Wanted {
  readonly jobId?: JobId;
  /** The stream starts with the events after this position. By default, it starts with new events. */
  readonly after?: string | null | undefined;
}

/** The caller of this function must have checked that the viewer can see the job. */
export function openEvents(
  live: Pick<Live<LiveEntry>, 'open'>,
  viewer: Viewer,
  { jobId, after }: Wanted,
  db: Db,
): EventStream<JobEvent> {
  const selection = {
    key: jobId ?? viewer.homeownerId ?? viewer.contractorId ?? ADMINS,
    readerId: viewer.contractorId,
    read: (entry: LiveEntry) => ('homeownerId' in entry ? readEvent(viewer, entry, jobId ? 'job' : 'mine') : undefined),
    readPage: (on: Db, range: PositionRange) => readPage(on, viewer, jobId, range),
  };
  return live.open(selection, after == null ? undefined : BigInt(after), db);
}

export async function readPage(db: Db, viewer: Viewer, jobId: JobId | undefined, { after, upTo }: PositionRange) {
  const range = { size: PAGE.perPageMax, after: [String(after)], upTo: String(upTo) };
  const { rows, hasNext } = await (jobId
    ? listEventsOfOneJob(db, viewer, jobId, range)
    : listOwnEvents(db, viewer, range));
  const last = rows.at(-1)?.position;
  return {
    events: rows.map(({ isAwardee, ...event }) => eventFor(viewer, partyToOwn(viewer.role, isAwardee), event)),
    upTo: hasNext && last ? BigInt(last) : upTo,
  };
}
