/** Jobs as clients see them, and the actions available on them. */
import { Field, Int, ObjectType } from 'type-graphql';
import { JOB_EVENT } from '../../market/rules/entities/event.js';
import { JOB, JOB_WARNING } from '../../market/rules/entities/job.js';
import { AVAILABLE_ACTION, AVAILABLE_BID_ACTION, JOB_COUNT } from '../../market/rules/entities/reference.js';
import { connectionType } from './connection.js';
import { FieldsOf, fieldOptions } from './field.js';
import { Node } from './node.js';

@ObjectType({ implements: Node, description: JOB.description })
@FieldsOf(JOB)
export class Job {
  @Field(() => Int, fieldOptions('The number of bids that are live, accepted, or rejected.'))
  bidCount: number;
}

@ObjectType({ description: JOB_WARNING.description })
@FieldsOf(JOB_WARNING)
export class JobWarning {}

@ObjectType({ description: AVAILABLE_ACTION.description })
@FieldsOf(AVAILABLE_ACTION)
export class AvailableAction {}

@ObjectType({ description: AVAILABLE_BID_ACTION.description })
@FieldsOf(AVAILABLE_BID_ACTION)
export class AvailableBidAction {}

@ObjectType({ description: JOB_COUNT.description })
@FieldsOf(JOB_COUNT)
export class JobCount {}

@ObjectType({ implements: Node, description: JOB_EVENT.description })
@FieldsOf(JOB_EVENT, ['actor'])
export class JobEvent {}

export const JobConnection = connectionType('Job', () => Job, 'jobs');
export const JobEventConnection = connectionType('JobEvent', () => JobEvent, 'job events');
