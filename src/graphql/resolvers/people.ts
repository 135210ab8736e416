import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { ReadableContractor, ReadableHomeowner } from '../../operations/accounts/people.js';
import type { Context } from '../context.js';
import { Contractor, Homeowner, User } from '../types/account.js';

const ACCOUNT =
  'The person behind the profile. Email and phone are for themselves, admins, and the other side of an award.';

@Resolver(() => Homeowner)
export class HomeownerResolver {
  @FieldResolver(() => User, { nullable: true, description: ACCOUNT })
  user(@Root() profile: ReadableHomeowner, @Ctx() { loaders }: Context) {
    return loaders.userBehind(profile);
  }
}

@Resolver(() => Contractor)
export class ContractorResolver {
  @FieldResolver(() => User, { nullable: true, description: ACCOUNT })
  user(@Root() profile: ReadableContractor, @Ctx() { loaders }: Context) {
    return loaders.userBehind(profile);
  }
}
