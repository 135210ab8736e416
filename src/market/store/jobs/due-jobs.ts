/** What the clock reads and changes: the jobs that are due, their stakes, and the clock's own row. */
import { and, eq, sql, type SQL } from 'drizzle-orm';
import { DEADLINES, type StakeTimer } from '../../rules/jobs/deadlines.js';
import type { FactName, JobFacts } from '../../rules/jobs/facts.js';
import type { BidId, JobId } from '../../rules/ids.js';
import { JOB_STATES, type JobState } from '../../rules/states.js';
import type { Db } from '../../../platform/db/database.js';
import { asDate, ConvertedColumn } from '../../../platform/db/rows.js';
import { builder, type Placeholders, selectFrom, statement } from '../../../platform/db/statement.js';
import { bids, holds } from '../tables/bids.js';
import { DEADLINE_NOW, deadlineClock } from '../tables/deadline-clock.js';
import { jobs } from '../tables/jobs.js';
import { isOwnerSuspended } from '../visibility.js';
import { factColumns } from './job-facts.js';
import { jobColumns } from './jobs.js';
import { deadlineNow, isPendingStake, jobTimer, stakeTimer } from './timers.js';

/** True if the awarded contractor of this row of `jobs` is suspended. */
const isAwardeeSuspended = sql<boolean>`exists (select from contractors c join users u on u.id = c.user_id
  where c.id = "jobs"."awarded_contractor_id" and u.suspended_at is not null)`;

/** A server's settings as they're stored, and whether they let the clock act. */
export interface OwnSettings {
  readonly settings: string;
  readonly canAct: boolean;
}

export interface Batch {
  /** The IDs of jobs to leave out, as an array. */
  readonly without: string;
  readonly limit: number;
}

export const selectDueJobs = statement('selectDueJobs', { id: jobs.id }, ($: Placeholders<Batch>, fields) =>
  builder
    .select(fields)
    .from(jobs)
    .where(sql`${jobs.nextCheckAt} <= (select ${DEADLINE_NOW}) and ${jobs.id} <> all(${$('without')}::text[])`)
    .orderBy(jobs.nextCheckAt)
    .limit($('limit') as never),
);

/** True for a row in which this person would have to respond to a deadline. The row's table has this name. */
function responds(responder: 'owner' | 'awardee', table: string): SQL {
  const states = Object.entries(DEADLINES).filter(([, { reminders }]) =>
    reminders.some(([to]) => to === responder || to === 'parties'),
  );
  const conditions = states.map(([state, row]) =>
    'afterChanges' in row
      ? `${table}.status = '${state}' and ${table}.change_request_count > 0`
      : `${table}.status = '${state}'`,
  );
  return sql.raw(`(${conditions.join(' or ')})`);
}

/** The jobs whose deadlines must be paused or resumed, because someone was suspended or restored. */
export const selectJobsOfSuspensions = statement(
  'selectJobsOfSuspensions',
  { id: sql<JobId>`found.id` },
  ($: Placeholders<Batch>, fields) =>
    builder.select(fields).from(sql`(
      select j.id from users u join homeowners h on h.user_id = u.id join jobs j on j.homeowner_id = h.id
        where u.suspended_at is not null and j.deadline_from is not null and j.paused_from is null
          and ${responds('owner', 'j')}
      union
      select j.id from users u join contractors c on c.user_id = u.id join jobs j on j.awarded_contractor_id = c.id
        where u.suspended_at is not null and j.deadline_from is not null and j.paused_from is null
          and ${responds('awardee', 'j')}
      union
      select "jobs"."id" from "jobs" where "jobs"."paused_from" is not null
        and not (${isOwnerSuspended} and ${responds('owner', 'jobs')})
        and not (${isAwardeeSuspended} and ${responds('awardee', 'jobs')})
      ) found where found.id <> all(${$('without')}::text[]) limit ${$('limit')}::int`),
);

