/** A job as its reader may read it. */
import { redact, type RedactedRow } from '../../rules/reading/audiences.js';
import { relationsToJob } from '../../rules/parties.js';
import type { Viewer } from '../../rules/viewer.js';
import type { JobRow } from '../../store/jobs/jobs.js';

export type ReadableJob = RedactedRow<'job', JobRow>;

export function readableJob<Row extends JobRow>(viewer: Viewer, job: Row): RedactedRow<'job', Row> {
  return redact('job', job, () => relationsToJob(viewer, job));
}
