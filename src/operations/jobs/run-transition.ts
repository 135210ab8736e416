/**
 * Runs a transition of a job: locks the job and reads the facts, asks the policy, and then moves the job, does the
 * effects of the row and writes the events. Both halves are one flush each, COMMIT included.
 */
import { z } from 'zod';
import type { TransitionEffect } from '../../rules/effects.js';
import type { EventType } from '../../rules/events.js';
import { JOB_TRANSITIONS, type JobTransition, type JobTransitionKey } from '../../rules/lifecycle.js';
import { allowedRoles } from '../../rules/parties.js';
import { assertAllowed, jobDenial } from '../../rules/policies.js';
import { logEvents, type NewEvent } from '../../store/events.js';
import { updateJob, type NeededFacts, type JobRow } from '../../store/jobs.js';
import { operation, type Call, type Operation } from '../operation.js';
import { explainOverdraft } from '../tokens/spending.js';
import { ofJob, type JobAddress } from './inputs.js';
import { EFFECTS, type EffectInput } from './effects.js';
import { lockVisibleJob, type LockedJob } from './job.js';
import { readableJob, type ReadableJob } from './readable.js';

/** The input of a transition, without the texts that only the event keeps. */
type TransitionInput = JobAddress & EffectInput;

/** 'move' changes the state, 'keep' only adds an event, and 'nothing' changes nothing. */
export type Step = 'move' | 'keep' | 'nothing';

/** What a transition may add to its row. */
interface Parts<Body extends z.ZodRawShape, Answer> {
  /** The input besides the job; the event keeps it. */
  readonly body?: Body;
  readonly facts?: NeededFacts;
  /** Only for rows with `mayKeepState`: whether this call keeps the job's state. */
  stepOf?(lockedJob: LockedJob, input: z.infer<z.ZodObject<Body>>): Step;
  /** Makes the answer; without it the answer is the job. */
  answer?(job: ReadableJob, result: TransitionResult): Answer;
}

export interface TransitionResult {
  readonly job: JobRow;
  /** The available tokens, where the move had a price. */
  readonly availableTokens: number | undefined;
}

/** The operation of a row of the lifecycle. */
export function transition<Body extends z.ZodRawShape = Record<never, never>, Answer = ReadableJob>(
  key: JobTransitionKey,
  { body, facts, stepOf, answer }: Parts<Body, Answer> = {},
): Operation<JobAddress & z.infer<z.ZodObject<Body>>, Answer> {
  const row: JobTransition = JOB_TRANSITIONS[key];
  return operation({
    name: row.operation,
    description: row.description,
    allows: allowedRoles(row.by),
    budget: 'write',
    // TypeScript does not add up the fields of a shape that it does not know.
    input: z.strictObject({ ...ofJob, ...body }) as unknown as z.ZodType<JobAddress & z.infer<z.ZodObject<Body>>>,
    async run(call, input): Promise<Answer> {
      const result = await runTransition(key, call, input, facts, (lockedJob) => stepOf?.(lockedJob, input) ?? 'move');
      const job = readableJob(call.viewer, result.job);
      return answer ? answer(job, result) : (job as Answer);
    },
  });
}

function runTransition(
  key: JobTransitionKey,
  { db, viewer }: Pick<Call<LockedJob['viewer']>, 'db' | 'viewer'>,
  input: TransitionInput,
  neededFacts: NeededFacts | undefined,
  stepOf: (lockedJob: LockedJob) => Step,
): Promise<TransitionResult> {
  const row: JobTransition = JOB_TRANSITIONS[key];
  return explainOverdraft(db, viewer.userId, () =>
    db.inTransaction(async (tx) => {
      const lockedJob = await lockVisibleJob(tx, viewer, input, neededFacts ?? factsNeededBy(row));
      assertAllowed(jobDenial(key, lockedJob.facts));
      const step = row.alreadyDoneIn?.includes(lockedJob.job.status) ? 'nothing' : stepOf(lockedJob);
      if (step === 'nothing') return { job: lockedJob.job, availableTokens: undefined };
      return step === 'keep' ? keep(row, lockedJob, input) : move(row, lockedJob, input);
    }),
  );
}

/** The effects that read the live bids. */
const ON_LIVE_BIDS: readonly TransitionEffect[] = ['acceptBid', 'rejectOtherBids', 'setAwardedBid', 'rejectLiveBids'];

function factsNeededBy({ effects }: JobTransition): NeededFacts {
  return { liveBids: effects.some((effect) => ON_LIVE_BIDS.includes(effect)) };
}

async function move(row: JobTransition, lockedJob: LockedJob, input: TransitionInput): Promise<TransitionResult> {
  const { tx, viewer, job } = lockedJob;
  const consequences = row.effects.map((effect) => EFFECTS[effect](lockedJob, input));
  const own: NewEvent = {
    type: row.event as EventType,
    actorId: viewer.userId,
    fromStatus: job.status,
    toStatus: row.to,
    data: Object.assign(textsOf(input), ...consequences.map(({ data }) => data)),
  };
  const events = [own, ...consequences.flatMap((consequence) => consequence.events ?? [])];
  const changes = Object.assign({}, ...consequences.map((consequence) => consequence.job), {
    status: row.to,
    version: job.version + 1,
    eventCount: job.eventCount + events.length,
  });
  const [newJob] = await tx.commitWith(
    updateJob(tx, job, changes),
    logEvents(tx, job, events),
    ...consequences.flatMap(({ statements = [] }) => statements),
  );
  const payment = consequences.find(({ availableTokens }) => availableTokens);
  return { job: newJob, availableTokens: await payment?.availableTokens };
}

async function keep(
  { mayKeepState }: JobTransition,
  lockedJob: LockedJob,
  input: TransitionInput,
): Promise<TransitionResult> {
  const { tx, viewer, job } = lockedJob;
  if (!mayKeepState) throw new Error('A transition kept the state, which its row does not allow.');
  const { status } = job;
  // The events of the lifecycle's rows are all of type `EventType`.
  const type = mayKeepState.event as EventType;
  const event = { type, actorId: viewer.userId, fromStatus: status, toStatus: status, data: textsOf(input) };
  const [newJob] = await tx.commitWith(
    updateJob(tx, job, { eventCount: job.eventCount + 1 }),
    logEvents(tx, job, [event]),
  );
  return { job: newJob, availableTokens: undefined };
}

/** The texts of a call that its event keeps; texts that were left out are not in it. */
function textsOf({ id: _id, expectedVersion: _version, ...texts }: TransitionInput): Record<string, unknown> {
  return Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== undefined && value !== null));
}
