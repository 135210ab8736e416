/**
 * Runs a transition in one statement, which moves the job if all conditions hold and else does nothing. Only if it did
 * nothing, the job is read and checked, for the refusal.
 */
import { refuse } from '../../rules/errors.js';
import { JOB_TRANSITIONS, type JobTransition, type JobTransitionKey } from '../../rules/lifecycle.js';
import { violatedConstraint } from '../../store/database-errors.js';
import { pipelined, type Db } from '../../store/database.js';
import { lockJob } from '../../store/jobs.js';
import { asPayment } from '../../store/ledger.js';
import { moveJob, type Moved } from '../../store/moves.js';
import { COVERED } from '../tokens/spending.js';
import { lookAndCheck, type Acting } from './checked.js';
import { moveValues, type Input } from './move-values.js';

export function inOneStatement(key: JobTransitionKey) {
  const { from, effects }: JobTransition = JOB_TRANSITIONS[key];
  const [onlyState] = from;
  const isCharged = effects.includes('chargePublishing');
  if (onlyState === undefined) throw new Error(`${key} leaves no state.`);
  const send = isCharged ? moveAndPay : moveAlone;

  return async (acting: Acting, input: Input): Promise<Moved> => {
    const { db, viewer } = acting;
    const attempt = (on: Db) =>
      unlessNothing(on, isCharged, (part) => {
        const here = { ...acting, db: part };
        return send(key, here, moveValues(key, here, input, onlyState));
      });
    const moved = await attempt(db);
    if (moved) return moved;
    await lookAndCheck(key, db, viewer, input);
    // No check refuses now, since another transaction has changed the job in between. Tries again with the job locked.
    return db.inTransaction(async (tx) => {
      await pipelined(lockJob(tx, input), lookAndCheck(key, tx, viewer, input));
      const movedNow = await attempt(tx);
      if (movedNow) return movedNow;
      // The job's lock does not cover the balance, which may have been too low for the statement and higher since.
      await lookAndCheck(key, tx, viewer, input);
      throw refuse('OVERLOADED', { message: 'Too much is changing at once; try again.', details: { retryAfter: 1 } });
    });
  };
}

type Values = ReturnType<typeof moveValues>;

async function moveAlone(key: JobTransitionKey, { db, include }: Acting, values: Values): Promise<Moved | undefined> {
  const [moved] = await moveJob[key](include)(db, values);
  return moved;
}

async function moveAndPay(key: JobTransitionKey, acting: Acting, values: Values): Promise<Moved | undefined> {
  const { db, viewer, include } = acting;
  const payment = asPayment({ userId: viewer.userId, reason: 'publish', jobId: values.id });
  const [moved] = await moveJob[key](include)(db, Object.assign({}, payment, values));
  return moved;
}

/** A violated constraint would abort an outer transaction: there the statement runs in a savepoint. */
async function unlessNothing(
  db: Db,
  isCharged: boolean,
  send: (db: Db) => Promise<Moved | undefined>,
): Promise<Moved | undefined> {
  try {
    return await (db.isTransaction && isCharged ? db.inTransaction(send) : send(db));
  } catch (error) {
    if (isCharged && violatedConstraint(error) === COVERED) return undefined;
    throw error;
  }
}
