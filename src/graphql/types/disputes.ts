/** A dispute, with the statements of each stage, as its parties see it. */
import { ObjectType } from 'type-graphql';
import { DISPUTE, DISPUTE_PARTS } from '../../market/rules/entities/dispute.js';
import { FieldsOf } from './field.js';
import { Node } from './node.js';

@ObjectType({ implements: Node, description: DISPUTE_PARTS.PROPOSAL.description })
@FieldsOf(DISPUTE_PARTS.PROPOSAL)
export class DisputeProposal {}

@ObjectType({ description: DISPUTE_PARTS.ESCALATION.description })
@FieldsOf(DISPUTE_PARTS.ESCALATION)
export class DisputeEscalation {}

@ObjectType({ description: DISPUTE_PARTS.DECISION.description })
@FieldsOf(DISPUTE_PARTS.DECISION)
export class DisputeDecision {}

@ObjectType({ description: DISPUTE_PARTS.APPEAL.description })
@FieldsOf(DISPUTE_PARTS.APPEAL)
export class DisputeAppeal {}

@ObjectType({ description: DISPUTE_PARTS.FINAL_DECISION.description })
@FieldsOf(DISPUTE_PARTS.FINAL_DECISION)
export class DisputeFinalDecision {}

@ObjectType({ description: DISPUTE_PARTS.ENDING.description })
@FieldsOf(DISPUTE_PARTS.ENDING)
export class DisputeEnd {}

@ObjectType({ description: DISPUTE.description })
@FieldsOf(DISPUTE, ['openedBy'])
export class Dispute {}
