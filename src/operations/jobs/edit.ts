/** Edits a job: all of the fields or none, as far as its state allows; a higher urgency is charged. */
import { z } from 'zod';
import { assertAllowed, furtherChecksOf } from '../../rules/checks.js';
import { checkEdit } from '../../rules/editing.js';
import { READ_ONLY_FIELDS, type JobFields, type JobPatch } from '../../rules/job-fields.js';
import { JOB_ACTIONS } from '../../rules/lifecycle.js';
import { allowedRoles } from '../../rules/parties.js';
import { asParameter } from '../../store/events.js';
import { pipelined } from '../../store/database.js';
import { editJob, setTown, type JobRow } from '../../store/jobs.js';
import { operation } from '../operation.js';
import { readOnly } from '../read-only.js';
import { spend } from '../tokens/spending.js';
import { ofJob, type Addressed } from './addressed.js';
import { underLock, type Locked } from './checked.js';
import { executed } from './effects.js';
import { readableJob, type ReadableJob } from './readable.js';
import { loadPlaces, locate } from './places.js';
import { agreeing, fieldsOfEditedJob } from './shape.js';

const WHERE = ['zipCode', 'city', 'state'] as const satisfies (keyof JobFields)[];

export const updateJob = operation({
  name: JOB_ACTIONS.update.operation,
  description: JOB_ACTIONS.update.description,
  allows: allowedRoles(JOB_ACTIONS.update.by),
  budget: 'write',
  input: agreeing(
    z.strictObject({ ...ofJob, ...fieldsOfEditedJob, ...readOnly(READ_ONLY_FIELDS.filter((field) => field !== 'id')) }),
  ),
  nullClears: true,
  load: (input) => loadPlaces(input),
  run: underLock('update', { act: edit }),
});

async function edit(at: Locked, { id, expectedVersion: _, ...sent }: Addressed): Promise<ReadableJob> {
  const { db, viewer, job, facts } = at;
  const { changes, bases, charge } = checkEdit(job, sent as JobPatch);
  assertAllowed(furtherChecksOf('update'), { ...facts, cost: charge });
  const fields = Object.keys(changes);
  if (fields.length === 0) return readableJob(viewer, job);

  const after = { ...job, ...changes, ...bases };
  const place = WHERE.some((field) => field in changes) ? await locate(after) : undefined;
  const edited = {
    type: JOB_ACTIONS.update.event,
    actorId: viewer.userId,
    fromStatus: job.status,
    toStatus: job.status,
    data: { fields, tokensCharged: charge },
  };
  const [[saved]] = await pipelined(
    editJob(db, { ...after, ...(place && pointOf(place)), events: asParameter([edited]) }),
    place ? setTown(db, { id, town: place.town }) : Promise.resolve(),
    ...executed<'update'>({
      chargeRaisedUrgency:
        charge > 0 && spend(db, { userId: viewer.userId, change: -charge, reason: 'urgency_raise', jobId: id }),
    }),
  );
  if (!saved) throw new Error('A job that was locked was not there to be edited.');
  return readableJob(viewer, saved);
}

function pointOf({ latitude, longitude }: Pick<JobRow, 'latitude' | 'longitude'>) {
  return { latitude, longitude };
}
