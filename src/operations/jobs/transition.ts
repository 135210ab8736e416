/**
 * The frame that the transitions of a job share. A transition that touches the job alone is one statement, which moves
 * the job only if all is well; why it was not is asked afterwards, as in `at-once.ts`. Any other locks the job first,
 * judges it, and then lets its effects happen beside the move; but publishing and awarding have statements of their own
 * in which all happens.
 */
import { z } from 'zod';
import { operationsAllowedFrom, refusalElsewhere } from '../../rules/available-actions.js';
import { refuse } from '../../rules/errors.js';
import type { JobId } from '../../rules/ids.js';
import {
  isAllowedIn,
  isTransition,
  JOB_TRANSITIONS,
  type JobAction,
  type JobState,
  type JobTransition,
  type JobTransitionKey,
} from '../../rules/lifecycle.js';
import { allowedRoles, isFor, PARTY_WORDS } from '../../rules/parties.js';
import type { Viewer } from '../../rules/viewer.js';
import { together, type Db } from '../../store/database.js';
import { asParameter, type NewEvent } from '../../store/events.js';
import type { JobRow } from '../../store/jobs.js';
import { moveJob, type MovesJob } from '../../store/moves.js';
import { idsOf } from '../../store/visibility.js';
import { operation, type Call, type Operation } from '../operation.js';
import { idInPath } from '../shapes.js';
import { atOnce, type Acting } from './at-once.js';
import { findAndLockJob, findJob, type FoundJob } from './job.js';
import { readableJob, type ReadableJob } from './readable.js';

/** The parameters beside the body: they stand in the path and in a header, or are arguments of their own. */
export const ofJob = {
  id: idInPath('job').describe('The job.'),
  expectedVersion: z
    .int()
    .nullish()
    .meta({ parameter: true })
    .describe('Refuses with STALE_VERSION if the job has another version by now.'),
};

export interface Addressed {
  id: JobId;
  expectedVersion?: number | null | undefined;
}

/** What there is to tell of a transition. */
export interface Told {
  /** What the event tells besides the texts that came with the call. */
  data?: Record<string, unknown>;
  /** What happened to others because of it, after the transition's own event. */
  events?: readonly NewEvent[];
}

/** What a transition's effects add to the move. */
export interface Effects extends Told {
  /** Statements that are on their way already, and with which the move goes out. */
  beside?: readonly Promise<unknown>[];
  /** Keeps the job as it is: what was asked for is so already. */
  settled?: boolean;
}

interface Parts<Shape extends z.ZodRawShape, Looked> {
  says: string;
  /** The texts that come with it; they are kept with the event. */
  body: Shape;
  /** What must be known besides the job. It is read as soon as the job is locked. */
  look?(tx: Db, id: JobId): Promise<Looked>;
  effects?(at: Locked<NoInfer<Looked>>, input: z.infer<z.ZodObject<Shape>> & Addressed): Effects;
}

/** What effects work on: the job under its lock. */
export interface Locked<Looked = undefined> {
  readonly tx: Db;
  readonly viewer: Viewer;
  readonly job: JobRow;
  readonly looked: Looked;
}

export function transition<const Shape extends z.ZodRawShape, Looked = undefined>(
  key: MovesJob,
  { says, body, look, effects }: Parts<Shape, Looked>,
) {
  const row: JobTransition = JOB_TRANSITIONS[key];
  type Input = z.infer<z.ZodObject<Shape>> & Addressed;
  const moveIt = effects
    ? (call: Call<Viewer>, input: Input) => moveWithEffects(key, call, input, look, effects)
    : movingAlone(key);
  const parts = {
    name: row.operation,
    says,
    allows: allowedRoles(row.by),
    budget: 'write',
    input: z.strictObject({ ...ofJob, ...body }) as z.ZodType<Input>,
    run: async (call: Call<Viewer>, input: Input) => readableJob(call.viewer, await moveIt(call, input)),
  } as const;
  return operation(parts as Operation<Input, ReadableJob>);
}

