/** What a stream reads for itself: a page of the viewer's own events behind a position. */
import type { JobId } from '../../rules/ids.js';
import { PAGE } from '../../../platform/limits.js';
import { partyToOwn } from '../../rules/parties.js';
import { eventFor } from '../../rules/reading/timeline.js';
import type { Viewer } from '../../rules/viewer.js';
import type { Db } from '../../../platform/db/database.js';
import { listEventsOfOneJob, listOwnEvents } from '../../store/events/event-log.js';
import type { JobEvent } from '../../store/events/events.js';

export interface ReplayPage {
  readonly events: readonly JobEvent[];
  /** Everything up to this position has been read. */
  readonly upTo: bigint;
}

interface PositionRange {
  readonly after: bigint;
  readonly upTo: bigint;
}

export async function readPage(
  db: Db,
  viewer: Viewer,
  jobId: JobId | undefined,
  { after, upTo }: PositionRange,
): Promise<ReplayPage> {
  const range = { size: PAGE.perPageMax, after: [String(after)], upTo: String(upTo) };
  const { rows, hasNext } = await (jobId
    ? listEventsOfOneJob(db, viewer, jobId, range)
    : listOwnEvents(db, viewer, range));
  const last = rows.at(-1)?.position;
  return {
    events: rows.map(({ isAwardee, ...event }) => eventFor(partyToOwn(viewer.role, isAwardee), event)),
    upTo: hasNext && last ? BigInt(last) : upTo,
  };
}
