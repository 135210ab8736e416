/**
 * How an operation on a job runs that is one statement. The statement is sent at once, and does nothing unless all is well; only then a look says why
 * not. Where the look finds nothing against it, somebody came between the two: then all is done under the job's lock, where nobody can.
 */
import { refuse } from '../../rules/errors.js';
import type { JobId } from '../../rules/ids.js';
import type { Viewer } from '../../rules/viewer.js';
import { violatedConstraint } from '../../store/database-errors.js';
import { together, type Db } from '../../store/database.js';
import { findAndLockJob } from './job.js';

export interface AtOnce<Output> {
  readonly db: Db;
  readonly viewer: Viewer;
  readonly jobId: JobId;
  /** Sends the statement; undefined if it did nothing. */
  act(db: Db): Promise<Output | undefined>;
  /** Looks, and refuses what may not be done. */
  judge(db: Db): Promise<unknown>;
  /** The constraints that stop the statement where somebody else's was faster. */
  readonly mayFailBy?: readonly string[];
}

export async function atOnce<Output>(asked: AtOnce<Output>): Promise<Output> {
  const { db, viewer, jobId, judge } = asked;
  const done = await attempt(db, asked);
  if (done !== undefined) return done;
  await judge(db);
  return db.inTransaction(async (tx) => {
    await together(findAndLockJob(tx, viewer, jobId), judge(tx));
    const doneAlone = await attempt(tx, asked);
    if (doneAlone !== undefined) return doneAlone;
    await judge(tx);
    throw refuse('OVERLOADED', { message: 'Too much is changing at once; try again.', details: { retryAfter: 1 } });
  });
}

class NothingWasDone extends Error {}

/** Within somebody else's transaction a failure would be the end of all, and what was noted of nothing would stay: there it is a part by itself. */
async function attempt<Output>(db: Db, { act, mayFailBy = [] }: AtOnce<Output>): Promise<Output | undefined> {
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
