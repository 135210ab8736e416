/** Reads nested objects for all their parents together. Caches nothing, because a mutation may run in between. */
import DataLoader from 'dataloader';
import type { Caller } from '../market/operations/operation.js';
import { bidsOfContractors, jobsOfContractors } from '../market/operations/people/contractor-work.js';
import { visibleBids, type BidToActOn } from '../market/operations/bids/read.js';
import { visibleJobs } from '../market/operations/jobs/read.js';
import type { ReadableJob } from '../market/operations/jobs/visible-job.js';
import { readPurchasesOfMany } from '../market/operations/purchases/purchases.js';
import type { Purchase } from '../market/store/ledger/purchases.js';
import { seesTokensOf } from '../market/operations/tokens/tokens.js';
import type { JobTimers } from '../market/rules/jobs/deadlines.js';
import type { Dispute } from '../market/rules/jobs/disputes.js';
import type { BidId, ContractorId, HoldId, JobId, UserId, WebhookEndpointId } from '../market/rules/ids.js';
import type { BidState } from '../market/rules/states.js';
import { GRAPHQL_LIMITS } from '../platform/caller-limits.js';
import type { Viewer } from '../market/rules/viewer.js';
import type { DeliveryStatus } from '../market/rules/webhooks.js';
import type { BidWithBidder } from '../market/store/bids/bids-with-bidders.js';
import { bidRevisionsOfMany, type BidRevision } from '../market/store/bids/bid-revisions.js';
import type { Bid } from '../market/store/bids/bids.js';
import { holdsOf, type Hold } from '../market/store/bids/holds.js';
import type { Db } from '../platform/db/database.js';
import type { JobEvent } from '../market/store/events/events.js';
import { partsOf, readPartsOfMany } from '../market/store/jobs/job-parts.js';
import type { JobInclude, JobParts, ListValues } from '../market/store/jobs/job-parts.js';
import type { JobFacts } from '../market/rules/jobs/facts.js';
import {
  balanceOf,
  selectBalances,
  transfersOfMany,
  type Balance,
  type TokenTransfer,
} from '../market/store/ledger/ledger.js';
import { startOf, type Page, type SamePageRequest } from '../platform/db/pages/page.js';
import {
  readPeople,
  type Person,
  type ReadableContractor,
  type ReadableHomeowner,
  type ReadableUser,
} from '../market/store/people/people.js';
import { reviewsOfMany, type Review } from '../market/store/people/reviews.js';
import { asArray } from '../platform/db/statement.js';
import { webhookDeliveriesOfMany, type WebhookDelivery } from '../market/store/webhooks/webhook-deliveries.js';

type Read<Key, Value> = (db: Db, viewer: Viewer, keys: readonly Key[]) => Promise<Map<Key, Value>>;
type Loader<Key, Value> = DataLoader<Key, Value | undefined>;
/** A value that its parent's statement has read, or a promise of one. */
type MaybePromise<Value> = Value | Promise<Value | undefined>;

/**
 * Each parent costs at least 1, so an operation can't have more parents than this. One statement is enough for all of
 * them.
 */
const PARENTS_MAX = GRAPHQL_LIMITS.cost;

/** Creates each loader on first use. Most nested objects come with their parent's statement, without a loader. */
export class Loaders {
  readonly #loaders = new Map<string, unknown>();

  constructor(private readonly caller: Caller) {}

  get people(): Loader<string, Person> {
    return this.#loader('people', readPeople);
  }

  userBehind(profile: ReadableHomeowner | ReadableContractor): MaybePromise<ReadableUser> {
    return profile.user ?? this.people.load(profile.userId).then((person) => person?.user);
  }

  homeownerOf(job: ReadableJob): MaybePromise<ReadableHomeowner | null> {
    const { homeowner } = partsOf(job);
    return homeowner ?? this.people.load(job.homeownerId).then((person) => person?.homeowner);
  }

  contractorOf(bid: BidWithBidder): MaybePromise<ReadableContractor | null> {
    return bid.bidder ?? this.people.load(bid.contractorId).then((person) => person?.contractor);
  }

