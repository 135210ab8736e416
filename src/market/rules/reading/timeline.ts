/**
 * Which of a job's events, and which of their fields, each party to the job can read. Everyone who can see the job can
 * read its reviews and ratings.
 */
import { EVENT_DETAILS, type EventDetails } from '../entities/event.js';
import { JOB } from '../entities/job.js';
import type { Field } from '../../../platform/fields/entity.js';
import type { EventType } from '../events.js';
import { REMINDER_EVENT } from '../jobs/deadlines.js';
import { JOB_TRANSITIONS, OTHER_JOB_ACTIONS } from '../lifecycle.js';
import type { BidId, ContractorId, HomeownerId, UserId } from '../ids.js';
import { receivesJobEvents, partyOf, type Party, type PartyViewer } from '../parties.js';
import { INITIAL_JOB_STATE, type BidState, type JobState } from '../states.js';
import type { Role } from '../viewer.js';

/** How much a party can read of a job's events, from everything to only the changes of the job's state. */
export type EventVisibility = 'all' | 'own job' | 'job and own bid' | 'own bid and changes' | 'status changes';

const VISIBILITY: Readonly<Record<Party, EventVisibility>> = {
  owner: 'own job',
  admin: 'all',
  awardee: 'job and own bid',
  bidder: 'own bid and changes',
  onlooker: 'status changes',
  stranger: 'status changes',
};

export function eventVisibilityOf(party: Party): EventVisibility {
  return VISIBILITY[party];
}

/** Only the parties and admins can read what was written in a dispute. */
export function readsDispute(party: Party): boolean {
  return party === 'owner' || party === 'awardee' || party === 'admin';
}

/** For a bidder, an edit's event lists the public fields that were changed. */
export const EDIT_EVENT = OTHER_JOB_ACTIONS.update.event;

const FOR_EVERYONE: { readonly [Type in EventType]?: readonly string[] } = {
  [JOB_TRANSITIONS.approve.event]: ['rating', 'review'],
};

/** Only the owner and admins can read about the owner's charges. */
const OF_THE_OWNER = ['tokensCharged', 'tokensRefunded'];

export const AWARD_EVENT = JOB_TRANSITIONS.award.event;

/** The ends of an award. The former awardee can read why, but no other contractor can. */
const ENDS_OF_AWARDS: readonly EventType[] = [JOB_TRANSITIONS.declineAward.event, JOB_TRANSITIONS.reopen.event];

interface StoredEvent {
  readonly type: EventType;
  /** Null if the event is about the job itself. */
  readonly bidderId: ContractorId | null;
  readonly data: Record<string, unknown>;
  /** Null if the service caused the event. */
  readonly actorId: UserId | null;
  readonly actor: { readonly role: Role } | null;
}

export interface EventReader extends PartyViewer {
  readonly userId: UserId;
}

/** Only the owner and admins can read why an open job has more time, even after the award. */
export const EXTENSION_EVENT = OTHER_JOB_ACTIONS.extendDeadline.event;

/** The reminders that a reader can read. Only admins can read other people's. */
export const REMINDERS_FOR = { 'own job': ['owner', 'parties'], 'job and own bid': ['awardee', 'parties'] } as const;

function isForOther(
  visibility: keyof typeof REMINDERS_FOR,
  { type, data, fromStatus }: Pick<EventParties, 'type' | 'data' | 'fromStatus'>,
): boolean {
  if (type === EXTENSION_EVENT) return visibility === 'job and own bid' && fromStatus === 'open';
  return type === REMINDER_EVENT && !REMINDERS_FOR[visibility].some((reader) => reader === data['to']);
}

interface EventParties extends Pick<StoredEvent, 'type' | 'bidderId' | 'data'> {
  readonly fromStatus: JobState | null;
  readonly toStatus: JobState | null;
}

/** True if the viewer can read any part of the event. */
export function seesEvent(
  visibility: EventVisibility,
  { contractorId }: Pick<PartyViewer, 'contractorId'>,
  event: EventParties,
): boolean {
  const { type, bidderId, fromStatus, toStatus } = event;
  switch (visibility) {
    case 'all':
      return true;
    case 'own job':
      return !isForOther(visibility, event);
    case 'job and own bid':
      return (bidderId === null || bidderId === contractorId) && !isForOther(visibility, event);
    case 'own bid and changes':
      return bidderId === null ? fromStatus !== toStatus || type === EDIT_EVENT : bidderId === contractorId;
    case 'status changes':
      return bidderId === null && fromStatus !== toStatus;
  }
}

export interface EventOnJob<Event> {
  readonly event: Event;
  readonly homeownerId: HomeownerId;
  /** Null for a deleted draft. */
  readonly status: JobState | null;
  readonly awardedContractorId: ContractorId | null;
  readonly awardedBidId: BidId | null;
  /**
   * True if the job is open and its homeowner is suspended. Not needed if all readers receive the job's events even
   * without a match.
   */
  readonly isHidden?: boolean;
  /** Includes at least the viewer's own bids. */
  readonly bids: readonly { readonly contractorId: ContractorId; readonly status: BidState }[];
  /** The contractors whose saved searches the event matched. Includes at least the viewer, if theirs did. */
  readonly matches?: readonly ContractorId[] | undefined;
}

