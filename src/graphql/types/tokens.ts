/** Prepaid tokens as clients see them. */
import { Field, ID, Int, ObjectType } from 'type-graphql';
import type { TokenTransfer as Transfer } from '../../store/ledger.js';
import type { TransferReason } from '../../rules/tokens.js';
import { TokenTransferReason } from '../enums.js';
import { DateTimeScalar } from '../scalars.js';
import { connectionType } from './connection.js';
import { says } from './field.js';
import { Node } from './node.js';

@ObjectType({ description: 'An account’s tokens: a credit unit, not the log-in’s token.' })
export class TokenBalance {
  @Field(() => Int, says('All of them.'))
  balance: number;

  @Field(() => Int, says('Those staked on bids.'))
  held: number;

  @Field(() => Int, says('Those free to spend: `balance` less `held`.'))
  available: number;
}

@ObjectType({
  implements: Node,
  description: 'One movement of tokens from one account to another. It is never changed or removed.',
})
export class TokenTransfer implements Transfer {
  @Field(() => ID, says('The identifier, which begins with `ttx_`.'))
  id: Transfer['id'];

  @Field(() => String, says('Who gave: a user, or one of the house accounts `issuance` and `fees`.'))
  fromAccount: Transfer['fromAccount'];

  @Field(() => String, says('Who got: a user, or one of the house accounts `issuance` and `fees`.'))
  toAccount: Transfer['toAccount'];

  @Field(() => Int, says('How many tokens; always above zero.'))
  amount: number;

  @Field(() => TokenTransferReason, says('Why they moved.'))
  reason: TransferReason;

  @Field(() => ID, says('The job that caused it.', 'nullable'))
  jobId: Transfer['jobId'];

  @Field(() => ID, says('The bid that caused it.', 'nullable'))
  bidId: Transfer['bidId'];

  @Field(() => ID, says('The other party of a referral.', 'nullable'))
  referralUserId: Transfer['referralUserId'];

  @Field(() => ID, says('The admin who made an adjustment.', 'nullable'))
  actorId: Transfer['actorId'];

  @Field(() => String, says('The reason that the admin gave.', 'nullable'))
  note: string | null;

  @Field(() => DateTimeScalar, says('When.'))
  createdAt: Date;
}

@ObjectType({ description: 'An account whose kept figures are not what its transfers and active holds add up to.' })
export class TokenMismatch {
  @Field(() => ID, says('Whose account.'))
  userId: string;

  @Field(() => Int, says('The balance that is kept.'))
  kept: number;

  @Field(() => Int, says('What the transfers add up to.'))
  summed: number;

  @Field(() => Int, says('The held tokens that are kept.'))
  keptHeld: number;

  @Field(() => Int, says('What the active holds add up to.'))
  summedHeld: number;
}

@ObjectType({ description: 'The ledger, added up anew.' })
export class TokenAudit {
  @Field(() => Boolean, says('Whether every figure agrees.'))
  ok: boolean;

  @Field(() => Int, says('How many accounts were looked at.'))
  accounts: number;

  @Field(() => Int, says('How many transfers were added up.'))
  transfers: number;

  @Field(() => [TokenMismatch], says('Those that do not agree.'))
  mismatches: TokenMismatch[];
}

export const TokenTransferConnection = connectionType('TokenTransfer', () => TokenTransfer, 'token transfers');
