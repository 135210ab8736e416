/** One's own account, from which a client’s first query starts. */
import { Field, ObjectType } from 'type-graphql';
import { Contractor, Homeowner, User } from './account.js';
import { says } from './field.js';
import { TokenBalance } from './tokens.js';

@ObjectType({ description: 'Whoever is logged in.' })
export class Viewer {
  @Field(() => User, says('The person.'))
  user: User;

  @Field(() => Homeowner, says('The profile of a homeowner; null for others.', 'nullable'))
  homeowner: Homeowner | null;

  @Field(() => Contractor, says('The profile of a contractor; null for others.', 'nullable'))
  contractor: Contractor | null;

  @Field(() => TokenBalance, says('The prepaid tokens.'))
  tokens: TokenBalance;

  @Field(() => String, says('The code to refer others with: both of you get 10 tokens.'))
  referralCode: string;
}
