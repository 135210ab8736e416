/**
 * How a job moves from state to state: one statement a transition, which changes the job, adds its events and, where
 * moving has a price, takes it. No row comes back from a job that could not move.
 *
 * What holds where two calls come at once: at READ COMMITTED, an UPDATE that finds its row locked waits, and when the
 * other transaction has committed, Postgres takes the newest version of that row, asks the WHERE anew of it and
 * computes the SET from it ("EvalPlanQual"). So the state, the version, the required fields and the price, which are
 * all columns of the job, are those of the job as it is when it moves; and of two calls that move it from one state,
 * the second finds it in another. Anything else in the WHERE, such as the sub-select of the balance, is still seen as
 * it was when the statement began. It therefore only spares what would fail: what decides about the balance is the
 * CHECK on `token_balances`, whose own UPDATE works on the newest version of that row in the same way. What hangs on
 * other rows than these two, such as the bids, is therefore never done in this statement alone, but under the job's
 * lock.
 */
import { and, eq, sql, type SQL } from 'drizzle-orm';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import { checksOf, checksOfRow } from '../rules/checks.js';
import { all, priceBy } from '../rules/conditions.js';
import { BASES_TAKEN } from '../rules/edit-bases.js';
import type { Effect, EffectBy } from '../rules/effects.js';
import type { BidId, ContractorId, JobId } from '../rules/ids.js';
import { isOneStatement, JOB_TRANSITIONS, type JobTransition, type JobTransitionKey } from '../rules/lifecycle.js';
import { PUBLISH_COST } from '../rules/publishing.js';
import { conditionSql, termSql, type ConditionValues } from './conditions.js';
import type { Db } from './database.js';
import { logging } from './events.js';
import { bySelection, type JobInclude } from './job-include.js';
import { advance, jobColumns, jobFields, type JobRow, type Logged } from './jobs.js';
import { transferring, type PaymentValues } from './ledger.js';
import { sameNames, statement, type Values } from './statement.js';
import { jobs } from './tables/jobs.js';

/** The values that a move takes; each statement is sent those that it names. */
export interface MoveValues
  extends Pick<ConditionValues, 'role' | 'homeownerId' | 'contractorId' | 'expectedVersion'>, Logged {
  id: JobId;
  awardedBidId?: BidId;
  awardedContractorId?: ContractorId;
  rating: number | null;
  review: string | null;
}

type MoveParameters = Values<MoveValues & PaymentValues>;
type Changes = Partial<Record<keyof JobRow, SQL | number>>;

/** What the effects of a transition change in the row of its job. */
const CHANGES: { readonly [Name in Effect]?: ($: MoveParameters) => Changes } & Record<
  EffectBy<'move'>,
  ($: MoveParameters) => Changes
> = {
  chargePublishing: () => ({ mostTokensPaid: termSql(priceBy('urgency', PUBLISH_COST), {}) }),
  keepBudgets: () => valuesOf(BASES_TAKEN.keepBudgets),
  keepCompletionDate: () => valuesOf(BASES_TAKEN.keepCompletionDate),
  setAwardedBid: ($) => ({ awardedBidId: sql`${$.awardedBidId}`, awardedContractorId: sql`${$.awardedContractorId}` }),
  keepReview: ($) => ({ rating: sql`${$.rating}`, review: sql`${$.review}` }),
  // No bid is live any more.
  rejectOtherBids: () => ({ liveBidCount: 0 }),
  rejectLiveBids: () => ({ liveBidCount: 0 }),
};

function valuesOf(taken: Readonly<Record<string, keyof JobRow>>): Changes {
  return Object.fromEntries(Object.entries(taken).map(([base, field]) => [base, sql`${jobColumns[field]}`]));
}

/** What came of it. */
export interface Moved {
  readonly job: JobRow;
  /** The balance less what is held, where the move had a price. */
  readonly available: number | null;
}

export const moveJob = forEachTransition((key) => bySelection((include) => moving(key, include)));

function forEachTransition<Made>(make: (key: JobTransitionKey) => Made): Record<JobTransitionKey, Made> {
  const keys = Object.keys(JOB_TRANSITIONS) as JobTransitionKey[];
  return Object.fromEntries(keys.map((key) => [key, make(key)])) as Record<JobTransitionKey, Made>;
}

type MoveStatement = (db: Db, values: MoveValues & Partial<PaymentValues>) => Promise<Moved[]>;

/** Of the moved job comes back what is asked for. */
function moving(key: JobTransitionKey, include: JobInclude): MoveStatement {
  const { to, effects }: JobTransition = JOB_TRANSITIONS[key];
  const isCharged = effects.includes('chargePublishing');
  const fields = jobFields(include, 'eventCount', ...(isCharged ? (['mostTokensPaid'] as const) : []));
  const send = statement((db, $: MoveParameters, sessionIsActive) => {
    const changes: object = Object.assign({}, ...effects.map((effect) => CHANGES[effect]?.($)));
    const moved = db.$with('moved').as(
      db
        .update(jobs)
        .set({ status: to, ...advance($), ...changes })
        .where(and(eq(jobs.id, $.id), mayMove(key, $), sessionIsActive))
        .returning(fields),
    );
    const charge = isCharged ? charging(db, $) : { parts: [], available: sql<null>`null` };
    return db
      .with(moved, ...charge.parts, logging(db, 'moved', $.events, isCharged ? TOKENS_CHARGED : undefined))
      .select({ job: sameNames(fields, moved), available: sql<number | null>`${charge.available}` })
      .from(moved);
  });
  // A statement is sent the values that it names: none has all of these.
  return send as MoveStatement;
}

/** What depends on more than the job and the balance was checked under the lock. */
function mayMove(key: JobTransitionKey, $: MoveParameters): SQL {
  const checks = isOneStatement(JOB_TRANSITIONS[key]) ? checksOf(key) : checksOfRow(key);
  return conditionSql(all(...checks.map(({ condition }) => condition)), $);
}

/** The price is charged to the caller, if the job moved. */
function charging(db: PostgresJsDatabase, $: MoveParameters) {
  const paid = sql`(select most_tokens_paid from moved)`;
  const hasMoved = sql`exists (select from moved)`;
  const { changed, insertion } = transferring(db, $, { amount: paid, change: sql`- ${paid}`, given: hasMoved });
  return { parts: [changed, db.$with('transfer').as(insertion)], available: sql`(select available from changed)` };
}

const TOKENS_CHARGED = sql`jsonb_build_object('tokensCharged', j.most_tokens_paid)`;
