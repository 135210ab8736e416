/**
 * A transition that leads to more than the job, without a transaction: a look, a judgement, and one statement for all that happens. The look takes no
 * lock; the statement moves the job only if nothing happened to it since. If something did, the same is done once more under the job's lock, where
 * nothing can come between.
 */
import { JOB_TRANSITIONS } from '../../rules/lifecycle.js';
import type { Viewer } from '../../rules/viewer.js';
import { selectLiveBids, type LiveBid } from '../../store/bids.js';
import { together, type Db } from '../../store/database.js';
import type { JobRow } from '../../store/jobs.js';
import { looking, type Look, type LookedAt, type LookedMoveValues, type MovesMore } from '../../store/moves.js';
import { idsOf } from '../../store/visibility.js';
import type { Call } from '../operation.js';
import { tellingWhatThereIs } from '../tokens/spending.js';
import { findAndLockJob, foundBy, type FoundJob } from './job.js';
import { judge, movement, type Addressed, type Told } from './transition.js';

/** What is decided on. */
interface Looked<Field extends keyof JobRow> {
  readonly viewer: Viewer;
  readonly job: LookedAt<Field>;
  /** In the order in which they were made; none, unless they were asked for. */
  readonly liveBids: readonly LiveBid[];
}

interface Steps<Field extends keyof JobRow, Input, Decision, Output> {
  look: Look<Field>;
  /** What the transition leads to, or a refusal. */
  decide(looked: Looked<Field>, input: Input): Decision;
  /** Sends the statement that makes it so; undefined if it moved nothing. */
  move(at: { readonly db: Db; readonly viewer: Viewer; readonly values: LookedMoveValues }, decision: Decision): Promise<Output | undefined>;
}

/** Runs an operation so. Within somebody else's transaction it locks at once: a statement that fails there would be the end of all. */
export function asLooked<Field extends keyof JobRow, Input extends Addressed, Decision extends Told, Output>(
  key: MovesMore,
  { look, decide, move }: Steps<Field, Input, Decision, Output>,
) {
  const lookAt = looking(look);

  function decideAndMove(db: Db, viewer: Viewer, seen: FoundJob<LookedAt<Field>>, liveBids: readonly LiveBid[], input: Input): Promise<Output | undefined> {
    judge(JOB_TRANSITIONS[key], seen, input);
    const { job } = seen;
    const decision = decide({ viewer, job, liveBids }, input);
    const values = { ...idsOf(viewer), ...movement(key, db, viewer.userId, input, job.status, decision), eventCount: job.eventCount };
    return move({ db, viewer, values }, decision);
  }

  function actUnderLock(db: Db, viewer: Viewer, input: Input): Promise<Output> {
    return db.inTransaction(async (tx) => {
      const [seen, liveBids] = await together(findAndLockJob(tx, viewer, input.id), look.liveBids ? selectLiveBids(tx, { jobId: input.id }) : NONE);
      const moved = await decideAndMove(tx, viewer, seen, liveBids, input);
      if (moved === undefined) throw new Error(`A job that was locked and judged did not move by ${key}.`);
      return moved;
    });
  }

  async function act(db: Db, viewer: Viewer, input: Input): Promise<Output> {
    if (db.isTransaction) return actUnderLock(db, viewer, input);
    const [seen] = await lookAt[viewer.role](db, { id: input.id, ...idsOf(viewer) });
    const moved = await decideAndMove(db, viewer, foundBy(viewer, seen), seen?.liveBids ?? [], input);
    return moved ?? actUnderLock(db, viewer, input);
  }

  return ({ db, viewer }: Call<Viewer>, input: Input) => tellingWhatThereIs(db, viewer.userId, () => act(db, viewer, input));
}

const NONE = Promise.resolve<LiveBid[]>([]);
