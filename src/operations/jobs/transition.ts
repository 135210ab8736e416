/**
 * Runs a transition of a job: locks the job and reads the facts, asks the policy, and then moves the job, does the
 * effects of the row and writes the events. Both halves are one flush each, COMMIT included.
 */
import { z } from 'zod';
import type { Effect } from '../../rules/effects.js';
import type { EventType } from '../../rules/events.js';
import { JOB_TRANSITIONS, type JobTransition, type JobTransitionKey } from '../../rules/lifecycle.js';
import { allowedRoles } from '../../rules/parties.js';
import { assertAllowed, jobDenial } from '../../rules/policies.js';
import { logEvents, type NewEvent } from '../../store/events.js';
import { updateJob, type FactsNeeded, type JobRow } from '../../store/jobs.js';
import { operation, type Call, type Operation } from '../operation.js';
import { spending } from '../tokens/spending.js';
import { ofJob, type Addressed } from './inputs.js';
import { EFFECTS, type EffectInput } from './effects.js';
import { lockVisibleJob, type LockedJob } from './job.js';
import { readableJob, type ReadableJob } from './readable.js';

/** The input of a transition, without the texts that only the event keeps. */
type TransitionInput = Addressed & EffectInput;

/** 'move' changes the state, 'keep' only adds an event, and 'nothing' changes nothing. */
export type Step = 'move' | 'keep' | 'nothing';

/** What a transition may add to its row. */
interface Parts<Body extends z.ZodRawShape, Answer> {
  /** The input besides the job; the event keeps it. */
  readonly body?: Body;
  readonly facts?: FactsNeeded;
  /** Only for rows with `mayKeepState`: whether this call keeps the job's state. */
  stepOf?(locked: LockedJob, input: z.infer<z.ZodObject<Body>>): Step;
  /** Makes the answer; without it the answer is the job. */
  answer?(job: ReadableJob, moved: Moved): Answer;
}

export interface Moved {
  readonly job: JobRow;
  /** The available tokens, where the move had a price. */
  readonly availableTokens: number | undefined;
}

/** The operation of a row of the lifecycle. */
export function transition<Body extends z.ZodRawShape = Record<never, never>, Answer = ReadableJob>(
  key: JobTransitionKey,
  { body, facts, stepOf, answer }: Parts<Body, Answer> = {},
): Operation<Addressed & z.infer<z.ZodObject<Body>>, Answer> {
  const row: JobTransition = JOB_TRANSITIONS[key];
  return operation({
    name: row.operation,
    description: row.description,
    allows: allowedRoles(row.by),
    budget: 'write',
    // TypeScript does not add up the fields of a shape that it does not know.
    input: z.strictObject({ ...ofJob, ...body }) as unknown as z.ZodType<Addressed & z.infer<z.ZodObject<Body>>>,
    async run(call, input): Promise<Answer> {
      const moved = await runTransition(key, call, input, facts, (locked) => stepOf?.(locked, input) ?? 'move');
      const job = readableJob(call.viewer, moved.job);
      return answer ? answer(job, moved) : (job as Answer);
    },
  });
}

function runTransition(
  key: JobTransitionKey,
  { db, viewer }: Pick<Call<LockedJob['viewer']>, 'db' | 'viewer'>,
  input: TransitionInput,
  needed: FactsNeeded | undefined,
  stepOf: (locked: LockedJob) => Step,
): Promise<Moved> {
  const row: JobTransition = JOB_TRANSITIONS[key];
  return spending(db, viewer.userId, async (tx) => {
    const locked = await lockVisibleJob(tx, viewer, input, needed ?? factsNeededBy(row));
    assertAllowed(jobDenial(key, locked.facts));
    const step = row.alreadyDoneIn?.includes(locked.job.status) ? 'nothing' : stepOf(locked);
    if (step === 'nothing') return { job: locked.job, availableTokens: undefined };
    return step === 'keep' ? keep(row, locked, input) : move(row, locked, input);
  });
}

/** The effects that read the live bids. */
const ON_LIVE_BIDS: readonly Effect[] = ['acceptBid', 'rejectOtherBids', 'setAwardedBid', 'rejectLiveBids'];

function factsNeededBy({ effects }: JobTransition): FactsNeeded {
  return { liveBids: effects.some((effect) => ON_LIVE_BIDS.includes(effect)) };
}

async function move(row: JobTransition, locked: LockedJob, input: TransitionInput): Promise<Moved> {
  const { tx, viewer, job } = locked;
  const consequences = row.effects.map((effect) => EFFECTS[effect as keyof typeof EFFECTS](locked, input));
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
  const [moved] = await tx.commitWith(
    updateJob(tx, job, changes),
    logEvents(tx, job, events),
    ...consequences.flatMap(({ sent = [] }) => sent),
  );
  const payment = consequences.find(({ availableTokens }) => availableTokens);
  return { job: moved, availableTokens: await payment?.availableTokens };
}

async function keep({ mayKeepState }: JobTransition, locked: LockedJob, input: TransitionInput): Promise<Moved> {
  const { tx, viewer, job } = locked;
  if (!mayKeepState) throw new Error('A transition kept the state, which its row does not allow.');
  const { status } = job;
  // The events of the lifecycle's rows are all of type `EventType`.
  const type = mayKeepState.event as EventType;
  const event = { type, actorId: viewer.userId, fromStatus: status, toStatus: status, data: textsOf(input) };
  const [kept] = await tx.commitWith(
    updateJob(tx, job, { eventCount: job.eventCount + 1 }),
    logEvents(tx, job, [event]),
  );
  return { job: kept, availableTokens: undefined };
}

/** The texts of a call that its event keeps; texts that were left out are not in it. */
function textsOf({ id: _id, expectedVersion: _version, ...texts }: TransitionInput): Record<string, unknown> {
  return Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== undefined && value !== null));
}
