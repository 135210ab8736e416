/**
 * Runs a transition of a job: locks the job and reads the facts, asks the policy, and then moves the job, does the
 * effects of the row and writes the events. Both halves are one flush each, COMMIT included.
 */
import { z } from 'zod';
import type { EventType } from '../../rules/events.js';
import { JOB_TRANSITIONS, type JobAction, type JobTransition, type JobTransitionKey } from '../../rules/lifecycle.js';
import { allowedRoles } from '../../rules/parties.js';
import { assertAllowed, jobDenial } from '../../rules/policies.js';
import { recordAdminAction } from '../../store/accounts/admin-actions.js';
import { logEvents, type NewEvent } from '../../store/events/events.js';
import { updateJob, type JobChanges, type JobRow, type NeededFacts } from '../../store/jobs/jobs.js';
import { operation, type Operation } from '../operation.js';
import { ofJob, type JobAddress } from './inputs.js';
import { EFFECTS, type EffectInput } from './effects.js';
import { lockVisibleJob, type LockedJob } from './job.js';
import { readableJob, type ReadableJob } from './readable.js';

/** 'move' changes the state, 'keep' only adds an event, and 'nothing' changes nothing. */
export type Step = 'move' | 'keep' | 'nothing';

/** What a transition may add to its row. */
interface Parts<Body extends z.ZodRawShape, Answer> {
  /** The input besides the job; the event keeps it. */
  readonly body?: Body;
  /** The facts that `stepOf` reads; those that the effects read are added. */
  readonly facts?: NeededFacts;
  /** Only for rows with `mayKeepState`: whether this call keeps the job's state. */
  stepOf?(lockedJob: LockedJob, input: z.infer<z.ZodObject<Body>>): Step;
  /** Makes the answer, from the job as it is now and as it was locked; without it the answer is the job. */
  answer?(job: ReadableJob, lockedJob: LockedJob): Answer;
}

/** The operation of a row of the lifecycle. */
export function transition<Body extends z.ZodRawShape = Record<never, never>, Answer = ReadableJob>(
  key: JobTransitionKey,
  { body, facts, stepOf, answer }: Parts<Body, Answer> = {},
): Operation<JobAddress & z.infer<z.ZodObject<Body>>, Answer> {
  const row: JobTransition<EventType> = JOB_TRANSITIONS[key];
  const neededFacts = { ...facts, ...factsOfEffects(row) };
  return operation({
    name: row.operation,
    description: row.description,
    allows: allowedRoles(row.by),
    budget: 'write',
    // TypeScript does not add up the fields of a shape that it does not know.
    input: z.strictObject({ ...ofJob, ...body }) as unknown as z.ZodType<JobAddress & z.infer<z.ZodObject<Body>>>,
    run: ({ db, viewer }, input): Promise<Answer> =>
      db.inTransaction(async (tx) => {
        const lockedJob = await lockVisibleJob(tx, viewer, input, neededFacts);
        assertAllowed(jobDenial(key, lockedJob.facts));
        const isDone = row.alreadyDoneIn?.includes(lockedJob.job.status);
        const step = isDone ? 'nothing' : (stepOf?.(lockedJob, input) ?? 'move');
        const job = readableJob(viewer, await TAKE_STEP[step](row, lockedJob, input));
        return answer ? answer(job, lockedJob) : (job as Answer);
      }),
  });
}

function factsOfEffects({ effects }: JobTransition): NeededFacts {
  return effects.reduce<NeededFacts>((all, effect) => Object.assign(all, EFFECTS[effect].facts), {});
}

type TransitionInput = JobAddress & EffectInput;

type TakeStep = (row: JobTransition<EventType>, lockedJob: LockedJob, input: TransitionInput) => Promise<JobRow>;

const TAKE_STEP: Readonly<Record<Step, TakeStep>> = { move, keep, nothing: async (_, { job }) => job };

async function move(row: JobTransition<EventType>, lockedJob: LockedJob, input: TransitionInput): Promise<JobRow> {
  const { tx, viewer, job } = lockedJob;
  const consequences = row.effects.map((effect) => EFFECTS[effect].apply(lockedJob, input));
  const own: NewEvent = {
    type: row.event,
    actorId: viewer.userId,
    fromStatus: job.status,
    toStatus: row.to,
    data: consequences.reduce((all, { data }) => Object.assign(all, data), eventDataOf(input)),
  };
  const events = [own, ...consequences.flatMap((consequence) => consequence.events ?? [])];
  const changes = consequences.reduce<JobChanges>((all, consequence) => Object.assign(all, consequence.job), {
    status: row.to,
    version: job.version + 1,
    eventCount: job.eventCount + events.length,
  });
  const [newJob] = await tx.commitWith(
    updateJob(tx, job, changes),
    logEvents(tx, job, events),
    ...(row.by === 'admin' ? [recordDecision(row, lockedJob, input)] : []),
    ...consequences.flatMap(({ statements = [] }) => statements),
  );
  return newJob;
}

function recordDecision({ operation: action }: JobAction, { tx, viewer, job }: LockedJob, input: TransitionInput) {
  const { reason, finalDecision, decision = finalDecision } = input;
  return recordAdminAction(tx, viewer, { action, subjectId: job.id, reason, decision });
}

async function keep(
  { mayKeepState }: JobTransition<EventType>,
  { tx, viewer, job }: LockedJob,
  input: TransitionInput,
): Promise<JobRow> {
  if (!mayKeepState) throw new Error('A transition kept the state, which its row does not allow.');
  const { status } = job;
  const data = eventDataOf(input);
  const event = { type: mayKeepState.event, actorId: viewer.userId, fromStatus: status, toStatus: status, data };
  const [newJob] = await tx.commitWith(
    updateJob(tx, job, { eventCount: job.eventCount + 1 }),
    logEvents(tx, job, [event]),
  );
  return newJob;
}

/** What came with the call, for its event to keep; what was left out is not in it. */
function eventDataOf({ id: _id, expectedVersion: _version, ...data }: TransitionInput): Record<string, unknown> {
  return Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined && value !== null));
}
