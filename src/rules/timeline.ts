/** What a party to a job may read of what happened to it. Reviews and ratings are for everyone who sees the job. */
import { EVENT_DETAILS, type EventDetails } from './entities/event.js';
import type { EventType } from './events.js';
import { JOB_TRANSITIONS } from './lifecycle.js';
import type { ContractorId, HomeownerId } from './ids.js';
import { hearsOfJob, partyOf, type Party, type PartyViewer } from './parties.js';
import { INITIAL_JOB_STATE, type BidState, type JobState } from './states.js';

/** Everything; the job and one's own bid; or that the state changed. */
export type EventVisibility = 'all' | 'job and own bid' | 'status changes';

const VISIBILITY: Readonly<Record<Party, EventVisibility>> = {
  owner: 'all',
  admin: 'all',
  awardee: 'job and own bid',
  bidder: 'status changes',
  onlooker: 'status changes',
  stranger: 'status changes',
};

export function eventVisibilityOf(party: Party): EventVisibility {
  return VISIBILITY[party];
}

const FOR_EVERYONE: { readonly [Type in EventType]?: readonly string[] } = {
  [JOB_TRANSITIONS.approve.event]: ['rating', 'review'],
};

/** What was charged to the owner's account is for the owner and admins. */
const OF_THE_OWNER = ['tokensCharged', 'tokensRefunded'];

interface StoredEvent {
  readonly type: EventType;
  readonly data: Record<string, unknown>;
}

interface EventParties {
  readonly bidderId: ContractorId | null;
  readonly fromStatus: JobState | null;
  readonly toStatus: JobState | null;
}

/** Whether somebody reads an event at all; the events of a bid name its bidder. */
export function seesEvent(
  visibility: EventVisibility,
  { contractorId }: Pick<PartyViewer, 'contractorId'>,
  { bidderId, fromStatus, toStatus }: EventParties,
): boolean {
  switch (visibility) {
    case 'all':
      return true;
    case 'job and own bid':
      return bidderId === null || bidderId === contractorId;
    case 'status changes':
      return bidderId === null && fromStatus !== toStatus;
  }
}

/** An event, and the facts of its job that decide who may read it. */
export interface EventOnJob<Event> {
  readonly event: Event;
  readonly homeownerId: HomeownerId;
  /** Null for a deleted draft. */
  readonly status: JobState | null;
  readonly awardedContractorId: ContractorId | null;
  /** At least those of the viewer. */
  readonly bids: readonly { readonly contractorId: ContractorId; readonly status: BidState }[];
}

/**
 * An event as a viewer reads it at this moment; undefined if they may not. Of `mine` they read it only where events of
 * the job come to them without their naming it.
 */
export function readEvent<Event extends StoredEvent & EventParties>(
  viewer: PartyViewer,
  { event, status, homeownerId, awardedContractorId, bids }: EventOnJob<Event>,
  scope: 'job' | 'mine',
): (Event & EventDetails) | undefined {
  // A job that is gone was a draft.
  const job = { status: status ?? INITIAL_JOB_STATE, homeownerId, awardedContractorId };
  const ownBids = bids.filter((bid) => bid.contractorId === viewer.contractorId).map((bid) => bid.status);
  const party = partyOf(viewer, job, ownBids.length > 0);
  if (party === 'stranger') return undefined;
  if (scope === 'mine' && !hearsOfJob(viewer, job, ownBids)) return undefined;
  return seesEvent(eventVisibilityOf(party), viewer, event) ? eventFor(party, event) : undefined;
}

/** The event with what this party may read of it, each thing in its own field where it has one. */
export function eventFor<Event extends StoredEvent>(party: Party, event: Event): Event & EventDetails {
  const mayRead = READABLE[eventVisibilityOf(party)](event.type);
  const readable = Object.keys(event.data).filter(mayRead);
  const details = pick(event.data, readable.filter(hasField));
  const data = pick(
    event.data,
    readable.filter((name) => !hasField(name)),
  );
  // The schema of the operation has checked these before the event was written.
  // Not by spreading: what is added to a spread object costs a microsecond a field.
  return Object.assign({}, event, NO_DETAILS, details as Partial<EventDetails>, { data });
}

const NO_DETAILS = Object.fromEntries(EVENT_DETAILS.map((name) => [name, null as unknown])) as EventDetails;

function hasField(name: string): boolean {
  return Object.hasOwn(NO_DETAILS, name);
}

function pick(from: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, from[name]]));
}

const READABLE: Readonly<Record<EventVisibility, (type: EventType) => (name: string) => boolean>> = {
  all: () => () => true,
  'job and own bid': () => (name) => !OF_THE_OWNER.includes(name),
  'status changes': (type) => (name) => FOR_EVERYONE[type]?.includes(name) === true,
};
