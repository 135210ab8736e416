/** Creates and deletes drafts. */
import { z } from 'zod';
import { JOB_FIELDS, type JobFields, type RequiredJobField } from '../../rules/job-fields.js';
import { JOB_ACTIONS, JOB_CREATION } from '../../rules/lifecycle.js';
import { INITIAL_JOB_STATE } from '../../rules/states.js';
import { allowedRoles } from '../../rules/parties.js';
import { asParameter } from '../../store/events.js';
import { pipelined } from '../../store/database.js';
import { deleteJob as removeJob, insertJob, setTown } from '../../store/jobs.js';
import { newId } from '../../store/new-id.js';
import { operation } from '../operation.js';
import { ofJob } from './addressed.js';
import { underLock } from './checked.js';
import { readableJob, type ReadableJob } from './readable.js';
import { loadPlaces, locate } from './places.js';
import { agreeing, fieldsOfNewJob } from './shape.js';

const shape = agreeing(z.strictObject(fieldsOfNewJob));

export const createJob = operation({
  name: JOB_CREATION.operation,
  description: 'Writes a draft. Contractors see it once it is published.',
  allows: allowedRoles(JOB_CREATION.by),
  budget: 'write',
  input: shape,
  load: (input) => loadPlaces(input),
  async run({ db, viewer }, input): Promise<ReadableJob> {
    const fields = wholeJob(input);
    const place = await locate(fields);
    const id = newId('job');
    const created = {
      type: JOB_CREATION.event,
      actorId: viewer.userId,
      fromStatus: null,
      toStatus: INITIAL_JOB_STATE,
    } as const;
    return db.inTransaction(async (tx) => {
      const [[job]] = await pipelined(
        insertJob(tx, { ...fields, ...place, id, homeownerId: viewer.homeownerId, events: asParameter([created]) }),
        place.town === null ? Promise.resolve() : setTown(tx, { id, town: place.town }),
      );
      if (!job) throw new Error('A new job was not stored.');
      return readableJob(viewer, job);
    });
  },
});

/** Every field, with null for those that were not sent. */
function wholeJob(sent: z.infer<typeof shape>): JobFields {
  return {
    ...EMPTY,
    ...Object.fromEntries(Object.entries(sent).filter(([, value]) => value != null)),
    title: sent.title,
    description: sent.description,
  };
}

type Optional = Omit<JobFields, RequiredJobField>;

const EMPTY = Object.fromEntries(JOB_FIELDS.map((field) => [field, null])) as { [Field in keyof Optional]: null };

export const deleteJob = operation({
  name: JOB_ACTIONS.delete.operation,
  description: JOB_ACTIONS.delete.description,
  allows: allowedRoles(JOB_ACTIONS.delete.by),
  budget: 'write',
  input: z.strictObject(ofJob),
  run: underLock('delete', {
    async act({ db, viewer, job }, { id }): Promise<ReadableJob> {
      const deleted = {
        type: JOB_ACTIONS.delete.event,
        actorId: viewer.userId,
        fromStatus: job.status,
        toStatus: null,
      };
      await removeJob(db, { id, events: asParameter([deleted]) });
      return readableJob(viewer, job);
    },
  }),
});
