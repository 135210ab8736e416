import { Arg, Args, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { adjustTokens, auditTokens, findTransfers, transferFilter } from '../../market/operations/tokens/tokens.js';
import { perform } from '../../platform/call/operation.js';
import type { TokenTransfer as Transfer } from '../../market/store/ledger/ledger.js';
import type { Context } from '../context.js';
import { Input, inputOf } from '../types/field.js';
import { Connection, PageArgs } from '../types/connection.js';
import { AdjustTokensPayload } from '../types/payloads.js';
import { Bid, Job } from '../types/jobs.js';
import { TokenAudit, TokenTransfer, TokenTransferConnection } from '../types/tokens.js';
import { mutationOptions, queryOptions } from './field-options.js';

const AdjustTokensInput = inputOf(
  'AdjustTokensInput',
  adjustTokens.input,
  'The account, the number of tokens, and the reason.',
);

const TokenTransferFilter = inputOf('TokenTransferFilter', transferFilter, 'The transfers to find.');

@Resolver()
export class TokenResolver {
  @Query(() => TokenTransferConnection, { ...queryOptions(findTransfers), nullable: true })
  async tokenTransfers(
    @Arg('filter', () => TokenTransferFilter, { description: 'The transfers to find.' }) filter: object,
    @Args(() => PageArgs) page: PageArgs,
    @Ctx() { caller }: Context,
  ) {
    return new Connection(await perform(findTransfers, Object.assign({}, filter, page), caller));
  }

  @Mutation(() => AdjustTokensPayload, mutationOptions(adjustTokens))
  adjustTokens(@Input(AdjustTokensInput) input: object, @Ctx() { caller }: Context) {
    return perform(adjustTokens, input, caller).then((transfer) => ({ transfer }));
  }

  @Query(() => TokenAudit, { ...queryOptions(auditTokens), nullable: true })
  auditTokens(@Ctx() { caller }: Context) {
    return perform(auditTokens, {}, caller);
  }
}

@Resolver(() => TokenTransfer)
export class TokenTransferResolver {
  @FieldResolver(() => Job, {
    nullable: true,
    description: 'The job that the transfer is for. Null for other transfers, or if you can’t see the job.',
  })
  job(@Root() { jobId }: Transfer, @Ctx() { loaders }: Context) {
    return jobId && loaders.jobs.load(jobId);
  }

  @FieldResolver(() => Bid, {
    nullable: true,
    description: 'The bid that the transfer is for. Null for other transfers, or if you can’t see the bid.',
  })
  bid(@Root() { bidId }: Transfer, @Ctx() { loaders }: Context) {
    return bidId && loaders.bidWith(bidId);
  }
}
