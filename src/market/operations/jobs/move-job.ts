/** Moves a locked job to another state: applies the effects, changes the row, writes the events, and commits. */
import type { EventType } from '../../rules/events.js';
import { firstCheckSeconds, hasDeadline } from '../../rules/jobs/deadlines.js';
import type { TransitionEffect } from '../../rules/jobs/effects.js';
import type { JobState } from '../../rules/states.js';
import { logEvents, type NewEvent } from '../../store/events/events.js';
import { updateJob, type JobChanges, type JobRow } from '../../store/jobs/jobs.js';
import { EFFECTS, type EffectInput } from './effects.js';
import type { LockedJob } from './visible-job.js';

interface Move {
  readonly to: JobState;
  readonly event: EventType;
  readonly effects: readonly TransitionEffect[];
}

interface Options {
  readonly input: EffectInput;
  /** The data of the move's event, in addition to the data from the effects. */
  readonly data: Readonly<Record<string, unknown>>;
  /** Statements that were sent already and that belong to the move. */
  readonly also?: readonly Promise<unknown>[];
}

export async function moveJob(row: Move, jobToMove: LockedJob, options: Options): Promise<JobRow> {
  const { tx, actorId, job } = jobToMove;
  const { input, data, also = [] } = options;
  const results = row.effects.map((effect) => EFFECTS[effect].apply(jobToMove, input));
  const own: NewEvent = {
    type: row.event,
    actorId,
    fromStatus: job.status,
    toStatus: row.to,
    data: Object.assign({}, data, ...results.map((result) => result.data)) as Record<string, unknown>,
  };
  const events = [own, ...results.flatMap((result) => result.events ?? [])];
  const changes = results.reduce<JobChanges>((all, result) => Object.assign(all, result.job), {
    status: row.to,
    version: job.version + 1,
    eventCount: job.eventCount + events.length,
  });
  const newState = { ...job, ...changes };
  const deadline = hasDeadline(newState) ? ({ is: 'start', seconds: firstCheckSeconds(newState) } as const) : undefined;
  const [newJob] = await tx.commitWith(
    updateJob(tx, job, changes, deadline),
    logEvents(tx, job, events),
    ...also,
    ...results.flatMap(({ sent = [] }) => sent),
  );
  return newJob;
}
