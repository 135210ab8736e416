/** The mutations of a job. Each mutation is one method. */
import { Arg, Args, ArgsType, Ctx, Field, ID, Int, Mutation, Resolver } from 'type-graphql';
import { createJob, deleteJob, updateJob } from '../../../market/operations/jobs/edit.js';
import { advanceClock } from '../../../market/operations/jobs/clock-operations.js';
import { extendDeadline } from '../../../market/operations/jobs/extend-deadline.js';
import { reviewJob } from '../../../market/operations/jobs/review.js';
import {
  acceptDecision,
  acceptResolution,
  approveJob,
  awardJob,
  cancelJob,
  checkInJob,
  completeJob,
  declineAward,
  disputeJob,
  escalateJob,
  fileAppeal,
  finalizeAppeal,
  publishJob,
  reachDecision,
  reopenJob,
  requestChanges,
  resolveDispute,
  submitJobForReview,
} from '../../../market/operations/jobs/transitions.js';
import { newestFirst } from '../../../market/operations/jobs/read.js';
import type { ReadableJob } from '../../../market/operations/jobs/visible-job.js';
import type { JOB_CREATION, JobOperationName } from '../../../market/rules/lifecycle.js';
import { perform } from '../../../platform/call/operation.js';
import { cursorOf } from '../../../platform/call/paging.js';
import type { Context } from '../../context.js';
import { Input, inputOf } from '../../types/field.js';
import * as payloads from '../../types/payloads.js';
import { mutationOptions } from '../field-options.js';

type JobMutationName = Exclude<JobOperationName, 'submitBid'> | (typeof JOB_CREATION)['operation'];

const PAYLOADS = payloads satisfies Readonly<Record<`${Capitalize<JobMutationName>}Payload`, object>>;

const CreateJobInput = inputOf('CreateJobInput', createJob.input, 'The draft to create.');
const UpdateJobInput = inputOf(
  'UpdateJobInput',
  updateJob.input,
  'The fields to change. Omitted fields are unchanged; null clears a field.',
);
const AwardJobInput = inputOf('AwardJobInput', awardJob.input, 'The bid to award the job to.');
const DeclineAwardInput = inputOf('DeclineAwardInput', declineAward.input, 'The reason.');
const ReopenJobInput = inputOf('ReopenJobInput', reopenJob.input, 'The reason.');
const CheckInJobInput = inputOf('CheckInJobInput', checkInJob.input, 'Optional notes.');
const SubmitJobForReviewInput = inputOf('SubmitJobForReviewInput', submitJobForReview.input, 'Optional notes.');
const ApproveJobInput = inputOf('ApproveJobInput', approveJob.input, 'The rating and the review.');
const RequestChangesInput = inputOf('RequestChangesInput', requestChanges.input, 'What to change.');
const DisputeJobInput = inputOf('DisputeJobInput', disputeJob.input, 'What’s wrong with the work.');
const EscalateJobInput = inputOf('EscalateJobInput', escalateJob.input, 'The reason.');
const ResolveDisputeInput = inputOf('ResolveDisputeInput', resolveDispute.input, 'The proposed resolution.');
const AcceptResolutionInput = inputOf('AcceptResolutionInput', acceptResolution.input, 'The proposal to accept.');
const ReachDecisionInput = inputOf('ReachDecisionInput', reachDecision.input, 'The decision.');
const FileAppealInput = inputOf('FileAppealInput', fileAppeal.input, 'The appeal.');
const FinalizeAppealInput = inputOf('FinalizeAppealInput', finalizeAppeal.input, 'The final decision.');
const ReviewJobInput = inputOf('ReviewJobInput', reviewJob.input, 'The rating and the review.');
const ExtendDeadlineInput = inputOf('ExtendDeadlineInput', extendDeadline.input, 'The new deadline.');
const CompleteJobInput = inputOf('CompleteJobInput', completeJob.input, 'The reason.');
const CancelJobInput = inputOf('CancelJobInput', cancelJob.input, 'The reason.');

@ArgsType()
class JobArgs {
  @Field(() => ID, { description: 'The job.' })
  id: string;

  @Field(() => Int, {
    nullable: true,
    description: 'Fails with `STALE_VERSION` if the job has changed since this version.',
  })
  expectedVersion?: number;
}

