/**
 * Moves a job from state to state. Each transition is one statement, which changes the job, adds its events and, where
 * the transition has a price, charges it. It returns no row for a job that could not move.
 *
 * Concurrent calls: at READ COMMITTED, an UPDATE that finds its row locked waits, and when the other transaction has
 * committed, Postgres takes the newest version of that row, evaluates the WHERE clause again for it and computes the
 * SET from it ("EvalPlanQual"). So the state, the version, the required fields and the price, which are all columns of
 * the job, are those of the newest version; of two calls that move the job from one state, the second finds it in
 * another. Anything else in the WHERE, such as the sub-select of the balance, is still seen as it was when the
 * statement began. That condition therefore only saves attempts that would fail: the CHECK constraint on
 * `token_balances` decides about the balance, and its UPDATE works on the newest version of that row in the same way.
 *
 * The bids on the job are also seen as they were. But every change of them holds the job's lock and adds an event: so a
 * transition that settles bids moves the job only if its count of events is the same as when the statement began.
 * Otherwise it does nothing, and the statement is sent again under the lock (`operations/jobs/one-statement.ts`).
 */
import { and, eq, sql, type SQL, type WithSubquery } from 'drizzle-orm';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import { BID_CONSEQUENCES } from '../rules/bids.js';
import { checksOf, checksOfRow } from '../rules/checks.js';
import { all, priceBy } from '../rules/conditions.js';
import { BASES_TAKEN } from '../rules/edit-bases.js';
import type { Effect, EffectBy } from '../rules/effects.js';
import type { JobId } from '../rules/ids.js';
import {
  isOneStatement,
  JOB_TRANSITION_KEYS,
  JOB_TRANSITIONS,
  type JobTransition,
  type JobTransitionKey,
} from '../rules/lifecycle.js';
import { PUBLISH_COST } from '../rules/publishing.js';
import { conditionSql, termSql, type ConditionValues } from './conditions.js';
import type { Db } from './database.js';
import { liveBids, settlingBids } from './bids.js';
import { logging, loggingBids } from './events.js';
import { bySelection } from './by-selection.js';
import type { JobInclude } from './job-include.js';
import { advance, jobColumns, jobFields, type JobRow, type Logged } from './jobs.js';
import { transferring, type PaymentValues } from './ledger.js';
import { sameNames, statement, type Values } from './statement.js';
import { jobs } from './tables/jobs.js';

/** The parameters of a move; each statement gets those that it uses. */
export interface MoveValues
  extends Pick<ConditionValues, 'role' | 'homeownerId' | 'contractorId' | 'expectedVersion' | 'bidId'>, Logged {
  id: JobId;
  rating: number | null;
  review: string | null;
}

type MoveParameters = Values<MoveValues & PaymentValues>;
type Changes = Partial<Record<keyof JobRow, SQL | number>>;

const LIVE_BIDS = sql`(select count(*)::int from live)`;

/** The columns of the job that the effects of a transition change. */
const CHANGES: { readonly [Name in Effect]?: ($: MoveParameters) => Changes } & Record<
  EffectBy<'move'>,
  ($: MoveParameters) => Changes
> = {
  chargePublishing: () => ({ mostTokensPaid: termSql(priceBy('urgency', PUBLISH_COST), {}) }),
  keepBudgets: () => valuesOf(BASES_TAKEN.keepBudgets),
  keepCompletionDate: () => valuesOf(BASES_TAKEN.keepCompletionDate),
  acceptBid: ($) => ({ eventCount: sql`${advance($).eventCount} + ${LIVE_BIDS}` }),
  setAwardedBid: ($) => ({
    awardedBidId: sql`${$.bidId}`,
    awardedContractorId: sql`(select contractor_id from live where id = ${$.bidId})`,
  }),
  keepReview: ($) => ({ rating: sql`${$.rating}`, review: sql`${$.review}` }),
  // No bid is live after it.
  rejectOtherBids: () => ({ liveBidCount: 0 }),
  rejectLiveBids: () => ({ liveBidCount: 0 }),
};

function valuesOf(taken: Readonly<Record<string, keyof JobRow>>): Changes {
  return Object.fromEntries(Object.entries(taken).map(([base, field]) => [base, sql`${jobColumns[field]}`]));
}

