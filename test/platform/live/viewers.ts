/** Viewers, as the server knows them once it has checked their sessions. */
import type { ContractorId, HomeownerId, SessionId, UserId } from '../../../src/market/rules/ids.js';
import type { Role, Viewer } from '../../../src/market/rules/viewer.js';
import type { EventStream } from '../../../src/platform/live/live.js';
import type { JobEvent } from '../../../src/market/store/events/events.js';
import type { Person } from '../../story/cast.js';

export function viewerOf(person: Pick<Person, 'userId' | 'profileId'>, role: Role): Viewer {
  const ids = { userId: person.userId as UserId, sessionId: 'ses_of_a_test' as SessionId };
  if (role === 'homeowner') {
    return { ...ids, role, homeownerId: person.profileId as HomeownerId, contractorId: null };
  }
  if (role === 'contractor') {
    return { ...ids, role, homeownerId: null, contractorId: person.profileId as ContractorId };
  }
  return { ...ids, role, homeownerId: null, contractorId: null };
}

/** Takes events from a stream until one has this type. */
export async function takeUntil(
  stream: EventStream<JobEvent>,
  isLast: (event: JobEvent) => boolean,
): Promise<JobEvent[]> {
  const taken: JobEvent[] = [];
  for (;;) {
    const { done, value } = await stream.next();
    if (done) return taken;
    taken.push(value);
    if (isLast(value)) return taken;
  }
}
