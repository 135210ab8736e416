/** The rules that a client may draw its forms and buttons from. */
import { Field, Int, ObjectType } from 'type-graphql';
import type { BidState, JobActionName, JobState } from '../../rules/lifecycle.js';
import type { Urgency } from '../../rules/publishing.js';
import { BidStatus, JobActionEnum, JobStatus, UrgencyEnum } from '../enums.js';
import { says } from './field.js';

@ObjectType({ description: 'An operation on a job, as the table of the lifecycle has it.' })
export class LifecycleAction {
  @Field(() => JobActionEnum, says('The operation’s name among the actions.'))
  action: JobActionName;

  @Field(() => String, says('The mutation.'))
  operation: string;

  @Field(() => [JobStatus], says('The states that allow it.'))
  from: JobState[];

  @Field(() => JobStatus, says('The state that it leads to; null where the job stays, or is gone.', 'nullable'))
  to: JobState | null;

  @Field(() => String, says('Who may call it.'))
  by: string;

  @Field(() => String, says('The type of its event.'))
  event: string;

  @Field(() => String, says('What it is for.'))
  says: string;

  @Field(() => [String], says('What happens besides.'))
  effects: string[];
}

@ObjectType({ description: 'What a person does with a bid.' })
export class LifecycleBidAction {
  @Field(() => String, says('The mutation.'))
  operation: string;

  @Field(() => [BidStatus], says('The states that allow it.'))
  from: BidState[];

  @Field(() => BidStatus, says('The state that it leads to.'))
  to: BidState;

  @Field(() => String, says('Who may call it.'))
  by: string;

  @Field(() => String, says('What it is for.'))
  says: string;
}

@ObjectType({ description: 'What happens to bids because of their job.' })
export class LifecycleBidConsequence {
  @Field(() => [BidStatus], says('The states of the bids concerned.'))
  from: BidState[];

  @Field(() => BidStatus, says('What they become.'))
  to: BidState;

  @Field(() => String, says('When.'))
  when: string;
}

@ObjectType({ description: 'The life of a job and of its bids, as data.' })
export class Lifecycle {
  @Field(() => [JobStatus], says('Every state of a job.'))
  states: JobState[];

  @Field(() => JobStatus, says('Where every job begins.'))
  initialState: JobState;

  @Field(() => [JobStatus], says('Where a job ends.'))
  terminalStates: JobState[];

  @Field(() => [String], says('The fields that must be filled in to publish.'))
  requiredToPublish: string[];

  @Field(() => [LifecycleAction], says('Every operation on a job.'))
  actions: LifecycleAction[];

  @Field(() => [BidStatus], says('Every state of a bid.'))
  bidStates: BidState[];

  @Field(() => [LifecycleBidAction], says('What people do with bids.'))
  bidActions: LifecycleBidAction[];

  @Field(() => [LifecycleBidConsequence], says('What happens to bids because of their job.'))
  bidConsequences: LifecycleBidConsequence[];
}

@ObjectType({ description: 'An urgency and its price.' })
export class CatalogUrgency {
  @Field(() => UrgencyEnum, says('The urgency.'))
  urgency: Urgency;

  @Field(() => Int, says('What publishing costs, in tokens.'))
  publishCost: number;
}

@ObjectType({ description: 'Values that forms may suggest; any other text is as good.' })
export class Catalog {
  @Field(() => [String], says('Trades.'))
  categories: string[];

  @Field(() => [String], says('Kinds of business.'))
  businessTypes: string[];

  @Field(() => [String], says('Kinds of property.'))
  propertyTypes: string[];

  @Field(() => [CatalogUrgency], says('Every urgency, from the least to the most.'))
  urgencies: CatalogUrgency[];
}
