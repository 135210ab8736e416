import { Arg, Args, Ctx, FieldResolver, ID, Query, Resolver, Root } from 'type-graphql';
import { OPERATIONS } from '../../operations/index.js';
import type { ReadableJob } from '../../operations/jobs/job.js';
import type { PartOfJob } from '../../operations/jobs/nested.js';
import { jobFilter } from '../../operations/jobs/read.js';
import { perform, performWithin } from '../../operations/operation.js';
import { firstOf } from '../../operations/paging.js';
import { availableActions } from '../../rules/available-actions.js';
import type { BidState } from '../../rules/lifecycle.js';
import { partyOf } from '../../rules/parties.js';
import type { Page } from '../../store/page.js';
import type { Context } from '../context.js';
import { BidStatus } from '../enums.js';
import { inputOf } from '../inputs.js';
import { Homeowner } from '../types/account.js';
import { Bid, BidConnection } from '../types/bids.js';
import { Connection, PageArgs } from '../types/connection.js';
import { Dispute } from '../types/disputes.js';
import { AvailableAction, Job, JobConnection, JobEventConnection } from '../types/jobs.js';
import { Node } from '../types/node.js';
import { of } from './says.js';

const { readJob, listJobs, listBids, listEvents, readNode } = OPERATIONS;

const JobFilter = inputOf('JobFilter', jobFilter, 'Which jobs to list; all that one may see, unless told.');

@Resolver(() => Job)
export class JobResolver {
  @Query(() => Job, { ...of(readJob), nullable: true })
  job(@Arg('id', () => ID, { description: 'The job.' }) id: string, @Ctx() { caller }: Context) {
    return perform(readJob, { id }, caller);
  }

  @Query(() => JobConnection, { ...of(listJobs), nullable: true })
  async jobs(
    @Arg('filter', () => JobFilter, { nullable: true, description: 'Which of them.' }) filter: object | undefined,
    @Args(() => PageArgs) page: PageArgs,
    @Ctx() { caller }: Context,
  ) {
    return new Connection(await perform(listJobs, { ...filter, ...page }, caller));
  }

  @Query(() => Node, { ...of(readNode), nullable: true })
  node(@Arg('id', () => ID, { description: 'The identifier.' }) id: string, @Ctx() { caller }: Context) {
    return perform(readNode, { id }, caller);
  }

  @FieldResolver(() => Homeowner, { nullable: true, description: 'Whose job it is.' })
  async homeowner(@Root() { homeownerId }: ReadableJob, @Ctx() { loaders }: Context) {
    return (await loaders.people.load(homeownerId))?.homeowner;
  }

  @FieldResolver(() => BidConnection, { description: 'The bids, guaranteed views first, then the newest. A contractor reads only their own.' })
  async bids(
    @Arg('status', () => BidStatus, { nullable: true, description: 'Bids in this state.' }) status: BidState | undefined,
    @Args(() => PageArgs) { first, after }: PageArgs,
    @Root() { id }: ReadableJob,
    @Ctx() { caller, loaders }: Context,
  ) {
    const size = firstOf(first);
    if (after != null) return new Connection(await performWithin(listBids, { id, status, first: size, after }, caller));
    return connected(await loaders.bidsOn(size, status ?? null).load(id));
  }

  @FieldResolver(() => Bid, { nullable: true, description: 'The viewer’s own bid: the newest, if one was withdrawn.' })
  async myBid(@Root() { id }: ReadableJob, @Ctx() { loaders }: Context) {
    return (await loaders.ownBids.load(id))?.[0];
  }

  @FieldResolver(() => Bid, { nullable: true, description: 'The bid that got the job; null for those who may not see it.' })
  awardedBid(@Root() { awardedBidId }: ReadableJob, @Ctx() { loaders }: Context) {
    return awardedBidId && loaders.bids.load(awardedBidId);
  }

  @FieldResolver(() => Dispute, { nullable: true, description: 'The dispute, for its parties and admins; null where there is none.' })
  async dispute(@Root() job: ReadableJob, @Ctx() context: Context) {
    return context.loaders.disputes.load(await partOf(job, context));
  }

  @FieldResolver(() => JobEventConnection, { description: 'What happened, from the beginning: all that concerns a party, and the changes of state for others.' })
  async timeline(@Args(() => PageArgs) { first, after }: PageArgs, @Root() job: ReadableJob, @Ctx() context: Context) {
    const size = firstOf(first);
    if (after != null) return new Connection(await performWithin(listEvents, { id: job.id, first: size, after }, context.caller));
    return connected(await context.loaders.eventsOf(size).load(await partOf(job, context)));
  }

  @FieldResolver(() => [AvailableAction], { description: 'Every operation on the job, and whether the caller may use it now.' })
  async availableActions(@Root() job: ReadableJob, @Ctx() { caller, loaders }: Context) {
    const [viewer, bids, balance] = await Promise.all([caller.viewer(), loaders.ownBids.load(job.id), loaders.balance.load('own')]);
    return availableActions(viewer, {
      job,
      ownBids: (bids ?? []).map(({ status }) => status),
      liveBids: job.liveBidCount,
      availableTokens: balance?.available ?? 0,
    });
  }
}

/** What the viewer is to a job that they see; whether a contractor has bid makes no difference to what follows from it. */
async function partOf(job: ReadableJob, { caller }: Context): Promise<PartOfJob> {
  return { jobId: job.id, party: partyOf(await caller.viewer(), job, true) };
}

function connected<Row>(page: Page<Row> | undefined): Connection<Row> {
  if (!page) throw new Error('A job that was read has vanished from its own list.');
  return new Connection(page);
}
