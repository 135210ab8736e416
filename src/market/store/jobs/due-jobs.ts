/** Finds and locks the jobs that the clock has to look at. */
import { eq, sql } from 'drizzle-orm';
import { DEADLINES } from '../../rules/jobs/deadlines.js';
import type { FactName, JobFacts } from '../../rules/jobs/facts.js';
import type { JobId } from '../../rules/ids.js';
import type { JobState } from '../../rules/states.js';
import type { Db } from '../../../platform/db/database.js';
import { builder, type Placeholders, selectFrom, statement } from '../../../platform/db/statement.js';
import { jobs } from '../tables/jobs.js';
import { factColumns } from './job-facts.js';
import { DEADLINE_NOW, jobColumns } from './jobs.js';
import { isOwnerSuspended } from '../visibility.js';

/** True if the awarded contractor of this row of `jobs` is suspended. */
const isAwardeeSuspended = sql<boolean>`exists (select from contractors c join users u on u.id = c.user_id
  where c.id = "jobs"."awarded_contractor_id" and u.suspended_at is not null)`;

export const selectDueJobs = statement('selectDueJobs', { id: jobs.id }, ($: Placeholders<{ limit: number }>, fields) =>
  builder
    .select(fields)
    .from(jobs)
    .where(sql`${jobs.nextLookAt} <= ${DEADLINE_NOW}`)
    .orderBy(jobs.nextLookAt)
    .limit($('limit') as never),
);

const statesOf = (responder: 'owner' | 'awardee') =>
  sql.raw(
    Object.entries(DEADLINES)
      .filter(([, { reminders }]) => reminders.some(([to]) => to === responder || to === 'parties'))
      .map(([state]) => `'${state satisfies string as JobState}'`)
      .join(', '),
  );

/** The jobs whose deadlines must stand still or continue, because somebody was suspended or restored. */
export const selectJobsOfSuspensions = statement(
  'selectJobsOfSuspensions',
  { id: sql<JobId>`found.id` },
  ($: Placeholders<{ limit: number }>, fields) =>
    builder.select(fields).from(sql`(
      select j.id from users u join homeowners h on h.user_id = u.id join jobs j on j.homeowner_id = h.id
        where u.suspended_at is not null and j.deadline_from is not null and j.paused_from is null
          and j.status in (${statesOf('owner')})
      union
      select j.id from users u join contractors c on c.user_id = u.id join jobs j on j.awarded_contractor_id = c.id
        where u.suspended_at is not null and j.deadline_from is not null and j.paused_from is null
          and j.status in (${statesOf('awardee')})
      union
      select "jobs"."id" from "jobs"
        where "jobs"."paused_from" is not null and not (${isOwnerSuspended} or ${isAwardeeSuspended})
      limit ${$('limit')}::int) found`),
);

/** Locks a job for the clock, unless a call or another instance has locked it. */
export const lockJobForClock = statement(
  'lockJobForClock',
  {
    job: jobColumns,
    now: sql<Date>`${DEADLINE_NOW}`.mapWith(jobs.deadlineFrom).as('now'),
    isOwnerSuspended: isOwnerSuspended.as('is_owner_suspended'),
    isAwardeeSuspended: isAwardeeSuspended.as('is_awardee_suspended'),
  },
  ($: Placeholders<{ id: JobId }>, fields) =>
    selectFrom(jobs, fields, eq(jobs.id, $('id'))).for('update', { of: jobs, skipLocked: true }),
);

/** Creates a function that reads facts for a move of the clock, which concerns no viewer. */
export function clockFactsReader(names: readonly FactName[]): (db: Db, id: JobId) => Promise<Partial<JobFacts>> {
  if (names.length === 0) return async () => ({});
  const select = statement(
    'selectFacts',
    ($: Placeholders<{ id: JobId }>) => factColumns(names, { role: 'admin', $: $ as never, isCall: true }),
    ($, fields) => selectFrom(jobs, fields, eq(jobs.id, $('id'))),
  );
  return async (db, id) => (await select(db, { id }))[0] ?? {};
}
