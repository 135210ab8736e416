/** A job as its reader may read it. */
import { redact, type Redacted } from '../../rules/audiences.js';
import type { Relation } from '../../rules/readers.js';
import type { Viewer } from '../../rules/viewer.js';
import type { JobRow } from '../../store/jobs.js';

export type ReadableJob = Redacted<'job', JobRow>;

export function readableJob(viewer: Viewer, job: JobRow): ReadableJob {
  return redact('job', job, relationTo(viewer, job));
}

function relationTo(viewer: Viewer, job: JobRow): readonly Relation[] {
  if (viewer.role === 'admin') return ['admin'];
  if (viewer.homeownerId !== null && viewer.homeownerId === job.homeownerId) return ['owner'];
  return viewer.contractorId !== null && viewer.contractorId === job.awardedContractorId ? ['awardee'] : [];
}
