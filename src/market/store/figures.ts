/**
 * Metrics of the market and the database, in addition to each instance's own counters. They're cached for half a
 * minute. The counts of all jobs are exact, and take a tenth of a second per million jobs. So they're cached for five
 * minutes.
 */
import { sql } from 'drizzle-orm';
import { isIn, JOB_STATES, STATES_IN_DISPUTE, type JobState } from '../rules/states.js';
import type { Db } from '../../platform/db/database.js';
import { builder, type Placeholders, selectFrom, statement } from '../../platform/db/statement.js';
import { DEADLINE_NOW } from './tables/deadline-clock.js';
import { jobs } from './tables/jobs.js';
import { tokenBalances } from './tables/ledger.js';
import { purchases } from './tables/purchases.js';
import { searchCursor } from './tables/saved-searches.js';

export interface Figures {
  readonly jobs: Readonly<Record<JobState, number>>;
  readonly reached: {
    /**
     * Includes the few drafts that an admin has completed. To leave those out, the query would have to read every
     * completed job's row. Counts by status read only an index.
     */
    readonly published: number;
    readonly awarded: number;
    readonly completed: number;
  };
  readonly disputesOpen: number;
  readonly tokens: { readonly available: number; readonly held: number };
}

const jobsByStatus = statement(
  'jobsByStatus',
  { status: jobs.status, count: sql<number>`count(*)::float8` },
  (_: Placeholders<object>, fields) => builder.select(fields).from(jobs).groupBy(jobs.status),
);

const jobsAwarded = statement(
  'jobsAwarded',
  { count: sql<number>`count(*)::float8` },
  (_: Placeholders<object>, fields) => selectFrom(jobs, fields, sql`${jobs.awardedContractorId} is not null`),
);

const tokensKept = statement(
  'tokensKept',
  {
    available: sql<number>`coalesce(sum(balance - held), 0)::float8`,
    held: sql<number>`coalesce(sum(held), 0)::float8`,
  },
  (_: Placeholders<object>, fields) => builder.select(fields).from(tokenBalances),
);

const lockWaits = statement('lockWaits', { count: sql<number>`count(*)::float8` }, (_: Placeholders<object>, fields) =>
  builder
    .select(fields)
    .from(sql`pg_stat_activity`)
    .where(sql`datname = current_database() and wait_event_type = 'Lock'`),
);

const WAITING_MAX = sql.raw('10000');

const webhooksNow = statement(
  'webhooksNow',
  {
    waiting: sql<number>`count(*)::float8`,
    oldestSeconds: sql<number>`greatest(0, coalesce(extract(epoch from now() - min(due_at)), 0))::float8`,
    paused: sql<number>`(select count(*) from webhook_endpoints where status = 'paused'
        and deleted_at is null)::float8`,
  },
  (_: Placeholders<object>, fields) =>
    builder.select(fields).from(
      sql`(select greatest(t.run_at, t.leased_until) as due_at from tasks t join webhook_endpoints w on w.id = t.key
        where t.kind = 'webhook' and w.status = 'active' and w.deleted_at is null limit ${WAITING_MAX}) waiting`,
    ),
);

/** How long the job that has waited longest for the clock has been due. An index gives the earliest time. */
const clockOverdue = statement(
  'clockOverdue',
  {
    seconds: sql<number>`greatest(0, coalesce(extract(epoch from ${DEADLINE_NOW} -
      (select min(j.next_look_at) from jobs j)), 0))::float8`,
  },
  (_: Placeholders<object>, fields) => builder.select(fields).from(sql`(select) now`),
);

export async function readClockOverdue(db: Db): Promise<number> {
  const [row] = await clockOverdue(db, {});
  return row?.seconds ?? 0;
}

/** How long the oldest event has waited to be compared with the saved searches. */
const searchLag = statement(
  'searchLag',
  {
    seconds: sql<number>`coalesce(extract(epoch from now() - (select occurred_at from events
      where position > matched_up_to order by position limit 1)), 0)::float8`,
  },
  (_: Placeholders<object>, fields) => builder.select(fields).from(searchCursor),
);

