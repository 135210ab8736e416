import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, Float, ID, Info, Query, Resolver, Root } from 'type-graphql';
import { countOwnJobs } from '../../../market/operations/jobs/actions.js';
import {
  IN_ORDER,
  jobFilter,
  listJobs,
  readJob,
  WHO_READS_EVENTS,
  type JobListItem,
  readWarnings,
} from '../../../market/operations/jobs/read.js';
import { readNode } from '../../../market/operations/node.js';
import { listOwnEvents, NOT_AMONG_OWN_EVENTS } from '../../../market/operations/events/events.js';
import type { ReadableJob } from '../../../market/operations/jobs/visible-job.js';
import { GUARANTEED_THEN_NEWEST } from '../../../market/operations/bids/read.js';
import { perform, performWithin } from '../../../platform/call/operation.js';
import { nestedPage } from '../../../platform/call/paging.js';
import { endOf, UPCOMING_MAX, upcomingActions } from '../../../market/rules/jobs/deadlines.js';
import { availableActions } from '../../../market/rules/jobs/available-actions.js';
import { JOB_DISTANCE, JOB_WARNINGS } from '../../../market/rules/entities/job.js';
import { descriptionOf } from '../../../platform/fields/entity.js';
import { DISPUTE, type Dispute as DisputeRow } from '../../../market/rules/entities/dispute.js';
import type { JobOrder } from '../../../market/rules/jobs/orders.js';
import type { BidState } from '../../../market/rules/states.js';
import type { Page } from '../../../platform/db/pages/page.js';
import type { Context } from '../../context.js';
import { BidStatus, JobOrderEnum } from '../../enums.js';
import { inputOf } from '../../types/field.js';
import { includeOfJob, includeOfJobs, needsTotal, selectsUntil } from '../../look-ahead.js';
import { Homeowner, User, Viewer } from '../../types/account.js';
import {
  Bid,
  BidConnection,
  AvailableAction,
  Job,
  JobConnection,
  JobCount,
  JobEventConnection,
  JobWarning,
  Dispute,
  UpcomingAction,
} from '../../types/jobs.js';
import { Connection, PageArgs, type Edge } from '../../types/connection.js';
import { Node } from '../../types/node.js';
import { queryOptions } from '../field-options.js';

const JobFilter = inputOf('JobFilter', jobFilter, 'Filters a list of jobs.');

@Resolver(() => Job)
export class JobResolver {
  @Query(() => Job, { ...queryOptions(readJob), nullable: true })
  job(
    @Arg('id', () => ID, { description: 'The job.' }) id: string,
    @Ctx() { caller }: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return perform(readJob, { id }, caller, includeOfJob(info));
  }

  @Query(() => JobConnection, { ...queryOptions(listJobs), nullable: true })
  async jobs(
    @Arg('filter', () => JobFilter, { nullable: true, description: 'Filters the list.' }) filter: object | undefined,
    @Arg('orderBy', () => JobOrderEnum, {
      nullable: true,
      description: 'The order of the list. The default is newest first. `NEAREST` requires a place in the filter.',
    })
    orderBy: JobOrder | undefined,
    @Args(() => PageArgs) page: PageArgs,
    @Ctx() { caller }: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return new Connection(
      await perform(listJobs, Object.assign({}, filter, page, { orderBy }), caller, includeOfJobs(info)),
    );
  }

  @Query(() => JobEventConnection, {
    ...queryOptions(listOwnEvents),
    description: `${listOwnEvents.description} ${NOT_AMONG_OWN_EVENTS}`,
    nullable: true,
  })
  async myEvents(@Args(() => PageArgs) pageArgs: PageArgs, @Ctx() { caller }: Context) {
    const { page } = await perform(listOwnEvents, pageArgs, caller);
    // The cursors are event positions, so a caller who has read events elsewhere can continue here.
    return new Connection(page, ({ position }) => position ?? '');
  }

  @Query(() => Node, { ...queryOptions(readNode), nullable: true })
  node(
    @Arg('id', () => ID, { description: 'The ID.' }) id: string,
    @Ctx() { caller }: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return perform(readNode, { id }, caller, includeOfJob(info));
  }

  @FieldResolver(() => Homeowner, { nullable: true, description: 'The homeowner who posted the job.' })
  homeowner(@Root() job: ReadableJob, @Ctx() { loaders }: Context) {
    return loaders.homeownerOf(job);
  }

