/** The mutations of jobs. The transitions are made from the rows of the lifecycle, one for each. */
import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, ID, Info, Int, Mutation, Resolver } from 'type-graphql';
import { OPERATIONS } from '../../operations/index.js';
import { newestFirst } from '../../operations/jobs/read.js';
import type { ReadableJob } from '../../operations/jobs/readable.js';
import { perform } from '../../operations/operation.js';
import { cursorOf } from '../../operations/paging.js';
import { isRequired, kindOf, metaOf } from '../../operations/shape-kinds.js';
import { JOB_TRANSITION_KEYS, JOB_TRANSITIONS, type JobTransitionKey } from '../../rules/lifecycle.js';
import type { Context } from '../context.js';
import { Input, inputOf } from '../inputs.js';
import { includeOfJobIn } from '../look-ahead.js';
import { PAYLOADS } from '../types/payloads.js';
import { ofMutation } from './of-operation.js';

const { createJob, updateJob, deleteJob } = OPERATIONS;

const CreateJobInput = inputOf('CreateJobInput', createJob.input, 'The draft.');
const UpdateJobInput = inputOf('UpdateJobInput', updateJob.input, 'What to change: left out stays, null clears.');

/** The arguments that every mutation of a job has. */
const JobId = () => Arg('id', () => ID, { description: 'The job.' });
const Version = () =>
  Arg('expectedVersion', () => Int, {
    nullable: true,
    description: 'Refuses with STALE_VERSION if the job has changed since it had this version.',
  });

type Version = number | undefined;

/** The job is that of the argument `id`, even if the input contains another one. */
function onJob(id: string, expectedVersion: Version, input: object | undefined): object {
  return Object.assign({}, input, { id, expectedVersion });
}

const changed = (job: ReadableJob) => ({ job });

function withEdge(job: ReadableJob) {
  return { job, jobEdge: { node: job, cursor: cursorOf(newestFirst(job)) } };
}

@Resolver()
export class JobMutations {
  @Mutation(() => PAYLOADS.createJob, ofMutation(createJob))
  createJob(@Input(CreateJobInput) input: object, @Ctx() { caller }: Context) {
    return perform(createJob, input, caller).then(withEdge);
  }

  @Mutation(() => PAYLOADS.updateJob, ofMutation(updateJob))
  updateJob(
    @JobId() id: string,
    @Input(UpdateJobInput, 'nullable') input: object | undefined,
    @Version() expectedVersion: Version,
    @Ctx() { caller }: Context,
  ) {
    return perform(updateJob, onJob(id, expectedVersion, input), caller).then(changed);
  }

  @Mutation(() => PAYLOADS.deleteJob, ofMutation(deleteJob))
  deleteJob(@JobId() id: string, @Version() expectedVersion: Version, @Ctx() { caller }: Context) {
    return perform(deleteJob, { id, expectedVersion }, caller).then((job) => ({ job, deletedJobId: job.id }));
  }
}

/** Descriptions of the inputs of transitions; one that is missing here gets a general description. */
const INPUTS: { readonly [Key in JobTransitionKey]?: string } = {
  cancel: 'Why.',
  award: 'The bid that gets the job.',
  checkIn: 'What there is to say.',
  submitForReview: 'What there is to say.',
  approve: 'The rating and the review.',
  dispute: 'What is wrong.',
  escalate: 'Why.',
  resolveDispute: 'How to settle it.',
  reachDecision: 'The decision.',
  fileAppeal: 'The appeal.',
  finalizeAppeal: 'The last word.',
  complete: 'Why.',
};

for (const key of JOB_TRANSITION_KEYS) addTransition(key);

/**
 * Adds a mutation as the decorators of a method would: the job and its version are arguments, all other parameters are
 * its input.
 */
function addTransition(key: JobTransitionKey): void {
  const { operation: name } = JOB_TRANSITIONS[key];
  const operation = OPERATIONS[name];
  const run = (
    id: string,
    input: object | undefined,
    version: Version,
    { caller }: Context,
    info: GraphQLResolveInfo,
  ) =>
    perform<unknown, object, typeof operation.allows>(
      operation,
      onJob(id, version, input),
      caller,
      includeOfJobIn(info, 'job'),
    ).then((answer) => ('job' in answer ? answer : { job: answer }));
  const input = inputFor(key);
  const withoutInput = (id: string, version: Version, context: Context, info: GraphQLResolveInfo) =>
    run(id, undefined, version, context, info);
  const mutations = JobMutations.prototype;
  Object.defineProperty(mutations, name, { value: input ? run : withoutInput, configurable: true, writable: true });
  const parameters = input ? [JobId(), input, Version(), Ctx(), Info()] : [JobId(), Version(), Ctx(), Info()];
  for (const [at, decorate] of parameters.entries()) decorate(mutations, name, at);
  Mutation(() => PAYLOADS[name], ofMutation(operation))(mutations, name, {});
}

/** No input where the transition has no other parameters; an optional one where all of them are optional. */
function inputFor(key: JobTransitionKey): ReturnType<typeof Input> | undefined {
  const { operation: name } = JOB_TRANSITIONS[key];
  const { input } = OPERATIONS[name];
  const kind = kindOf(input);
  const fields = kind.is === 'object' ? Object.values(kind.schema.shape) : [];
  const own = fields.filter((field) => !metaOf(field).parameter);
  if (own.length === 0) return undefined;
  const description = INPUTS[key] ?? 'What comes with the call.';
  const type = inputOf(`${name[0]?.toUpperCase()}${name.slice(1)}Input`, input, description);
  return Input(type, own.some(isRequired) ? undefined : 'nullable');
}
