/** Subscriptions to events: who may open one, and to which jobs. What an event shows is decided when it is sent. */
import { z } from 'zod';
import type { EventStream } from '../../live/live.js';
import { position } from '../../rules/values.js';
import type { Db } from '../../store/database.js';
import { operation } from '../operation.js';
import { idInPath } from '../shapes.js';
import { findJob } from './job.js';
import { assertReached } from './reached.js';

/** A stream that may be opened. It is opened later, since the session check may still fail after the operation. */
export interface EventsToCome {
  /** Opens the stream; it reads past events through `db`. */
  readonly open: (db: Db) => EventStream;
}

const after = position
  .nullish()
  .describe('The position of the last event that was seen: what was missed since comes first. From now on by default.');

export const streamMyEvents = operation({
  name: 'streamMyEvents',
  description:
    'What happens to one’s own jobs from now on, or from a position on: jobs one owns, was awarded, or has a bid on ' +
    'that is not withdrawn; for admins everything.',
  allows: 'signed in',
  budget: 'read',
  input: z.strictObject({ after }),
  async run({ db, viewer, services }, { after: since }): Promise<EventsToCome> {
    if (since != null) await assertReached(db, since);
    return { open: (on) => services.live.open(viewer, since == null ? {} : { after: BigInt(since) }, on) };
  },
});

export const streamJobEvents = operation({
  name: 'streamJobEvents',
  description: 'What happens to a job from now on, or from a position on, as its timeline would show it.',
  allows: 'signed in',
  budget: 'read',
  input: z.strictObject({ jobId: idInPath('job').describe('The job.'), after }),
  async run({ db, viewer, services }, { jobId, after: since }): Promise<EventsToCome> {
    await findJob(db, viewer, jobId);
    if (since != null) await assertReached(db, since);
    return {
      open: (on) => services.live.open(viewer, since == null ? { jobId } : { jobId, after: BigInt(since) }, on),
    };
  },
});