  @FieldResolver(() => BidConnection, {
    description:
      'The bids on the job. Bids with a guaranteed view come first, then the newest. Contractors see only their own ' +
      'bid.',
  })
  bids(
    @Arg('status', () => BidStatus, { nullable: true, description: 'Only bids with this status.' })
    status: BidState | undefined,
    @Args(() => PageArgs) args: PageArgs,
    @Root() job: ReadableJob,
    @Ctx() { loaders }: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    const page = { ...nestedPage(args, GUARANTEED_THEN_NEWEST), total: needsTotal(info) };
    return toConnection(loaders.bidsOn(job, page, status ?? null));
  }

  @FieldResolver(() => Bid, {
    nullable: true,
    description: 'Your own bid, or your newest one if you withdrew a bid and bid again.',
  })
  myBid(@Root() job: ReadableJob, @Ctx() { loaders }: Context) {
    return loaders.ownBidOn(job);
  }

  @FieldResolver(() => Bid, {
    nullable: true,
    description: 'The awarded bid. Null until the job is awarded, or if you can’t see the bid.',
  })
  awardedBid(@Root() job: ReadableJob, @Ctx() { loaders }: Context) {
    return loaders.awardedBidOf(job);
  }

  @FieldResolver(() => Dispute, {
    nullable: true,
    description: 'The dispute, for its parties and admins. Null if the job was never disputed.',
  })
  dispute(@Root() job: ReadableJob, @Ctx() { loaders }: Context) {
    return loaders.disputeOf(job);
  }

  @FieldResolver(() => JobEventConnection, { description: `The job’s events, oldest first. ${WHO_READS_EVENTS}` })
  timeline(
    @Args(() => PageArgs) args: PageArgs,
    @Root() job: ReadableJob,
    @Ctx() { loaders }: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return toConnection(loaders.timelineOf(job, { ...nestedPage(args, IN_ORDER), total: needsTotal(info) }));
  }

  @FieldResolver(() => [JobWarning], { nullable: true, description: descriptionOf(JOB_WARNINGS) })
  async warnings(@Root() job: ReadableJob, @Ctx() { caller }: Context) {
    return readWarnings(await caller.viewer(), job);
  }

  @FieldResolver(() => [AvailableAction], {
    description: 'The operations on the job, and whether you can call each one now.',
  })
  async availableActions(
    @Root() job: ReadableJob,
    @Ctx() { caller, loaders }: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    const facts = await loaders.factsOf(job);
    if (!facts) return [];
    const timers = selectsUntil(info) ? await loaders.timersOf(job) : null;
    const end = timers && endOf(timers.job, caller.services.deadlines);
    return availableActions(await caller.viewer(), job, facts, end);
  }

  @FieldResolver(() => [UpcomingAction], {
    description:
      `The next ${UPCOMING_MAX} actions that the service will take on the job if nobody responds, soonest first. ` +
      'Empty unless the server acts on deadlines (`DEADLINES=act`). Bidders see it only while the job is open, ' +
      'and only their own stake.',
  })
  async upcoming(@Root() job: ReadableJob, @Ctx() { caller, loaders }: Context) {
    const timers = await loaders.timersOf(job);
    return timers ? upcomingActions(timers.job, timers.stakes, caller.services.deadlines) : [];
  }
}

@Resolver(() => JobConnection.Edge)
export class JobEdgeResolver {
  @FieldResolver(() => Float, { nullable: true, description: JOB_DISTANCE.description })
  distance(@Root() { node }: Edge<Partial<JobListItem>>) {
    return node.distance;
  }
}

@Resolver(() => Dispute)
export class DisputeResolver {
  @FieldResolver(() => User, { nullable: true, description: DISPUTE.fields.openedBy.description })
  openedBy(@Root() { openedBy }: DisputeRow, @Ctx() { loaders }: Context) {
    return openedBy && loaders.userWith(openedBy);
  }
}

@Resolver(() => Viewer)
export class ViewerJobsResolver {
  @FieldResolver(() => [JobCount], {
    description: 'The number of jobs in each status, among the jobs that `jobs` would list for you.',
  })
  jobCounts(@Ctx() { caller }: Context) {
    return performWithin(countOwnJobs, {}, caller).then(({ data }) => data);
  }
}

type MaybePage<Row> = Page<Row> | undefined;

function toConnection<Row>(page: MaybePage<Row> | Promise<MaybePage<Row>>): Connection<Row> | Promise<Connection<Row>> {
  return page instanceof Promise ? page.then(connectionOf) : connectionOf(page);
}

function connectionOf<Row>(page: MaybePage<Row>): Connection<Row> {
  if (!page) throw new Error('A loaded job is missing from its own list.');
  return new Connection(page);
}