export const lockJobForClock = statement(
  'lockJobForClock',
  { job: { ...jobColumns, ...jobTimer }, now: deadlineNow },
  ($: Placeholders<{ id: JobId }>, fields) =>
    selectFrom(jobs, fields, eq(jobs.id, $('id'))).for('update', { of: jobs }),
);

/** A statement that waits for the job's lock reads suspensions as they were before it waited. So this is its own. */
export const selectSuspensions = statement(
  'selectSuspensions',
  {
    isOwnerSuspended: isOwnerSuspended.as('is_owner_suspended'),
    isAwardeeSuspended: isAwardeeSuspended.as('is_awardee_suspended'),
  },
  ($: Placeholders<{ id: JobId }>, fields) => selectFrom(jobs, fields, eq(jobs.id, $('id'))),
);

export const selectTimer = statement(
  'selectTimer',
  { ...jobTimer, now: deadlineNow },
  ($: Placeholders<{ id: JobId }>, fields) => selectFrom(jobs, fields, eq(jobs.id, $('id'))),
);

export const postponeCheck = statement('postponeCheck', {}, ($: Placeholders<{ id: JobId; seconds: number }>) =>
  builder
    .update(jobs)
    .set({ nextCheckAt: sql`${DEADLINE_NOW} + make_interval(secs => ${$('seconds')}::int)` })
    .where(eq(jobs.id, $('id'))),
);

/** The active stakes of bids that the homeowner hasn't looked at, oldest first. */
export const selectStakes: (db: Db, values: { id: JobId }) => Promise<StakeTimer[]> = statement(
  'selectStakes',
  stakeTimer,
  ($: Placeholders<{ id: JobId }>, fields) =>
    builder
      .select(fields)
      .from(holds)
      .innerJoin(bids, eq(bids.id, holds.bidId))
      .where(and(eq(holds.jobId, $('id')), isPendingStake))
      .orderBy(holds.deadlineFrom),
);

export const setStakeReminded = statement('setStakeReminded', {}, ($: Placeholders<{ bidId: BidId }>) =>
  builder
    .update(holds)
    .set({ remindedAt: DEADLINE_NOW })
    .where(eq(holds.bidId, $('bidId'))),
);

/** Moves the deadlines of a job's active stakes by the time for which they were paused. */
export const delayStakes = statement('delayStakes', {}, ($: Placeholders<{ id: JobId; seconds: number }>) => {
  const later = (column: typeof holds.deadlineFrom | typeof holds.remindedAt) =>
    sql`${column} + make_interval(secs => ${$('seconds')}::float8)`;
  // A reminder from before the clock could act must not become a warning.
  const remindedAt = sql`case when ${holds.remindedAt} < (select dc.acting_since from deadline_clock dc) then null
    else ${later(holds.remindedAt)} end`;
  return (
    builder
      .update(holds)
      // A bid can be made after the homeowner was restored and before the clock noticed.
      .set({ deadlineFrom: sql`least(${later(holds.deadlineFrom)}, ${DEADLINE_NOW})`, remindedAt })
      .where(and(eq(holds.jobId, $('id')), eq(holds.status, 'active')))
  );
});

/** Creates a function that reads facts for a move of the clock, which concerns no viewer. */
export function clockFactsReader(names: readonly FactName[]): (db: Db, id: JobId) => Promise<Partial<JobFacts>> {
  if (names.length === 0) return async () => ({});
  const select = statement(
    'clockFactsReader',
    ($: Placeholders<{ id: JobId }>) => factColumns(names, { role: 'admin', $: $ as never, locksBalance: true }),
    ($, fields) => selectFrom(jobs, fields, eq(jobs.id, $('id'))),
  );
  return async (db, id) => (await select(db, { id }))[0] ?? {};
}

export const selectSettings = statement('selectSettings', { settings: deadlineClock.settings }, (_, fields) =>
  builder.select(fields).from(deadlineClock),
);

/**
 * Returns the stored settings. If this server has them and no clock ran for too long, earlier reminders no longer count
 * as warnings, because people may not have been able to respond.
 */
