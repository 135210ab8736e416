/** An event as one viewer reads it at this moment, if they may read it. */
import { INITIAL_JOB_STATE } from '../rules/states.js';
import { hearsOfJob, partyOf, type PartyViewer } from '../rules/parties.js';
import { eventFor, eventVisibilityOf, seesEvent } from '../rules/timeline.js';
import type { EventWithParties } from '../store/event-log.js';
import type { JobEvent } from '../store/events.js';

/** 'hidden' is a job that the viewer does not see, and 'not theirs' one whose events are not among the viewer's own. */
export function readEvent(
  viewer: PartyViewer,
  { event, status, homeownerId, awardedContractorId, bids }: EventWithParties,
  scope: 'job' | 'mine',
): JobEvent | undefined {
  // A job that is gone was a draft.
  const job = { status: status ?? INITIAL_JOB_STATE, homeownerId, awardedContractorId };
  const ownBids = bids.filter((bid) => bid.contractorId === viewer.contractorId).map((bid) => bid.status);
  const party = partyOf(viewer, job, ownBids.length > 0);
  if (party === 'stranger') return undefined;
  if (scope === 'mine' && !hearsOfJob(viewer, job, ownBids)) return undefined;
  return seesEvent(eventVisibilityOf(party), viewer, event) ? eventFor(party, event) : undefined;
}
