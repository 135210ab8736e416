/** What was read beside a job, as this viewer may read it. A door looks here before it reads a part by itself. */
import { disputeFrom, type Dispute } from '../../rules/disputes.js';
import { partyOf } from '../../rules/parties.js';
import { eventFor, reachOf } from '../../rules/timeline.js';
import type { Viewer } from '../../rules/viewer.js';
import type { Beside, Found } from '../../store/beside.js';
import { listBidsOnJob, type Bid } from '../../store/bids.js';
import type { Db } from '../../store/database.js';
import { listEvents, type JobEvent } from '../../store/events.js';
import type { JobRow } from '../../store/jobs.js';
import { mapPage, type Page } from '../../store/page.js';
import { readablePerson } from '../accounts/directory.js';
import type { ReadableContractor, ReadableHomeowner } from '../accounts/people.js';
import { readableJob, type ReadableJob } from './readable.js';

/** A part that was not asked for is undefined; null is an answer. */
export interface Companions {
  readonly homeowner?: ReadableHomeowner | null;
  readonly ownBids?: readonly Bid[];
  readonly awardedBid?: Bid | null;
  readonly bids?: Page<Bid>;
  readonly timeline?: Page<JobEvent>;
  readonly dispute?: Dispute | null;
}

/** Under these a row carries what was read with it: no answer shows them, and nothing else has to remember the row. */
const COMPANIONS = Symbol('companions');
const BIDDER = Symbol('bidder');

type Accompanied = ReadableJob & { [COMPANIONS]?: Companions };
type BidWithBidder = Bid & { [BIDDER]?: ReadableContractor };

const NONE: Companions = {};

export function companionsOf(job: ReadableJob): Companions {
  return (job as Accompanied)[COMPANIONS] ?? NONE;
}

/** Who made the bid, if they were read together with it. */
export function bidderOf(bid: Bid): ReadableContractor | undefined {
  return (bid as BidWithBidder)[BIDDER];
}

export function readableBeside(db: Db, viewer: Viewer, row: JobRow, beside: Beside, found: Found): ReadableJob {
  const job: Accompanied = readableJob(viewer, row);
  if (found.bidders.size > 0) {
    for (const bid of [
      ...(found.ownBids ?? []),
      ...(found.bids ?? []),
      ...(found.awardedBid ? [found.awardedBid] : []),
    ])
      nameBidder(viewer, bid, found);
  }
  job[COMPANIONS] = companionsFrom(db, viewer, row, beside, found);
  return job;
}

function nameBidder(viewer: Viewer, bid: BidWithBidder, { bidders }: Found): void {
  const bidder = bidders.get(bid.contractorId);
  const contractor = bidder && readablePerson(viewer, bidder).contractor;
  if (contractor) bid[BIDDER] = contractor;
}

function companionsFrom(db: Db, viewer: Viewer, job: JobRow, beside: Beside, found: Found): Companions {
  const companions: { -readonly [Part in keyof Companions]: Companions[Part] } = {};
  // Whether a contractor has bid makes no difference to what they may read of a job that they see.
  const party = partyOf(viewer, job, true);
  if (found.homeowner) companions.homeowner = readablePerson(viewer, found.homeowner).homeowner;
  if (found.ownBids) companions.ownBids = found.ownBids;
  if (found.awardedBid !== undefined) companions.awardedBid = found.awardedBid;
  if (found.bids && beside.bids !== undefined) {
    companions.bids = listBidsOnJob[viewer.role].all.firstOf(
      db,
      { jobId: job.id, contractorId: viewer.contractorId, status: null },
      found.bids,
      beside.bids,
      found.bidsTotal,
    );
  }
  if (found.events && beside.events !== undefined) {
    const page = listEvents[reachOf(party)].firstOf(
      db,
      { jobId: job.id, bidderId: viewer.contractorId },
      found.events,
      beside.events,
      found.eventsTotal,
    );
    companions.timeline = mapPage(page, (event) => eventFor(party, event));
  }
  if (found.disputeEvents)
    companions.dispute = reachOf(party) === 'status changes' ? null : disputeFrom(found.disputeEvents);
  return companions;
}