/**
 * Undefined if the viewer can't currently read the event. With the scope `mine`, they can read it only if they receive
 * the job's events without asking for that job, or if the event matched one of their saved searches.
 */
export function readEvent<Event extends StoredEvent & EventParties>(
  viewer: EventReader,
  eventOnJob: EventOnJob<Event>,
  scope: 'job' | 'mine',
): (Event & EventDetails) | undefined {
  const party = readerOfEvent(viewer, eventOnJob, scope);
  return party && eventFor(viewer, party, eventOnJob.event);
}

/** Returns the party whose view of the event the viewer gets. Undefined if the viewer can't read the event. */
export function readerOfEvent(
  viewer: PartyViewer,
  { event, status, homeownerId, awardedContractorId, awardedBidId, isHidden, bids, matches }: EventOnJob<EventParties>,
  scope: 'job' | 'mine',
): Party | undefined {
  // A job without a status was a draft, and has been deleted.
  const job = {
    status: status ?? INITIAL_JOB_STATE,
    homeownerId,
    awardedContractorId,
    isOwnerSuspended: isHidden === true,
  };
  const ownBids = bids.filter((bid) => bid.contractorId === viewer.contractorId).map((bid) => bid.status);
  const party = partyOf(viewer, job, ownBids.length > 0);
  if (party === 'stranger') return undefined;
  const isMatch = viewer.contractorId !== null && matches?.includes(viewer.contractorId) === true;
  if (scope === 'mine' && !isMatch && !receivesJobEvents(viewer, job, ownBids)) return undefined;
  return seesEvent(eventVisibilityOf(party), viewer, event) ? readsAs(party, event, awardedBidId) : undefined;
}

/** The awarded contractor reads an earlier award as a bidder, without the other bid's ID. */
export function readsAs(
  party: Party,
  { type, data }: Pick<StoredEvent, 'type' | 'data'>,
  awardedBidId: BidId | null,
): Party {
  const isEarlierAward = type === AWARD_EVENT && data['bidId'] !== awardedBidId;
  return party === 'awardee' && isEarlierAward ? 'bidder' : party;
}

/** Event data that has a field of its own is moved to that field. */
export function eventFor<Event extends StoredEvent>(
  viewer: Pick<EventReader, 'userId' | 'contractorId'>,
  party: Party,
  event: Event,
): Event & EventDetails {
  const visibility = eventVisibilityOf(party);
  const isForContractor = visibility !== 'all' && visibility !== 'own job';
  const readable =
    isForContractor && ENDS_OF_AWARDS.includes(event.type)
      ? lostAward(event, viewer.contractorId)
      : READABLE[visibility](event);
  const hiddenActor = isForContractor && isOtherContractor(event, viewer) ? NO_ACTOR : undefined;
  const details = pick(readable, hasField);
  const data = pick(readable, (name) => !hasField(name));
  // The cast is safe because the operation's schema checked the data. `Object.assign` is used because each field added
  // to a spread object costs a microsecond.
  return Object.assign({}, event, NO_DETAILS, details as Partial<EventDetails>, { data }, hiddenActor);
}

const NO_ACTOR = { actorId: null, actor: null };

/** A contractor sees only their own bid, so an event must not tell them whose bid was awarded. */
function isOtherContractor({ actorId, actor }: StoredEvent, { userId }: Pick<EventReader, 'userId'>): boolean {
  return actor?.role === 'contractor' && actorId !== userId;
}

const NO_DETAILS = Object.fromEntries(EVENT_DETAILS.map((name) => [name, null as unknown])) as EventDetails;

function hasField(name: string): boolean {
  return Object.hasOwn(NO_DETAILS, name);
}

type EventData = StoredEvent['data'];

function pick(from: EventData, isPicked: (name: string) => boolean): EventData {
  return Object.fromEntries(Object.entries(from).filter(([name]) => isPicked(name)));
}

function lostAward({ data }: StoredEvent, contractorId: ContractorId | null): EventData {
  return contractorId !== null && data['contractorId'] === contractorId ? data : {};
}

const notOfTheOwner = ({ data }: StoredEvent) => pick(data, (name) => !OF_THE_OWNER.includes(name));
const forEveryone = ({ type, data }: StoredEvent) => pick(data, (name) => FOR_EVERYONE[type]?.includes(name) === true);

const READABLE: Readonly<Record<EventVisibility, (event: StoredEvent) => EventData>> = {
  all: ({ data }) => data,
  'own job': ({ data }) => data,
  'job and own bid': notOfTheOwner,
  'own bid and changes': (event) => {
    if (event.bidderId !== null) return notOfTheOwner(event);
    return event.type === EDIT_EVENT ? publicFieldsIn(event.data) : forEveryone(event);
  },
  'status changes': forEveryone,
};

const JOB_FIELDS: Readonly<Record<string, Field>> = JOB.fields;

/** An event may lack its list of fields. If this function threw in that case, one bad event would stop all webhooks. */
function publicFieldsIn({ fields }: EventData): EventData {
  return Array.isArray(fields) ? { fields: fields.filter((name) => JOB_FIELDS[name]?.readBy === undefined) } : {};
}
