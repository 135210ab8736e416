/** The values that the statement takes that moves a job. */
import { JOB_TRANSITIONS, type JobTransitionKey } from '../../rules/lifecycle.js';
import type { JobState } from '../../rules/states.js';
import { asParameter, type NewEvent } from '../../store/events.js';
import type { MoveValues } from '../../store/moves.js';
import { idsOf } from '../../store/visibility.js';
import type { Addressed } from './addressed.js';
import type { Acting } from './checked.js';
import type { CallInput, Consequence } from './effects.js';

/** What comes with a call of a transition; texts that nothing but the event keeps are not named here. */
export type Input = Addressed & CallInput;

export function moveValues(
  key: JobTransitionKey,
  { viewer }: Acting,
  input: Input,
  fromStatus: JobState,
  consequences: readonly Consequence[] = [],
): MoveValues {
  const { event, to } = JOB_TRANSITIONS[key];
  const own: NewEvent = {
    type: event,
    actorId: viewer.userId,
    fromStatus,
    toStatus: to,
    data: Object.assign(keptOf(input), ...consequences.map(({ data }) => data)),
  };
  const events = [own, ...consequences.flatMap((consequence) => consequence.events ?? [])];
  return {
    id: input.id,
    expectedVersion: input.expectedVersion ?? null,
    rating: input.rating ?? null,
    review: input.review ?? null,
    bidId: input.bidId ?? null,
    ...idsOf(viewer),
    events: asParameter(events),
  };
}

/** What the event keeps of a call: what was really said. A text that was left out leaves no trace. */
export function keptOf({ id: _id, expectedVersion: _version, ...said }: Input): Record<string, unknown> {
  return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined && value !== null));
}
