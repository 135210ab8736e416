/** Extends the deadline of a job, once in each of its states. */
import { z } from 'zod';
import { refuse } from '../../rules/errors.js';
import { lengthOf, scheduleOf } from '../../rules/jobs/deadlines.js';
import { JOB_ACTIONS } from '../../rules/lifecycle.js';
import { TEXT } from '../../rules/market-limits.js';
import { allowedRoles } from '../../rules/parties.js';
import { factsForPolicies, jobDenial } from '../../rules/policies.js';
import { recordAdminAction } from '../../store/accounts/admin-actions.js';
import { logEvents } from '../../store/events/events.js';
import { selectTimer } from '../../store/jobs/due-jobs.js';
import { factsReader, updateJob } from '../../store/jobs/jobs.js';
import { optionalText, timestampInBody } from '../../../platform/fields/shapes.js';
import { operation } from '../operation.js';
import { ofJob } from './inputs.js';
import { assertJobAllowed, lockVisibleJob, readableJob, type ReadableJob } from './visible-job.js';

const readFacts = factsReader((role) => factsForPolicies('extendDeadline', role));

export const extendDeadline = operation({
  name: JOB_ACTIONS.extendDeadline.operation,
  description: JOB_ACTIONS.extendDeadline.description,
  allows: allowedRoles(JOB_ACTIONS.extendDeadline.actor),
  budget: 'write',
  input: z.strictObject({
    ...ofJob,
    until: timestampInBody.describe(
      'The new deadline. It must be later than the current one, by at most the deadline’s original length. If the ' +
        'current one has passed, the extension counts from now.',
    ),
    reason: optionalText(TEXT.note).describe('Why you’re extending the deadline.'),
  }),
  run: ({ db, viewer, services: { deadlines } }, { until, reason, ...address }): Promise<ReadableJob> =>
    db.inTransaction(async (tx) => {
      const lockedJob = await lockVisibleJob(tx, viewer, address, readFacts);
      await assertJobAllowed(lockedJob, jobDenial('extendDeadline', lockedJob.policyInput));
      const { job } = lockedJob;
      const [timer] = await selectTimer(tx, job);
      const runningEndMs = timer && scheduleOf(timer, deadlines)?.endMs;
      if (timer === undefined || runningEndMs == null)
        throw new Error('The job’s deadline can be extended, but it never ends.');
      // While a deadline is paused, its end moves along with the time.
      const endMs = runningEndMs + (timer.pausedFrom ? timer.now.getTime() - timer.pausedFrom.getTime() : 0);
      // A deadline that has passed is counted from now, so a person can still extend it before the clock acts.
      const earliest = Math.max(endMs, timer.now.getTime());
      const latest = earliest + lengthOf(job.status, deadlines);
      if (until.getTime() <= earliest || until.getTime() > latest)
        throw refuse('VALIDATION_FAILED', { fields: { until: rangeOf(earliest, latest) } });

      const { status, eventCount } = job;
      const data = { until: until.toISOString(), ...(reason != null && { reason }) };
      const event = { type: JOB_ACTIONS.extendDeadline.event, actorId: viewer.userId, data } as const;
      const changes = {
        deadlineExtendedSeconds: timer.deadlineExtendedSeconds + (until.getTime() - endMs) / 1_000,
        // The clock computes the rest at its next check.
        nextCheckAt: timer.now,
        eventCount: eventCount + 1,
      };
      const [row] = await tx.commitWith(
        updateJob(tx, job, changes),
        logEvents(tx, job, [{ ...event, fromStatus: status, toStatus: status }]),
        ...(viewer.role === 'admin'
          ? [recordAdminAction(tx, viewer, { action: 'extendDeadline', subjectId: job.id, reason, until })]
          : []),
      );
      return readableJob(viewer, row);
    }),
});

function rangeOf(earliestMs: number, latestMs: number): string {
  const [earliest, latest] = [earliestMs, latestMs].map((ms) => new Date(ms).toISOString());
  return `must be after ${earliest} and not after ${latest}`;
}
