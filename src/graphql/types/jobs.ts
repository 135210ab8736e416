/** Jobs as clients see them, and what may be done with them. */
import { Field, Float, ID, Int, ObjectType } from 'type-graphql';
import type { ReadableJob } from '../../operations/jobs/readable.js';
import type { AvailableAction as Available } from '../../rules/available-actions.js';
import type { ErrorCode } from '../../rules/errors.js';
import type { JobActionName, JobState } from '../../rules/lifecycle.js';
import type { Urgency } from '../../rules/publishing.js';
import type { JobEvent as Event } from '../../store/events.js';
import { ErrorCodeEnum, JobActionEnum, JobStatus, UrgencyEnum } from '../enums.js';
import { DateScalar, DateTimeScalar, JsonScalar } from '../scalars.js';
import { connectionType } from './connection.js';
import { says } from './field.js';
import { Node } from './node.js';

@ObjectType({ implements: Node, description: 'A piece of work that a homeowner wants done.' })
export class Job implements Pick<ReadableJob, keyof Job & keyof ReadableJob> {
  @Field(() => ID, says('The identifier, which begins with `job_`.'))
  id: ReadableJob['id'];

  @Field(() => String, says('What is to be done, in a line.'))
  title: string;

  @Field(() => String, says('What is to be done, in full.'))
  description: string;

  @Field(() => JobStatus, says('Where the job stands.'))
  status: JobState;

  @Field(() => String, says('The trade. It cannot change after publishing.', 'nullable'))
  category: string | null;

  @Field(() => Float, says('The least the homeowner expects to pay.', 'nullable'))
  budgetMin: number | null;

  @Field(() => Float, says('The most the homeowner wants to pay.', 'nullable'))
  budgetMax: number | null;

  @Field(() => UrgencyEnum, says('How soon.', 'nullable'))
  urgency: Urgency | null;

  @Field(() => String, says('Street and number: for the owner, the awarded contractor and admins.', 'nullable'))
  addressLine1: string | null;

  @Field(() => String, says('More of the address: for the owner, the awarded contractor and admins.', 'nullable'))
  addressLine2: string | null;

  @Field(() => String, says('The city.', 'nullable'))
  city: string | null;

  @Field(() => String, says('The state.', 'nullable'))
  state: string | null;

  @Field(() => String, says('The postal code: for the owner, the awarded contractor and admins.', 'nullable'))
  zipCode: string | null;

  @Field(() => String, says('The country.', 'nullable'))
  country: string | null;

  @Field(
    () => Float,
    says(
      'Set by the service from the postal code or the city: for the owner, the awarded contractor and admins.',
      'nullable',
    ),
  )
  latitude: number | null;

  @Field(
    () => Float,
    says(
      'Set by the service from the postal code or the city: for the owner, the awarded contractor and admins.',
      'nullable',
    ),
  )
  longitude: number | null;

  @Field(() => DateScalar, says('When the work should begin.', 'nullable'))
  desiredStartDate: string | null;

  @Field(() => DateScalar, says('When the work should be done.', 'nullable'))
  desiredCompletionDate: string | null;

  @Field(() => String, says('What a contractor must bring or know.', 'nullable'))
  requirements: string | null;

  @Field(() => ID, says('Whose job it is.'))
  homeownerId: ReadableJob['homeownerId'];

  @Field(() => ID, says('The bid that got the job.', 'nullable'))
  awardedBidId: ReadableJob['awardedBidId'];

  @Field(() => Int, says('Rises with every change; pass it as `expectedVersion` to change only what you have read.'))
  version: number;

  @Field(() => Int, says('How many bids there are: all that are live, accepted or rejected.'))
  bidCount: number;

  @Field(() => DateTimeScalar, says('When the draft was written.'))
  createdAt: Date;

  @Field(() => DateTimeScalar, says('When the job last changed.'))
  updatedAt: Date;
}

@ObjectType({ description: 'One operation on a job, and whether the caller may use it now.' })
export class AvailableAction implements Available {
  @Field(() => JobActionEnum, says('The operation.'))
  action: JobActionName;

  @Field(() => Boolean, says('Whether the call would be accepted now.'))
  allowed: boolean;

  @Field(
    () => ErrorCodeEnum,
    says('The code that the call would be refused with first; null if it is allowed.', 'nullable'),
  )
  reason: ErrorCode | null;

  @Field(() => [String], says('What must be filled in before the job can be published.'))
  missingFields: Available['missingFields'];

  @Field(() => Int, says('What the call would charge, where that is known beforehand.', 'nullable'))
  tokenCost: number | null;
}

@ObjectType({
  description: 'Something that happened to a job. The texts are for the parties and admins; reviews are for everyone.',
})
export class JobEvent implements Pick<Event, keyof JobEvent & keyof Event> {
  @Field(() => ID, says('The identifier, which begins with `evt_`.'))
  id: Event['id'];

  @Field(() => ID, says('The job.'))
  jobId: Event['jobId'];

  @Field(
    () => Int,
    says('The place among the job’s events, from 1. Numbers are missing where an event is not for the reader.'),
  )
  sequence: number;

  @Field(() => String, says('What happened, such as `job.published` or `bid.submitted`.'))
  type: Event['type'];

  @Field(() => ID, says('Whose call it was.', 'nullable'))
  actorId: Event['actorId'];

  @Field(() => JobStatus, says('The job’s state before.', 'nullable'))
  fromStatus: JobState | null;

  @Field(() => JobStatus, says('The job’s state after.', 'nullable'))
  toStatus: JobState | null;

  @Field(() => DateTimeScalar, says('When.'))
  occurredAt: Date;

  @Field(() => JsonScalar, says('What was said or chosen, as far as the reader may know it.'))
  data: Record<string, unknown>;
}

export const JobConnection = connectionType('Job', () => Job, 'jobs');
export const JobEventConnection = connectionType('JobEvent', () => JobEvent, 'events of a job');
