/** Reads a job for an operation on it, and checks it by the rules of that operation. */
import { assertAllowed, checksOf } from '../../rules/checks.js';
import type { Facts } from '../../rules/conditions.js';
import type { Effect } from '../../rules/effects.js';
import type { BidId, JobId } from '../../rules/ids.js';
import { JOB_ACTIONS, type JobActionKey } from '../../rules/lifecycle.js';
import type { Viewer } from '../../rules/viewer.js';
import type { LiveBid } from '../../store/bids.js';
import { pipelined, type Db } from '../../store/database.js';
import { lockJob, lookAtJob, type JobRow } from '../../store/jobs.js';
import { idsOf } from '../../store/visibility.js';
import type { Call } from '../operation.js';
import { spending } from '../tokens/spending.js';
import type { Addressed } from './addressed.js';
import { foundBy, type FoundJob } from './job.js';

/** The viewer, the database, and the parts of the job that the API includes. */
export type Acting<V extends Viewer = Viewer> = Pick<Call<V>, 'db' | 'viewer' | 'include'>;

/** The facts of a call that the rules may ask for, besides its version and the bid that it names. */
type CallFacts = Pick<Facts, 'cost'>;

type Naming = Addressed & { readonly bidId?: BidId | undefined };

/** The effects of operations on a job that change its live bids. */
const ON_LIVE_BIDS: readonly Effect[] = ['acceptBid', 'rejectOtherBids', 'rejectLiveBids'];

/** Reads the job, and throws the first refusal by the rules of the operation. */
export async function lookAndCheck(key: JobActionKey, db: Db, viewer: Viewer, input: Naming): Promise<FoundJob> {
  return checked(key, viewer, await look(key, db, viewer, input.id), input).found;
}

/** The transaction of an operation, and the locked job. */
export interface Locked<V extends Viewer = Viewer> extends Acting<V> {
  readonly job: JobRow;
  /** The live bids, for operations that read them. */
  readonly liveBids: readonly LiveBid[];
  /** What the checks were asked of, for those that the operation asks itself. */
  readonly facts: Facts;
}

interface Steps<V extends Viewer, Input, Read, Output> {
  /** Reads further facts. */
  read?(tx: Db, viewer: V, input: Input): Promise<Read>;
  /** The facts of this call for the rules. */
  facts?(input: Input): CallFacts;
  /** Applies the operation; called after all checks. */
  act(at: Locked<V>, input: Input, read: Read): Promise<Output>;
}

/** Locks the job, reads it, checks it, and then applies the operation. */
export function underLock<V extends Viewer, Input extends Naming, Output, Read = undefined>(
  key: JobActionKey,
  { read = readNothing, facts: factsOf, act }: Steps<V, Input, Read, Output>,
) {
  return ({ db, viewer, include }: Acting<V>, input: Input): Promise<Output> =>
    behindLock(db, viewer, {
      lock: (tx) => lockJob(tx, input),
      look: (tx) => pipelined(look(key, tx, viewer, input.id), read(tx, viewer, input)),
      act(tx, [seen, known]) {
        const { found, facts } = checked(key, viewer, seen, input, factsOf?.(input));
        return act({ db: tx, viewer, include, job: found.job, liveBids: seen?.liveBids ?? [], facts }, input, known);
      },
    });
}

interface LockedSteps<Seen, Output> {
  lock(tx: Db): Promise<unknown>;
  look(tx: Db): Promise<Seen>;
  /** Checks what `look` has read, and applies the operation. */
  act(tx: Db, seen: Seen): Promise<Output>;
}

/**
 * No other transaction changes the job, its bids or its holds until this one commits. The lock and the reads are
 * pipelined; each read begins once the lock is held, and so sees everything that was committed before. Another
 * transaction may still spend the same tokens: then this one is rolled back, and the refusal has the available amount.
 */
export function behindLock<Seen, Output>(
  db: Db,
  viewer: Viewer,
  { lock, look: lookAt, act }: LockedSteps<Seen, Output>,
): Promise<Output> {
  return spending(db, viewer.userId, async (tx) => {
    const [, seen] = await pipelined(lock(tx), lookAt(tx));
    return act(tx, seen);
  });
}

/** Only for operations without `read`, whose result is undefined. */
function readNothing<Read>(): Promise<Read> {
  return Promise.resolve(undefined as Read);
}

type Seen = Awaited<ReturnType<(typeof lookAtJob)['admin']['alone']>>[number];

/** Reads the job, with its live bids where the operation would change them. */
async function look(key: JobActionKey, db: Db, viewer: Viewer, id: JobId): Promise<Seen | undefined> {
  const isOnBids = JOB_ACTIONS[key].effects.some((effect) => ON_LIVE_BIDS.includes(effect));
  const statement = lookAtJob[viewer.role][isOnBids ? 'withLiveBids' : 'alone'];
  const [seen] = await statement(db, { id, userId: viewer.userId, ...idsOf(viewer) });
  return seen;
}

function checked(
  key: JobActionKey,
  viewer: Viewer,
  seen: Seen | undefined,
  { expectedVersion = null, bidId }: Naming,
  call?: CallFacts,
): { found: FoundJob; facts: Facts } {
  const found = foundBy(viewer, seen);
  const { job, ownBids } = found;
  const bidsToAward = seen?.liveBids.filter(({ id }) => id === bidId).length ?? 0;
  const available = seen?.available ?? 0;
  const facts = { viewer, job, ownBids, available, expectedVersion, bidsToAward, ...call };
  assertAllowed(checksOf(key), facts);
  return { found, facts };
}
