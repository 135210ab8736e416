/**
 * `lifecycle.ts` names each operation's effects, and the documents print the descriptions in this file.
 * `operations/jobs/effects.ts` implements the effects of transitions under the same names, so the documented effects
 * can't drift from the actual ones.
 */
import { statesIn } from '../states.js';
import { eitherOf } from '../words.js';
import { PUBLISH_COST } from './publishing.js';

const BIDDING = eitherOf(statesIn('bidding'));
const PUBLISH_COSTS = eitherOf(Object.values(PUBLISH_COST).map(String));

export const EFFECT_DESCRIPTIONS = {
  chargePublishing: `The homeowner is charged ${PUBLISH_COSTS} tokens, depending on the urgency.`,
  keepBudgets: 'The budgets become the baseline for later decreases.',
  keepCompletionDate: 'The completion date becomes the baseline for later changes.',
  awardBid:
    'The chosen bid is accepted and saved as `awarded_bid_id`. The other live bids are rejected, and their holds are ' +
    'released.',
  withdrawAwardedBid: 'The accepted bid is withdrawn, and its hold is released. `awarded_bid_id` is null again.',
  rejectAwardedBid: 'The accepted bid is rejected, and its hold is released. `awarded_bid_id` is null again.',
  restoreBids:
    'The bids that the award rejected return to the status that they had before. They keep their place in the list, ' +
    'but not their holds.',
  countChangeRequest: 'The job can no longer be cancelled, and its requirements can no longer change.',
  keepReview: 'The rating and review are saved.',

  rejectLiveBids: 'Live bids are rejected, and their holds are released.',
  releaseHolds: 'Active holds are released.',
  creditContractor: 'The contractor’s number of completed jobs goes up by one.',
  creditOnRequest: 'If the admin gives credit, the contractor’s number of completed jobs goes up by one.',
  addRating: 'A rating counts toward the contractor’s average.',
  refundPublishing: `If the job was ${BIDDING} and never had a bid, the publishing cost is refunded.`,
  chargeRaisedUrgency: `While the job is ${BIDDING}, raising the urgency charges the difference.`,
  makeBid: 'A pending bid is created.',
  stakeHold: 'A guaranteed view puts a hold on the staked tokens.',

  beginDispute: 'A dispute is opened.',
  lapseProposal: 'The current proposal expires.',
} as const satisfies Record<string, string>;

export type Effect = keyof typeof EFFECT_DESCRIPTIONS;

/** The excluded effects belong to operations that aren't transitions. Those operations apply the effects themselves. */
export type TransitionEffect = Exclude<Effect, 'chargeRaisedUrgency' | 'makeBid' | 'stakeHold'>;

export type BidEffect = 'releaseHold';

export function descriptionOf(effect: Effect): string {
  return EFFECT_DESCRIPTIONS[effect];
}

/** The returned text is appended to the operation's description. */
export function sentenceOf(effects: readonly Effect[]): string {
  return effects.map((effect) => ` ${descriptionOf(effect)}`).join('');
}
