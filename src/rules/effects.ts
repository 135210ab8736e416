/**
 * What an operation on a job leads to besides its own change of state. `lifecycle.ts` names the effects of each
 * operation, the documents print their descriptions, and the code that executes an effect is in a table under its
 * name, so that nothing is promised that is not done, and nothing done that is not promised.
 */
import { statesIn } from './states.js';
import { eitherOf } from './words.js';

/**
 * Who executes an effect:
 * - `move`: the one statement that moves the job; it changes columns of the job itself, charges its owner, or settles
 *   the bids on it (`store/moves.ts`);
 * - `statements`: statements of their own, sent with the move under the job's lock (`operations/jobs/effects.ts` for
 *   transitions; `edit.ts` and `bids/submit.ts` for the other operations);
 * - `dispute`: the code that derives a dispute from its events, since it has no row of its own (`rules/disputes.ts`).
 */
type ExecutedBy = 'move' | 'statements' | 'dispute';

const BIDDING = eitherOf(statesIn('bidding'));

export const EFFECTS = {
  chargePublishing: { by: 'move', description: 'tokens are charged by urgency' },
  keepBudgets: { by: 'move', description: 'the budgets become the base of their later decreases' },
  keepCompletionDate: { by: 'move', description: 'the completion date becomes the base of its later shifts' },
  acceptBid: { by: 'move', description: 'the chosen bid becomes accepted' },
  rejectOtherBids: { by: 'move', description: 'other live bids become rejected, and their holds are released' },
  setAwardedBid: { by: 'move', description: 'awarded_bid_id is set' },
  keepReview: { by: 'move', description: 'rating and review are set' },

  rejectLiveBids: { by: 'statements', description: 'live bids become rejected, and their holds are released' },
  releaseHolds: { by: 'statements', description: 'active holds are released' },
  creditContractor: { by: 'statements', description: 'the contractor has one more completed job' },
  addRating: { by: 'statements', description: 'a rating enters their average' },
  refundPublishing: {
    by: 'statements',
    description: `what was paid for publishing returns if the job was ${BIDDING} and never had a bid`,
  },
  chargeRaisedUrgency: { by: 'statements', description: `raised urgency is charged while the job is ${BIDDING}` },
  makeBid: { by: 'statements', description: 'a pending bid is made' },
  stakeHold: { by: 'statements', description: 'a guaranteed view stakes a hold' },

  beginDispute: { by: 'dispute', description: 'a dispute begins' },
  lapseProposal: { by: 'dispute', description: 'a standing proposal lapses' },
} as const satisfies Record<string, { by: ExecutedBy; description: string }>;

export type Effect = keyof typeof EFFECTS;

/** The effects that somebody executes. */
export type EffectBy<By extends ExecutedBy> = {
  [Name in Effect]: (typeof EFFECTS)[Name]['by'] extends By ? Name : never;
}[Effect];

export function isBy<By extends ExecutedBy>(by: By): (effect: Effect) => effect is EffectBy<By> {
  return (effect): effect is EffectBy<By> => EFFECTS[effect].by === by;
}

export function descriptionOf(effect: Effect): string {
  return EFFECTS[effect].description;
}

/** To be put behind the sentence that describes the operation. */
export function sentenceOf(effects: readonly Effect[]): string {
  return effects.length > 0 ? ` Then: ${effects.map(descriptionOf).join('; ')}.` : '';
}