function movingAlone(key: MovesJob) {
  const from = onlyStateBefore(key);
  return atOnce({
    jobId: ({ id }: Addressed) => id,
    act: (acting: Acting, input) => tryToMove(key, acting, input, from, {}),
    judge: async (db, viewer, input) => judge(JOB_TRANSITIONS[key], await findJob(db, viewer, input.id), input),
  });
}

/** What there is one of can be told without a look at the job. */
export function onlyStateBefore(key: JobTransitionKey): JobState {
  const { from }: JobTransition = JOB_TRANSITIONS[key];
  const [only] = from;
  if (only === undefined || from.length > 1)
    throw new Error(`${key} comes from several states: only a look at the job can tell which.`);
  return only;
}

function moveWithEffects<Input extends Addressed, Looked>(
  key: MovesJob,
  { db, viewer, beside }: Acting,
  input: Input,
  look: ((tx: Db, id: JobId) => Promise<Looked>) | undefined,
  effects: (at: Locked<Looked>, input: Input) => Effects,
): Promise<JobRow> {
  return db.inTransaction(async (tx) => {
    const [found, looked] = await together(
      findAndLockJob(tx, viewer, input.id),
      look ? look(tx, input.id) : Promise.resolve(undefined as Looked),
    );
    judge(JOB_TRANSITIONS[key], found, input);
    const { job } = found;
    const effect = effects({ tx, viewer, job, looked }, input);
    return effect.settled ? job : move(key, { db: tx, viewer, beside }, input, job.status, effect);
  });
}

/** Moves a job that was locked and judged. */
export async function move(
  key: MovesJob,
  acting: Acting,
  input: Addressed,
  from: JobState,
  effects: Effects,
): Promise<JobRow> {
  const { beside = [] } = effects;
  const moved = (await together(...beside, tryToMove(key, acting, input, from, effects))).at(-1) as JobRow | undefined;
  if (!moved) throw new Error(`A job that was locked and judged did not move by ${key}.`);
  return moved;
}

async function tryToMove(
  key: MovesJob,
  acting: Acting,
  input: Addressed,
  from: JobState,
  effects: Effects,
): Promise<JobRow | undefined> {
  const [moved] = await moveJob[key](acting.beside)(acting.db, movement(key, acting, input, from, effects));
  return moved;
}

/** The values that every statement takes that moves a job. */
export function movement(
  key: JobTransitionKey,
  { db, viewer }: Acting,
  input: Addressed,
  fromStatus: JobState,
  told: Told = {},
) {
  const { id, expectedVersion = null, ...texts } = input;
  const { event, to } = JOB_TRANSITIONS[key];
  const own: NewEvent = {
    type: event,
    actorId: viewer.userId,
    fromStatus,
    toStatus: to,
    data: Object.assign(given(texts), told.data),
  };
  return { id, expectedVersion, ...idsOf(viewer), events: asParameter(db, [own, ...(told.events ?? [])]) };
}

/** What was really said; an optional text that was left out leaves no trace. */
export function given(texts: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== undefined && text !== null));
}

/**
 * May this caller do this to this job, do they know it as it is, and does its state allow it: the first no is the
 * answer.
 */
export function judge(
  row: JobAction,
  { job, party }: FoundJob<Pick<JobRow, 'status' | 'version'>>,
  { expectedVersion }: Pick<Addressed, 'expectedVersion'>,
): void {
  if (!isFor(row.by, party)) throw refuse('FORBIDDEN', { message: `Only ${PARTY_WORDS[row.by].says} may do this.` });
  if (expectedVersion != null && expectedVersion !== job.version) {
    throw refuse('STALE_VERSION', { details: { expectedVersion, version: job.version } });
  }
  if (isAllowedIn(job.status, row) || (!isTransition(row) && row.elsewhere)) return;
  throw refuse(refusalElsewhere(row), {
    message: `A job that is ${job.status.replaceAll('_', ' ')} does not allow this.`,
    details: { fromState: job.status, allowedOperations: operationsAllowedFrom(job.status, party) },
  });
}
