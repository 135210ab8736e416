/** The columns that deadlines are computed from. */
import { and, eq, sql, type SQL } from 'drizzle-orm';
import type { JobTimer, StakeTimer } from '../../rules/jobs/deadlines.js';
import { INITIAL_BID_STATE } from '../../rules/states.js';
import { bids, holds } from '../tables/bids.js';
import { asDate, ConvertedColumn } from '../../../platform/db/rows.js';
import { DEADLINE_NOW } from '../tables/deadline-clock.js';
import { jobs } from '../tables/jobs.js';

/** True if the clock could act when it wrote the last reminder of a row of `jobs` or `holds`. */
function isWarned(remindedAt: typeof jobs.remindedAt | typeof holds.remindedAt): SQL<boolean> {
  return sql<boolean>`coalesce(${remindedAt} >= (select dc.acting_since from deadline_clock dc), false)`;
}

export const deadlineNow = new ConvertedColumn(DEADLINE_NOW, 'deadline_now', asDate);

export const jobTimer = {
  status: jobs.status,
  changeRequestCount: jobs.changeRequestCount,
  deadlineFrom: jobs.deadlineFrom,
  disputedFrom: jobs.disputedFrom,
  deadlineExtendedSeconds: jobs.deadlineExtendedSeconds,
  remindedAt: jobs.remindedAt,
  pausedFrom: jobs.pausedFrom,
  nextCheckAt: jobs.nextCheckAt,
  isWarned: isWarned(jobs.remindedAt).as('is_warned'),
} satisfies Record<keyof JobTimer, unknown>;

export const stakeTimer = {
  bidId: holds.bidId,
  contractorId: bids.contractorId,
  deadlineFrom: holds.deadlineFrom,
  remindedAt: holds.remindedAt,
  isWarned: isWarned(holds.remindedAt).as('is_warned'),
} satisfies Record<keyof StakeTimer, unknown>;

/** The homeowner hasn't looked at the bid yet. */
export const isPendingStake = and(eq(holds.status, 'active'), eq(bids.status, INITIAL_BID_STATE));
