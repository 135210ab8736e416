/** Counts the jobs in each state that a viewer can see. Each count equals the total of that state's list. */
import { and, sql, type SQL } from 'drizzle-orm';
import { STATES_OPEN_TO_BIDS } from '../../rules/parties.js';
import { JOB_STATES, type JobState } from '../../rules/states.js';
import { PAGE } from '../../../platform/caller-limits.js';
import type { Role, Viewer } from '../../rules/viewer.js';
import type { Db } from '../../../platform/db/database.js';
import { builder, mayBeStale, statement, type Placeholders } from '../../../platform/db/statement.js';
import { forEachRole, idsOf, isClosedToBids, isOpenToBids, visibleJobs, type ViewerIds } from '../visibility.js';

export interface JobCount {
  status: JobState;
  count: number;
}

const MAX = sql.raw(String(PAGE.exactTotalMax));

const counts = forEachRole((role) =>
  mayBeStale(
    statement(
      'counts',
      { status: sql<JobState>`counted.status`, count: sql<number>`counted.count` },
      ($: Placeholders<ViewerIds>, fields) =>
        builder.select(fields).from(sql`(${sql.join(countsFor(role, $), sql` union all `)}) counted`),
    ),
  ),
);

function countsFor(role: Role, $: Placeholders<ViewerIds>): SQL[] {
  switch (role) {
    case 'admin':
      return JOB_STATES.map((state) => countOf(sql.raw(`'${state}'::job_status`)));
    case 'homeowner':
      return [countsBy(sql`from jobs where ${visibleJobs(role, $)}`)];
    case 'contractor':
      return [
        ...STATES_OPEN_TO_BIDS.map((state) => countOf(sql.raw(`'${state}'::job_status`), isOpenToBids)),
        countsBy(ownNoLongerOpen($)),
      ];
  }
}

/** Counts up to the counting limit. An index by state finds the jobs. */
function countOf(state: SQL, condition?: SQL): SQL {
  return sql`select ${state} as status,
    (select count(*)::int from (select from jobs where ${and(sql`"jobs"."status" = ${state}`, condition)}
      limit ${MAX}) bounded) as count`;
}

/** A user has few enough jobs to count all of them. */
function countsBy(own: SQL): SQL {
  return sql`select "jobs"."status", least(count(*), ${MAX})::int as count ${own} group by "jobs"."status"`;
}

function ownNoLongerOpen($: Placeholders<ViewerIds>): SQL {
  return sql`from (select distinct b.job_id from bids b where b.contractor_id = ${$('contractorId')}) own
    join jobs on "jobs"."id" = own.job_id and ${isClosedToBids}`;
}

/** The states are in lifecycle order. */
export async function countJobs(db: Db, viewer: Viewer): Promise<JobCount[]> {
  const rows = await counts[viewer.role](db, idsOf(viewer));
  return JOB_STATES.map((status) => ({ status, count: rows.find((one) => one.status === status)?.count ?? 0 }));
}
