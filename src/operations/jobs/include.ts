/**
 * The parts of a job as this viewer may read them: read in the same statement as the job, or for many jobs at once.
 * `partsOf` returns the parts that were read with the job, and `readPart` reads others.
 */
import { disputeFrom, type Dispute } from '../../rules/disputes.js';
import type { JobId } from '../../rules/ids.js';
import type { BidState } from '../../rules/states.js';
import { partyOf, type JobParties } from '../../rules/parties.js';
import { eventFor, eventVisibilityOf } from '../../rules/timeline.js';
import type { Viewer } from '../../rules/viewer.js';
import { listBidsOnJob, type Bid } from '../../store/bids.js';
import type { Db } from '../../store/database.js';
import { listEventsOfJob, type JobEvent } from '../../store/events.js';
import { readIncluded, type Included } from '../../store/included.js';
import { ALL_OF_A_BID, type JobInclude } from '../../store/job-include.js';
import type { JobRow } from '../../store/jobs.js';
import { READ_WITH } from '../../store/rows.js';
import { mapPage, totalOf, type Page, type SamePageRequest, type Total } from '../../store/page.js';
import { readablePerson } from '../accounts/directory.js';
import type { ReadableContractor, ReadableHomeowner } from '../accounts/people.js';
import { readableJob, type ReadableJob } from './readable.js';

/** A part that was not included is undefined; null means that there is none. */
export interface JobParts {
  readonly homeowner?: ReadableHomeowner | null;
  readonly ownBids?: readonly Bid[];
  readonly awardedBid?: Bid | null;
  readonly bids?: Page<Bid>;
  readonly timeline?: Page<JobEvent>;
  readonly dispute?: Dispute | null;
}

type JobWithParts = ReadableJob & { [READ_WITH]?: JobParts };
type BidWithBidder = Bid & { [READ_WITH]?: ReadableContractor };

const NONE: JobParts = {};

/** The parts that were read with the job: of a list its first page, without a filter by state. */
export function partsOf(job: ReadableJob): JobParts {
  return (job as JobWithParts)[READ_WITH] ?? NONE;
}

/** The bidder, if they were read together with the bid. */
export function bidderOf(bid: Bid): ReadableContractor | undefined {
  return (bid as BidWithBidder)[READ_WITH];
}

/** A job as this viewer may read it, with what was read in the same statement. */
export function readableWith(db: Db, viewer: Viewer, row: JobRow, include: JobInclude, found: Included): ReadableJob {
  const job: JobWithParts = readableJob(viewer, row);
  if (found.bidders.size > 0) {
    for (const bid of [
      ...(found.ownBids ?? []),
      ...(found.bids ?? []),
      ...(found.awardedBid ? [found.awardedBid] : []),
    ])
      nameBidder(viewer, bid, found);
  }
  job[READ_WITH] = partsFrom(viewer, row, include, found, (total) => totalsOf(db, viewer, [row.id], total)(row.id));
  return job;
}

function nameBidder(viewer: Viewer, bid: BidWithBidder, { bidders }: Included): void {
  const bidder = bidders.get(bid.contractorId);
  const contractor = bidder && readablePerson(viewer, bidder).contractor;
  if (contractor) bid[READ_WITH] = contractor;
}

/** The parts that can be read for many jobs at once; a homeowner is read by their own identifier. */
export type PartName = Exclude<keyof JobParts, 'homeowner'>;

/** Which page of a list. */
export interface PartRequest extends Partial<SamePageRequest> {
  readonly status?: BidState | null;
}

/** How the store reads a part. */
interface PartOfJob {
  /** What to include; a list by the size of its page. */
  readonly include: (size: number) => JobInclude;
  /** For a list: the name of its total. */
  readonly total?: TotalOf;
  /** Whether the part consists of bids, of which a selection may include only some fields. */
  readonly hasBids?: true;
}

