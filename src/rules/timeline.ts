/** What a party to a job may read of what happened to it. Reviews and ratings are for everyone who sees the job. */
import type { EventType } from './events.js';
import { JOB_TRANSITIONS } from './lifecycle.js';
import type { Party } from './parties.js';

/** Everything; the job and one's own bid; or that the state changed. */
export type EventReach = 'all' | 'job and own bid' | 'status changes';

const REACH: Readonly<Record<Party, EventReach>> = {
  owner: 'all',
  admin: 'all',
  awardee: 'job and own bid',
  bidder: 'status changes',
  onlooker: 'status changes',
  stranger: 'status changes',
};

export function reachOf(party: Party): EventReach {
  return REACH[party];
}

const FOR_EVERYONE: { readonly [Type in EventType]?: readonly string[] } = {
  [JOB_TRANSITIONS.approve.event]: ['rating', 'review'],
};

/** What moved on the owner's account is nobody else's business. */
const OF_THE_OWNER = ['tokensCharged', 'tokensRefunded'];

/** The event with the texts that this party may read. */
export function eventFor<Event extends { type: EventType; data: Record<string, unknown> }>(
  party: Party,
  event: Event,
): Event {
  switch (reachOf(party)) {
    case 'all':
      return event;
    case 'job and own bid':
      return only(event, (name) => !OF_THE_OWNER.includes(name));
    case 'status changes':
      return only(event, (name) => FOR_EVERYONE[event.type]?.includes(name) === true);
  }
}

function only<Event extends { data: Record<string, unknown> }>(
  event: Event,
  mayRead: (name: string) => boolean,
): Event {
  return { ...event, data: Object.fromEntries(Object.entries(event.data).filter(([name]) => mayRead(name))) };
}
