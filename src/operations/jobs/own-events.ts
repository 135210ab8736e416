/** The events of all of a viewer's jobs in one list, which can be read on from a position. */
import { z } from 'zod';
import { partyToOwn } from '../../rules/parties.js';
import { PAGE } from '../../rules/limits.js';
import { eventFor } from '../../rules/timeline.js';
import { position } from '../../rules/values.js';
import { listOwnEvents as ownEvents } from '../../store/event-log.js';
import type { JobEvent } from '../../store/events.js';
import { mapPage, type Page } from '../../store/page.js';
import { operation } from '../operation.js';
import { pageShape } from '../paging.js';
import { assertReached } from './reached.js';

export interface OwnEvents {
  readonly page: Page<JobEvent>;
  /** The `after` of the next call: the last position of the page, or the given one where the page is empty. */
  readonly nextAfter: string;
}

const BEGINNING = '0';

/** Describes which events are not in this list, and where to read them. */
export const NOT_AMONG_OWN_EVENTS =
  'Of what becomes readable later, the earlier events have earlier positions: after a bid or an award of yours read ' +
  'the timeline of that job too (`GET /v1/jobs/{id}/events`, `Job.timeline`). A bidder reads changes of the job’s ' +
  'status alone, and so not that their own bid was viewed, shortlisted or rejected: ask `GET /v1/bids` or ' +
  '`viewer.bids` for its status.';

export const listOwnEvents = operation({
  name: 'myEvents',
  description:
    'Lists what happened to jobs that one owns, was awarded, or has a bid on that is not withdrawn, the oldest ' +
    'first; for admins to all jobs. Ask for what is `after` the last position you have seen: you miss nothing ' +
    'that you may read by then, and see nothing twice.',
  allows: 'signed in',
  budget: 'read',
  input: z.strictObject({
    after: position
      .nullish()
      .describe(
        'The position to read on from; from the beginning by default. One beyond the last there is, is refused.',
      ),
    perPage: pageShape.perPage,
    first: pageShape.first,
  }),
  async run({ db, viewer }, { after, perPage, first }): Promise<OwnEvents> {
    const size = first ?? perPage ?? PAGE.perPageDefault;
    const found = await ownEvents(db, viewer, { size, after: after ?? BEGINNING });
    if (found.rows.length === 0 && after != null) await assertReached(db, after);
    const page = mapPage(found, ({ isAwardee, ...event }) => eventFor(partyToOwn(viewer.role, isAwardee), event));
    return { page, nextAfter: page.rows.at(-1)?.position ?? after ?? BEGINNING };
  },
});
