/** Lists the caller's available actions, and counts the jobs that need the caller's attention. */
import { z } from 'zod';
import { availableActions, availableBidActions } from '../../rules/jobs/available-actions.js';
import type { AvailableAction, AvailableBidAction } from '../../rules/jobs/available-actions.js';
import { endOf } from '../../rules/jobs/deadlines.js';
import { countJobs, type JobCount } from '../../store/jobs/job-counts.js';
import { partsOf } from '../../store/jobs/job-parts.js';
import { findBid } from '../bids/read.js';
import { operation } from '../operation.js';
import { emptyInput } from '../../../platform/fields/shapes.js';
import { idInPath } from '../../rules/id-fields.js';
import { findJob } from './visible-job.js';

export const readJobActions = operation({
  name: 'jobActions',
  description: 'Lists the operations on a job. Says whether you can call each one now and, if not, why.',
  allows: 'signed in',
  budget: 'read',
  input: z.strictObject({ id: idInPath('job').describe('The job.') }),
  async run({ db, viewer, services: { deadlines } }, { id }): Promise<{ data: AvailableAction[] }> {
    const { job } = await findJob(db, viewer, id, { facts: true, timers: true });
    const { facts, timers } = partsOf(job);
    return { data: facts ? availableActions(viewer, job, facts, timers && endOf(timers.job, deadlines)) : [] };
  },
});

export const readBidActions = operation({
  name: 'bidActions',
  description: 'Lists the operations on a bid. Says whether you can call each one now and, if not, why.',
  allows: 'signed in',
  budget: 'read',
  input: z.strictObject({ id: idInPath('bid').describe('The bid.') }),
  run: async ({ db, viewer }, { id }): Promise<{ data: AvailableBidAction[] }> => ({
    data: availableBidActions(viewer, await findBid(db, viewer, id)),
  }),
});

export const countOwnJobs = operation({
  name: 'jobCounts',
  description: 'Counts the jobs in each status, among the jobs that you can list.',
  allows: 'signed in',
  budget: 'read',
  input: emptyInput,
  run: async ({ db, viewer }): Promise<{ data: JobCount[] }> => ({ data: await countJobs(db, viewer) }),
});
