/**
 * Runs a transition that needs several statements: locks the job, checks it, and pipelines the statements of its
 * effects with the move.
 */
import { UNCHANGED_COUNTS } from '../../rules/bids.js';
import type { Effect } from '../../rules/effects.js';
import type { EventType } from '../../rules/events.js';
import { JOB_TRANSITIONS, type JobTransition, type JobTransitionKey } from '../../rules/lifecycle.js';
import type { Viewer } from '../../rules/viewer.js';
import { pipelined, type Db } from '../../store/database.js';
import { asParameter } from '../../store/events.js';
import { noteOnJob } from '../../store/jobs.js';
import { moveJob, type Moved } from '../../store/moves.js';
import { underLock, type Locked } from './checked.js';
import { STATEMENTS, type StatementEffect } from './effects.js';
import { keptOf, moveValues, type Input } from './move-values.js';

/** 'move' changes the state, 'keep' only adds an event, and 'nothing' changes nothing. */
export type Decision = 'move' | 'keep' | 'nothing';

/** Called under the job's lock. */
export type Decide = (tx: Db, viewer: Viewer, input: Input) => Promise<Decision>;

export function withEffects(key: JobTransitionKey, decide: Decide = alwaysMove) {
  const row: JobTransition = JOB_TRANSITIONS[key];
  const effects = row.effects.filter(isStatement);
  return underLock<Viewer, Input, Moved, Decision>(key, {
    read: decide,
    async act(at, input, decision) {
      const { job } = at;
      const isDone = row.alreadyDoneIn?.includes(job.status) === true;
      if (isDone || decision === 'nothing') return { job, available: null };
      return decision === 'keep' ? keep(row, at, input) : move(key, effects, at, input);
    },
  });
}

const alwaysMove: Decide = () => Promise.resolve('move');

function isStatement(effect: Effect): effect is StatementEffect {
  return effect in STATEMENTS;
}

async function move(
  key: JobTransitionKey,
  effects: readonly StatementEffect[],
  at: Locked,
  input: Input,
): Promise<Moved> {
  const consequences = effects.map((effect) => STATEMENTS[effect](at, input));
  const sent = consequences.flatMap((consequence) => consequence.sent ?? []);
  const values = moveValues(key, at, input, at.job.status, consequences);
  const [[moved]] = await pipelined(moveJob[key](at.include)(at.db, values), ...sent);
  if (!moved) throw new Error(`A job that was locked and checked did not move by ${key}.`);
  return moved;
}

async function keep({ mayKeepState }: JobTransition, at: Locked, input: Input): Promise<Moved> {
  const { db, viewer, job } = at;
  if (!mayKeepState) throw new Error('A transition kept the state, which its row does not allow.');
  const { id, status } = job;
  // The events of the lifecycle's rows are all of type `EventType`.
  const type = mayKeepState.event as EventType;
  const event = { type, actorId: viewer.userId, fromStatus: status, toStatus: status, data: keptOf(input) };
  await noteOnJob(db, { id, ...UNCHANGED_COUNTS, events: asParameter([event]) });
  return { job, available: null };
}
