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

const AdminActionFilter = inputOf('AdminActionFilter', adminActionFilter, 'Filters a list of admin actions.');

@Resolver(() => AdminAction)
export class AdminActionResolver {
  @Query(() => AdminActionConnection, { ...queryOptions(listAdminActions), nullable: true })
  async adminActions(
    @Arg('filter', () => AdminActionFilter, { nullable: true, description: 'Filters the list.' })
    filter: object | undefined,
    @Args(() => PageArgs) page: PageArgs,
    @Ctx() { caller }: Context,
  ) {
    return new Connection(await perform(listAdminActions, Object.assign({}, filter, page), caller));
  }

  @FieldResolver(() => User, { nullable: true, description: 'The admin who performed the action.' })
  admin(@Root() { adminId }: Action, @Ctx() { loaders }: Context) {
    return loaders.people.load(adminId).then((person) => person?.user);
  }

  @FieldResolver(() => User, {
    nullable: true,
    description: 'The user that the action concerns. For a job, its owner.',
  })
  user(@Root() { userId }: Action, @Ctx() { loaders }: Context) {
    return loaders.people.load(userId).then((person) => person?.user);
  }

  @FieldResolver(() => Job, {
    nullable: true,
    description: 'The job that the action concerns. Null for actions on a user.',
  })
  job(@Root() { jobId }: Action, @Ctx() { loaders }: Context) {
    return jobId && loaders.jobs.load(jobId);
  }
}
