import type { Context } from '../context.js';
import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { Contractor, Homeowner, User } from '../types/account.js';

const ACCOUNT = 'The person behind the profile. Email and phone are for themselves, admins, and the other side of an award.';

@Resolver(() => Homeowner)
export class HomeownerResolver {
  @FieldResolver(() => User, { nullable: true, description: ACCOUNT })
  async user(@Root() { userId }: Homeowner, @Ctx() { loaders }: Context) {
    return (await loaders.people.load(userId))?.user;
  }
}

@Resolver(() => Contractor)
export class ContractorResolver {
  @FieldResolver(() => User, { nullable: true, description: ACCOUNT })
  async user(@Root() { userId }: Contractor, @Ctx() { loaders }: Context) {
    return (await loaders.people.load(userId))?.user;
  }
}
