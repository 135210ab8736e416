/**
 * Reads the events between two positions in two ways: as the fan-out offers them, and as a stream reads them itself.
 */
import { readPage } from '../../../src/market/operations/events/live-events.js';
import type { ContractorId, JobId } from '../../../src/market/rules/ids.js';
import type { Viewer } from '../../../src/market/rules/viewer.js';
import type { Db } from '../../../src/platform/db/database.js';
import { LIVE } from '../../../src/platform/service-limits.js';
import { readBatch, type EventWithParties } from '../../../src/market/store/events/event-log.js';
import type { JobEvent } from '../../../src/market/store/events/events.js';

export interface Range {
  readonly after: bigint;
  readonly upTo: bigint;
}

export async function offered(
  db: Db,
  { after, upTo }: Range,
  contractorIds: readonly ContractorId[],
): Promise<EventWithParties[]> {
  const found: EventWithParties[] = [];
  for (let from = after; ;) {
    const batch = await readBatch(db, { after: from, upTo }, contractorIds, true);
    found.push(...batch);
    if (batch.length < LIVE.batchEventsMax) return found;
    from = BigInt(batch.at(-1)?.event.position ?? 0);
  }
}

export async function readAll(db: Db, viewer: Viewer, jobId: JobId | undefined, range: Range): Promise<JobEvent[]> {
  const found: JobEvent[] = [];
  for (let from = range.after; from < range.upTo;) {
    const { events, upTo } = await readPage(db, viewer, jobId, { after: from, upTo: range.upTo });
    found.push(...events);
    from = upTo;
  }
  return found;
}
