/** Jobs and their parts inside other things: read for many parents at once, under the rules of the single read. */
import type { Dispute } from '../../rules/disputes.js';
import type { JobId } from '../../rules/ids.js';
import type { Party } from '../../rules/parties.js';
import { eventFor, reachOf } from '../../rules/timeline.js';
import type { Viewer } from '../../rules/viewer.js';
import type { Db } from '../../store/database.js';
import { listEventsOfJobs, type JobEvent } from '../../store/events.js';
import { selectVisibleJobs } from '../../store/jobs.js';
import { mapPage, type Page, type SamePageRequest } from '../../store/page.js';
import { asArray } from '../../store/statement.js';
import { idsOf } from '../../store/visibility.js';
import { readDisputes } from './disputes.js';
import { readableJob, type ReadableJob } from './readable.js';

/** A job that the viewer is known to see, and what they are to it. */
export interface PartOfJob {
  readonly jobId: JobId;
  readonly party: Party;
}

export async function visibleJobs(db: Db, viewer: Viewer, ids: readonly JobId[]): Promise<Map<JobId, ReadableJob>> {
  const found = await selectVisibleJobs[viewer.role](db, { ids: asArray(ids), ...idsOf(viewer) });
  return new Map(found.map((job) => [job.id, readableJob(viewer, job)]));
}

/** Nothing for those who are no party: a dispute is not theirs to read. */
export async function disputesOf(
  db: Db,
  _viewer: Viewer,
  parts: readonly PartOfJob[],
): Promise<Map<PartOfJob, Dispute | null>> {
  const open = parts.filter(({ party }) => reachOf(party) !== 'status changes');
  const disputes =
    open.length > 0
      ? await readDisputes(db, [...new Set(open.map(({ jobId }) => jobId))])
      : new Map<JobId, Dispute | null>();
  return new Map(open.map((part) => [part, disputes.get(part.jobId) ?? null]));
}

export async function eventsOfJobs(
  db: Db,
  viewer: Viewer,
  parts: readonly PartOfJob[],
  page: SamePageRequest,
): Promise<Map<PartOfJob, Page<JobEvent>>> {
  const jobIds = parts.map(({ jobId }) => jobId);
  const found = await listEventsOfJobs[viewer.role].ofMany(db, 'jobId', jobIds, idsOf(viewer), page);
  const pages = new Map<PartOfJob, Page<JobEvent>>();
  for (const part of parts) {
    const events = found.get(part.jobId);
    if (events)
      pages.set(
        part,
        mapPage(events, (event) => eventFor(part.party, event)),
      );
  }
  return pages;
}
