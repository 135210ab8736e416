/** The events of all of a viewer's jobs, as a list that can be resumed from a position and as subscriptions. */
import { z } from 'zod';
import type { EventStream } from '../../../platform/live/live.js';
import { PAGE } from '../../../platform/caller-limits.js';
import { partyToOwn } from '../../rules/parties.js';
import { PROPOSAL_EVENT, proposalFrom } from '../../rules/jobs/disputes.js';
import type { Proposal } from '../../rules/entities/dispute.js';
import { ACCOUNT_EVENT_TYPES_FOR_ADMINS } from '../../rules/account-events.js';
import { siblingOf, type AccountEventId, type EventId, type ProposalId } from '../../rules/ids.js';
import { refuse } from '../../rules/errors.js';
import { eventFor, readEvent } from '../../rules/reading/timeline.js';
import type { Viewer } from '../../rules/viewer.js';
import { position } from '../../../platform/fields/values.js';
import type { Db } from '../../../platform/db/database.js';
import { selectAccountEvent, type AccountEvent } from '../../store/events/account-event-log.js';
import { findEvent as findStoredEvent, listOwnEvents as listStoredEvents } from '../../store/events/event-log.js';
import type { JobEvent } from '../../store/events/events.js';
import { mapPage, type Page } from '../../../platform/db/pages/page.js';
import { operation } from '../operation.js';
import { connectionPage, pageShape } from '../../../platform/call/paging.js';
import { idInPath } from '../../rules/id-fields.js';
import { openEvents } from './live-events.js';
import { findJob } from '../jobs/visible-job.js';
import { selectLastPosition } from '../../store/events/positions.js';
import { invalidField } from '../../../platform/call/validation.js';

export interface OwnEvents {
  readonly page: Page<JobEvent>;
  /** The page's last position, or the call's own `after` if the page is empty. */
  readonly nextAfter: string;
}

const BEGINNING = '0';

export const NOT_AMONG_OWN_EVENTS =
  'When you bid on a job or are awarded one, you can also read its earlier events. Their positions come ' +
  'before your last one, so read them from the job’s timeline: `Job.timeline` or `GET /v1/jobs/{id}/events`.';

export const listOwnEvents = operation({
  name: 'myEvents',
  description:
    'Lists events on your jobs, oldest first. Your jobs are the jobs that you own, were awarded, or have a bid on ' +
    'that isn’t withdrawn. Contractors also get `job.published` for each job that matches their saved searches. ' +
    'Admins get the events on all jobs. To continue, pass the last position you’ve seen as `after`. You then get ' +
    'each event exactly once, as long as you can read it.',
  allows: 'signed in',
  budget: 'read',
  input: z.strictObject({
    after: position
      .nullish()
      .describe(
        'Returns the events after this position. By default, the list starts with the first event. A position ' +
          'after the last event is ' +
          'rejected.',
      ),
    perPage: pageShape.perPage,
    first: pageShape.first,
    last: pageShape.last,
    before: position.nullish().describe('Returns the last events before this position.'),
  }),
  async run({ db, viewer }, { perPage, ...ends }): Promise<OwnEvents> {
    const { after } = ends;
    const request = connectionPage(ends, (cursor) => [cursor], perPage ?? PAGE.perPageDefault);
    const events = await listStoredEvents(db, viewer, request);
    if (events.rows.length === 0 && after != null) await assertPositionExists(db, after);
    const page = mapPage(events, ({ isAwardee, ...event }) =>
      eventFor(viewer, partyToOwn(viewer.role, isAwardee), event),
    );
    return { page, nextAfter: page.rows.at(-1)?.position ?? after ?? BEGINNING };
  },
});

export async function findEvent(db: Db, viewer: Viewer, id: EventId): Promise<JobEvent> {
  const stored = await findStoredEvent(db, viewer, id);
  if (!stored) throw refuse('NOT_FOUND', { message: 'Event not found.' });
  const event = readEvent(viewer, stored, 'job');
  if (!event) throw refuse('FORBIDDEN', { message: 'You don’t have access to this event.' });
  return event;
}

export async function findAccountEvent(db: Db, viewer: Viewer, id: AccountEventId): Promise<AccountEvent> {
  const [event] = await selectAccountEvent(db, { id });
  if (!event) throw refuse('NOT_FOUND', { message: 'Event not found.' });
  const isForAdmins = ACCOUNT_EVENT_TYPES_FOR_ADMINS.includes(event.type);
  if (event.userId !== viewer.userId && !(viewer.role === 'admin' && isForAdmins))
    throw refuse('FORBIDDEN', { message: 'You don’t have access to this event.' });
  return event;
}

/** Reads a proposal, even if a later one replaced it. Anyone who can read the proposal's event can read the dispute. */
export async function findProposal(db: Db, viewer: Viewer, id: ProposalId): Promise<Proposal> {
  const event = await findEvent(db, viewer, siblingOf('event', id));
  if (event.type !== PROPOSAL_EVENT) throw refuse('NOT_FOUND', { message: 'Proposal not found.' });
  return proposalFrom(event);
}

/** The stream opens only after the operation, because the session check may still fail until then. */
export interface EventsToCome<Event = JobEvent> {
  /** Reads past events through `db`. */
  readonly open: (db: Db) => EventStream<Event>;
}

const after = position
  .nullish()
  .describe(
    'The position of the last event you saw. The events since then are sent first. By default, the stream starts now.',
  );

export const streamMyEvents = operation({
  name: 'streamMyEvents',
  description:
    'Streams new events on your jobs, starting now or after a position. Your jobs are the jobs that you own, were ' +
    'awarded, or have a bid on that isn’t withdrawn. Contractors also get `job.published` for each job that matches ' +
    'their saved searches. Admins get the events on all jobs.',
  allows: 'signed in',
  budget: 'read',
  input: z.strictObject({ after }),
  async run({ db, viewer, services }, { after: since }): Promise<EventsToCome> {
    if (since != null) await assertPositionExists(db, since);
    return { open: (on) => openEvents(services.live, viewer, { after: since }, on) };
  },
});

export const streamJobEvents = operation({
  name: 'streamJobEvents',
  description:
    'Streams new events on a job, starting now or after a position. You get the same events as in the job’s timeline.',
  allows: 'signed in',
  budget: 'read',
  input: z.strictObject({ jobId: idInPath('job').describe('The job.'), after }),
  async run({ db, viewer, services }, { jobId, after: since }): Promise<EventsToCome> {
    await findJob(db, viewer, jobId);
    if (since != null) await assertPositionExists(db, since);
    return { open: (on) => openEvents(services.live, viewer, { jobId, after: since }, on) };
  },
});

/**
 * After a restore from a backup, a client can have a position above the last one, and would then miss events. Every
 * instance commits a position before clients can read it, so this statement sees every position that a client can have.
 */
export async function assertPositionExists(db: Db, wanted: string, field = 'after'): Promise<void> {
  const [{ last } = { last: '0' }] = await selectLastPosition(db, {});
  if (BigInt(wanted) > BigInt(last)) throw invalidField(field, `is after the last position, which is ${last}`);
}
