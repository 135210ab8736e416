/** Reads a job, lists of jobs, and one job's events. */
import { z } from 'zod';
import type { Dispute } from '../../rules/jobs/disputes.js';
import type { RedactedRow } from '../../rules/reading/redaction.js';
import { JOB, JOB_WARNINGS } from '../../rules/entities/job.js';
import { refuse } from '../../rules/errors.js';
import type { JobId } from '../../rules/ids.js';
import { eventFor, eventVisibilityOf, readsAs, readsDispute } from '../../rules/reading/timeline.js';
import { DEFAULT_JOB_ORDER, JOB_ORDERS, type JobOrder } from '../../rules/jobs/orders.js';
import { JOB_STATES } from '../../rules/states.js';
import { NEAREST_MILES_MAX, TEXT } from '../../rules/market-limits.js';
import { enumOf } from '../../../platform/fields/values.js';
import { idOf, idInPath } from '../../rules/id-fields.js';
import type { Viewer } from '../../rules/viewer.js';
import type { Db } from '../../../platform/db/database.js';
import { listEvents as eventsInOrder, type JobEvent } from '../../store/events/events.js';
import type { JobFilter } from '../../store/jobs/job-filters.js';
import { listJobs as jobsInOrder, type JobListItem as ListedRow } from '../../store/jobs/job-lists.js';
import { selectVisibleJobs } from '../../store/jobs/jobs.js';
import { partsOf } from '../../store/jobs/job-parts.js';
import type { Position } from '../../../platform/db/pages/keyset.js';
import { mapPage, type Page, type PageRequest } from '../../../platform/db/pages/page.js';
import { asArray } from '../../../platform/db/statement.js';
import { idsOf } from '../../store/visibility.js';
import { assertCanBeNearest, boxAround } from '../places/near.js';
import { COMPARED, contradictionsInSearch, nearFields, searchFields } from './search-fields.js';
import { operation } from '../operation.js';
import { pageRequest, pageShape, withOrderName, type PositionShape } from '../../../platform/call/paging.js';
import { withRule, timestampInBody, optionalText } from '../../../platform/fields/shapes.js';
import { findJob, readJobWith, type VisibleJob, readableJob, type ReadableJob } from './visible-job.js';
import { relationsToJob } from '../../rules/parties.js';
import { canHaveWarnings, warningsOf, type JobWarning } from '../../rules/jobs/warnings.js';
import { placesOf } from '../places/places.js';

const { status: jobStatus } = JOB.schema.shape;

const TIME_AND_ID = ['time', 'text'] as const;
/** The orders `newest` and `oldest` use the same kind of position. */
const POSITIONS: Readonly<Record<JobOrder, PositionShape>> = {
  newest: TIME_AND_ID,
  oldest: TIME_AND_ID,
  recently_updated: [{ order: 'recently_updated' }, ...TIME_AND_ID],
  highest_budget: [{ order: 'highest_budget' }, 'money', 'text'],
  longest_unchanged: [{ order: 'longest_unchanged' }, ...TIME_AND_ID],
  nearest: [{ order: 'nearest' }, 'number', 'text'],
};
export const newestFirst = ({ createdAt, id }: Pick<ReadableJob, 'createdAt' | 'id'>): Position => [createdAt, id];
export const IN_ORDER = ['number'] as const;

export const jobFilter = z.strictObject({
  ...searchFields,
  status: jobStatus.nullish().describe('Only jobs with this status.'),
  statuses: z
    .array(jobStatus)
    .min(1, 'must have at least one entry')
    .max(JOB_STATES.length)
    .nullish()
    .describe('Only jobs with one of these statuses. Use it instead of `status`.'),
  category: optionalText(TEXT.kind).describe(
    'Only jobs in this trade. To filter by several trades, use `categories` instead. In REST, you can also repeat ' +
      'this parameter, for example if a trade contains a comma.',
  ),
  homeownerId: idOf('homeowner')
    .nullish()
    .describe('Only jobs posted by this homeowner. Only admins can use this filter.'),
  contractorId: idOf('contractor')
    .nullish()
    .describe('Only jobs awarded to this contractor. Only admins and the contractor can use this filter.'),
  updatedSince: timestampInBody
    .nullish()
    .describe(
      'Only jobs that changed at or after this time. A change can appear in the list a little late, so start one ' +
        'minute before the newest change you’ve seen, and drop duplicates by ID and version. Bids, and proposals in ' +
        'a dispute, don’t change a job, and deleted jobs aren’t listed. To get those events on your own jobs, use ' +
        '`myEvents(after)` or `GET /v1/events?after=`.',
    ),
  statusChangedBefore: timestampInBody
    .nullish()
    .describe(
      'Only jobs that entered their current status before this time. Edits don’t count. Only admins can use this ' +
        'filter. To put the longest-waiting jobs first, order by `LONGEST_UNCHANGED` (in REST, `longest_unchanged`).',
    ),
});

export const jobOrder = enumOf(JOB_ORDERS, 'JobOrder')
  .nullish()
  .describe(
    'The order of the list. The default is newest first, by when the draft was created. To see new open jobs first, ' +
      `use \`recently_updated\`. \`nearest\` requires a place and a distance of at most ${NEAREST_MILES_MAX} miles. ` +
      'Only admins can use `longest_unchanged`.',
  );

export type JobListItem = RedactedRow<'job', ListedRow>;

