/** Every step in the life of a job in words, as the table of the lifecycle has it: for the picture and for its text. */
import { descriptionOf, type Effect } from '../rules/effects.js';
import { EVENT_DESCRIPTIONS } from '../rules/events.js';
import { isTransition, JOB_ACTION_LIST, JOB_CREATION, leavesEveryState } from '../rules/lifecycle.js';
import type { JobAction, PartyWord } from '../rules/lifecycle.js';
import { PARTY_WORDS } from '../rules/parties.js';
import { PUBLISH_COST, URGENCIES } from '../rules/publishing.js';
import { GUARANTEED_VIEW_STAKE } from '../rules/tokens.js';
import { eitherOf, wordsOf } from '../rules/words.js';

export interface Step {
  /** As REST spells the action; the place of the step on the page. */
  readonly id: string;
  readonly name: string;
  readonly by: PartyWord;
  /** The same in words. */
  readonly who: string;
  readonly operation: string;
  readonly from: string;
  readonly to: string;
  readonly description: string;
  readonly effects: readonly string[];
  readonly cost: string;
}

const PRICES = URGENCIES.map((urgency) => `${PUBLISH_COST[urgency]} tokens for ${urgency} urgency`);

const COSTS: { readonly [Name in Effect]?: string } = {
  chargePublishing: eitherOf(PRICES),
  chargeRaisedUrgency: 'nothing, but for a raised urgency: the difference in price',
  stakeHold: `nothing; a guaranteed view holds ${GUARANTEED_VIEW_STAKE} tokens until the bid or the job ends`,
  refundPublishing: 'nothing; what publishing cost comes back if there never was a bid',
};

const CREATION: Step = {
  id: 'create',
  name: 'create',
  by: JOB_CREATION.by,
  who: 'any homeowner',
  operation: JOB_CREATION.operation,
  from: 'nothing',
  to: wordsOf(JOB_CREATION.to),
  description: EVENT_DESCRIPTIONS[JOB_CREATION.event],
  effects: [],
  cost: 'nothing',
};

export const STEPS: readonly Step[] = [CREATION, ...JOB_ACTION_LIST.map(stepOf)];

/** Who, in the few letters that a picture has room for. */
export const SHORT_PARTIES: Readonly<Record<PartyWord, string>> = {
  owner: 'homeowner',
  awardee: 'contractor',
  parties: 'either party',
  bidder: 'bidder',
  contractor: 'contractors',
  admin: 'admin',
};

export function idOf({ action }: Pick<JobAction, 'action'>): string {
  return action.toLowerCase();
}

function stepOf(row: JobAction): Step {
  return {
    id: idOf(row),
    name: wordsOf(row.action),
    by: row.by,
    who: PARTY_WORDS[row.by].description,
    operation: row.operation,
    from: leavesEveryState(row) ? 'every state but the ends' : eitherOf(row.from),
    to: destinationOf(row),
    description: row.description,
    effects: row.effects.map(descriptionOf),
    cost: row.effects.map((effect) => COSTS[effect]).find((cost) => cost !== undefined) ?? 'nothing',
  };
}

function destinationOf(row: JobAction): string {
  if (row.to === 'gone') return 'nothing: the job is gone';
  if (!isTransition(row)) return 'the same state';
  const stay = row.mayKeepState ? `; the same state until ${row.mayKeepState.until}` : '';
  return wordsOf(row.to) + stay;
}
