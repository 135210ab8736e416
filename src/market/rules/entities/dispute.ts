/** A dispute, stage by stage, as its parties and admins see it. */
import { entity, type ShownRow } from '../../../platform/fields/entity.js';
import { TEXT } from '../market-limits.js';
import { enumOf, timestamp, nullableText, requiredText } from '../../../platform/fields/values.js';
import { idOf, identifier } from '../id-fields.js';

export const DISPUTE_ENDINGS = [
  'agreement',
  'decision_accepted',
  'decision_stood',
  'final_decision',
  'completed_by_admin',
] as const;

const note = requiredText(TEXT.note);
const noteOrNone = nullableText(TEXT.note);
const person = idOf('user').nullable();
const at = { type: timestamp, description: 'When it happened.' };

const PROPOSAL = entity('DisputeProposal', 'A resolution that one party proposed and the other can still accept.', {
  id: identifier('proposal'),
  resolution: {
    type: note,
    description: 'The proposed resolution.',
    example: 'The contractor refunds 10% of the price.',
  },
  proposedBy: { type: person, description: 'The user who proposed it.' },
  agreedBy: {
    type: nullableText(TEXT.line),
    description: 'The name of the person agreeing to the resolution, as the proposer wrote it.',
    example: null,
  },
  proposedAt: { type: timestamp, description: 'When it was proposed.' },
});

const ESCALATION = entity('DisputeEscalation', 'The escalation of a dispute to an admin.', {
  reason: { type: note, description: 'Why the parties couldn’t settle the dispute.', example: 'We can’t agree.' },
  by: { type: person, description: 'The user who escalated the dispute. Null if the service did.' },
  at,
});

const DECISION = entity('DisputeDecision', 'An admin’s decision.', {
  decision: { type: note, description: 'The decision in one sentence.', example: 'The contractor redoes the work.' },
  ruling: { type: note, description: 'The full ruling.', example: 'The joint was not sealed.' },
  resolutionTerms: {
    type: noteOrNone,
    description: 'What the parties must do.',
    example: 'Carl returns within a week.',
  },
  by: { type: person, description: 'The admin who decided.' },
  at,
});

const APPEAL = entity('DisputeAppeal', 'The contractor’s appeal against the decision.', {
  reason: {
    type: note,
    description: 'Why the contractor thinks the decision is wrong.',
    example: 'The faucet was faulty.',
  },
  supportingEvidence: {
    type: noteOrNone,
    description: 'The evidence for the appeal.',
    example: 'The manufacturer has recalled it.',
  },
  by: { type: person, description: 'The user who appealed.' },
  at,
});

const FINAL_DECISION = entity('DisputeFinalDecision', 'An admin’s final decision on an appeal.', {
  finalDecision: { type: note, description: 'The final decision.', example: 'The decision stands.' },
  ruling: { type: note, description: 'The full ruling.', example: 'The recall came later.' },
  by: { type: person, description: 'The admin who decided.' },
  at,
});

const ENDING = entity('DisputeEnd', 'The end of a dispute.', {
  how: { type: enumOf(DISPUTE_ENDINGS, 'DisputeEnding'), description: 'How the dispute ended.', example: 'agreement' },
  text: {
    type: noteOrNone,
    description: 'The agreed resolution, the accepted or final decision, or the admin’s reason.',
    example: 'The contractor refunds 10% of the price.',
  },
  by: { type: person, description: 'The user who ended the dispute. Null if the service did.' },
  at,
});

export const DISPUTE_PARTS = { PROPOSAL, ESCALATION, DECISION, APPEAL, FINAL_DECISION, ENDING };

export const DISPUTE = entity(
  'Dispute',
  'A dispute about the work, with all of its steps. Only the parties and admins can see it.',
  {
    reason: {
      type: note,
      description: 'What’s wrong with the work, in the homeowner’s words.',
      example: 'The sink still drips.',
    },
    details: {
      type: noteOrNone,
      description: 'More details from the homeowner.',
      example: 'A bucket fills in two hours.',
    },
    openedBy: { type: person, description: 'The user who opened the dispute.' },
    openedAt: { type: timestamp, description: 'When the dispute was opened.' },
    proposal: {
      type: PROPOSAL.schema.nullable(),
      description: 'The current proposal, which the other party can still accept. Null if there isn’t one.',
    },
    escalation: {
      type: ESCALATION.schema.nullable(),
      description:
        'The escalation to an admin, by a party or, if the parties didn’t settle in time, by the service. Null if ' +
        'there was none.',
      example: null,
    },
    decision: {
      type: DECISION.schema.nullable(),
      description: 'The admin’s decision. Null until an admin decides.',
      example: null,
    },
    appeal: {
      type: APPEAL.schema.nullable(),
      description: 'The contractor’s appeal against the decision. Null until the contractor appeals.',
      example: null,
    },
    finalDecision: {
      type: FINAL_DECISION.schema.nullable(),
      description: 'The final decision on the appeal. Null until an admin makes it.',
      example: null,
    },
    ending: {
      type: ENDING.schema.nullable(),
      description: 'How the dispute ended. Null while it’s open.',
      example: null,
    },
  },
);

export type Dispute = ShownRow<typeof DISPUTE>;
export type Proposal = ShownRow<typeof PROPOSAL>;