const OnJob = () => Args(() => JobArgs);

const jobPayload = (job: ReadableJob) => ({ job });

/** `job` is spread after `input`, so the argument `id` decides which job changes, even if the input has an `id`. */
@Resolver()
export class JobMutations implements Readonly<Record<JobMutationName, (...args: never[]) => unknown>> {
  @Mutation(() => PAYLOADS.CreateJobPayload, mutationOptions(createJob))
  createJob(@Input(CreateJobInput) input: object, @Ctx() { caller }: Context) {
    return perform(createJob, input, caller).then((job) => {
      return { job, jobEdge: { node: job, cursor: cursorOf(newestFirst(job)) } };
    });
  }

  @Mutation(() => PAYLOADS.UpdateJobPayload, mutationOptions(updateJob))
  updateJob(@OnJob() job: JobArgs, @Ctx() { caller }: Context, @Input(UpdateJobInput, 'nullable') input?: object) {
    return perform(updateJob, { ...input, ...job }, caller).then(jobPayload);
  }

  @Mutation(() => PAYLOADS.DeleteJobPayload, mutationOptions(deleteJob))
  deleteJob(@OnJob() job: JobArgs, @Ctx() { caller }: Context) {
    return perform(deleteJob, job, caller).then((draft) => ({ job: draft, deletedJobId: draft.id }));
  }

  @Mutation(() => PAYLOADS.PublishJobPayload, mutationOptions(publishJob))
  publishJob(@OnJob() job: JobArgs, @Ctx() { caller }: Context) {
    return perform(publishJob, job, caller);
  }

  @Mutation(() => PAYLOADS.AwardJobPayload, mutationOptions(awardJob))
  awardJob(@OnJob() job: JobArgs, @Input(AwardJobInput) input: object, @Ctx() { caller }: Context) {
    return perform(awardJob, { ...input, ...job }, caller).then(jobPayload);
  }

  @Mutation(() => PAYLOADS.DeclineAwardPayload, mutationOptions(declineAward))
  declineAward(
    @OnJob() job: JobArgs,
    @Ctx() { caller }: Context,
    @Input(DeclineAwardInput, 'nullable') input?: object,
  ) {
    return perform(declineAward, { ...input, ...job }, caller).then(jobPayload);
  }

  @Mutation(() => PAYLOADS.ReopenJobPayload, mutationOptions(reopenJob))
  reopenJob(@OnJob() job: JobArgs, @Ctx() { caller }: Context, @Input(ReopenJobInput, 'nullable') input?: object) {
    return perform(reopenJob, { ...input, ...job }, caller).then(jobPayload);
  }

  @Mutation(() => PAYLOADS.CheckInJobPayload, mutationOptions(checkInJob))
  checkInJob(@OnJob() job: JobArgs, @Ctx() { caller }: Context, @Input(CheckInJobInput, 'nullable') input?: object) {
    return perform(checkInJob, { ...input, ...job }, caller).then(jobPayload);
  }

  @Mutation(() => PAYLOADS.SubmitJobForReviewPayload, mutationOptions(submitJobForReview))
  submitJobForReview(
    @OnJob() job: JobArgs,
    @Ctx() { caller }: Context,
    @Input(SubmitJobForReviewInput, 'nullable') input?: object,
  ) {
    return perform(submitJobForReview, { ...input, ...job }, caller).then(jobPayload);
  }

  @Mutation(() => PAYLOADS.ApproveJobPayload, mutationOptions(approveJob))
  approveJob(@OnJob() job: JobArgs, @Ctx() { caller }: Context, @Input(ApproveJobInput, 'nullable') input?: object) {
    return perform(approveJob, { ...input, ...job }, caller).then(jobPayload);
  }

  @Mutation(() => PAYLOADS.RequestChangesPayload, mutationOptions(requestChanges))
  requestChanges(@OnJob() job: JobArgs, @Input(RequestChangesInput) input: object, @Ctx() { caller }: Context) {
    return perform(requestChanges, { ...input, ...job }, caller).then(jobPayload);
  }

