import { Arg, Args, Ctx, FieldResolver, ID, Int, Mutation, Resolver, Root } from 'type-graphql';
import type { Me } from '../../../market/operations/accounts/me.js';
import type { BidOperationName } from '../../../market/rules/bids.js';
import { availableBidActions } from '../../../market/rules/jobs/available-actions.js';
import type { Bid as BidRow } from '../../../market/store/bids/bids.js';
import type { Hold as HoldRow } from '../../../market/store/bids/holds.js';
import { guaranteedThenNewest, listOwnBids, NEWEST_VERSION_FIRST } from '../../../market/operations/bids/read.js';
import { reviseBid } from '../../../market/operations/bids/revise.js';
import { submitBid } from '../../../market/operations/bids/submit.js';
import { rejectBid, shortlistBid, viewBid, withdrawBid } from '../../../market/operations/bids/transition.js';
import { perform, performWithin } from '../../../platform/call/operation.js';
import { cursorOf, nestedPage } from '../../../platform/call/paging.js';
import type { Context } from '../../context.js';
import { BidStatus } from '../../enums.js';
import { Input, inputOf } from '../../types/field.js';
import { Contractor, Viewer } from '../../types/account.js';
import { Bid, BidConnection, BidRevisionConnection, Hold, AvailableBidAction, Job } from '../../types/jobs.js';
import { Connection, PageArgs } from '../../types/connection.js';
import {
  RejectBidPayload,
  ReviseBidPayload,
  ShortlistBidPayload,
  SubmitBidPayload,
  ViewBidPayload,
  WithdrawBidPayload,
} from '../../types/payloads.js';
import { mutationOptions } from '../field-options.js';

const SubmitBidInput = inputOf('SubmitBidInput', submitBid.input, 'The bid to submit.');

const ReviseBidInput = inputOf(
  'ReviseBidInput',
  reviseBid.input,
  'The fields to change. Omitted fields are unchanged; null clears a field.',
);

const BidId = () => Arg('id', () => ID, { description: 'The bid.' });

const bidPayload = (bid: BidRow) => ({ bid });

function withEdge(bid: BidRow) {
  return { bid, bidEdge: { node: bid, cursor: cursorOf(guaranteedThenNewest(bid)) } };
}

type BidMutationName = BidOperationName | 'submitBid';

@Resolver(() => Bid)
export class BidResolver implements Readonly<Record<BidMutationName, (...args: never[]) => unknown>> {
  @Mutation(() => SubmitBidPayload, mutationOptions(submitBid))
  submitBid(
    @Arg('jobId', () => ID, { description: 'The job.' }) jobId: string,
    @Input(SubmitBidInput) input: object,
    @Ctx() { caller }: Context,
  ) {
    return perform(submitBid, Object.assign({}, input, { jobId }), caller).then(withEdge);
  }

  @Mutation(() => ReviseBidPayload, mutationOptions(reviseBid))
  reviseBid(
    @BidId() id: string,
    @Ctx() { caller }: Context,
    @Input(ReviseBidInput, 'nullable') input?: object,
    @Arg('expectedVersion', () => Int, {
      nullable: true,
      description: 'Fails with `STALE_VERSION` if the bid has been revised since this version.',
    })
    expectedVersion?: number,
  ) {
    return perform(reviseBid, { ...input, id, expectedVersion }, caller).then(bidPayload);
  }

  @Mutation(() => ViewBidPayload, mutationOptions(viewBid))
  viewBid(@BidId() id: string, @Ctx() { caller }: Context) {
    return perform(viewBid, { id }, caller).then(bidPayload);
  }

  @Mutation(() => ShortlistBidPayload, mutationOptions(shortlistBid))
  shortlistBid(@BidId() id: string, @Ctx() { caller }: Context) {
    return perform(shortlistBid, { id }, caller).then(bidPayload);
  }

  @Mutation(() => RejectBidPayload, mutationOptions(rejectBid))
  rejectBid(@BidId() id: string, @Ctx() { caller }: Context) {
    return perform(rejectBid, { id }, caller).then(bidPayload);
  }

  @Mutation(() => WithdrawBidPayload, mutationOptions(withdrawBid))
  withdrawBid(@BidId() id: string, @Ctx() { caller }: Context) {
    return perform(withdrawBid, { id }, caller).then(bidPayload);
  }

  @FieldResolver(() => Job, { nullable: true, description: 'The job. Null if you can’t see it.' })
  job(@Root() { jobId }: BidRow, @Ctx() { loaders }: Context) {
    return loaders.jobs.load(jobId);
  }

  @FieldResolver(() => Contractor, { nullable: true, description: 'The contractor who made the bid.' })
  contractor(@Root() bid: BidRow, @Ctx() { loaders }: Context) {
    return loaders.contractorOf(bid);
  }

  @FieldResolver(() => [AvailableBidAction], {
    description: 'The operations on the bid, and whether you can call each one now.',
  })
  async availableActions(@Root() bid: BidRow, @Ctx() { caller, loaders }: Context) {
    const [viewer, row] = await Promise.all([caller.viewer(), loaders.bidsToActOn.load(bid.id)]);
    if (!row) throw new Error('A loaded bid is missing.');
    return availableBidActions(viewer, { ...row, bid });
  }

  @FieldResolver(() => BidRevisionConnection, { description: 'The earlier offers of this bid, newest first.' })
  async revisions(@Args(() => PageArgs) pageArgs: PageArgs, @Root() { id }: BidRow, @Ctx() { loaders }: Context) {
    const page = await loaders.revisionsOf(id, nestedPage(pageArgs, NEWEST_VERSION_FIRST));
    if (!page) throw new Error('A bid that was asked for has no list of revisions.');
    return new Connection(page);
  }

  @FieldResolver(() => Hold, {
    nullable: true,
    description: 'The tokens staked for a guaranteed view. Null for other bids.',
  })
  hold(@Root() { holdId }: BidRow, @Ctx() { loaders }: Context) {
    return holdId && loaders.holds.load(holdId);
  }
}

@Resolver(() => Hold)
export class HoldResolver {
  @FieldResolver(() => Job, { nullable: true, description: 'The job. Null if you can’t see it.' })
  job(@Root() { jobId }: HoldRow, @Ctx() { loaders }: Context) {
    return loaders.jobs.load(jobId);
  }

  @FieldResolver(() => Bid, { nullable: true, description: 'The bid that the tokens are staked on.' })
  bid(@Root() { bidId }: HoldRow, @Ctx() { loaders }: Context) {
    return loaders.bidWith(bidId);
  }
}

@Resolver(() => Viewer)
export class ViewerBidsResolver {
  @FieldResolver(() => BidConnection, {
    nullable: true,
    description: 'Your bids, newest first. Null unless you’re a contractor.',
  })
  async bids(
    @Arg('status', () => BidStatus, { nullable: true, description: 'Only bids with this status.' })
    status: string | undefined,
    @Args(() => PageArgs) page: PageArgs,
    @Root() { contractor }: Me,
    @Ctx() { caller }: Context,
  ) {
    return contractor && new Connection(await performWithin(listOwnBids, { status, ...page }, caller));
  }
}
