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
import { hasSavedSearches } from '../../store/searches/feed-end.js';
import { MATCHES_CHANNEL } from '../../store/searches/matches.js';
import { SESSIONS_CHANNEL, findEndedSessions } from '../../store/sessions/sessions.js';

export const LIVE_QUERIES: LiveQueries<LiveEntry> = {
  positionsChannel: POSITIONS_CHANNEL,
  sessionsChannel: SESSIONS_CHANNEL,
  numberEvents: numberAndNotify,
  pollEvents,
  findEndedSessions,
  readBatch: readLiveBatch,
  // People with saved searches get these entries too, which tells their streams to wait for matches.
  keysOf: (entry) => [...new Set([...keysOf(entry), ...searchersIn(entry)])],
  delayed: {
    positionsChannel: MATCHES_CHANNEL,
    readBatch: (db, range, contractorIds, keys) => readLiveBatch(db, range, contractorIds, keys, true),
    keysOf: (entry) => [...new Set([...keysOf(entry), ...matchesIn(entry)])],
  },
};

function keysOf(entry: LiveEntry): string[] {
  return [...(entry.notified ?? []), ...('homeownerId' in entry ? keysOfJob(entry) : [])];
}

const searchersIn = (entry: LiveEntry) => ('searchers' in entry && entry.searchers) || [];
const matchesIn = (entry: LiveEntry) => ('matches' in entry && entry.matches) || [];

/** True if the stream's reader has a saved search, so the stream must wait for matches. */
export function mustWait({ userId }: Viewer, entry: LiveEntry): boolean {
  return searchersIn(entry).includes(userId);
}

/** Streams hear of a position once its notifications are stored, so a stream of notifications misses nothing. */
function numberAndNotify(db: Db, values: { batch: number }) {
  return db.inTransaction(async (tx) => {
    const [[batch], [stored]] = await tx.commitWith(numberEvents(tx, values), storeNotifications(tx, {}));
    if (!batch) throw new Error('Numbering returned nothing.');
    const lastPosition = stored?.storedUpTo ?? batch.lastPosition;
    return { ...batch, lastPosition, hasMore: batch.numbered === values.batch || stored?.isBehind === true };
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
    isDelayedFrom: (entry: LiveEntry) => !jobId && mustWait(viewer, entry),
    readPage: async (on: Db, range: PositionRange, isDelayed: boolean) => {
      const page = await readPage(on, viewer, jobId, range);
      return jobId || isDelayed || !(await isSearcher(on, viewer)) ? page : undefined;
    },
  };
  return live.open(selection, after == null ? undefined : BigInt(after), db);
}

/** A search that was saved after a page was read can't match the page's events. */
export async function isSearcher(db: Db, { contractorId }: Viewer): Promise<boolean> {
  return contractorId !== null && hasSavedSearches(db, contractorId);
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
