/**
 * Runs a job's transition in two flushes. The first flush locks the job and reads the facts that the policies check.
 * The second one moves the job, applies the effects, writes the events, and commits.
 */
import { z } from 'zod';
import type { TransitionEffect } from '../../rules/jobs/effects.js';
import type { EventType } from '../../rules/events.js';
import { JOB_TRANSITIONS, type JobAction, type JobTransition, type JobTransitionKey } from '../../rules/lifecycle.js';
import { allowedRoles } from '../../rules/parties.js';
import type { FactName } from '../../rules/jobs/facts.js';
import { assertKnown, factsForPolicies, jobDenial, newProposalDenial } from '../../rules/policies.js';
import type { Role, Viewer } from '../../rules/viewer.js';
import { recordAdminAction } from '../../store/accounts/admin-actions.js';
import { logEvents } from '../../store/events/events.js';
import { factsReader, updateJob, type JobRow } from '../../store/jobs/jobs.js';
import { operation, type Operation } from '../operation.js';
import { ofJob, type JobAddress } from './inputs.js';
import { EFFECTS, type EffectInput } from './effects.js';
import { moveJob } from './move-job.js';
import {
  assertJobAllowed,
  lockVisibleJob,
  type LockedJobOfCall,
  readableJob,
  type ReadableJob,
} from './visible-job.js';

/** `keep` adds an event but doesn't change the state. */
export type TransitionOutcome = 'move' | 'keep' | 'nothing';

interface Options<Body extends z.ZodRawShape, Fact extends FactName, Answer> {
  /** The input fields in addition to the job's identifier. The event stores their values. */
  readonly body?: Body;
  /** The facts that `outcomeOf` and `answer` use, in addition to the facts that the policies and the effects use. */
  readonly facts?: readonly Fact[];
  /** Decides whether this call keeps the job's state. Used only for lifecycle rows with `mayKeepState`. */
  outcomeOf?(lockedJob: LockedJobOfCall<Viewer, Fact>, input: z.infer<z.ZodObject<Body>>): TransitionOutcome;
  /**
   * Gets the current job and the job as it was when it was locked. If this function is omitted, the result is the job.
   */
  answer?(job: ReadableJob, lockedJob: LockedJobOfCall<Viewer, Fact>): Answer;
}

export function transition<
  Body extends z.ZodRawShape = Record<never, never>,
  Fact extends FactName = never,
  Answer = ReadableJob,
>(
  key: JobTransitionKey,
  { body, facts = [], outcomeOf, answer }: Options<Body, Fact, Answer> = {},
): Operation<JobAddress & z.infer<z.ZodObject<Body>>, Answer> {
  const row: JobTransition<EventType> = JOB_TRANSITIONS[key];
  const readFacts = factsReader((role) => factsForCall(key, role, facts));
  return operation({
    name: row.operation,
    description: row.description,
    allows: allowedRoles(row.actor),
    budget: 'write',
    // The cast is needed because TypeScript can't add up the fields of a generic shape.
    input: z.strictObject({ ...ofJob, ...body }) as unknown as z.ZodType<JobAddress & z.infer<z.ZodObject<Body>>>,
    run: ({ db, viewer }, input): Promise<Answer> =>
      db.inTransaction(async (tx) => {
        const lockedJob = (await lockVisibleJob(tx, viewer, input, readFacts)) as LockedJobOfCall<Viewer, Fact>;
        await assertJobAllowed(lockedJob, jobDenial(key, lockedJob.policyInput));
        const isDone = row.alreadyDoneIn?.includes(lockedJob.job.status);
        const outcome = isDone ? 'nothing' : (outcomeOf?.(lockedJob, input) ?? 'move');
        const job = readableJob(viewer, await OUTCOMES[outcome]({ row, lockedJob, input }));
        return answer ? answer(job, lockedJob) : (job as Answer);
      }),
  });
}

/** A call that reads the live bids doesn't also read `bidsToAward`, because those bids are among the live bids. */
function factsForCall(key: JobTransitionKey, role: Role, options: readonly FactName[]): FactName[] {
  const effects: readonly TransitionEffect[] = JOB_TRANSITIONS[key].effects;
  const names = new Set([
    ...factsForPolicies(key, role),
    ...effects.flatMap((name) => EFFECTS[name].facts),
    ...options,
  ]);
  if (names.has('liveBids')) names.delete('bidsToAward');
  return [...names];
}

type TransitionInput = JobAddress & EffectInput;

interface Run {
  readonly row: JobTransition<EventType>;
  readonly lockedJob: LockedJobOfCall;
  readonly input: TransitionInput;
}

const OUTCOMES: Readonly<Record<TransitionOutcome, (run: Run) => Promise<JobRow>>> = {
  move,
  keep,
  nothing: async ({ lockedJob }) => lockedJob.job,
};

function move({ row, lockedJob, input }: Run): Promise<JobRow> {
  const decision = row.actor === 'admin' ? [recordDecision(row, lockedJob, input)] : [];
  return moveJob(row, lockedJob, { input, data: eventDataOf(input), also: decision });
}

function recordDecision(
  { operation: action }: JobAction,
  { tx, viewer, job }: LockedJobOfCall,
  input: TransitionInput,
) {
  const { reason, finalDecision, creditContractor } = input;
  const credit = creditContractor ? 'credit' : 'no_credit';
  const decision = action === JOB_TRANSITIONS.complete.operation ? credit : (input.decision ?? finalDecision);
  return recordAdminAction(tx, viewer, { action, subjectId: job.id, reason, decision });
}

async function keep({ row: { mayKeepState }, lockedJob, input }: Run): Promise<JobRow> {
  if (!mayKeepState) throw new Error('A transition kept the state, which its row does not allow.');
  const { tx, actorId, job, facts } = lockedJob;
  assertKnown(facts, ['standingProposal']);
  await assertJobAllowed(lockedJob, newProposalDenial(facts));
  const { status } = job;
  const event = { type: mayKeepState.event, actorId, fromStatus: status, toStatus: status, data: eventDataOf(input) };
  const [newJob] = await tx.commitWith(
    // A proposal restarts the deadline.
    updateJob(tx, job, { eventCount: job.eventCount + 1 }, { is: 'restart' }),
    logEvents(tx, job, [event]),
  );
  return newJob;
}

function eventDataOf({
  id: _id,
  expectedVersion: _version,
  expectedBidVersion: _bidVersion,
  ...data
}: TransitionInput) {
  return Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined && value !== null));
}
