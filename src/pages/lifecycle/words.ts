/** Describes every step in a job's lifecycle, from the lifecycle table. */
import { deadlineTable, type DeadlineSettings } from '../../market/rules/jobs/deadlines.js';
import { descriptionOf, type Effect } from '../../market/rules/jobs/effects.js';
import { EVENT_DESCRIPTIONS } from '../../market/rules/events.js';
import { isTransition, JOB_ACTION_LIST, JOB_CREATION, leavesEveryState } from '../../market/rules/lifecycle.js';
import type { JobAction, AllowedActor } from '../../market/rules/lifecycle.js';
import { ALLOWED_ACTORS } from '../../market/rules/parties.js';
import { PUBLISH_COST, URGENCIES } from '../../market/rules/jobs/publishing.js';
import type { JobState } from '../../market/rules/states.js';
import { GUARANTEED_VIEW_STAKE } from '../../market/rules/tokens.js';
import { eitherOf, wordsOf } from '../../market/rules/words.js';

/** The labels of boxes that aren't states. */
export const MARKS = { none: 'no job', any: 'any state', gone: 'deleted' } as const;

export interface Arrow {
  readonly id: string;
  readonly actor: AllowedActor;
  readonly leaves: readonly string[];
  /** The step's new state. Undefined if the job keeps its state. */
  readonly leadsTo?: string | undefined;
  readonly mayKeepState?: boolean;
  readonly description: string;
  readonly words: Readonly<Record<'Who' | 'From' | 'To' | 'Also' | 'Cost' | 'Operation', string>>;
}

const PRICES = URGENCIES.map((urgency) => `${PUBLISH_COST[urgency]} tokens for ${urgency} urgency`);

const COSTS: { readonly [Name in Effect]?: string } = {
  chargePublishing: eitherOf(PRICES),
  chargeRaisedUrgency: 'nothing, unless you raise the urgency: then you pay the difference',
  stakeHold:
    `nothing; a guaranteed view holds ${GUARANTEED_VIEW_STAKE} tokens until the bid is rejected or withdrawn, or the ` +
    'job ends',
  refundPublishing: 'nothing; the publishing cost is refunded if the job never had a bid',
};

const { actor, operation, event, to } = JOB_CREATION;
const CREATION: Arrow = {
  id: 'create',
  actor,
  leaves: [MARKS.none],
  leadsTo: to,
  description: EVENT_DESCRIPTIONS[event],
  words: { Who: 'any homeowner', From: MARKS.none, To: to, Also: 'nothing', Cost: 'nothing', Operation: operation },
};

export const ARROWS: readonly Arrow[] = [CREATION, ...JOB_ACTION_LIST.map(stepOf)];

function stepOf(row: JobAction): Arrow {
  const leadsTo = isTransition(row) ? row.to : row.to === 'gone' ? MARKS.gone : undefined;
  const until = isTransition(row) ? row.mayKeepState?.until : undefined;
  // One box stands for all states. A line from each state would make the picture illegible.
  const leaves = leavesEveryState(row) ? [MARKS.any] : row.from;
  return {
    id: row.action.toLowerCase(),
    actor: row.actor,
    leaves,
    leadsTo,
    mayKeepState: until !== undefined,
    description: row.description,
    words: {
      Who: ALLOWED_ACTORS[row.actor].description,
      From: eitherOf(leaves),
      To: wordsOf(leadsTo ?? 'the same state') + (until ? `; the same state until ${until}` : ''),
      Also: row.effects.map(descriptionOf).join(' ') || 'nothing',
      Cost: row.effects.map((effect) => COSTS[effect]).find((cost) => cost !== undefined) ?? 'nothing',
      Operation: row.operation,
    },
  };
}

/** What happens to a job in this state if nobody acts. Undefined if the state has no deadline. */
export function deadlineIn(state: JobState, settings: DeadlineSettings): string | undefined {
  const rows = settings.mode === 'off' ? [] : deadlineTable(settings).filter(({ status }) => status === state);
  const texts = rows.map(({ hours, description }) => {
    if (hours === null) return description;
    return `After ${timeOf(hours)}: ${settings.mode === 'act' ? description : 'Admins are reminded.'}`;
  });
  return texts.length > 0 ? texts.join(' ') : undefined;
}

/** The length of a state's deadline, for the picture. Undefined if the state has no deadline or only reminders. */
export function timeIn(state: JobState, settings: DeadlineSettings): string | undefined {
  const row = deadlineTable(settings).find(({ status, to }) => status === state && to !== null);
  return row?.hours && settings.mode !== 'off' ? timeOf(row.hours) : undefined;
}

function timeOf(hours: number): string {
  return hours % 24 === 0 ? `${hours / 24} days` : `${hours} hours`;
}
