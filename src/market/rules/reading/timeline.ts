/** What a party to a job may read of its events. Reviews and ratings are for everyone who sees the job. */
import { EVENT_DETAILS, type EventDetails } from '../entities/event.js';
import { JOB } from '../entities/job.js';
import type { Field } from '../../../platform/fields/entity.js';
import type { EventType } from '../events.js';
import { JOB_TRANSITIONS, OTHER_JOB_ACTIONS } from '../lifecycle.js';
import type { ContractorId, HomeownerId } from '../ids.js';
import { receivesJobEvents, partyOf, type Party, type PartyViewer } from '../parties.js';
import { INITIAL_JOB_STATE, type BidState, type JobState } from '../states.js';

/** Everything, the job and your own bid, your own bid and the job's outcome, or only that the state changed. */
export type EventVisibility = 'all' | 'job and own bid' | 'own bid and changes' | 'status changes';

const VISIBILITY: Readonly<Record<Party, EventVisibility>> = {
  owner: 'all',
  admin: 'all',
  awardee: 'job and own bid',
  bidder: 'own bid and changes',
  onlooker: 'status changes',
  stranger: 'status changes',
};

export function eventVisibilityOf(party: Party): EventVisibility {
  return VISIBILITY[party];
}

/** The texts of a dispute are for its parties and for admins. */
export function readsDispute(party: Party): boolean {
  return party === 'owner' || party === 'awardee' || party === 'admin';
}

/** An edit. A bidder reads which public fields it changed. */
export const EDIT_EVENT = OTHER_JOB_ACTIONS.update.event;

const FOR_EVERYONE: { readonly [Type in EventType]?: readonly string[] } = {
  [JOB_TRANSITIONS.approve.event]: ['rating', 'review'],
};

/** The owner's charges are for the owner and admins. */
const OF_THE_OWNER = ['tokensCharged', 'tokensRefunded'];

interface StoredEvent {
  readonly type: EventType;
  /** The bidder whose bid it is about. Null if it is only about the job. */
  readonly bidderId: ContractorId | null;
  readonly data: Record<string, unknown>;
}

interface EventParties extends Pick<StoredEvent, 'type' | 'bidderId'> {
  readonly fromStatus: JobState | null;
  readonly toStatus: JobState | null;
}

/** True if somebody may read an event at all. A bid's events name its bidder. */
export function seesEvent(
  visibility: EventVisibility,
  { contractorId }: Pick<PartyViewer, 'contractorId'>,
  { type, bidderId, fromStatus, toStatus }: EventParties,
): boolean {
  switch (visibility) {
    case 'all':
      return true;
    case 'job and own bid':
      return bidderId === null || bidderId === contractorId;
    case 'own bid and changes':
      return bidderId === null ? fromStatus !== toStatus || type === EDIT_EVENT : bidderId === contractorId;
    case 'status changes':
      return bidderId === null && fromStatus !== toStatus;
  }
}

/** An event, and the facts about its job that decide who may read it. */
export interface EventOnJob<Event> {
  readonly event: Event;
  readonly homeownerId: HomeownerId;
  /** Null for a deleted draft. */
  readonly status: JobState | null;
  readonly awardedContractorId: ContractorId | null;
  /**
   * True if the job is open and its homeowner suspended. Omitted if only readers who receive its events anyway are
   * checked.
   */
  readonly isHidden?: boolean;
  /** At least the viewer's own. */
  readonly bids: readonly { readonly contractorId: ContractorId; readonly status: BidState }[];
}

/**
 * An event as a viewer may currently read it. Undefined if they may not. With `mine`, they read it only if they receive
 * the job's events without naming it.
 */
export function readEvent<Event extends StoredEvent & EventParties>(
  viewer: PartyViewer,
  { event, status, homeownerId, awardedContractorId, isHidden, bids }: EventOnJob<Event>,
  scope: 'job' | 'mine',
): (Event & EventDetails) | undefined {
  // A deleted job was a draft.
  const job = {
    status: status ?? INITIAL_JOB_STATE,
    homeownerId,
    awardedContractorId,
    isOwnerSuspended: isHidden === true,
  };
  const ownBids = bids.filter((bid) => bid.contractorId === viewer.contractorId).map((bid) => bid.status);
  const party = partyOf(viewer, job, ownBids.length > 0);
  if (party === 'stranger') return undefined;
  if (scope === 'mine' && !receivesJobEvents(viewer, job, ownBids)) return undefined;
  return seesEvent(eventVisibilityOf(party), viewer, event) ? eventFor(party, event) : undefined;
}

/** The event with what this party may read of it, each part in its own field if it has one. */
export function eventFor<Event extends StoredEvent>(party: Party, event: Event): Event & EventDetails {
  const readable = READABLE[eventVisibilityOf(party)](event);
  const details = pick(readable, hasField);
  const data = pick(readable, (name) => !hasField(name));
  // The operation's schema checked these before the event was written. Doesn't use a spread, because each field added
  // to a spread object costs a microsecond.
  return Object.assign({}, event, NO_DETAILS, details as Partial<EventDetails>, { data });
}

const NO_DETAILS = Object.fromEntries(EVENT_DETAILS.map((name) => [name, null as unknown])) as EventDetails;

function hasField(name: string): boolean {
  return Object.hasOwn(NO_DETAILS, name);
}

type EventData = StoredEvent['data'];

function pick(from: EventData, isPicked: (name: string) => boolean): EventData {
  return Object.fromEntries(Object.entries(from).filter(([name]) => isPicked(name)));
}

const notOfTheOwner = ({ data }: StoredEvent) => pick(data, (name) => !OF_THE_OWNER.includes(name));
const forEveryone = ({ type, data }: StoredEvent) => pick(data, (name) => FOR_EVERYONE[type]?.includes(name) === true);

const READABLE: Readonly<Record<EventVisibility, (event: StoredEvent) => EventData>> = {
  all: ({ data }) => data,
  'job and own bid': notOfTheOwner,
  'own bid and changes': (event) => {
    if (event.bidderId !== null) return notOfTheOwner(event);
    return event.type === EDIT_EVENT ? publicFieldsIn(event.data) : forEveryone(event);
  },
  'status changes': forEveryone,
};

const JOB_FIELDS: Readonly<Record<string, Field>> = JOB.fields;

/**
 * Returns nothing if the event doesn't have them. Failing on one event would stop everything that is sent to webhooks.
 */
function publicFieldsIn({ fields }: EventData): EventData {
  return Array.isArray(fields) ? { fields: fields.filter((name) => JOB_FIELDS[name]?.readBy === undefined) } : {};
}