  revisionsOf(bid: BidId, page: SamePageRequest): Promise<Page<BidRevision> | undefined> {
    const loader = this.#loader<BidId, Page<BidRevision>>(`revisions ${JSON.stringify(page)}`, (db, _viewer, ids) =>
      bidRevisionsOfMany(db, ids, page),
    );
    return loader.load(bid);
  }

  reviewsOf(contractor: ContractorId, page: SamePageRequest): Promise<Page<Review> | undefined> {
    const loader = this.#loader<ContractorId, Page<Review>>(`reviews ${JSON.stringify(page)}`, (db, _viewer, ids) =>
      reviewsOfMany(db, ids, page),
    );
    return loader.load(contractor);
  }

  /** Undefined if the viewer can't see the jobs. */
  jobsOf(contractor: ContractorId, page: SamePageRequest): Promise<Page<ReadableJob> | undefined> {
    const loader = this.#loader<ContractorId, Page<ReadableJob>>(`jobs ${JSON.stringify(page)}`, (db, viewer, ids) =>
      jobsOfContractors(db, viewer, ids, page),
    );
    return loader.load(contractor);
  }

  /** Undefined if the viewer can't see the bids. */
  bidsOf(contractor: ContractorId, page: SamePageRequest): Promise<Page<Bid> | undefined> {
    const loader = this.#loader<ContractorId, Page<Bid>>(`bids ${JSON.stringify(page)}`, (db, viewer, ids) =>
      bidsOfContractors(db, viewer, ids, page),
    );
    return loader.load(contractor);
  }

  deliveriesTo(
    endpoint: WebhookEndpointId,
    status: DeliveryStatus | null,
    page: SamePageRequest,
  ): Promise<Page<WebhookDelivery> | undefined> {
    const loader = this.#loader<WebhookEndpointId, Page<WebhookDelivery>>(
      `deliveries ${status} ${JSON.stringify(page)}`,
      (db, _viewer, ids) => webhookDeliveriesOfMany(db, ids, status, page),
    );
    return loader.load(endpoint);
  }

  get jobs(): Loader<JobId, ReadableJob> {
    return this.#loader('jobs', visibleJobs);
  }

  /** Each bid comes with what decides its available actions. */
  get bidsToActOn(): Loader<BidId, BidToActOn> {
    return this.#loader('bids', visibleBids);
  }

  bidWith(id: BidId): Promise<Bid | undefined> {
    return this.bidsToActOn.load(id).then((row) => row?.bid);
  }

  userWith(id: UserId): Promise<ReadableUser | undefined> {
    return this.people.load(id).then((person) => person?.user);
  }

  get holds(): Loader<HoldId, Hold> {
    return this.#loader('holds', (db, _viewer, ids) => holdsOf(db, ids));
  }

  get balance(): Loader<'own', Balance> {
    return this.#loader(
      'balance',
      async (db, viewer) => new Map([['own' as const, await balanceOf(db, viewer.userId)]]),
    );
  }

  /** Only the balances of users whose tokens the viewer can see. */
  get balances(): Loader<UserId, Balance> {
    return this.#loader('balances', async (db, viewer, ids) => {
      const visibleIds = ids.filter((id) => seesTokensOf(viewer, id));
      const rows = visibleIds.length > 0 ? await selectBalances(db, { ids: asArray(visibleIds) }) : [];
      return new Map(rows.map(({ userId, ...balance }) => [userId, balance]));
    });
  }

  /** Undefined if the viewer can't see the user's tokens. */
  transfersOf(user: UserId, page: SamePageRequest): Promise<Page<TokenTransfer> | undefined> {
    const loader = this.#loader<UserId, Page<TokenTransfer>>(
      `transfers ${JSON.stringify(page)}`,
      async (db, viewer, ids) => {
        const visibleIds = ids.filter((id) => seesTokensOf(viewer, id));
        return visibleIds.length > 0 ? transfersOfMany(db, visibleIds, page) : new Map();
      },
    );
    return loader.load(user);
  }

  /** Undefined if the viewer can't see the user's tokens. */
  purchasesOf(user: UserId, page: SamePageRequest): Promise<Page<Purchase> | undefined> {
    const loader = this.#loader<UserId, Page<Purchase>>(`purchases ${JSON.stringify(page)}`, (db, viewer, ids) =>
      readPurchasesOfMany(db, viewer, ids, page),
    );
    return loader.load(user);
  }

  /** The viewer's own newest bid. Null if the viewer has never bid on the job. */
  ownBidOn(job: ReadableJob): MaybePromise<Bid | null> {
    const { ownBid } = partsOf(job);
    return ownBid === undefined ? this.#parts(job, { ownBid: {} }).then((parts) => parts?.ownBid) : ownBid;
  }

  /** Null if the viewer can't see the bid. */
  awardedBidOf(job: ReadableJob): MaybePromise<Bid | null> {
    const { awardedBid } = partsOf(job);
    if (awardedBid !== undefined || !job.awardedBidId) return awardedBid ?? null;
    return this.#parts(job, { awardedBid: {} }).then((parts) => parts?.awardedBid);
  }

  disputeOf(job: ReadableJob): MaybePromise<Dispute | null> {
    const { dispute } = partsOf(job);
    return dispute === undefined ? this.#parts(job, { dispute: true }).then((parts) => parts?.dispute) : dispute;
  }

  /** The facts that decide a job's available actions, besides the job itself. */
  factsOf(job: ReadableJob): MaybePromise<Partial<JobFacts>> {
    return partsOf(job).facts ?? this.#parts(job, { facts: true }).then((parts) => parts?.facts);
  }

  /** Null if the viewer can't see what the clock will do to the job. */
  timersOf(job: ReadableJob): MaybePromise<JobTimers | null> {
    const { timers } = partsOf(job);
    return timers === undefined ? this.#parts(job, { timers: true }).then((parts) => parts?.timers) : timers;
  }

  /** A page of a job's bids: all of them, or those in one state. */
  bidsOn(job: ReadableJob, page: NestedPage, status: BidState | null): MaybePromise<Page<Bid>> {
    const { bids } = partsOf(job);
    if (status === null && isFirst(page, bids)) return bids;
    const include = { bids: { ...sizeOf(page), ofStatus: status !== null } };
    return this.#parts(job, include, { position: page.after ?? page.before, status }).then((parts) => parts?.bids);
  }

  timelineOf(job: ReadableJob, page: NestedPage): MaybePromise<Page<JobEvent>> {
    const { timeline } = partsOf(job);
    if (isFirst(page, timeline)) return timeline;
    return this.#parts(job, { timeline: sizeOf(page) }, { position: page.after ?? page.before }).then(
      (parts) => parts?.timeline,
    );
  }

  /** In a list, a field has the same arguments for every job. So one loader serves all of them. */
  #parts(job: ReadableJob, include: JobInclude, values: ListValues = {}): Promise<JobParts | undefined> {
    const name = JSON.stringify([include, values]);
    return this.#loader<ReadableJob, JobParts>(name, (db, viewer, jobs) =>
      readPartsOfMany(db, viewer, jobs, include, values),
    ).load(job);
  }

  #loader<Key, Value>(name: string, read: Read<Key, Value>): Loader<Key, Value> {
    const cachedLoader = this.#loaders.get(name) as Loader<Key, Value> | undefined;
    if (cachedLoader) return cachedLoader;
    const { caller } = this;
    const loader = new DataLoader<Key, Value | undefined>(
      async (keys) => {
        const values = await read(caller.db, await caller.viewer(), [...new Set(keys)]);
        return keys.map((key) => values.get(key));
      },
      { cache: false, maxBatchSize: PARENTS_MAX },
    );
    this.#loaders.set(name, loader);
    return loader;
  }
}

interface NestedPage extends SamePageRequest {
  readonly total: boolean;
}

function sizeOf(page: NestedPage) {
  const { size, total } = page;
  return { size, total, start: startOf(page) };
}

/** True if the job's own statement has already read this page. */
function isFirst<Row>(page: NestedPage, read: Page<Row> | undefined): read is Page<Row> {
  return startOf(page) === 'first' && page.size === read?.size;
}
