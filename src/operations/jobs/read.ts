/** Reading jobs: one, many, and what happened to one. */
import { z } from 'zod';
import type { Dispute } from '../../rules/disputes.js';
import { JOB } from '../../rules/entities/job.js';
import { refuse } from '../../rules/errors.js';
import type { JobId } from '../../rules/ids.js';
import { eventFor, reachOf } from '../../rules/timeline.js';
import { TEXT } from '../../rules/limits.js';
import { idOf, text } from '../../rules/values.js';
import type { Viewer } from '../../rules/viewer.js';
import type { Db } from '../../store/database.js';
import { listEvents as eventsInOrder, type JobEvent } from '../../store/events.js';
import { listJobs as jobsNewestFirst, type JobFilter } from '../../store/job-lists.js';
import { selectVisibleJobs } from '../../store/jobs.js';
import { mapPage, type Page, type PageRequest, type Position } from '../../store/page.js';
import { asArray } from '../../store/statement.js';
import { idsOf } from '../../store/visibility.js';
import { operation } from '../operation.js';
import { pageRequest, pageShape } from '../paging.js';
import { idInPath } from '../shapes.js';
import { invalidField } from '../validation.js';
import { readDisputes } from './disputes.js';
import { readableWith } from './include.js';
import { findJob, readJobWith, type FoundJob } from './job.js';
import { readableJob, type ReadableJob } from './readable.js';
import { postalPlace } from './places.js';

const { status: jobStatus, urgency } = JOB.schema.shape;

const NEWEST_FIRST = ['time', 'text'] as const;
export const newestFirst = ({ createdAt, id }: Pick<ReadableJob, 'createdAt' | 'id'>): Position => [createdAt, id];
/** The position of an event among those of its job. */
export const IN_ORDER = ['number'] as const;

const near = z.strictObject({
  zipCode: text(TEXT.line).describe('A US postal code.'),
  withinMiles: z.number().min(1).max(500).describe('How far away at most, in miles: 1 to 500.'),
});

export const jobFilter = z.strictObject({
  search: text(TEXT.title).nullish().describe('Text that the title or the description contains, whatever the case.'),
  status: jobStatus.nullish().describe('Jobs in this state.'),
  category: text(TEXT.kind).nullish().describe('Jobs of this trade.'),
  urgency: urgency.optional().describe('Jobs of this urgency.'),
  homeownerId: idOf('homeowner').nullish().describe('Jobs of this homeowner; for admins.'),
  near: near.nullish().describe('Jobs in towns near a postal code, measured from the centre of the job’s city.'),
});

export const listJobs = operation({
  name: 'jobs',
  says: 'Lists the jobs one may see, newest first: a homeowner’s own; a contractor’s open ones and those they bid on; all for admins.',
  allows: 'signed in',
  budget: 'read',
  input: z.strictObject({ ...jobFilter.shape, ...pageShape }),
  async run({ db, viewer, beside }, input): Promise<Page<ReadableJob>> {
    if (input.homeownerId != null && viewer.role !== 'admin')
      throw refuse('FORBIDDEN', { message: 'Only admins may list the jobs of a homeowner.' });
    const filter: JobFilter = Object.assign({}, input, { near: input.near ? await boxAround(input.near) : null });
    const page = await jobsNewestFirst(db, viewer, filter, pageRequest(input, NEWEST_FIRST, beside), beside);
    return mapPage(page, (listed) => readableWith(db, viewer, listed.job, beside, listed.included));
  },
});

const MILES_PER_DEGREE = 69;

/** The box that the index looks in; the circle itself is measured within it. */
async function boxAround({ zipCode, withinMiles }: z.infer<typeof near>): Promise<NonNullable<JobFilter['near']>> {
  const centre = await postalPlace(zipCode);
  if (!centre) throw invalidField('near.zipCode', 'is not a postal code that we know');
  const { latitude, longitude } = centre;
  const high = (withinMiles + 1) / MILES_PER_DEGREE;
  const wide = high / Math.max(0.05, Math.cos(((Math.abs(latitude) + high) * Math.PI) / 180));
  return {
    latitude,
    longitude,
    miles: withinMiles,
    box: `(${longitude + wide},${latitude + high}),(${longitude - wide},${latitude - high})`,
  };
}

export const readJob = operation({
  name: 'job',
  says: 'Reads a job.',
  allows: 'signed in',
  budget: 'read',
  input: z.strictObject({ id: idInPath('job').describe('The job.') }),
  run: ({ db, viewer, beside }, { id }): Promise<ReadableJob> => readJobWith(db, viewer, id, beside),
});

/** Jobs inside other things, for many of those at once. */
export async function visibleJobs(db: Db, viewer: Viewer, ids: readonly JobId[]): Promise<Map<JobId, ReadableJob>> {
  const found = await selectVisibleJobs[viewer.role](db, { ids: asArray(ids), ...idsOf(viewer) });
  return new Map(found.map((job) => [job.id, readableJob(viewer, job)]));
}

export const listEvents = operation({
  name: 'jobEvents',
  says: 'Lists what happened to a job, from its beginning. The parties and admins read everything that concerns them, others the changes of state.',
  allows: 'signed in',
  budget: 'read',
  input: z.strictObject({ id: idInPath('job').describe('The job.'), ...pageShape }),
  run: async ({ db, viewer, beside }, { id, ...page }) =>
    eventsOf(db, viewer, await findJob(db, viewer, id), pageRequest(page, IN_ORDER, beside)),
});

async function eventsOf(db: Db, viewer: Viewer, { job, party }: FoundJob, page: PageRequest): Promise<Page<JobEvent>> {
  const events = await eventsInOrder[reachOf(party)](db, { jobId: job.id, bidderId: viewer.contractorId }, page);
  return mapPage(events, (event) => eventFor(party, event));
}

export const readDispute = operation({
  name: 'dispute',
  says: 'Reads a job’s dispute, with every text and the standing proposal. For the parties and admins.',
  allows: 'signed in',
  budget: 'read',
  input: z.strictObject({ id: idInPath('job').describe('The job.') }),
  async run({ db, viewer }, { id }): Promise<Dispute> {
    const { job, party } = await findJob(db, viewer, id);
    if (reachOf(party) === 'status changes')
      throw refuse('FORBIDDEN', { message: 'A dispute is for its parties and for admins.' });
    const dispute = (await readDisputes(db, [job.id])).get(job.id);
    if (!dispute) throw refuse('NOT_FOUND', { message: 'This job was never disputed.' });
    return dispute;
  },
});
