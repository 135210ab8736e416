import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, ID, Info, Int, Mutation, Resolver } from 'type-graphql';
import { OPERATIONS } from '../../operations/index.js';
import { newestFirst } from '../../operations/jobs/read.js';
import type { ReadableJob } from '../../operations/jobs/readable.js';
import { perform } from '../../operations/operation.js';
import { cursorOf } from '../../operations/paging.js';
import type { Context } from '../context.js';
import { Input, inputOf } from '../inputs.js';
import { besideJobIn } from '../look-ahead.js';
import { PAYLOADS } from '../types/payloads.js';
import { of } from './says.js';

const { createJob, updateJob, deleteJob, publishJob, cancelJob, awardJob, checkInJob, submitJobForReview, approveJob } =
  OPERATIONS;
const { disputeJob, escalateJob, resolveDispute, reachDecision, fileAppeal, finalizeAppeal, completeJob } = OPERATIONS;

const CreateJobInput = inputOf('CreateJobInput', createJob.input, 'The draft.');
const UpdateJobInput = inputOf('UpdateJobInput', updateJob.input, 'What to change: left out stays, null clears.');
const CancelJobInput = inputOf('CancelJobInput', cancelJob.input, 'Why.');
const AwardJobInput = inputOf('AwardJobInput', awardJob.input, 'The bid that gets the job.');
const CheckInJobInput = inputOf('CheckInJobInput', checkInJob.input, 'What there is to say.');
const SubmitJobForReviewInput = inputOf('SubmitJobForReviewInput', submitJobForReview.input, 'What there is to say.');
const ApproveJobInput = inputOf('ApproveJobInput', approveJob.input, 'The rating and the review.');
const DisputeJobInput = inputOf('DisputeJobInput', disputeJob.input, 'What is wrong.');
const EscalateJobInput = inputOf('EscalateJobInput', escalateJob.input, 'Why.');
const ResolveDisputeInput = inputOf('ResolveDisputeInput', resolveDispute.input, 'How to settle it.');
const ReachDecisionInput = inputOf('ReachDecisionInput', reachDecision.input, 'The decision.');
const FileAppealInput = inputOf('FileAppealInput', fileAppeal.input, 'The appeal.');
const FinalizeAppealInput = inputOf('FinalizeAppealInput', finalizeAppeal.input, 'The last word.');
const CompleteJobInput = inputOf('CompleteJobInput', completeJob.input, 'Why.');

/** The arguments that every mutation of a job has. */
const JobId = () => Arg('id', () => ID, { description: 'The job.' });
const Version = () =>
  Arg('expectedVersion', () => Int, {
    nullable: true,
    description: 'Refuses with STALE_VERSION if the job has changed since it had this version.',
  });

type Version = number | undefined;

/** The job is the one that the mutation names, whatever its input may hold. */
function onJob(id: string, expectedVersion: Version, input: object | undefined): object {
  return Object.assign({}, input, { id, expectedVersion });
}

const changed = (job: ReadableJob) => ({ job });

function withEdge(job: ReadableJob) {
  return { job, jobEdge: { node: job, cursor: cursorOf(newestFirst(job)) } };
}

@Resolver()
export class JobMutations {
  @Mutation(() => PAYLOADS.createJob, of(createJob))
  createJob(@Input(CreateJobInput) input: object, @Ctx() { caller }: Context) {
    return perform(createJob, input, caller).then(withEdge);
  }

  @Mutation(() => PAYLOADS.updateJob, of(updateJob))
  updateJob(
    @JobId() id: string,
    @Input(UpdateJobInput, 'nullable') input: object | undefined,
    @Version() expectedVersion: Version,
    @Ctx() { caller }: Context,
  ) {
    return perform(updateJob, onJob(id, expectedVersion, input), caller).then(changed);
  }

  @Mutation(() => PAYLOADS.deleteJob, of(deleteJob))
  deleteJob(@JobId() id: string, @Version() expectedVersion: Version, @Ctx() { caller }: Context) {
    return perform(deleteJob, { id, expectedVersion }, caller).then((job) => ({ job, deletedJobId: job.id }));
  }

  @Mutation(() => PAYLOADS.publishJob, of(publishJob))
  publishJob(
    @JobId() id: string,
    @Version() expectedVersion: Version,
    @Ctx() { caller }: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return perform(publishJob, { id, expectedVersion }, caller, besideJobIn(info, 'job'));
  }