export async function readSearchLag(db: Db): Promise<number> {
  const [row] = await searchLag(db, {});
  return row?.seconds ?? 0;
}

/** How long the oldest purchases have been waiting for their payment, and for a lookup. */
const purchasesNow = statement(
  'purchasesNow',
  {
    pendingSeconds: sql<number>`coalesce(extract(epoch from now() - min(created_at)
      filter (where status = 'pending')), 0)::float8`,
    overdueSeconds: sql<number>`greatest(0, coalesce(extract(epoch from now() - min(look_at)), 0))::float8`,
  },
  (_: Placeholders<object>, fields) =>
    builder
      .select(fields)
      .from(purchases)
      .where(sql`look_at is not null`),
);

export async function readPurchaseFigures(db: Db) {
  const [row] = await purchasesNow(db, {});
  return row ?? { pendingSeconds: 0, overdueSeconds: 0 };
}

const emailsNow = statement(
  'emailsNow',
  {
    oldestSeconds: sql<number>`greatest(0, coalesce(extract(epoch from now() - min(due_at)), 0))::float8`,
    eventsBehind: sql<number>`(select stored_up_to - mailed_up_to from notification_cursor)::float8`,
  },
  (_: Placeholders<object>, fields) =>
    builder.select(fields).from(
      sql`(select greatest(run_at, leased_until) as due_at from tasks where kind in ('mail', 'notice')
        limit ${WAITING_MAX}) waiting`,
    ),
);

export interface EmailFigures {
  /** How long the oldest due email has waited. */
  readonly oldestSeconds: number;
  /** How many events with stored notifications are waiting to be queued as emails. */
  readonly eventsBehind: number;
}

export async function readEmailFigures(db: Db): Promise<EmailFigures> {
  const [row] = await emailsNow(db, {});
  return row ?? { oldestSeconds: 0, eventsBehind: 0 };
}

export interface WebhookFigures {
  readonly waiting: number;
  /** How long the oldest due delivery has waited. */
  readonly oldestSeconds: number;
  readonly paused: number;
}

export async function readWebhookFigures(db: Db): Promise<WebhookFigures> {
  const [row] = await webhooksNow(db, {});
  return row ?? { waiting: 0, oldestSeconds: 0, paused: 0 };
}

export async function readFigures(db: Db): Promise<Figures> {
  const counts = new Map((await jobsByStatus(db, {})).map(({ status, count }) => [status, count]));
  const byStatus = Object.fromEntries(JOB_STATES.map((state) => [state, counts.get(state) ?? 0])) as Figures['jobs'];
  const countIn = (states: readonly JobState[]) => states.reduce((sum, state) => sum + byStatus[state], 0);
  const [row] = await jobsAwarded(db, {});
  const [tokens] = await tokensKept(db, {});
  return {
    jobs: byStatus,
    reached: {
      published: countIn(JOB_STATES.filter((state) => !isIn('unpublished', state))),
      awarded: row?.count ?? 0,
      completed: byStatus.completed,
    },
    disputesOpen: countIn(STATES_IN_DISPUTE),
    tokens: tokens ?? { available: 0, held: 0 },
  };
}

/** Counts the sessions in this database that wait for another session's lock. */
export async function countLockWaits(db: Db): Promise<number> {
  const [waiting] = await lockWaits(db, {});
  return waiting?.count ?? 0;
}

/**
 * Limits how often `read` is called and how long a caller waits. After a failure, callers get the last value or the
 * default.
 */
export function createCachedRead<T>(
  read: () => Promise<T>,
  initially: T,
  everyMs: number,
  waitMs: number,
): () => Promise<T> {
  let last = initially;
  let readAtMs = -Infinity;
  let reading: Promise<void> | undefined;

  async function refresh(): Promise<void> {
    try {
      last = await read();
      readAtMs = performance.now();
    } catch {
      // The failure isn't reported here, because the database's own metrics show it.
    } finally {
      reading = undefined;
    }
  }

  return async () => {
    if (performance.now() - readAtMs < everyMs) return last;
    reading ??= refresh();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, waitMs)));
    await Promise.race([reading, late]);
    clearTimeout(timer);
    return last;
  };
}