export const listJobs = operation({
  name: 'jobs',
  description:
    'Lists the jobs that you can see, newest first by default. Homeowners see their own jobs, and contractors see ' +
    'open jobs and the jobs they’ve bid on. Admins see all jobs.',
  allows: 'signed in',
  budget: 'read',
  refusals: ['FORBIDDEN'],
  input: withRule(
    z.strictObject({ ...jobFilter.shape, ...nearFields, orderBy: jobOrder, ...pageShape }),
    [...COMPARED, 'status', 'statuses', 'category', 'categories', 'nearZip', 'nearCity', 'nearState', 'withinMiles'],
    ({ status, statuses, category, categories, ...rest }): Record<string, string> => ({
      ...(status != null && statuses != null && { status: 'can’t be combined with several statuses' }),
      ...(category != null && categories != null && { category: 'can’t be combined with several categories' }),
      ...contradictionsInSearch(rest),
    }),
  ),
  async run({ db, viewer, include }, input): Promise<Page<JobListItem>> {
    assertMayList(viewer, input);
    const order = input.orderBy ?? DEFAULT_JOB_ORDER;
    const near = await boxAround(input);
    if (order === 'nearest') assertCanBeNearest(input, near);
    const statuses = input.status == null ? input.statuses : [input.status];
    const trades = [...new Set(input.categories)];
    const category = trades.length === 1 ? trades[0] : input.category;
    const categories = trades.length > 1 ? trades : null;
    const filter: JobFilter = Object.assign({}, input, { statuses, category, categories, near });
    const request = pageRequest(input, POSITIONS[order], include);
    const page = await jobsInOrder(db, viewer, filter, request, include, order);
    const jobs = mapPage(page, (job) => readableJob(viewer, job));
    return POSITIONS[order] === TIME_AND_ID ? jobs : withOrderName(order, jobs);
  },
});

function assertMayList(
  { role, contractorId: own }: Viewer,
  {
    homeownerId,
    contractorId,
    statusChangedBefore,
    orderBy,
  }: Omit<JobFilter, 'near'> & { orderBy?: JobOrder | null | undefined },
): void {
  if (role === 'admin') return;
  if (homeownerId != null) throw refuse('FORBIDDEN', { message: 'Only admins can list a homeowner’s jobs.' });
  if (statusChangedBefore != null || orderBy === 'longest_unchanged')
    throw refuse('FORBIDDEN', { message: 'Only admins can filter or order jobs by their last status change.' });
  if (contractorId != null && contractorId !== own)
    throw refuse('FORBIDDEN', {
      message: 'Only admins and this contractor can list the jobs awarded to the contractor.',
    });
}

export const readJob = operation({
  name: 'job',
  description: 'Returns a job.',
  allows: 'signed in',
  budget: 'read',
  input: z.strictObject({ id: idInPath('job').describe('The job.') }),
  run: ({ db, viewer, include }, { id }): Promise<ReadableJob> => readJobWith(db, viewer, id, include),
});

export async function visibleJobs(db: Db, viewer: Viewer, ids: readonly JobId[]): Promise<Map<JobId, ReadableJob>> {
  const rows = await selectVisibleJobs[viewer.role](db, { ids: asArray(ids), ...idsOf(viewer) });
  return new Map(rows.map((job) => [job.id, readableJob(viewer, job)]));
}

export const WHO_READS_EVENTS =
  'Admins see all events. The homeowner sees all events except reminders to others. The awarded contractor sees the ' +
  'job’s events and those of their own bid. Bidders see status changes, events on their own bid, and edits to the ' +
  'job’s public fields. Everyone else sees only status changes. Contractors don’t see which other contractor caused ' +
  'an event.';

export const listEvents = operation({
  name: 'jobEvents',
  description: `Lists a job’s events, oldest first. ${WHO_READS_EVENTS}`,
  allows: 'signed in',
  budget: 'read',
  input: z.strictObject({ id: idInPath('job').describe('The job.'), ...pageShape }),
  run: async ({ db, viewer, include }, { id, ...page }) =>
    eventsOf(db, viewer, await findJob(db, viewer, id), pageRequest(page, IN_ORDER, include)),
});

async function eventsOf(
  db: Db,
  viewer: Viewer,
  { job, party }: VisibleJob,
  page: PageRequest,
): Promise<Page<JobEvent>> {
  const events = await eventsInOrder[eventVisibilityOf(party)](
    db,
    { jobId: job.id, contractorId: viewer.contractorId },
    page,
  );
  return mapPage(events, (event) => eventFor(viewer, readsAs(party, event, job.awardedBidId), event));
}

export const readDispute = operation({
  name: 'dispute',
  description:
    'Returns a job’s dispute, with all statements and the current proposal. Only the parties and admins can read it.',
  allows: 'signed in',
  budget: 'read',
  input: z.strictObject({ id: idInPath('job').describe('The job.') }),
  async run({ db, viewer }, { id }): Promise<Dispute> {
    const { job, party } = await findJob(db, viewer, id, { dispute: true });
    if (!readsDispute(party)) throw refuse('FORBIDDEN', { message: 'Only the parties and admins can see a dispute.' });
    const { dispute } = partsOf(job);
    if (!dispute) throw refuse('NOT_FOUND', { message: 'This job was never disputed.' });
    return dispute;
  },
});

export const WARNED_FIELDS = ['category', 'zipCode', 'city', 'state', 'desiredStartDate', 'desiredCompletionDate'];

/** Reads a job's warnings. Returns the warnings only to users who can read them. */
export async function readWarnings(viewer: Viewer, job: ReadableJob): Promise<JobWarning[] | null> {
  const isReader = relationsToJob(viewer, job).some((relation) => READERS.includes(relation));
  if (!isReader) return null;
  return canHaveWarnings(job.status) ? warningsOf(job, await placesOf(job), new Date()) : [];
}

const READERS: readonly string[] = JOB_WARNINGS.readBy.relations;
