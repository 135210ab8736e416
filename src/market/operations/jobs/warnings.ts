/** A job's warnings, for the users who may read them. */
import { JOB_WARNINGS } from '../../rules/entities/job.js';
import { relationsToJob } from '../../rules/parties.js';
import { canHaveWarnings, warningsOf, type JobWarning } from '../../rules/jobs/warnings.js';
import type { Viewer } from '../../rules/viewer.js';
import { placesOf } from '../places/places.js';
import type { ReadableJob } from './visible-job.js';

/** The fields that a job's warnings are computed from. */
export const WARNED_FIELDS = ['category', 'zipCode', 'city', 'state', 'desiredStartDate', 'desiredCompletionDate'];

export async function readWarnings(viewer: Viewer, job: ReadableJob): Promise<JobWarning[] | null> {
  const isReader = relationsToJob(viewer, job).some((relation) => READERS.includes(relation));
  if (!isReader) return null;
  return canHaveWarnings(job.status) ? warningsOf(job, await placesOf(job), new Date()) : [];
}

const READERS: readonly string[] = JOB_WARNINGS.readBy.relations;
