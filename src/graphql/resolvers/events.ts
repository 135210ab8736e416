import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { JOB_EVENT } from '../../market/rules/entities/event.js';
import type { JobEvent as JobEventRow } from '../../market/store/events/events.js';
import type { Context } from '../context.js';
import { User } from '../types/account.js';
import { Bid, Job, JobEvent } from '../types/jobs.js';

@Resolver(() => JobEvent)
export class JobEventResolver {
  @FieldResolver(() => User, { nullable: true, description: JOB_EVENT.fields.actor.description })
  actor(@Root() { actorId }: JobEventRow, @Ctx() { loaders }: Context) {
    return actorId && loaders.userWith(actorId);
  }

  @FieldResolver(() => Job, { nullable: true, description: 'The job in its current state. Null for a deleted draft.' })
  job(@Root() { jobId }: JobEventRow, @Ctx() { loaders }: Context) {
    return loaders.jobs.load(jobId);
  }

  @FieldResolver(() => Bid, {
    nullable: true,
    description: 'The bid in its current state. Null if the event is about the job, or if you can’t see the bid.',
  })
  bid(@Root() { bidId }: JobEventRow, @Ctx() { loaders }: Context) {
    return bidId && loaders.bidWith(bidId);
  }
}
