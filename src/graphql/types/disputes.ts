/** A dispute, with the statements of each stage, as its parties see it. */
import { DISPUTE, DISPUTE_PARTS } from '../../market/rules/entities/dispute.js';
import { objectType } from './field.js';
import { nodeType } from './node.js';

export const DisputeProposal = nodeType(DISPUTE_PARTS.PROPOSAL);
export const DisputeEscalation = objectType(DISPUTE_PARTS.ESCALATION);
export const DisputeDecision = objectType(DISPUTE_PARTS.DECISION);
export const DisputeAppeal = objectType(DISPUTE_PARTS.APPEAL);
export const DisputeFinalDecision = objectType(DISPUTE_PARTS.FINAL_DECISION);
export const DisputeEnd = objectType(DISPUTE_PARTS.ENDING);
export const Dispute = objectType(DISPUTE, { except: ['openedBy'] });
