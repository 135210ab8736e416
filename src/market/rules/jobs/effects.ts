/**
 * The effects of a job operation in addition to its own state change. `lifecycle.ts` names each operation's effects,
 * the documents print their descriptions, and a table has the code that executes each effect by name. So nothing is
 * promised that isn't done, and nothing is done that isn't promised.
 */
import { statesIn } from '../states.js';
import { eitherOf } from '../words.js';

const BIDDING = eitherOf(statesIn('bidding'));

export const EFFECT_DESCRIPTIONS = {
  chargePublishing: 'tokens are charged by urgency',
  keepBudgets: 'the budgets become the base of their later decreases',
  keepCompletionDate: 'the completion date becomes the base of its later shifts',
  awardBid:
    'the chosen bid becomes accepted and awarded_bid_id is set; other live bids become rejected, and their holds are ' +
    'released',
  keepReview: 'rating and review are set',

  rejectLiveBids: 'live bids become rejected, and their holds are released',
  releaseHolds: 'active holds are released',
  creditContractor: 'the contractor has one more completed job',
  creditOnRequest: 'the contractor has one more completed job if the admin credits them',
  addRating: 'a rating enters their average',
  refundPublishing: `what was paid for publishing returns if the job was ${BIDDING} and never had a bid`,
  chargeRaisedUrgency: `raised urgency is charged while the job is ${BIDDING}`,
  makeBid: 'a pending bid is made',
  stakeHold: 'a guaranteed view stakes a hold',

  beginDispute: 'a dispute begins',
  lapseProposal: 'a standing proposal lapses',
} as const satisfies Record<string, string>;

export type Effect = keyof typeof EFFECT_DESCRIPTIONS;

/** The effects of a state change. The others are part of the operations that they belong to. */
export type TransitionEffect = Exclude<Effect, 'chargeRaisedUrgency' | 'makeBid' | 'stakeHold'>;

/** The effects of a bid operation in addition to its own state change. */
export type BidEffect = 'releaseHold';

export function descriptionOf(effect: Effect): string {
  return EFFECT_DESCRIPTIONS[effect];
}

/** Follows the sentence that describes the operation. */
export function sentenceOf(effects: readonly Effect[]): string {
  return effects.length > 0 ? ` Then: ${effects.map(descriptionOf).join('; ')}.` : '';
}