export const JOB_PARTS: { readonly [Name in PartName]: PartOfJob } = {
  ownBids: { include: () => ({ ownBids: true }), hasBids: true },
  awardedBid: { include: () => ({ awardedBid: true }), hasBids: true },
  bids: { include: (size) => ({ bids: size }), total: 'bidsTotal', hasBids: true },
  timeline: { include: (size) => ({ events: size }), total: 'eventsTotal' },
  dispute: { include: () => ({ disputeEvents: true }) },
};

function wholePart(name: PartName, request: PartRequest): JobInclude {
  const { include, hasBids } = JOB_PARTS[name];
  return { ...include(request.size ?? 0), ...(hasBids && { bid: ALL_OF_A_BID }), ...pageIn(request) };
}

function pageIn({ after, status }: PartRequest): JobInclude {
  return { ...(after && { isAfter: true }), ...(status != null && { ofStatus: true }) };
}

/**
 * Reads one part of many jobs, which the viewer may see, in one statement. Totals of lists take a second statement for
 * all of the jobs, only if one of them is selected.
 */
export async function readPart<Name extends PartName>(
  db: Db,
  viewer: Viewer,
  name: Name,
  jobs: readonly ReadableJob[],
  request: PartRequest = {},
): Promise<Map<ReadableJob, JobParts[Name]>> {
  const include = wholePart(name, request);
  const ids = jobs.map(({ id }) => id);
  const found = await readIncluded(db, viewer, ids, include, request);
  const totals = new Map<TotalOf, (id: JobId) => Promise<Total>>();
  const totalsFor = (total: TotalOf) => {
    const known = totals.get(total) ?? totalsOf(db, viewer, ids, total, request);
    totals.set(total, known);
    return known;
  };
  const parts = new Map<ReadableJob, JobParts[Name]>();
  for (const job of jobs) {
    const included = found.get(job.id);
    if (included) parts.set(job, partsFrom(viewer, job, include, included, (total) => totalsFor(total)(job.id))[name]);
  }
  return parts;
}

type TotalOf = 'bidsTotal' | 'eventsTotal';

/** Counts for all of the jobs when the total of one of them is first read. */
function totalsOf(
  db: Db,
  viewer: Viewer,
  ids: readonly JobId[],
  total: TotalOf,
  { status = null }: PartRequest = {},
): (id: JobId) => Promise<Total> {
  let counted: Promise<Map<JobId, Included>> | undefined;
  const count = () => readIncluded(db, viewer, ids, { [total]: true, ...pageIn({ status }) }, { status });
  return async (id) => totalOf((await (counted ??= count())).get(id)?.[total]);
}

function partsFrom(
  viewer: Viewer,
  job: JobParties,
  include: JobInclude,
  found: Included,
  count: (total: TotalOf) => Promise<Total>,
): JobParts {
  const parts: { -readonly [Part in keyof JobParts]: JobParts[Part] } = {};
  if (found.homeowner) parts.homeowner = readablePerson(viewer, found.homeowner).homeowner;
  if (found.ownBids) parts.ownBids = found.ownBids;
  if (found.awardedBid !== undefined) parts.awardedBid = found.awardedBid;
  const isAfter = include.isAfter === true;
  // Whether a contractor has bid makes no difference to what they may read of a job that they see.
  const party = () => partyOf(viewer, job, true);
  if (found.bids && include.bids !== undefined) {
    const { bids, bidsTotal } = found;
    parts.bids = listBidsOnJob[viewer.role].all.pageOf(bids, { size: include.bids, isAfter }, async () =>
      bidsTotal === undefined ? count('bidsTotal') : totalOf(bidsTotal),
    );
  }
  if (found.events && include.events !== undefined) {
    const { events, eventsTotal } = found;
    const page = listEventsOfJob[viewer.role].pageOf(events, { size: include.events, isAfter }, async () =>
      eventsTotal === undefined ? count('eventsTotal') : totalOf(eventsTotal),
    );
    const reader = party();
    parts.timeline = mapPage(page, (event) => eventFor(reader, event));
  }
  if (found.disputeEvents)
    parts.dispute = eventVisibilityOf(party()) === 'status changes' ? null : disputeFrom(found.disputeEvents);
  return parts;
}
