/**
 * When the homeowner does not accept the work: agreement between the parties, or an admin's word, an appeal, and the
 * last word.
 */
import { z } from 'zod';
import { disputeFrom, resolutionMove, type Dispute } from '../../rules/disputes.js';
import type { JobId } from '../../rules/ids.js';
import { JOB_TRANSITIONS } from '../../rules/lifecycle.js';
import { TEXT } from '../../rules/limits.js';
import { allowedRoles } from '../../rules/parties.js';
import { requiredText } from '../../rules/values.js';
import { together, type Db } from '../../store/database.js';
import { asParameter, selectDisputeEvents } from '../../store/events.js';
import { noteOnJob } from '../../store/jobs.js';
import { asArray } from '../../store/statement.js';
import { operation } from '../operation.js';
import { optionalText } from '../shapes.js';
import { endJob } from './ending.js';
import { findAndLockJob } from './job.js';
import { readableJob, type ReadableJob } from './readable.js';
import { given, judge, move, ofJob, transition } from './transition.js';

export const disputeJob = transition('dispute', {
  says: 'The homeowner does not accept the work, which begins a dispute.',
  body: {
    reason: requiredText(TEXT.note).describe('What is wrong.'),
    details: optionalText(TEXT.note).describe('More about it.'),
  },
});

export const escalateJob = transition('escalate', {
  says: 'Either party asks an admin to decide the dispute.',
  body: { escalationReason: requiredText(TEXT.note).describe('Why the parties cannot settle it themselves.') },
});

export const reachDecision = transition('reachDecision', {
  says: 'An admin decides an escalated dispute.',
  body: {
    decision: requiredText(TEXT.note).describe('What is decided.'),
    ruling: requiredText(TEXT.note).describe('The ruling in full.'),
    resolutionTerms: optionalText(TEXT.note).describe('What the parties have to do.'),
  },
});

export const fileAppeal = transition('fileAppeal', {
  says: 'The awarded contractor appeals against the decision.',
  body: {
    appealReason: requiredText(TEXT.note).describe('Why the decision is wrong.'),
    supportingEvidence: optionalText(TEXT.note).describe('What supports the appeal.'),
  },
});

export const finalizeAppeal = transition('finalizeAppeal', {
  says: 'An admin gives the final ruling, which completes the job; there is no further appeal.',
  body: {
    finalDecision: requiredText(TEXT.note).describe('What is decided for good.'),
    ruling: requiredText(TEXT.note).describe('The ruling in full.'),
  },
  effects: (at) => endJob(at),
});

export const resolveDispute = operation({
  name: JOB_TRANSITIONS.resolveDispute.operation,
  says: 'Proposes how to settle the dispute, or agrees: the job is completed once both parties have named the same resolution.',
  allows: allowedRoles('parties'),
  budget: 'write',
  input: z.strictObject({
    ...ofJob,
    resolution: requiredText(TEXT.note).describe(
      'How to settle it. The same text as the other party’s proposal agrees to it.',
    ),
    agreedBy: optionalText(TEXT.line).describe('Who agrees; kept as it is written. What counts is who is logged in.'),
  }),
  run: ({ db, viewer, beside }, input): Promise<ReadableJob> =>
    db.inTransaction(async (tx) => {
      const [found, disputes] = await together(findAndLockJob(tx, viewer, input.id), readDisputes(tx, [input.id]));
      const row = JOB_TRANSITIONS.resolveDispute;
      judge(row, found, input);
      const { job } = found;
      const standing = disputes.get(job.id)?.proposal ?? null;
      const next = resolutionMove(standing, viewer.userId, input.resolution);
      if (next === 'agree')
        return readableJob(
          viewer,
          await move('resolveDispute', { db: tx, viewer, beside }, input, job.status, endJob({ tx, viewer, job })),
        );
      if (next !== 'repeat') {
        const { resolution, agreedBy } = input;
        const proposed = {
          type: row.mayStay.event,
          actorId: viewer.userId,
          fromStatus: job.status,
          toStatus: job.status,
          data: given({ resolution, agreedBy }),
        };
        await noteOnJob(tx, { id: job.id, live: 0, counted: 0, ever: 0, events: asParameter(tx, [proposed]) });
      }
      return readableJob(viewer, job);
    }),
});

export async function readDisputes(db: Db, jobIds: readonly JobId[]): Promise<Map<JobId, Dispute | null>> {
  const events = await selectDisputeEvents(db, { jobIds: asArray(jobIds) });
  return new Map(jobIds.map((id) => [id, disputeFrom(events.filter((event) => event.jobId === id))]));
}
