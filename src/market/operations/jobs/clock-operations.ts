/** Reads what the clock in `clock.ts` will do to a job, and moves it in tests and demos. */
import { z } from 'zod';
import { refuse } from '../../rules/errors.js';
import { UPCOMING_MAX, upcomingActions, type UpcomingAction } from '../../rules/jobs/deadlines.js';
import { CLOCK } from '../../rules/market-limits.js';
import { partsOf } from '../../store/jobs/job-parts.js';
import { advanceDeadlineClock } from '../../store/jobs/due-jobs.js';
import { idInPath } from '../../rules/id-fields.js';
import { operation } from '../operation.js';
import { createClock } from './clock.js';
import { findJob } from './visible-job.js';

export const readUpcoming = operation({
  name: 'jobUpcoming',
  description:
    `Lists the next ${UPCOMING_MAX} actions that the service will take on a job if nobody responds, soonest first. ` +
    'Empty unless the server acts on deadlines (`DEADLINES=act`). Bidders see it only while the job is open, ' +
    'and only their own stake.',
  allows: 'signed in',
  budget: 'read',
  input: z.strictObject({ id: idInPath('job').describe('The job.') }),
  async run({ db, viewer, services: { deadlines } }, { id }): Promise<{ data: UpcomingAction[] }> {
    const { timers } = partsOf((await findJob(db, viewer, id, { timers: true })).job);
    return { data: timers ? upcomingActions(timers.job, timers.stakes, deadlines) : [] };
  },
});

export const advanceClock = operation({
  name: 'advanceClock',
  description:
    'Moves the deadline clock forward. Returns once everything that came due is done. Access ' +
    'tokens, sessions, and API keys still expire in real time. Only a server with `CLOCK=adjustable` allows it, ' +
    'never in production.',
  allows: ['admin'],
  budget: 'write',
  refusals: ['NOT_CONFIGURED'],
  ignoresKeyAndDryRun: true,
  input: z.strictObject({
    seconds: z
      .int()
      .min(0, 'must not be negative: the clock can only move forward')
      .max(CLOCK.advanceDaysMax * 86_400)
      .describe('The number of seconds.'),
  }),
  async run({ db, services }, { seconds }): Promise<{ now: Date }> {
    if (!services.canAdvanceClock)
      throw refuse('NOT_CONFIGURED', { message: 'This server’s clock can’t be moved. Set CLOCK to adjustable.' });
    const { run } = createClock({ ...services, db });
    await run();
    const maxSeconds = CLOCK.aheadDaysMax * 86_400;
    const [clock] = await advanceDeadlineClock(db, { seconds, maxSeconds });
    if (!clock)
      throw refuse('VALIDATION_FAILED', {
        fields: { seconds: `would move the clock more than ${CLOCK.aheadDaysMax} days ahead of real time` },
      });
    while (await run());
    return clock;
  },
});
