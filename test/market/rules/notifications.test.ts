/** The notification that each kind of reader gets of an event. `docs/notifications.md` shows the whole table. */
import { describe, expect, test } from 'vitest';
import {
  MATCHED_EVENT,
  notificationFor,
  notifiedTypesOf,
  NOTIFIED_TYPES,
  readersOfAccount,
  readersOfJob,
  settableTypesOf,
  type NotificationReader,
  type NotifiedType,
} from '../../../src/market/rules/notifications.js';
import type { Role } from '../../../src/market/rules/viewer.js';

describe('the readers of an event', () => {
  test.each<[who: string, role: Role, isAwardee: boolean, isOfBid: boolean, readers: NotificationReader[]]>([
    ['the homeowner', 'homeowner', false, false, ['owner']],
    ['an admin', 'admin', false, false, ['admin']],
    ['the awarded contractor', 'contractor', true, false, ['awardee', 'bidder', 'searcher']],
    ['the awarded contractor, about their bid', 'contractor', true, true, ['awardee', 'bidder', 'searcher']],
    ['another contractor', 'contractor', false, false, ['bidder', 'searcher']],
    ['another contractor, about their bid', 'contractor', false, true, ['bidder', 'awardee', 'searcher']],
  ])('%s', (_, role, isAwardee, isOfBid, readers) => {
    expect(readersOfJob(role, isAwardee, isOfBid)).toEqual(readers);
  });

  test('of an account are its user, and admins for other people’s accounts', () => {
    expect(readersOfAccount(true)).toEqual(['user']);
    expect(readersOfAccount(false)).toEqual(['admin']);
  });
});

describe('the notification', () => {
  test.each<[type: NotifiedType, readers: NotificationReader[], title: string | undefined]>([
    ['bid.accepted', ['bidder', 'awardee', 'searcher'], 'Your bid was accepted'],
    ['job.awarded', ['bidder', 'awardee'], 'A job you bid on was awarded'],
    ['job.awarded', ['awardee', 'bidder'], 'You were awarded a job'],
    ['job.awarded', ['owner'], undefined],
    ['job.created', ['owner'], undefined],
    ['job.never_heard_of' as NotifiedType, ['owner'], undefined],
  ])('of %s for %j is for the first of these readers who gets one', (type, readers, title) => {
    expect(notificationFor(type, readers)?.title).toBe(title);
  });

  test.each<[type: NotifiedType, reader: NotificationReader, expected: object]>([
    ['bid.submitted', 'owner', { channel: 'now', isFixed: false, hasOwnEmail: false }],
    ['bid.revised', 'owner', { channel: 'daily', isFixed: false, hasOwnEmail: false }],
    ['bid.accepted', 'awardee', { channel: 'off', isFixed: false, hasOwnEmail: false }],
    ['job.disputed', 'awardee', { channel: 'now', isFixed: true, hasOwnEmail: false }],
    ['account.password_changed', 'user', { channel: 'now', isFixed: true, hasOwnEmail: true }],
  ])('of %s for the %s is sent this way', (type, reader, expected) => {
    expect(notificationFor(type, [reader])).toMatchObject(expected);
  });
});

describe('the types in settings', () => {
  const channelOf = (role: Role, type: NotifiedType) => notifiedTypesOf(role).find((one) => one.type === type);

  test('leave out events that notify nobody with the role', () => {
    expect(channelOf('homeowner', 'job.created')).toBeUndefined();
    expect(channelOf('homeowner', 'job.disputed')).toBeUndefined();
    expect(channelOf('admin', 'bid.submitted')).toBeUndefined();
    expect(NOTIFIED_TYPES).not.toContain('job.created');
    expect(NOTIFIED_TYPES).toContain('job.disputed');
  });

  test('of a contractor are fixed if they are for an awardee or a bidder', () => {
    expect(channelOf('contractor', 'job.awarded')).toMatchObject({ channel: 'now', isFixed: true });
    expect(channelOf('contractor', 'bid.stake_released')).toMatchObject({ channel: 'now', isFixed: true });
    expect(channelOf('contractor', 'bid.viewed')).toMatchObject({ channel: 'daily', isFixed: false });
    expect(channelOf('contractor', 'job.completed')).toMatchObject({ channel: 'now', isFixed: false });
    expect(channelOf('homeowner', 'bid.stake_released')).toMatchObject({ channel: 'daily', isFixed: false });
  });

  test('include those about the own account, and for admins the undos that wait', () => {
    for (const role of ['homeowner', 'contractor', 'admin'] as const)
      expect(channelOf(role, 'purchase.paid')).toMatchObject({ channel: 'now', isFixed: false });
    expect(channelOf('admin', 'account.email_undo_pending')).toMatchObject({ isFixed: true });
  });

  test('that can be set leave out matches, because each saved search has its own', () => {
    const all = notifiedTypesOf('contractor').map(({ type }) => type);
    expect(all).toContain(MATCHED_EVENT);
    expect(settableTypesOf('contractor').map(({ type }) => type)).toEqual(all.filter((type) => type !== MATCHED_EVENT));
  });
});
