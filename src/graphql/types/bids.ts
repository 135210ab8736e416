/** Bids as clients see them. */
import { Field, Float, ID, Int, ObjectType } from 'type-graphql';
import type { BidState } from '../../rules/lifecycle.js';
import type { Bid as BidRow, Hold as HoldRow } from '../../store/bids.js';
import { BidStatus, HoldStatus } from '../enums.js';
import { DateScalar, DateTimeScalar } from '../scalars.js';
import { connectionType } from './connection.js';
import { says } from './field.js';
import { Node } from './node.js';

@ObjectType({
  implements: Node,
  description: 'A contractor’s offer to do a job. It is for the job’s owner, the contractor and admins.',
})
export class Bid implements BidRow {
  @Field(() => ID, says('The identifier, which begins with `bid_`.'))
  id: BidRow['id'];

  @Field(() => ID, says('The job.'))
  jobId: BidRow['jobId'];

  @Field(() => ID, says('Who made it.'))
  contractorId: BidRow['contractorId'];

  @Field(() => BidStatus, says('Where the bid stands. Reading it never changes that.'))
  status: BidState;

  @Field(() => Float, says('What the work would cost.'))
  amount: number;

  @Field(() => Int, says('How many days it would take.', 'nullable'))
  estimatedDurationDays: number | null;

  @Field(() => String, says('What the contractor has to say.', 'nullable'))
  message: string | null;

  @Field(() => DateScalar, says('When the work could begin.', 'nullable'))
  proposedStartDate: string | null;

  @Field(() => Boolean, says('Whether the amount covers the materials.', 'nullable'))
  materialsIncluded: boolean | null;

  @Field(() => String, says('How and when to pay.', 'nullable'))
  paymentTerms: string | null;

  @Field(() => Boolean, says('Whether tokens were staked to be seen first.'))
  guaranteedView: boolean;

  @Field(() => ID, says('The stake of a guaranteed view.', 'nullable'))
  holdId: BidRow['holdId'];

  @Field(() => DateTimeScalar, says('When the bid was made.'))
  createdAt: Date;

  @Field(() => DateTimeScalar, says('When the bid last changed.'))
  updatedAt: Date;

  @Field(() => DateTimeScalar, says('When the bid came before the homeowner.'))
  submittedAt: Date;
}

@ObjectType({
  description: 'Tokens that a contractor has staked on a bid. They are free again when the bid or its job ends.',
})
export class Hold implements HoldRow {
  @Field(() => ID, says('The identifier, which begins with `hld_`.'))
  id: HoldRow['id'];

  @Field(() => ID, says('The bid.'))
  bidId: HoldRow['bidId'];

  @Field(() => ID, says('The job.'))
  jobId: HoldRow['jobId'];

  @Field(() => Int, says('How many tokens.'))
  amount: number;

  @Field(() => HoldStatus, says('Whether they are still held.'))
  status: HoldRow['status'];

  @Field(() => DateTimeScalar, says('When they were staked.'))
  createdAt: Date;

  @Field(() => DateTimeScalar, says('When they were freed.', 'nullable'))
  releasedAt: Date | null;
}

export const BidConnection = connectionType('Bid', () => Bid, 'bids');
