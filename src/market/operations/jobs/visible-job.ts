/** Finds or locks a job for an operation. Refuses jobs that the viewer can't see. */
import { refuse } from '../../rules/errors.js';
import type { BidId, JobId, ProposalId, UserId } from '../../rules/ids.js';
import { allowedOperations } from '../../rules/jobs/available-actions.js';
import type { FactName, JobFacts } from '../../rules/jobs/facts.js';
import { partyOf, seesJob, type JobParties, type Party, relationsToJob } from '../../rules/parties.js';
import { assertAllowed, type Denial, type PolicyInput } from '../../rules/policies.js';
import type { Viewer } from '../../rules/viewer.js';
import { pipelined, type Db, type Transaction } from '../../../platform/db/database.js';
import { readPartsOfMany, type JobInclude } from '../../store/jobs/job-parts.js';
import { lockJob, readJob, type JobRow, type JobWithVisibility, type ReadFacts } from '../../store/jobs/jobs.js';
import type { JobAddress } from './inputs.js';
import { redact, type RedactedRow } from '../../rules/reading/redaction.js';

export interface VisibleJob {
  readonly job: JobRow;
  readonly party: Party;
}

export async function findJob(db: Db, viewer: Viewer, id: JobId, include?: JobInclude): Promise<VisibleJob> {
  const { job, ownBids = [], isOwnerSuspended = false } = visibleTo(viewer, await readJob(db, viewer, id, include));
  return { job, party: partyOf(viewer, { ...job, isOwnerSuspended }, ownBids.length > 0) };
}

export async function readJobWith(db: Db, viewer: Viewer, id: JobId, include: JobInclude): Promise<ReadableJob> {
  return readableJob(viewer, visibleTo(viewer, await readJob(db, viewer, id, include)).job);
}

/** A job that a transaction has locked. */
export interface LockedJob<Fact extends FactName = never> {
  readonly tx: Transaction;
  /** Null if the clock changes the job. */
  readonly actorId: UserId | null;
  readonly job: JobRow;
  readonly facts: Partial<JobFacts> & Pick<JobFacts, Fact>;
}

/** A job that a call has locked, with what the policies check. */
export interface LockedJobOfCall<V extends Viewer = Viewer, Fact extends FactName = never> extends LockedJob<Fact> {
  readonly viewer: V;
  readonly policyInput: PolicyInput;
}

interface Named {
  readonly bidId?: BidId | undefined;
  readonly expectedBidVersion?: number | null | undefined;
  readonly proposalId?: ProposalId | undefined;
  readonly creditContractor?: boolean | undefined;
}

/** Until this transaction ends, no other transaction can change the job, its bids, or its holds. */
export async function lockVisibleJob<V extends Viewer>(
  tx: Transaction,
  viewer: V,
  { id, expectedVersion = null, bidId, expectedBidVersion, proposalId, creditContractor }: JobAddress & Named,
  readFacts: ReadFacts,
): Promise<LockedJobOfCall<V>> {
  const [[row], storedFacts] = await pipelined(lockJob(tx, { id }), readFacts(tx, viewer, id));
  const { job, ...facts } = visibleTo(viewer, row && storedFacts && { job: row, ...storedFacts });
  const { liveBids } = facts;
  const namedBid = liveBids?.find((bid) => bid.id === bidId && !bid.isBidderSuspended);
  const policyInput = {
    ...facts,
    ...(liveBids && { bidsToAward: namedBid ? 1 : 0 }),
    bidVersion: namedBid?.version,
    expectedBidVersion,
    viewer,
    job,
    expectedVersion,
    proposalId,
    creditContractor,
  };
  return { tx, viewer, actorId: viewer.userId, job, facts, policyInput };
}

/** Reads the caller's available actions only for a denial that names alternatives. */
export async function assertJobAllowed(
  { tx, viewer, job }: LockedJobOfCall,
  denial: Denial | undefined,
): Promise<void> {
  if (!denial?.namesAlternatives) return assertAllowed(denial);
  const parts = await readPartsOfMany(tx, viewer, [job], { facts: true });
  const facts = parts.get(job)?.facts ?? {};
  return assertAllowed(denial, { fromState: job.status, allowedOperations: allowedOperations(viewer, job, facts) });
}

function visibleTo<Row extends JobWithVisibility<JobParties>>(viewer: Viewer, row: Row | undefined): Row {
  if (!row) throw refuse('NOT_FOUND', { message: 'Job not found.' });
  const { job, ownBids = [], isOwnerSuspended = false } = row;
  if (!seesJob(viewer, { ...job, isOwnerSuspended }, ownBids.length > 0))
    throw refuse('FORBIDDEN', { message: 'You don’t have access to this job.' });
  return row;
}

export type ReadableJob = RedactedRow<'job', JobRow>;

export function readableJob<Row extends JobRow>(viewer: Viewer, job: Row): RedactedRow<'job', Row> {
  return redact('job', job, () => relationsToJob(viewer, job));
}
