/** The parameters of the statement that moves a job. */
import { JOB_TRANSITIONS, type JobTransitionKey } from '../../rules/lifecycle.js';
import type { JobState } from '../../rules/states.js';
import { asParameter, type NewEvent } from '../../store/events.js';
import type { MoveValues } from '../../store/moves.js';
import { idsOf } from '../../store/visibility.js';
import type { Addressed } from './addressed.js';
import type { Acting } from './checked.js';
import type { CallInput, Consequence } from './effects.js';

/** The input of a transition, without the texts that only the event keeps. */
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

/** The texts of a call that its event keeps; texts that were left out are not in it. */
export function keptOf({ id: _id, expectedVersion: _version, ...texts }: Input): Record<string, unknown> {
  return Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== undefined && value !== null));
}
