/**
 * Nested things are read for all their parents at once: a page of jobs costs as many statements as one job does. Nothing
 * is remembered between two reads, since a mutation may stand between them.
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
import type { Viewer } from '../rules/viewer.js';
import { holdsOf, type Bid, type Hold } from '../store/bids.js';
import type { Db } from '../store/database.js';
import type { JobEvent } from '../store/events.js';
import { balanceOf, type Balance } from '../store/ledger.js';
import type { Page } from '../store/page.js';

export interface Loaders {
  readonly people: DataLoader<string, Person | undefined>;
  /** Whose profile it is, which was read together with the profile if it came from `people`. */
  userBehind(profile: ReadableHomeowner | ReadableContractor): ReadableUser | Promise<ReadableUser | undefined>;
  readonly jobs: DataLoader<JobId, ReadableJob | undefined>;
  readonly bids: DataLoader<BidId, Bid | undefined>;
  readonly holds: DataLoader<HoldId, Hold | undefined>;
  /** The viewer's own bids on a job, the newest first. */
  readonly ownBids: DataLoader<JobId, readonly Bid[] | undefined>;
  readonly disputes: DataLoader<PartOfJob, Dispute | null | undefined>;
  readonly balance: DataLoader<'own', Balance | undefined>;
  /** The first page of a job's bids, of this size and state. */
  bidsOn(size: number, status: BidState | null): DataLoader<JobId, Page<Bid> | undefined>;
  /** The first page of what happened to a job. */
  eventsOf(size: number): DataLoader<PartOfJob, Page<JobEvent> | undefined>;
}

export function createLoaders(caller: Caller): Loaders {
  type Read<Key, Value> = (db: Db, viewer: Viewer, keys: readonly Key[]) => Promise<Map<Key, Value>>;

  function loader<Key, Value>(read: Read<Key, Value>): DataLoader<Key, Value | undefined> {
    return new DataLoader(
      async (keys: readonly Key[]) => {
        const found = await read(caller.db, await caller.viewer(), [...new Set(keys)]);
        return keys.map((key) => found.get(key));
      },
      { cache: false, maxBatchSize: 1_000 },
    );
  }

  const families = new Map<string, unknown>();
  function family<Made>(key: string, make: () => Made): Made {
    const found = (families.get(key) as Made | undefined) ?? make();
    families.set(key, found);
    return found;
  }

  const people = loader(readPeople);

  return {
    people,
    userBehind: (profile) => userBehind(profile) ?? people.load(profile.userId).then((person) => person?.user),
    jobs: loader(visibleJobs),
    bids: loader(visibleBids),
    holds: loader((db, _viewer, ids) => holdsOf(db, ids)),
    ownBids: loader(ownBidsOn),
    disputes: loader(disputesOf),
    balance: loader(async (db, viewer) => new Map([['own' as const, await balanceOf(db, viewer.userId)]])),
    bidsOn: (size, status) => family(`bids ${size} ${status}`, () => loader((db, viewer, ids: readonly JobId[]) => bidsOnJobs(db, viewer, ids, size, status))),
    eventsOf: (size) => family(`events ${size}`, () => loader((db, viewer, jobs: readonly PartOfJob[]) => eventsOfJobs(db, viewer, jobs, size))),
  };
}
