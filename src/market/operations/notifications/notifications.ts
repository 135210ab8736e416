/** A person's feed of notifications: its pages, its counter, and how far the person has read. */
import { z } from 'zod';
import { PAGE } from '../../../platform/caller-limits.js';
import { connectionPage, pageShape } from '../../../platform/call/paging.js';
import { mapPage, type Page } from '../../../platform/db/pages/page.js';
import { emptyInput } from '../../../platform/fields/shapes.js';
import { position } from '../../../platform/fields/values.js';
import {
  countUnread,
  listNotifications as listStoredNotifications,
  markRead,
} from '../../store/notifications/notifications.js';
import { assertPositionExists } from '../events/events.js';
import { operation } from '../operation.js';
import { openNotifications, readStored, type Notification } from './live-notifications.js';

export interface Feed {
  readonly page: Page<Notification>;
  /** The position to pass as `after` for the next page. Null on the last page. */
  readonly nextAfter: string | null;
  /** Counts only when called. */
  unreadCount(this: void): Promise<number>;
}

export const listNotifications = operation({
  name: 'notifications',
  description:
    'Lists your notifications, newest first. You’re notified of events on your jobs, bids, and account, and of new ' +
    'jobs that match your saved searches. You’re never notified of your own actions. If you lose access to an event, ' +
    'its notification disappears.',
  allows: 'signed in',
  budget: 'read',
  input: z.strictObject({
    unread: z.boolean().nullish().describe('True to get only unread notifications.'),
    after: position.nullish().describe('Returns the notifications that are older than this position.'),
    perPage: pageShape.perPage,
    first: pageShape.first,
    last: pageShape.last,
    before: position.nullish().describe('Returns the last notifications that are newer than this position.'),
  }),
  async run({ db, viewer }, { unread, perPage, ...ends }): Promise<Feed> {
    const request = connectionPage(ends, (cursor) => [cursor], perPage ?? PAGE.perPageDefault);
    const stored = await listStoredNotifications(db, viewer, { ...request, isUnread: unread === true });
    const page = mapPage(stored, (row) => readStored(viewer, row));
    const nextAfter = (page.hasNext && page.rows.at(-1)?.position) || null;
    return { page, nextAfter, unreadCount: () => countUnread(db, viewer) };
  },
});

export const readUnreadCount = operation({
  name: 'unreadCount',
  description: 'Counts your unread notifications.',
  allows: 'signed in',
  budget: 'read',
  input: emptyInput,
  run: ({ db, viewer }) => countUnread(db, viewer),
});

export interface ReadPosition {
  readonly readUpTo: string;
  readonly unreadCount: number;
}

export const markNotificationsRead = operation({
  name: 'markNotificationsRead',
  description:
    'Marks your notifications as read, up to a position. A position before your current one changes nothing, so ' +
    'several tabs can call this in any order.',
  allows: 'signed in',
  budget: 'write',
  input: z.strictObject({ upTo: position.describe('The position of the newest notification that you’ve seen.') }),
  async run({ db, viewer }, { upTo }): Promise<ReadPosition> {
    await assertPositionExists(db, upTo, 'upTo');
    return db.inTransaction(async (tx) => {
      const [[row], unreadCount] = await tx.commitWith(
        markRead(tx, { userId: viewer.userId, upTo }),
        countUnread(tx, viewer),
      );
      return { readUpTo: row?.readUpTo ?? upTo, unreadCount };
    });
  },
});

export const streamMyNotifications = operation({
  name: 'streamMyNotifications',
  description:
    'Streams your new notifications, starting now or after a position. To continue after a disconnect, pass the last ' +
    'position you’ve seen as `after`. You then miss nothing.',
  allows: 'signed in',
  budget: 'read',
  input: z.strictObject({
    after: position
      .nullish()
      .describe(
        'The position of the last notification you saw. The notifications since then are sent first. By default, the ' +
          'stream starts now.',
      ),
  }),
  async run({ db, viewer, services }, { after }) {
    if (after != null) await assertPositionExists(db, after);
    return { open: (on: typeof db) => openNotifications(services.live, viewer, after, on) };
  },
});
