/**
 * Nested things are read for all their parents at once: a page of jobs costs as many statements as one job does.
 * Nothing is remembered between two reads, since a mutation may stand between them.
 */
import DataLoader from 'dataloader';
import { readPeople, userBehind, type Person } from '../operations/accounts/directory.js';
import type { ReadableContractor, ReadableHomeowner, ReadableUser } from '../operations/accounts/people.js';
import { bidsOnJobs, ownBidsOn, visibleBids } from '../operations/bids/nested.js';
import type { Caller } from '../operations/caller.js';
import { disputesOf, eventsOfJobs, visibleJobs, type PartOfJob } from '../operations/jobs/nested.js';
import type { ReadableJob } from '../operations/jobs/readable.js';
import type { Dispute } from '../rules/disputes.js';
import type { BidId, HoldId, JobId } from '../rules/ids.js';
import type { BidState } from '../rules/lifecycle.js';
import { GRAPHQL_LIMITS } from '../rules/limits.js';
import type { Viewer } from '../rules/viewer.js';
import { holdsOf, type Bid, type Hold } from '../store/bids.js';
import type { Db } from '../store/database.js';
import type { JobEvent } from '../store/events.js';
import { balanceOf, type Balance } from '../store/ledger.js';
import type { Page, SamePageRequest } from '../store/page.js';

type Read<Key, Value> = (db: Db, viewer: Viewer, keys: readonly Key[]) => Promise<Map<Key, Value>>;
type Loader<Key, Value> = DataLoader<Key, Value | undefined>;

/** Every parent costs an operation at least one: one statement reads for all of them, and never for more than this. */
const PARENTS_MAX = GRAPHQL_LIMITS.cost;

/** Each is made when something is first asked of it: most of what is nested was read together with its parents. */
export class Loaders {
  readonly #made = new Map<string, unknown>();

  constructor(private readonly caller: Caller) {}

  get people(): Loader<string, Person> {
    return this.#loader('people', readPeople);
  }

  /** Whose profile it is, which was read together with the profile if it came from `people`. */
  userBehind(profile: ReadableHomeowner | ReadableContractor): ReadableUser | Promise<ReadableUser | undefined> {
    return userBehind(profile) ?? this.people.load(profile.userId).then((person) => person?.user);
  }

  get jobs(): Loader<JobId, ReadableJob> {
    return this.#loader('jobs', visibleJobs);
  }

  get bids(): Loader<BidId, Bid> {
    return this.#loader('bids', visibleBids);
  }

  get holds(): Loader<HoldId, Hold> {
    return this.#loader('holds', (db, _viewer, ids) => holdsOf(db, ids));
  }

  /** The viewer's own bids on a job, the newest first. */
  get ownBids(): Loader<JobId, readonly Bid[]> {
    return this.#loader('own bids', ownBidsOn);
  }

  get disputes(): Loader<PartOfJob, Dispute | null> {
    return this.#loader('disputes', disputesOf);
  }

  get balance(): Loader<'own', Balance> {
    return this.#loader(
      'balance',
      async (db, viewer) => new Map([['own' as const, await balanceOf(db, viewer.userId)]]),
    );
  }

  /** This page of a job's bids in this state: a field has the same arguments for every job, and so one loader. */
  bidsOn(page: SamePageRequest, status: BidState | null): Loader<JobId, Page<Bid>> {
    const name = `bids ${status} ${JSON.stringify(page)}`;
    return this.#loader(name, (db, viewer, ids) => bidsOnJobs(db, viewer, ids, page, status));
  }

  /** This page of what happened to a job. */
  eventsOf(page: SamePageRequest): Loader<PartOfJob, Page<JobEvent>> {
    return this.#loader(`events ${JSON.stringify(page)}`, (db, viewer, jobs) => eventsOfJobs(db, viewer, jobs, page));
  }

  #loader<Key, Value>(name: string, read: Read<Key, Value>): Loader<Key, Value> {
    const known = this.#made.get(name) as Loader<Key, Value> | undefined;
    if (known) return known;
    const { caller } = this;
    const loader = new DataLoader<Key, Value | undefined>(
      async (keys) => {
        const found = await read(caller.db, await caller.viewer(), [...new Set(keys)]);
        return keys.map((key) => found.get(key));
      },
      { cache: false, maxBatchSize: PARENTS_MAX },
    );
    this.#made.set(name, loader);
    return loader;
  }
}