  @Mutation(() => PAYLOADS.DisputeJobPayload, mutationOptions(disputeJob))
  disputeJob(@OnJob() job: JobArgs, @Input(DisputeJobInput) input: object, @Ctx() { caller }: Context) {
    return perform(disputeJob, { ...input, ...job }, caller).then(jobPayload);
  }

  @Mutation(() => PAYLOADS.EscalateJobPayload, mutationOptions(escalateJob))
  escalateJob(@OnJob() job: JobArgs, @Input(EscalateJobInput) input: object, @Ctx() { caller }: Context) {
    return perform(escalateJob, { ...input, ...job }, caller).then(jobPayload);
  }

  @Mutation(() => PAYLOADS.ResolveDisputePayload, mutationOptions(resolveDispute))
  resolveDispute(@OnJob() job: JobArgs, @Input(ResolveDisputeInput) input: object, @Ctx() { caller }: Context) {
    return perform(resolveDispute, { ...input, ...job }, caller).then(jobPayload);
  }

  @Mutation(() => PAYLOADS.AcceptResolutionPayload, mutationOptions(acceptResolution))
  acceptResolution(@OnJob() job: JobArgs, @Input(AcceptResolutionInput) input: object, @Ctx() { caller }: Context) {
    return perform(acceptResolution, { ...input, ...job }, caller).then(jobPayload);
  }

  @Mutation(() => PAYLOADS.ReachDecisionPayload, mutationOptions(reachDecision))
  reachDecision(@OnJob() job: JobArgs, @Input(ReachDecisionInput) input: object, @Ctx() { caller }: Context) {
    return perform(reachDecision, { ...input, ...job }, caller).then(jobPayload);
  }

  @Mutation(() => PAYLOADS.AcceptDecisionPayload, mutationOptions(acceptDecision))
  acceptDecision(@OnJob() job: JobArgs, @Ctx() { caller }: Context) {
    return perform(acceptDecision, job, caller).then(jobPayload);
  }

  @Mutation(() => PAYLOADS.FileAppealPayload, mutationOptions(fileAppeal))
  fileAppeal(@OnJob() job: JobArgs, @Input(FileAppealInput) input: object, @Ctx() { caller }: Context) {
    return perform(fileAppeal, { ...input, ...job }, caller).then(jobPayload);
  }

  @Mutation(() => PAYLOADS.FinalizeAppealPayload, mutationOptions(finalizeAppeal))
  finalizeAppeal(@OnJob() job: JobArgs, @Input(FinalizeAppealInput) input: object, @Ctx() { caller }: Context) {
    return perform(finalizeAppeal, { ...input, ...job }, caller).then(jobPayload);
  }

  @Mutation(() => PAYLOADS.CompleteJobPayload, mutationOptions(completeJob))
  completeJob(@OnJob() job: JobArgs, @Input(CompleteJobInput) input: object, @Ctx() { caller }: Context) {
    return perform(completeJob, { ...input, ...job }, caller).then(jobPayload);
  }

  @Mutation(() => PAYLOADS.ReviewJobPayload, mutationOptions(reviewJob))
  reviewJob(@OnJob() job: JobArgs, @Input(ReviewJobInput) input: object, @Ctx() { caller }: Context) {
    return perform(reviewJob, { ...input, ...job }, caller).then(jobPayload);
  }

  @Mutation(() => PAYLOADS.ExtendDeadlinePayload, mutationOptions(extendDeadline))
  extendDeadline(@OnJob() job: JobArgs, @Input(ExtendDeadlineInput) input: object, @Ctx() { caller }: Context) {
    return perform(extendDeadline, { ...input, ...job }, caller).then(jobPayload);
  }

  @Mutation(() => PAYLOADS.AdvanceClockPayload, mutationOptions(advanceClock))
  advanceClock(
    @Arg('seconds', () => Int, { description: 'The number of seconds.' }) seconds: number,
    @Ctx() { caller }: Context,
  ) {
    return perform(advanceClock, { seconds }, caller);
  }

  @Mutation(() => PAYLOADS.CancelJobPayload, mutationOptions(cancelJob))
  cancelJob(@OnJob() job: JobArgs, @Ctx() { caller }: Context, @Input(CancelJobInput, 'nullable') input?: object) {
    return perform(cancelJob, { ...input, ...job }, caller).then(jobPayload);
  }
}
