import { Field, Int } from 'type-graphql';
import { UPCOMING_ACTION } from '../../market/rules/entities/deadline.js';
import { JOB_EVENT } from '../../market/rules/entities/event.js';
import { JOB, JOB_WARNING } from '../../market/rules/entities/job.js';
import { AVAILABLE_ACTION, AVAILABLE_BID_ACTION, JOB_COUNT } from '../../market/rules/entities/reference.js';
import { connectionType } from './connection.js';
import { fieldOptions, objectType } from './field.js';
import { nodeType } from './node.js';
import { BID, BID_REVISION, HOLD } from '../../market/rules/entities/bid.js';
import { DISPUTE, DISPUTE_PARTS } from '../../market/rules/entities/dispute.js';

export const Job = nodeType(JOB);
const bidCount = fieldOptions('The number of bids that are live, accepted, or rejected.');
Field(() => Int, bidCount)(Job.prototype, 'bidCount');

export const JobWarning = objectType(JOB_WARNING);
export const UpcomingAction = objectType(UPCOMING_ACTION);
export const AvailableAction = objectType(AVAILABLE_ACTION);
export const AvailableBidAction = objectType(AVAILABLE_BID_ACTION);
export const JobCount = objectType(JOB_COUNT);
export const JobEvent = nodeType(JOB_EVENT, { except: ['actor'] });
export const JobConnection = connectionType('Job', () => Job, 'jobs');
export const JobEventConnection = connectionType('JobEvent', () => JobEvent, 'job events');

export const Bid = nodeType(BID);
export const BidRevision = objectType(BID_REVISION);
export const BidRevisionConnection = connectionType('BidRevision', () => BidRevision, 'earlier offers of a bid');
export const Hold = nodeType(HOLD);
export const BidConnection = connectionType('Bid', () => Bid, 'bids');

export const DisputeProposal = nodeType(DISPUTE_PARTS.PROPOSAL);
export const DisputeEscalation = objectType(DISPUTE_PARTS.ESCALATION);
export const DisputeDecision = objectType(DISPUTE_PARTS.DECISION);
export const DisputeAppeal = objectType(DISPUTE_PARTS.APPEAL);
export const DisputeFinalDecision = objectType(DISPUTE_PARTS.FINAL_DECISION);
export const DisputeEnd = objectType(DISPUTE_PARTS.ENDING);
export const Dispute = objectType(DISPUTE, { except: ['openedBy'] });
