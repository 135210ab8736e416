import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, ID, Info, Int, Mutation, Resolver } from 'type-graphql';
import { OPERATIONS } from '../../operations/index.js';
import { newestFirst } from '../../operations/jobs/read.js';
import type { ReadableJob } from '../../operations/jobs/readable.js';
import { perform, type Allowed, type Operation } from '../../operations/operation.js';
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

/** A transition, which answers as much of the job as is selected. */
interface Transition {
  readonly id: string;
  readonly expectedVersion: Version;
  readonly input?: object | undefined;
}

/** The job is the one that the mutation names, whatever its input may hold. */
function onJob({ id, expectedVersion, input }: Transition): object {
  return Object.assign({}, input, { id, expectedVersion });
}

const changed = (job: ReadableJob) => ({ job });

function withEdge(job: ReadableJob) {
  return { job, jobEdge: { node: job, cursor: cursorOf(newestFirst(job)) } };
}

function move<Input, A extends Allowed>(
  operation: Operation<Input, ReadableJob, A>,
  sent: Transition,
  { caller }: Context,
  info: GraphQLResolveInfo,
): Promise<{ job: ReadableJob }> {
  return perform(operation, onJob(sent), caller, besideJobIn(info, 'job')).then(changed);
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
    return perform(updateJob, onJob({ id, expectedVersion, input }), caller).then(changed);
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
    @Ctx() context: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return move(cancelJob, { id, expectedVersion, input }, context, info);
  }

  @Mutation(() => PAYLOADS.awardJob, of(awardJob))
  awardJob(
    @JobId() id: string,
    @Input(AwardJobInput) input: object,
    @Version() expectedVersion: Version,
    @Ctx() context: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return move(awardJob, { id, expectedVersion, input }, context, info);
  }

  @Mutation(() => PAYLOADS.checkInJob, of(checkInJob))
  checkInJob(
    @JobId() id: string,
    @Input(CheckInJobInput, 'nullable') input: object | undefined,
    @Version() expectedVersion: Version,
    @Ctx() context: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return move(checkInJob, { id, expectedVersion, input }, context, info);
  }

  @Mutation(() => PAYLOADS.submitJobForReview, of(submitJobForReview))
  submitJobForReview(
    @JobId() id: string,
    @Input(SubmitJobForReviewInput, 'nullable') input: object | undefined,
    @Version() expectedVersion: Version,
    @Ctx() context: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return move(submitJobForReview, { id, expectedVersion, input }, context, info);
  }

  @Mutation(() => PAYLOADS.approveJob, of(approveJob))
  approveJob(
    @JobId() id: string,
    @Input(ApproveJobInput, 'nullable') input: object | undefined,
    @Version() expectedVersion: Version,
    @Ctx() context: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return move(approveJob, { id, expectedVersion, input }, context, info);
  }

  @Mutation(() => PAYLOADS.disputeJob, of(disputeJob))
  disputeJob(
    @JobId() id: string,
    @Input(DisputeJobInput) input: object,
    @Version() expectedVersion: Version,
    @Ctx() context: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return move(disputeJob, { id, expectedVersion, input }, context, info);
  }

  @Mutation(() => PAYLOADS.escalateJob, of(escalateJob))
  escalateJob(
    @JobId() id: string,
    @Input(EscalateJobInput) input: object,
    @Version() expectedVersion: Version,
    @Ctx() context: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return move(escalateJob, { id, expectedVersion, input }, context, info);
  }

  @Mutation(() => PAYLOADS.resolveDispute, of(resolveDispute))
  resolveDispute(
    @JobId() id: string,
    @Input(ResolveDisputeInput) input: object,
    @Version() expectedVersion: Version,
    @Ctx() context: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return move(resolveDispute, { id, expectedVersion, input }, context, info);
  }

  @Mutation(() => PAYLOADS.reachDecision, of(reachDecision))
  reachDecision(
    @JobId() id: string,
    @Input(ReachDecisionInput) input: object,
    @Version() expectedVersion: Version,
    @Ctx() context: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return move(reachDecision, { id, expectedVersion, input }, context, info);
  }

  @Mutation(() => PAYLOADS.fileAppeal, of(fileAppeal))
  fileAppeal(
    @JobId() id: string,
    @Input(FileAppealInput) input: object,
    @Version() expectedVersion: Version,
    @Ctx() context: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return move(fileAppeal, { id, expectedVersion, input }, context, info);
  }

  @Mutation(() => PAYLOADS.finalizeAppeal, of(finalizeAppeal))
  finalizeAppeal(
    @JobId() id: string,
    @Input(FinalizeAppealInput) input: object,
    @Version() expectedVersion: Version,
    @Ctx() context: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return move(finalizeAppeal, { id, expectedVersion, input }, context, info);
  }

  @Mutation(() => PAYLOADS.completeJob, of(completeJob))
  completeJob(
    @JobId() id: string,
    @Input(CompleteJobInput) input: object,
    @Version() expectedVersion: Version,
    @Ctx() context: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return move(completeJob, { id, expectedVersion, input }, context, info);
  }
}
