/** A dispute, chapter by chapter, as its parties see it. */
import { Field, ID, ObjectType } from 'type-graphql';
import type { Dispute as Told } from '../../rules/disputes.js';
import { DisputeEnding } from '../enums.js';
import { DateTimeScalar } from '../scalars.js';
import { says } from './field.js';

type Part<Key extends keyof Told> = NonNullable<Told[Key]>;

@ObjectType({ description: 'A resolution that one party has proposed and the other can still agree to.' })
export class DisputeProposal implements Part<'proposal'> {
  @Field(() => String, says('How to settle it.'))
  resolution: string;

  @Field(() => ID, says('Whose proposal it is.', 'nullable'))
  proposedBy: Part<'proposal'>['proposedBy'];

  @Field(() => String, says('Who agrees, as the proposer wrote it.', 'nullable'))
  agreedBy: string | null;

  @Field(() => DateTimeScalar, says('When it was proposed.'))
  proposedAt: Date;
}

@ObjectType({ description: 'That an admin was asked to decide.' })
export class DisputeEscalation implements Part<'escalation'> {
  @Field(() => String, says('Why the parties could not settle it.'))
  reason: string;

  @Field(() => ID, says('Who escalated it.', 'nullable'))
  by: Part<'escalation'>['by'];

  @Field(() => DateTimeScalar, says('When.'))
  at: Date;
}

@ObjectType({ description: 'What an admin decided.' })
export class DisputeDecision implements Part<'decision'> {
  @Field(() => String, says('What was decided.'))
  decision: string;

  @Field(() => String, says('The ruling in full.'))
  ruling: string;

  @Field(() => String, says('What the parties have to do.', 'nullable'))
  resolutionTerms: string | null;

  @Field(() => ID, says('Which admin decided.', 'nullable'))
  by: Part<'decision'>['by'];

  @Field(() => DateTimeScalar, says('When.'))
  at: Date;
}

@ObjectType({ description: 'The contractor’s appeal against the decision.' })
export class DisputeAppeal implements Part<'appeal'> {
  @Field(() => String, says('Why the decision is wrong.'))
  reason: string;

  @Field(() => String, says('What supports the appeal.', 'nullable'))
  supportingEvidence: string | null;

  @Field(() => ID, says('Who appealed.', 'nullable'))
  by: Part<'appeal'>['by'];

  @Field(() => DateTimeScalar, says('When.'))
  at: Date;
}

@ObjectType({ description: 'The last word on an appeal.' })
export class DisputeFinalDecision implements Part<'finalDecision'> {
  @Field(() => String, says('What was decided for good.'))
  finalDecision: string;

  @Field(() => String, says('The ruling in full.'))
  ruling: string;

  @Field(() => ID, says('Which admin decided.', 'nullable'))
  by: Part<'finalDecision'>['by'];

  @Field(() => DateTimeScalar, says('When.'))
  at: Date;
}

@ObjectType({ description: 'How the dispute ended.' })
export class DisputeEnd implements Part<'ending'> {
  @Field(() => DisputeEnding, says('In which way.'))
  how: Part<'ending'>['how'];

  @Field(() => String, says('The agreed resolution, the final decision, or the admin’s reason.', 'nullable'))
  text: string | null;

  @Field(() => ID, says('Whose call ended it.', 'nullable'))
  by: Part<'ending'>['by'];

  @Field(() => DateTimeScalar, says('When.'))
  at: Date;
}

@ObjectType({
  description: 'A disagreement about the work, from its beginning to its end. For the parties and admins.',
})
export class Dispute implements Told {
  @Field(() => String, says('What is wrong, in the homeowner’s words.'))
  reason: string;

  @Field(() => String, says('More about it.', 'nullable'))
  details: string | null;

  @Field(() => ID, says('Who began it.', 'nullable'))
  openedBy: Told['openedBy'];

  @Field(() => DateTimeScalar, says('When it began.'))
  openedAt: Date;

  @Field(() => DisputeProposal, says('The proposal that can still be agreed to.', 'nullable'))
  proposal: DisputeProposal | null;

  @Field(() => DisputeEscalation, says('That an admin was asked to decide.', 'nullable'))
  escalation: DisputeEscalation | null;

  @Field(() => DisputeDecision, says('What the admin decided.', 'nullable'))
  decision: DisputeDecision | null;

  @Field(() => DisputeAppeal, says('The appeal against that.', 'nullable'))
  appeal: DisputeAppeal | null;

  @Field(() => DisputeFinalDecision, says('The last word.', 'nullable'))
  finalDecision: DisputeFinalDecision | null;

  @Field(() => DisputeEnd, says('How it ended; null while it goes on.', 'nullable'))
  ending: DisputeEnd | null;
}