/** The result of a move. */
export interface Moved {
  readonly job: JobRow;
  /** The available tokens, where the move had a price. */
  readonly available: number | null;
}

export const moveJob = forEachTransition((key) => bySelection((include) => moving(key, include)));

function forEachTransition<Made>(make: (key: JobTransitionKey) => Made): Record<JobTransitionKey, Made> {
  return Object.fromEntries(JOB_TRANSITION_KEYS.map((key) => [key, make(key)])) as Record<JobTransitionKey, Made>;
}

type MoveStatement = (db: Db, values: MoveValues & Partial<PaymentValues>) => Promise<Moved[]>;

/** Makes the statement of a transition, which returns the included columns of the job. */
function moving(key: JobTransitionKey, include: JobInclude): MoveStatement {
  const { to, effects }: JobTransition = JOB_TRANSITIONS[key];
  const isCharged = effects.includes('chargePublishing');
  const fields = jobFields(include, 'eventCount', ...(isCharged ? (['mostTokensPaid'] as const) : []));
  const send = statement((db, $: MoveParameters) => {
    const changes: object = Object.assign({}, ...effects.map((effect) => CHANGES[effect]?.($)));
    const { before = [], condition, after, available } = withTheMove(db, $, effects);
    const moved = db.$with('moved').as(
      db
        .update(jobs)
        .set({ status: to, ...advance($), ...changes })
        .where(and(eq(jobs.id, $.id), mayMove(key, $), condition))
        .returning(fields),
    );
    return db
      .with(...before, moved, ...after)
      .select({ job: sameNames(fields, moved), available: available ?? sql<null>`null` })
      .from(moved);
  });
  // No statement uses all of these parameters; each gets those that it uses.
  return send as MoveStatement;
}

/** Conditions on more than the job and the balance were checked under the lock. */
function mayMove(key: JobTransitionKey, $: MoveParameters): SQL {
  const checks = isOneStatement(JOB_TRANSITIONS[key]) ? checksOf(key) : checksOfRow(key);
  return conditionSql(all(...checks.map(({ condition }) => condition)), $);
}

/** The other parts of the statement; its CTE `moved` is the move. */
interface WithTheMove {
  readonly before?: WithSubquery[];
  /** A further condition of the move. */
  readonly condition?: SQL;
  readonly after: WithSubquery[];
  readonly available?: SQL<number | null>;
}

function withTheMove(db: PostgresJsDatabase, $: MoveParameters, effects: readonly Effect[]): WithTheMove {
  if (effects.includes('chargePublishing')) return charging(db, $);
  if (effects.includes('acceptBid')) return settling(db, $);
  return { after: [logging(db, 'moved', $.events)] };
}

/** Charges the price to the caller, if the job moved. */
function charging(db: PostgresJsDatabase, $: MoveParameters): WithTheMove {
  const paid = sql`(select most_tokens_paid from moved)`;
  const hasMoved = sql`exists (select from moved)`;
  const { changed, insertion } = transferring(db, $, { amount: paid, change: sql`- ${paid}`, given: hasMoved });
  const logged = logging(db, 'moved', $.events, { data: TOKENS_CHARGED });
  return {
    after: [changed, db.$with('transfer').as(insertion), logged],
    available: sql`(select available from changed)`,
  };
}

const TOKENS_CHARGED = sql`jsonb_build_object('tokensCharged', j.most_tokens_paid)`;

/** Accepts one bid and rejects the others, if the job moved; each bid gets its own event. */
function settling(db: PostgresJsDatabase, $: MoveParameters): WithTheMove {
  const logged = logging(db, 'moved', $.events, { later: LIVE_BIDS });
  return {
    before: [liveBids(db, $.id)],
    condition: sql`${jobs.eventCount} = (select seen.event_count from jobs seen where seen.id = ${$.id})`,
    after: [...settlingBids(db, $), logged, loggingBids(db, EVENT_OF_BID)],
  };
}

const { accept, passOver } = BID_CONSEQUENCES;
const EVENT_OF_BID = sql`case b.status when ${accept.to} then ${accept.event} else ${passOver.event} end`;