  @Mutation(() => PAYLOADS.cancelJob, of(cancelJob))
  cancelJob(
    @JobId() id: string,
    @Input(CancelJobInput, 'nullable') input: object | undefined,
    @Version() expectedVersion: Version,
    @Ctx() { caller }: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return perform(cancelJob, onJob(id, expectedVersion, input), caller, besideJobIn(info, 'job')).then(changed);
  }

  @Mutation(() => PAYLOADS.awardJob, of(awardJob))
  awardJob(
    @JobId() id: string,
    @Input(AwardJobInput) input: object,
    @Version() expectedVersion: Version,
    @Ctx() { caller }: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return perform(awardJob, onJob(id, expectedVersion, input), caller, besideJobIn(info, 'job')).then(changed);
  }

  @Mutation(() => PAYLOADS.checkInJob, of(checkInJob))
  checkInJob(
    @JobId() id: string,
    @Input(CheckInJobInput, 'nullable') input: object | undefined,
    @Version() expectedVersion: Version,
    @Ctx() { caller }: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return perform(checkInJob, onJob(id, expectedVersion, input), caller, besideJobIn(info, 'job')).then(changed);
  }

  @Mutation(() => PAYLOADS.submitJobForReview, of(submitJobForReview))
  submitJobForReview(
    @JobId() id: string,
    @Input(SubmitJobForReviewInput, 'nullable') input: object | undefined,
    @Version() expectedVersion: Version,
    @Ctx() { caller }: Context,
  ) {
    return perform(submitJobForReview, onJob(id, expectedVersion, input), caller).then(changed);
  }

  @Mutation(() => PAYLOADS.approveJob, of(approveJob))
  approveJob(
    @JobId() id: string,
    @Input(ApproveJobInput, 'nullable') input: object | undefined,
    @Version() expectedVersion: Version,
    @Ctx() { caller }: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return perform(approveJob, onJob(id, expectedVersion, input), caller, besideJobIn(info, 'job')).then(changed);
  }

  @Mutation(() => PAYLOADS.disputeJob, of(disputeJob))
  disputeJob(
    @JobId() id: string,
    @Input(DisputeJobInput) input: object,
    @Version() expectedVersion: Version,
    @Ctx() { caller }: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return perform(disputeJob, onJob(id, expectedVersion, input), caller, besideJobIn(info, 'job')).then(changed);
  }

  @Mutation(() => PAYLOADS.escalateJob, of(escalateJob))
  escalateJob(
    @JobId() id: string,
    @Input(EscalateJobInput) input: object,
    @Version() expectedVersion: Version,
    @Ctx() { caller }: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return perform(escalateJob, onJob(id, expectedVersion, input), caller, besideJobIn(info, 'job')).then(changed);
  }

  @Mutation(() => PAYLOADS.resolveDispute, of(resolveDispute))
  resolveDispute(
    @JobId() id: string,
    @Input(ResolveDisputeInput) input: object,
    @Version() expectedVersion: Version,
    @Ctx() { caller }: Context,
  ) {
    return perform(resolveDispute, onJob(id, expectedVersion, input), caller).then(changed);
  }

  @Mutation(() => PAYLOADS.reachDecision, of(reachDecision))
  reachDecision(
    @JobId() id: string,
    @Input(ReachDecisionInput) input: object,
    @Version() expectedVersion: Version,
    @Ctx() { caller }: Context,
  ) {
    return perform(reachDecision, onJob(id, expectedVersion, input), caller).then(changed);
  }

  @Mutation(() => PAYLOADS.fileAppeal, of(fileAppeal))
  fileAppeal(
    @JobId() id: string,
    @Input(FileAppealInput) input: object,
    @Version() expectedVersion: Version,
    @Ctx() { caller }: Context,
  ) {
    return perform(fileAppeal, onJob(id, expectedVersion, input), caller).then(changed);
  }

  @Mutation(() => PAYLOADS.finalizeAppeal, of(finalizeAppeal))
  finalizeAppeal(
    @JobId() id: string,
    @Input(FinalizeAppealInput) input: object,
    @Version() expectedVersion: Version,
    @Ctx() { caller }: Context,
  ) {
    return perform(finalizeAppeal, onJob(id, expectedVersion, input), caller).then(changed);
  }

  @Mutation(() => PAYLOADS.completeJob, of(completeJob))
  completeJob(
    @JobId() id: string,
    @Input(CompleteJobInput) input: object,
    @Version() expectedVersion: Version,
    @Ctx() { caller }: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return perform(completeJob, onJob(id, expectedVersion, input), caller, besideJobIn(info, 'job')).then(changed);
  }
}
