/** Creates, edits, and deletes jobs. `run-transition.ts` moves jobs from state to state. */
import { z } from 'zod';
import { JOB } from '../../rules/entities/job.js';
import { entityInput } from '../../../platform/fields/entity.js';
import {
  changesPublicFields,
  checkEdit,
  CODES_OF_LIMITS,
  JOB_FIELDS,
  READ_ONLY_FIELDS,
  type JobFields,
  type JobPatch,
  type RequiredJobField,
} from '../../rules/jobs/editing.js';
import { JOB_ACTIONS, JOB_CREATION } from '../../rules/lifecycle.js';
import { allowedRoles } from '../../rules/parties.js';
import {
  assertAllowed,
  assertKnown,
  editDenial,
  conditionDenial,
  factsForPolicies,
  jobDenial,
} from '../../rules/policies.js';
import { INITIAL_JOB_STATE } from '../../rules/states.js';
import { logEvents } from '../../store/events/events.js';
import {
  deleteJob as deleteRow,
  factsReader,
  insertJob,
  setTown,
  updateJob as updateRow,
} from '../../store/jobs/jobs.js';
import { moveTokens } from '../../store/ledger/ledger.js';
import { newId } from '../../store/new-id.js';
import { operation } from '../operation.js';
import { readOnly } from '../../../platform/fields/read-only.js';
import { withFieldRules, fieldsOfEditedJob, fieldsOfNewJob, ofJob } from './inputs.js';
import {
  assertJobAllowed,
  lockVisibleJob,
  type LockedJobOfCall,
  readableJob,
  type ReadableJob,
} from './visible-job.js';
import { locate } from '../places/places.js';

const newJob = withFieldRules(entityInput(JOB, fieldsOfNewJob));

export const createJob = operation({
  name: JOB_CREATION.operation,
  description: 'Creates a job as a draft. Contractors can’t see it until you publish it.',
  allows: allowedRoles(JOB_CREATION.actor),
  budget: 'write',
  input: newJob,
  async run({ db, viewer }, input): Promise<ReadableJob> {
    const fields = wholeJob(input);
    const { town, ...point } = await locate(fields);
    const { homeownerId } = viewer;
    const id = newId('job');
    const event = {
      type: JOB_CREATION.event,
      actorId: viewer.userId,
      fromStatus: null,
      toStatus: INITIAL_JOB_STATE,
    } as const;
    return db.inTransaction(async (tx) => {
      const [[job]] = await tx.commitWith(
        insertJob(tx, { ...fields, ...point, id, homeownerId, eventCount: 1 }),
        logEvents(tx, { id, homeownerId, eventCount: 0 }, [event]),
        ...(town === null ? [] : [setTown(tx, { id, town })]),
      );
      if (!job) throw new Error('A new job was not stored.');
      return readableJob(viewer, job);
    });
  },
});

function wholeJob(input: z.infer<typeof newJob>): JobFields {
  return {
    ...EMPTY,
    ...Object.fromEntries(Object.entries(input).filter(([, value]) => value != null)),
    title: input.title,
    description: input.description,
  };
}

type Optional = Omit<JobFields, RequiredJobField>;

const EMPTY = Object.fromEntries(JOB_FIELDS.map((field) => [field, null])) as { [Field in keyof Optional]: null };

const ADDRESS_FIELDS = ['zipCode', 'city', 'state'] as const satisfies (keyof JobFields)[];

/**
 * Clients can send these fields back unchanged. Warnings and distances are computed, so those that a client sends are
 * ignored.
 */
const SENT_BACK = [...READ_ONLY_FIELDS.filter((field) => field !== 'id'), 'warnings', 'distance'];

export const updateJob = operation({
  name: JOB_ACTIONS.update.operation,
  description: JOB_ACTIONS.update.description,
  allows: allowedRoles(JOB_ACTIONS.update.actor),
  budget: 'write',
  refusals: CODES_OF_LIMITS,
  input: withFieldRules(entityInput(JOB, { ...ofJob, ...fieldsOfEditedJob, ...readOnly(SENT_BACK) })),
  nullClears: true,
  run: ({ db, viewer }, input): Promise<ReadableJob> =>
    db.inTransaction(async (tx) => {
      const readFacts = input.urgency == null ? readFactsOfFreeEdit : readFactsOfUrgencyEdit;
      const lockedJob = await lockVisibleJob(tx, viewer, input, readFacts);
      const { job, policyInput } = lockedJob;
      const { bidsLimitingEdits = 0 } = lockedJob.facts;
      assertAllowed(editDenial(policyInput));
      const { id, expectedVersion: _, ...patch } = input;
      const { changes, bases, charge } = checkEdit({ ...job, bidsLimitingEdits }, patch as JobPatch);
      await assertJobAllowed(lockedJob, conditionDenial('update', { ...policyInput, cost: charge }));
      const fields = Object.keys(changes);
      if (fields.length === 0) return readableJob(viewer, job);

      const { town = null, ...point } = ADDRESS_FIELDS.some((field) => field in changes)
        ? await locate({ ...job, ...changes })
        : { town: undefined };
      const event = {
        type: JOB_ACTIONS.update.event,
        actorId: viewer.userId,
        fromStatus: job.status,
        toStatus: job.status,
        data: { fields, tokensCharged: charge },
      };
      const counts = {
        version: job.version + 1,
        eventCount: job.eventCount + 1,
        ...(changesPublicFields(changes) && { publicEditCount: job.publicEditCount + 1 }),
      };
      const [row] = await tx.commitWith(
        updateRow(tx, job, { ...changes, ...bases, ...point, ...counts }),
        logEvents(tx, job, [event]),
        ...('latitude' in point ? [setTown(tx, { id, town })] : []),
        ...(charge > 0 ? [chargeOwner(lockedJob, charge)] : []),
      );
      return readableJob(viewer, row);
    }),
});

const readFactsOfFreeEdit = factsReader((role) => factsForPolicies('update', role, { isPlain: true }));
const readFactsOfUrgencyEdit = factsReader((role) => [
  ...factsForPolicies('update', role),
  'bidsLimitingEdits',
  'ownerUserId',
]);

function chargeOwner({ tx, job, facts }: LockedJobOfCall, charge: number): Promise<unknown> {
  assertKnown(facts, ['ownerUserId']);
  return moveTokens(tx, { userId: facts.ownerUserId, change: -charge, reason: 'urgency_raise', jobId: job.id });
}

export const deleteJob = operation({
  name: JOB_ACTIONS.delete.operation,
  description: JOB_ACTIONS.delete.description,
  allows: allowedRoles(JOB_ACTIONS.delete.actor),
  budget: 'write',
  input: z.strictObject(ofJob),
  run: ({ db, viewer }, input): Promise<ReadableJob> =>
    db.inTransaction(async (tx) => {
      const lockedJob = await lockVisibleJob(tx, viewer, input, readFactsOfDeletion);
      await assertJobAllowed(lockedJob, jobDenial('delete', lockedJob.policyInput));
      const { job } = lockedJob;
      const event = { type: JOB_ACTIONS.delete.event, actorId: viewer.userId, fromStatus: job.status, toStatus: null };
      await tx.commitWith(deleteRow(tx, { id: job.id }), logEvents(tx, job, [event]));
      return readableJob(viewer, job);
    }),
});

const readFactsOfDeletion = factsReader((role) => factsForPolicies('delete', role));
