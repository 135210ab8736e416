/**
 * How an operation on a job runs that is one statement. The statement is sent at once, and does nothing unless all is
 * well; only then a look says why not. Where the look finds nothing against it, somebody came between the two: then all
 * is done under the job's lock, where nobody can.
 */
import { refuse } from '../../rules/errors.js';
import type { JobId } from '../../rules/ids.js';
import type { Viewer } from '../../rules/viewer.js';
import { violatedConstraint } from '../../store/database-errors.js';
import { together, type Db } from '../../store/database.js';
import type { Call } from '../operation.js';
import { findAndLockJob } from './job.js';

/** Who acts, where, and what the door will want of the job. */
export type Acting<V extends Viewer = Viewer> = Pick<Call<V>, 'db' | 'viewer' | 'beside'>;

interface Steps<V extends Viewer, Input, Output> {
  jobId(input: Input): JobId;
  /** Sends the statement; undefined if it did nothing. */
  act(acting: Acting<V>, input: Input): Promise<Output | undefined>;
  /** Looks, and refuses what may not be done. */
  judge(db: Db, viewer: V, input: Input): Promise<unknown>;
  /** The constraints that stop the statement where somebody else's was faster. */
  readonly mayFailBy?: readonly string[];
}

/** Runs an operation so. */
export function atOnce<V extends Viewer, Input, Output>({
  jobId,
  act,
  judge,
  mayFailBy = [],
}: Steps<V, Input, Output>) {
  return async ({ db, viewer, beside }: Acting<V>, input: Input): Promise<Output> => {
    const attempt = (on: Db) => attemptOn(on, (part) => act({ db: part, viewer, beside }, input), mayFailBy);
    const done = await attempt(db);
    if (done !== undefined) return done;
    await judge(db, viewer, input);
    return db.inTransaction(async (tx) => {
      await together(findAndLockJob(tx, viewer, jobId(input)), judge(tx, viewer, input));
      const doneAlone = await attempt(tx);
      if (doneAlone !== undefined) return doneAlone;
      await judge(tx, viewer, input);
      throw refuse('OVERLOADED', { message: 'Too much is changing at once; try again.', details: { retryAfter: 1 } });
    });
  };
}

class NothingWasDone extends Error {}

/**
 * Within somebody else's transaction a failure would be the end of all, and what was noted of nothing would stay: there
 * it is a part by itself.
 */
async function attemptOn<Output>(
  db: Db,
  act: (db: Db) => Promise<Output | undefined>,
  mayFailBy: readonly string[],
): Promise<Output | undefined> {
  const isPart = db.isTransaction && (mayFailBy.length > 0 || db.journal !== undefined);
  try {
    return await (isPart ? db.inTransaction(async (part) => (await act(part)) ?? nothing()) : act(db));
  } catch (error) {
    if (error instanceof NothingWasDone || mayFailBy.includes(violatedConstraint(error) ?? '')) return undefined;
    throw error;
  }
}

function nothing(): never {
  throw new NothingWasDone();
}
