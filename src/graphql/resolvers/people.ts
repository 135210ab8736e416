import { Args, Ctx, FieldResolver, Float, Resolver, Root } from 'type-graphql';
import { CONTRACTOR_DISTANCE } from '../../market/rules/entities/people.js';
import type { ContractorListItem } from '../../market/operations/people/contractors.js';
import type { ReadableContractor, ReadableHomeowner, ReadableUser } from '../../market/store/people/people.js';
import { WORK_NEWEST_FIRST } from '../../market/operations/people/contractor-work.js';
import { REVIEWS_NEWEST_FIRST } from '../../market/operations/people/reviews.js';
import { nestedPage } from '../../platform/call/paging.js';
import { PURCHASES_NEWEST_FIRST } from '../../market/operations/purchases/purchases.js';
import { TRANSFERS_NEWEST_FIRST } from '../../market/operations/tokens/tokens.js';
import type { Context } from '../context.js';
import { Contractor, ContractorConnection, Homeowner, ReviewConnection, User } from '../types/account.js';
import { Connection, PageArgs, type Edge } from '../types/connection.js';
import { BidConnection, JobConnection } from '../types/jobs.js';
import { PurchaseConnection } from '../types/purchases.js';
import { TokenBalance, TokenTransferConnection } from '../types/tokens.js';

const ACCOUNT =
  'The user behind the profile. Only the user, the other party to an awarded job, and admins can see the ' +
  'email address and phone number.';

const FOR_THEMSELVES = 'Null for everyone except the user and admins.';

@Resolver(() => User)
export class UserResolver {
  @FieldResolver(() => Homeowner, { nullable: true, description: 'The homeowner’s profile. Null for everyone else.' })
  homeowner(@Root() { id }: ReadableUser, @Ctx() { loaders }: Context) {
    return loaders.people.load(id).then((person) => person?.homeowner);
  }

  @FieldResolver(() => Contractor, { nullable: true, description: 'The contractor’s profile. Null for everyone else.' })
  contractor(@Root() { id }: ReadableUser, @Ctx() { loaders }: Context) {
    return loaders.people.load(id).then((person) => person?.contractor);
  }

  @FieldResolver(() => TokenBalance, { nullable: true, description: `The user’s prepaid tokens. ${FOR_THEMSELVES}` })
  tokens(@Root() { id }: ReadableUser, @Ctx() { loaders }: Context) {
    return loaders.balances.load(id);
  }

  @FieldResolver(() => TokenTransferConnection, {
    nullable: true,
    description: `The user’s token transfers, newest first. ${FOR_THEMSELVES}`,
  })
  async tokenTransactions(
    @Args(() => PageArgs) pageArgs: PageArgs,
    @Root() { id }: ReadableUser,
    @Ctx() { loaders }: Context,
  ) {
    const page = await loaders.transfersOf(id, nestedPage(pageArgs, TRANSFERS_NEWEST_FIRST));
    return page && new Connection(page);
  }

  @FieldResolver(() => PurchaseConnection, {
    nullable: true,
    description: `The user’s token purchases, newest first. ${FOR_THEMSELVES}`,
  })
  async purchases(@Args(() => PageArgs) pageArgs: PageArgs, @Root() { id }: ReadableUser, @Ctx() { loaders }: Context) {
    const page = await loaders.purchasesOf(id, nestedPage(pageArgs, PURCHASES_NEWEST_FIRST));
    return page && new Connection(page);
  }
}

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

  @FieldResolver(() => ReviewConnection, { description: 'Reviews from homeowners, newest first.' })
  async reviews(
    @Args(() => PageArgs) pageArgs: PageArgs,
    @Root() { id }: ReadableContractor,
    @Ctx() { loaders }: Context,
  ) {
    const page = await loaders.reviewsOf(id, nestedPage(pageArgs, REVIEWS_NEWEST_FIRST));
    if (!page) throw new Error('The list of a contractor’s reviews is missing.');
    return new Connection(page);
  }

  @FieldResolver(() => JobConnection, {
    nullable: true,
    description: `The jobs awarded to the contractor, newest first. ${FOR_THEMSELVES}`,
  })
  async jobs(
    @Args(() => PageArgs) pageArgs: PageArgs,
    @Root() { id }: ReadableContractor,
    @Ctx() { loaders }: Context,
  ) {
    const page = await loaders.jobsOf(id, nestedPage(pageArgs, WORK_NEWEST_FIRST));
    return page && new Connection(page);
  }

  @FieldResolver(() => BidConnection, {
    nullable: true,
    description: `The contractor’s bids, newest first. ${FOR_THEMSELVES}`,
  })
  async bids(
    @Args(() => PageArgs) pageArgs: PageArgs,
    @Root() { id }: ReadableContractor,
    @Ctx() { loaders }: Context,
  ) {
    const page = await loaders.bidsOf(id, nestedPage(pageArgs, WORK_NEWEST_FIRST));
    return page && new Connection(page);
  }
}

@Resolver(() => ContractorConnection.Edge)
export class ContractorEdgeResolver {
  @FieldResolver(() => Float, { nullable: true, description: CONTRACTOR_DISTANCE.description })
  distance(@Root() { node }: Edge<ContractorListItem>) {
    return node.distance;
  }
}
