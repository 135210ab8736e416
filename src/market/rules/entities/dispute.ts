/** A dispute, stage by stage, as its parties and admins read it. */
import { entity, type ShownRow } from '../../../platform/fields/entity.js';
import { TEXT } from '../market-limits.js';
import { enumOf, timestamp, nullableText, requiredText } from '../../../platform/fields/values.js';
import { idOf, identifier } from '../id-fields.js';

export const DISPUTE_ENDINGS = ['agreement', 'decision_accepted', 'final_decision', 'completed_by_admin'] as const;

const note = requiredText(TEXT.note);
const noteOrNone = nullableText(TEXT.note);
const person = idOf('user').nullable();
const at = { type: timestamp, description: 'When.' };

const PROPOSAL = entity(
  'DisputeProposal',
  'A resolution that one party has proposed and the other can still agree to.',
  {
    id: identifier('proposal'),
    resolution: { type: note, description: 'How to settle it.', example: 'A tenth of the price is paid back.' },
    proposedBy: { type: person, description: 'Whose proposal it is.' },
    agreedBy: { type: nullableText(TEXT.line), description: 'Who agrees, as the proposer wrote it.', example: null },
    proposedAt: { type: timestamp, description: 'When it was proposed.' },
  },
);

const ESCALATION = entity('DisputeEscalation', 'That an admin was asked to decide.', {
  reason: { type: note, description: 'Why the parties could not settle it.', example: 'We cannot agree.' },
  by: { type: person, description: 'Who escalated it.' },
  at,
});

const DECISION = entity('DisputeDecision', 'What an admin decided.', {
  decision: { type: note, description: 'What was decided.', example: 'The work is to be redone.' },
  ruling: { type: note, description: 'The ruling in full.', example: 'The joint was not sealed.' },
  resolutionTerms: {
    type: noteOrNone,
    description: 'What the parties have to do.',
    example: 'Carl returns within a week.',
  },
  by: { type: person, description: 'Which admin decided.' },
  at,
});

const APPEAL = entity('DisputeAppeal', 'The contractor’s appeal against the decision.', {
  reason: { type: note, description: 'Why the decision is wrong.', example: 'The tap was faulty.' },
  supportingEvidence: {
    type: noteOrNone,
    description: 'What supports the appeal.',
    example: 'The maker has recalled it.',
  },
  by: { type: person, description: 'Who appealed.' },
  at,
});

const FINAL_DECISION = entity('DisputeFinalDecision', 'The last word on an appeal.', {
  finalDecision: { type: note, description: 'What was decided for good.', example: 'The decision stands.' },
  ruling: { type: note, description: 'The ruling in full.', example: 'The recall came later.' },
  by: { type: person, description: 'Which admin decided.' },
  at,
});

const ENDING = entity('DisputeEnd', 'How the dispute ended.', {
  how: { type: enumOf(DISPUTE_ENDINGS, 'DisputeEnding'), description: 'In which way.', example: 'agreement' },
  text: {
    type: noteOrNone,
    description: 'The agreed resolution, the accepted or final decision, or the admin’s reason.',
    example: 'A tenth of the price is paid back.',
  },
  by: { type: person, description: 'Whose call ended it.' },
  at,
});

export const DISPUTE_PARTS = { PROPOSAL, ESCALATION, DECISION, APPEAL, FINAL_DECISION, ENDING };

export const DISPUTE = entity(
  'Dispute',
  'A disagreement about the work, from its beginning to its end. For the parties and admins.',
  {
    reason: { type: note, description: 'What is wrong, in the homeowner’s words.', example: 'The sink still drips.' },
    details: { type: noteOrNone, description: 'More about it.', example: 'A bucket fills in two hours.' },
    openedBy: { type: person, description: 'Who began it.' },
    openedAt: { type: timestamp, description: 'When it began.' },
    proposal: {
      type: PROPOSAL.schema.nullable(),
      description: 'The one standing proposal, which can still be agreed to.',
    },
    escalation: {
      type: ESCALATION.schema.nullable(),
      description: 'That an admin was asked to decide.',
      example: null,
    },
    decision: { type: DECISION.schema.nullable(), description: 'What the admin decided.', example: null },
    appeal: {
      type: APPEAL.schema.nullable(),
      description: 'The contractor’s appeal against the decision.',
      example: null,
    },
    finalDecision: {
      type: FINAL_DECISION.schema.nullable(),
      description: 'The last word on the appeal.',
      example: null,
    },
    ending: { type: ENDING.schema.nullable(), description: 'How it ended; null while it goes on.', example: null },
  },
);

export type Dispute = ShownRow<typeof DISPUTE>;
export type Proposal = ShownRow<typeof PROPOSAL>;
