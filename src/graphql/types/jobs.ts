/** Jobs as clients see them, and the actions available on them. */
import { Field, Int } from 'type-graphql';
import { JOB_EVENT } from '../../market/rules/entities/event.js';
import { JOB, JOB_WARNING } from '../../market/rules/entities/job.js';
import { AVAILABLE_ACTION, AVAILABLE_BID_ACTION, JOB_COUNT } from '../../market/rules/entities/reference.js';
import { connectionType } from './connection.js';
import { fieldOptions, objectType } from './field.js';
import { nodeType } from './node.js';

export const Job = nodeType(JOB);
const bidCount = fieldOptions('How many bids there are: all that are live, accepted or rejected.');
Field(() => Int, bidCount)(Job.prototype, 'bidCount');

export const JobWarning = objectType(JOB_WARNING);
export const AvailableAction = objectType(AVAILABLE_ACTION);
export const AvailableBidAction = objectType(AVAILABLE_BID_ACTION);
export const JobCount = objectType(JOB_COUNT);
export const JobEvent = nodeType(JOB_EVENT, { except: ['actor'] });
export const JobConnection = connectionType('Job', () => Job, 'jobs');
export const JobEventConnection = connectionType('JobEvent', () => JobEvent, 'events of a job');
