/**
 * The clock: reminds people of deadlines, and acts when one passes. It looks at a job under the job's lock and computes
 * everything from the job's row, so several instances can run it, and a look that was lost or repeated does no harm.
 */
import type { Logger } from 'pino';
import type { JobId } from '../../rules/ids.js';
import {
  CLOCK_TRANSITIONS,
  clockStep,
  REMINDER_EVENT,
  respondersOf,
  type ClockTransitionKey,
  type DeadlineSettings,
  type Reminded,
} from '../../rules/jobs/deadlines.js';
import type { FactName, JobFacts } from '../../rules/jobs/facts.js';
import { CLOCK } from '../../rules/market-limits.js';
import { logEvents } from '../../store/events/events.js';
import {
  clockFactsReader,
  lockJobForClock,
  selectDueJobs,
  selectJobsOfSuspensions,
} from '../../store/jobs/due-jobs.js';
import { updateJob, type JobChanges, type JobRow } from '../../store/jobs/jobs.js';
import { EFFECTS } from './effects.js';
import { moveJob } from './move-job.js';
import type { Db, Transaction } from '../../../platform/db/database.js';

interface ClockServices {
  readonly db: Db;
  readonly deadlines: DeadlineSettings;
  readonly log: Pick<Logger, 'warn'>;
  /** Called after a commit, because the commit's events need positions. */
  readonly live: { wake(): void };
}

/** Looks at a batch of the jobs that are due. Returns true if there may be more. */
export async function runClock({ db, deadlines, log, live }: ClockServices): Promise<boolean> {
  const [due, ofSuspensions] = await Promise.all([
    selectDueJobs(db, { limit: CLOCK.batchJobs }),
    selectJobsOfSuspensions(db, { limit: CLOCK.batchJobs }),
  ]);
  const ids = new Set([...due, ...ofSuspensions].map(({ id }) => id));
  let failures = 0;
  for (const id of ids) {
    try {
      await db.inTransaction((tx) => lookAt(tx, id, deadlines));
      live.wake();
    } catch (error) {
      failures += 1;
      log.warn({ err: error, jobId: id }, 'the clock could not look at a job; it tries again within a minute');
    }
  }
  return failures === 0 && Math.max(due.length, ofSuspensions.length) === CLOCK.batchJobs;
}

async function lookAt(tx: Transaction, id: JobId, deadlines: DeadlineSettings): Promise<void> {
  const [row] = await lockJobForClock(tx, { id });
  if (!row) return;
  const { job, now } = row;
  const responders = respondersOf(job);
  const isSuspended =
    (row.isOwnerSuspended && (responders === 'owner' || responders === 'parties')) ||
    (row.isAwardeeSuspended && (responders === 'awardee' || responders === 'parties'));
  if (isSuspended && job.pausedFrom === null) return remind(tx, job, 'admin', { pausedFrom: now, nextLookAt: null });
  if (isSuspended) return change(tx, job, { nextLookAt: null });
  if (job.pausedFrom !== null) return change(tx, job, resumed(job, now.getTime() - job.pausedFrom.getTime(), now));
  const step = clockStep(job, deadlines, now);
  switch (step.is) {
    case 'wait':
      return change(tx, job, { nextLookAt: step.until });
    case 'remind':
      // The next look computes when the following reminder is due.
      return remind(tx, job, step.to, { remindedAt: now, isWarned: deadlines.mode === 'act', nextLookAt: now });
    case 'act':
      return act(tx, job, step.transition, deadlines);
  }
}

async function change(tx: Transaction, job: JobRow, changes: JobChanges): Promise<void> {
  await tx.commitWith(updateJob(tx, job, changes));
}

/** Writes a reminder. It isn't a change of the job, so the job's version stays the same. */
async function remind(tx: Transaction, job: JobRow, to: Reminded, changes: JobChanges): Promise<void> {
  const { status } = job;
  const event = { type: REMINDER_EVENT, actorId: null, fromStatus: status, toStatus: status, data: { to } } as const;
  await tx.commitWith(updateJob(tx, job, { ...changes, eventCount: job.eventCount + 1 }), logEvents(tx, job, [event]));
}

/** Moves the deadline by the time for which it stood still. */
function resumed({ deadlineFrom, disputedFrom, remindedAt }: JobRow, ms: number, now: Date): JobChanges {
  const later = (time: Date | null) => time && new Date(time.getTime() + ms);
  return {
    deadlineFrom: later(deadlineFrom),
    disputedFrom: later(disputedFrom),
    remindedAt: later(remindedAt),
    pausedFrom: null,
    nextLookAt: now,
  };
}

const readFacts = Object.fromEntries(
  Object.entries(CLOCK_TRANSITIONS).map(([key, { effects }]) => [
    key,
    clockFactsReader([...new Set<FactName>(effects.flatMap((effect) => EFFECTS[effect].facts))]),
  ]),
) as Record<ClockTransitionKey, ReturnType<typeof clockFactsReader>>;

async function act(tx: Transaction, job: JobRow, key: ClockTransitionKey, deadlines: DeadlineSettings): Promise<void> {
  const facts = (await readFacts[key](tx, job.id)) as Partial<JobFacts> & Pick<JobFacts, never>;
  const row = CLOCK_TRANSITIONS[key];
  await moveJob(row, { tx, actorId: null, job, facts }, { input: {}, data: {}, deadlines });
}