export const beginScan = statement(
  'beginScan',
  { settings: deadlineClock.settings },
  ($: Placeholders<{ settings: string; outageSeconds: number }>, fields) => {
    const isOwn = sql`${deadlineClock.settings} = ${$('settings')}`;
    const outage = sql`make_interval(secs => ${$('outageSeconds')}::int)`;
    const isOutage = sql`${deadlineClock.ranAt} + ${outage} < clock_timestamp()`;
    return builder
      .update(deadlineClock)
      .set({
        ranAt: sql`case when ${isOwn} then clock_timestamp() else ${deadlineClock.ranAt} end`,
        actingSince: sql`case when ${isOwn} and ${isOutage} and ${deadlineClock.actingSince} is not null
          then ${DEADLINE_NOW} else ${deadlineClock.actingSince} end`,
      })
      .returning(fields);
  },
);

/** A page of the jobs in a state. Returns its last job. */
const checkPageNow = statement(
  'checkPageNow',
  { createdAt: sql<string>`created_at::text`, id: sql<JobId>`id` },
  ($: Placeholders<{ status: JobState; createdAt: string; id: string; limit: number }>) => sql`
    with page as materialized (
      select id, created_at from jobs
      where status = ${$('status')}::job_status
        and (created_at, id) > (${$('createdAt')}::timestamptz, ${$('id')}::text)
      order by created_at, id limit ${$('limit')}::int
    ), marked as (
      update jobs set next_look_at = ${DEADLINE_NOW} where id in (select id from page) and deadline_from is not null
    )
    select created_at::text, id from page order by page.created_at desc, page.id desc limit 1`,
);

/** What is stored while settings are applied. No server has these settings, so none checks a job. */
export function beingApplied(settings: string): string {
  return `being applied: ${settings}`;
}

const announceSettings = statement('announceSettings', {}, ($: Placeholders<{ marker: string }>) =>
  builder.update(deadlineClock).set({ settings: sql`${$('marker')}`, actingSince: null }),
);

/** Does nothing if another server has begun to apply other settings. */
const setSettings = statement('setSettings', {}, ($: Placeholders<OwnSettings & { marker: string }>) =>
  builder
    .update(deadlineClock)
    .set({
      settings: sql`${$('settings')}`,
      actingSince: sql`case when ${$('canAct')}::boolean then ${DEADLINE_NOW} end`,
      ranAt: sql`clock_timestamp()`,
    })
    .where(eq(deadlineClock.settings, $('marker'))),
);

/** Stores this server's settings, and makes the clock check every deadline again. */
export async function applySettings(
  db: Db,
  { settings, canAct, batch }: OwnSettings & { batch: number },
): Promise<void> {
  const marker = beingApplied(settings);
  const long = db.forLong?.() ?? db;
  await announceSettings(db, { marker });
  for (const status of JOB_STATES.filter((state) => state in DEADLINES)) {
    let last: { createdAt: string; id: string } | undefined = { createdAt: '-infinity', id: '' };
    while (last) [last] = await checkPageNow(long, { ...last, status, limit: batch });
  }
  await setSettings(db, { settings, canAct, marker });
}

/** A subquery would still return the time before the move. */
const movedNow = sql`(clock_timestamp() + make_interval(secs => ${deadlineClock.aheadSeconds}))::timestamptz(3)`;

/** Moves the deadline clock forward. Empty if it would be too far ahead of real time. */
export const advanceDeadlineClock = statement(
  'advanceDeadlineClock',
  { now: new ConvertedColumn(movedNow, 'deadline_now', asDate) },
  ($: Placeholders<{ seconds: number; maxSeconds: number }>, fields) =>
    builder
      .update(deadlineClock)
      .set({ aheadSeconds: sql`${deadlineClock.aheadSeconds} + ${$('seconds')}::int` })
      .where(sql`${deadlineClock.aheadSeconds} <= ${$('maxSeconds')}::int - ${$('seconds')}::int`)
      .returning(fields),
);
