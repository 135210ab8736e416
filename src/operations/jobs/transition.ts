/**
 * Makes the operation of a transition from its row in `rules/lifecycle.ts`. A transition runs in one statement, if the
 * statement that moves the job applies all of its effects (`one-statement.ts`). Otherwise a transaction locks the job,
 * checks it, and pipelines the statements of the effects with the move (`with-effects.ts`).
 */
import { z } from 'zod';
import { isOneStatement, JOB_TRANSITIONS, type JobTransition, type JobTransitionKey } from '../../rules/lifecycle.js';
import { allowedRoles } from '../../rules/parties.js';
import type { Moved } from '../../store/moves.js';
import { operation } from '../operation.js';
import { ofJob } from './addressed.js';
import type { Input } from './move-values.js';
import { inOneStatement } from './one-statement.js';
import { readableJob, type ReadableJob } from './readable.js';
import { withEffects, type Decide } from './with-effects.js';

/** What a transition may add to its row. */
export interface Parts {
  /** The input besides the job; the event keeps it. */
  readonly body?: z.ZodRawShape;
  /** Only for rows with `mayKeepState`: whether this call keeps the job's state. */
  readonly decide?: Decide;
  /** Makes the answer; without it the answer is the job. */
  answer?(job: ReadableJob, moved: Moved): object;
}

export function transition(key: JobTransitionKey, { body = {}, decide, answer }: Parts = {}) {
  const row: JobTransition = JOB_TRANSITIONS[key];
  const run = isOneStatement(row) ? inOneStatement(key) : withEffects(key, decide);
  return operation({
    name: row.operation,
    description: row.description,
    allows: allowedRoles(row.by),
    budget: 'write',
    // `Input` has the fields that the transition itself uses; the event keeps all others.
    input: z.strictObject({ ...ofJob, ...body }) as unknown as z.ZodType<Input>,
    async run(call, input): Promise<object> {
      const moved = await run(call, input);
      const job = readableJob(call.viewer, moved.job);
      return answer ? answer(job, moved) : job;
    },
  });
}
