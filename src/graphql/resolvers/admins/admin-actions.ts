import { Arg, Args, Ctx, FieldResolver, Query, Resolver, Root } from 'type-graphql';
import { adminActionFilter, listAdminActions } from '../../../market/operations/admins/admin-actions.js';
import { perform } from '../../../platform/call/operation.js';
import type { AdminAction as Action } from '../../../market/store/accounts/admin-actions.js';
import type { Context } from '../../context.js';
import { inputOf } from '../../types/field.js';
import { User, AdminAction, AdminActionConnection } from '../../types/account.js';
import { Connection, PageArgs } from '../../types/connection.js';
import { Job } from '../../types/jobs.js';
import { queryOptions } from '../field-options.js';

const AdminActionFilter = inputOf('AdminActionFilter', adminActionFilter, 'Which of them; all by default.');

@Resolver(() => AdminAction)
export class AdminActionResolver {
  @Query(() => AdminActionConnection, { ...queryOptions(listAdminActions), nullable: true })
  async adminActions(
    @Arg('filter', () => AdminActionFilter, { nullable: true, description: 'Which of them.' })
    filter: object | undefined,
    @Args(() => PageArgs) page: PageArgs,
    @Ctx() { caller }: Context,
  ) {
    return new Connection(await perform(listAdminActions, Object.assign({}, filter, page), caller));
  }

  @FieldResolver(() => User, { nullable: true, description: 'Who did it.' })
  admin(@Root() { adminId }: Action, @Ctx() { loaders }: Context) {
    return loaders.people.load(adminId).then((person) => person?.user);
  }

  @FieldResolver(() => User, { nullable: true, description: 'Whom it concerns; of a job, its owner.' })
  user(@Root() { userId }: Action, @Ctx() { loaders }: Context) {
    return loaders.people.load(userId).then((person) => person?.user);
  }

  @FieldResolver(() => Job, { nullable: true, description: 'The job that was decided on; null where there is none.' })
  job(@Root() { jobId }: Action, @Ctx() { loaders }: Context) {
    return jobId && loaders.jobs.load(jobId);
  }
}
