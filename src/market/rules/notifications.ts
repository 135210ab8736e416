/**
 * The people that each event notifies, the text, and whether an email is sent immediately, in the daily digest, or not
 * at all. Emails use the titles and sentences too, so these never contain text that a user wrote. The tables in
 * `docs/notifications.md` are generated from this one.
 */
import type { AccountEventType } from './account-events.js';
import type { EventType } from './events.js';
import type { Role } from './viewer.js';

export type NotifiedType = EventType | AccountEventType;

/** Whether a notification is emailed. The feed has all of them. */
export const CHANNELS = ['now', 'daily', 'off'] as const;
export type Channel = (typeof CHANNELS)[number];

/**
 * In which capacity a person reads an event that they're notified of. A bidder is a contractor who wasn't awarded the
 * job, but has a bid on it that isn't withdrawn. A searcher has a saved search that the job matched. A user reads the
 * events on their own account.
 */
export const NOTIFICATION_READERS = ['owner', 'awardee', 'bidder', 'searcher', 'admin', 'user'] as const;
export type NotificationReader = (typeof NOTIFICATION_READERS)[number];

export interface NotificationEntry {
  /** The default, which applies unless the person has chosen another channel for the type. */
  readonly channel: Channel;
  /** True if the emails can't be turned off. They're then sent immediately. */
  readonly isFixed: boolean;
  /** True if the service sends a separate email about the event, so the notification isn't emailed. */
  readonly hasOwnEmail: boolean;
  readonly title: string;
  readonly sentence: string;
}

type Entries<Reader extends NotificationReader> = { readonly [Key in Reader]?: NotificationEntry };

/** If one step writes several events for a person, only one of them has the channel `now` for that person. */
export const NOTIFICATIONS = {
  'job.created': {},
  'job.published': {
    searcher: now('A new job matches your search', 'A job that matches one of your saved searches was published.'),
  },
  'job.deleted': {},
  'job.updated': {
    awardee: daily('Your job was edited', 'The homeowner edited the job that you were awarded.'),
    bidder: daily('A job you bid on was edited', 'The homeowner edited a job that you bid on.'),
  },
  'job.awarded': {
    awardee: fixed('You were awarded a job', 'The homeowner chose your bid. Start the work, or decline the award.'),
    bidder: off('A job you bid on was awarded', 'The homeowner awarded a job that you bid on.'),
  },
  'job.award_declined': {
    owner: fixed('Your award was declined', 'The contractor declined the award. Your job is open again.'),
    bidder: off('A job you bid on is open again', 'The awarded contractor declined the job.'),
  },
  'job.reopened': { bidder: off('A job you bid on is open again', 'The homeowner took the award back.') },
  'job.checked_in': { owner: daily('The work has started', 'The contractor started the work on your job.') },
  'job.submitted_for_review': {
    owner: now('Your job is ready for review', 'The contractor finished the work and asked you to review it.'),
  },
  'job.approved': {
    awardee: now('Your work was approved', 'The homeowner approved your work, which completed the job.'),
  },
  'job.changes_requested': {
    awardee: now(
      'The homeowner requested changes',
      'The homeowner wants you to fix something before approving the work.',
    ),
  },
  'job.reviewed': { awardee: daily('Your work was rated', 'The homeowner rated your approved work.') },
  'job.disputed': {
    awardee: fixed('Your work is disputed', 'The homeowner disputed your work. Propose a resolution.'),
  },
  'job.resolution_proposed': ofParties(
    'You have a new proposal',
    'The other party proposed a way to settle your dispute.',
  ),
  'job.dispute_resolved': ofParties(
    'Your dispute is settled',
    'The other party sent the same resolution as you, which completed the job.',
  ),
  'job.resolution_accepted': ofParties(
    'Your dispute is settled',
    'The other party accepted your proposal, which completed the job.',
  ),
  'job.escalated': {
    ...ofParties('Your dispute was escalated', 'The other party asked an admin to decide your dispute.'),
    admin: fixed('A dispute was escalated', 'A party to a dispute asked an admin to decide it.'),
  },
  'job.decision_reached': {
    owner: fixed('Your dispute was decided', 'An admin decided your dispute. The contractor can appeal.'),
    awardee: fixed('Your dispute was decided', 'An admin decided your dispute. Accept the decision, or appeal.'),
  },
  'job.decision_accepted': {
    owner: fixed('The decision was accepted', 'The contractor accepted the decision, which completed the job.'),
  },
  'job.appeal_filed': {
    owner: fixed('The decision was appealed', 'The contractor appealed. An admin will make the final ruling.'),
    admin: fixed('A decision was appealed', 'A contractor appealed a decision. An admin must make the final ruling.'),
  },
  'job.appeal_finalized': ofParties(
    'The appeal was decided',
    'An admin made the final ruling on the appeal, which completed the job.',
  ),
  'job.completed': {
    owner: now('Your job was completed', 'An admin completed your job.'),
    awardee: now('Your job was completed', 'An admin completed the job that you were awarded.'),
    bidder: off('A job you bid on was completed', 'An admin completed a job that you bid on.'),
  },
  'job.cancelled': {
    awardee: now('Your job was cancelled', 'The homeowner cancelled the job that you were awarded.'),
    bidder: off('A job you bid on was cancelled', 'The homeowner cancelled a job that you bid on.'),
  },
  'job.deadline_extended': {
    owner: daily('A deadline was extended', 'The contractor has more time to respond to the decision.'),
    awardee: daily('A deadline was extended', 'The job that you were awarded has a later deadline.'),
  },
  'job.reminded': {
    owner: now('Your job is waiting for you', 'Your job needs your attention. Open it to see what to do.'),
    awardee: now('Your job is waiting for you', 'The job needs your attention. Open it to see what to do.'),
    admin: now('A job needs an admin', 'A dispute is waiting for a ruling, or a deadline is overdue or paused.'),
  },
  'job.expired': {
    owner: fixed('Your job has expired', 'You didn’t award your job in time, so it was cancelled.'),
    bidder: off('A job you bid on has expired', 'The homeowner didn’t award the job in time.'),
  },
  'job.auto_approved': {
    owner: fixed('The work was approved', 'You didn’t respond to the work in time, so it counts as approved.'),
    awardee: fixed('Your work was approved', 'The homeowner didn’t respond in time, so your work counts as approved.'),
  },
  'job.auto_escalated': {
    ...ofParties('Your dispute was escalated', 'You didn’t settle the dispute in time, so an admin will decide it.'),
    admin: fixed('A dispute was escalated', 'The parties didn’t settle a dispute in time. An admin must decide it.'),
  },
  'job.decision_stood': {
    owner: fixed('The decision stands', 'The contractor didn’t appeal in time, which completed the job.'),
    awardee: fixed('The decision stands', 'You didn’t appeal in time, which completed the job.'),
  },
  'bid.submitted': { owner: now('You have a new bid', 'A contractor bid on your job.') },
  'bid.revised': { owner: daily('A bid was revised', 'A contractor changed a bid on your job.') },
  'bid.withdrawn': { owner: daily('A bid was withdrawn', 'A contractor withdrew a bid on your job.') },
  'bid.viewed': { bidder: daily('Your bid was viewed', 'The homeowner looked at your bid.') },
  'bid.shortlisted': { bidder: daily('Your bid was shortlisted', 'The homeowner put your bid on the shortlist.') },
  'bid.accepted': { awardee: off('Your bid was accepted', 'The homeowner accepted your bid.') },
  'bid.rejected': {
    bidder: now(
      'Your bid was rejected',
      'The homeowner rejected it, chose another bid, or took back the award, or the job ended.',
    ),
  },
  'bid.restored': {
    bidder: now('Your bid is active again', 'The award fell through, so the homeowner can choose your bid again.'),
  },
  'bid.stake_released': {
    owner: daily('A stake was released', 'You didn’t look at a bid in time, so its stake was released.'),
    bidder: fixed(
      'Your stake was released',
      'The homeowner didn’t look at your bid in time. Your bid is still active.',
    ),
  },
  'account.email_changed': {
    user: alreadyEmailed('Your email was changed', 'Your account’s email address was changed.'),
  },
  'account.password_changed': {
    user: alreadyEmailed('Your password was changed', 'Your account’s password was changed.'),
  },
  'account.email_undo_pending': {
    user: alreadyEmailed(
      'An email undo is pending',
      'Someone asked to undo a change to your email address. An admin will decide.',
    ),
    admin: fixed('An email undo is pending', 'Someone asked to undo an email change. An admin must decide.'),
  },
  'purchase.paid': { user: now('You have new tokens', 'Your payment arrived, and your tokens were credited.') },
  'purchase.refunded': {
    user: now('Your purchase was refunded', 'We sent your money back and took the refunded tokens from your balance.'),
  },
  'purchase.charged_back': {
    user: now(
      'Your payment was charged back',
      'Your bank reversed the payment, so we took back the tokens that you bought with it.',
    ),
  },
  'webhook.failing': {
    user: now('Your webhook is failing', 'For a day, every attempt to reach your webhook endpoint has failed.'),
  },
  'webhook.paused': { user: now('Your webhook was paused', 'We paused your webhook endpoint. You can resume it.') },
} as const satisfies Record<EventType, Entries<Exclude<NotificationReader, 'user'>>> &
  Record<AccountEventType, Entries<'user' | 'admin'>>;

function now(title: string, sentence: string): NotificationEntry {
  return { channel: 'now', isFixed: false, hasOwnEmail: false, title, sentence };
}

function daily(title: string, sentence: string): NotificationEntry {
  return { ...now(title, sentence), channel: 'daily' };
}

function off(title: string, sentence: string): NotificationEntry {
  return { ...now(title, sentence), channel: 'off' };
}

function fixed(title: string, sentence: string): NotificationEntry {
  return { ...now(title, sentence), isFixed: true };
}

function alreadyEmailed(title: string, sentence: string): NotificationEntry {
  return { ...fixed(title, sentence), hasOwnEmail: true };
}

function ofParties(title: string, sentence: string): Record<'owner' | 'awardee', NotificationEntry> {
  return { owner: fixed(title, sentence), awardee: fixed(title, sentence) };
}

/** The event that is compared with saved searches. Each search says whether and when its matches are emailed. */
export const MATCHED_EVENT = 'job.published' satisfies EventType;

/** The types that at least one kind of person is notified of. */
export const NOTIFIED_TYPES = Object.entries(NOTIFICATIONS)
  .filter(([, entries]) => Object.keys(entries).length > 0)
  .map(([type]) => type as NotifiedType);

/** Why a person doesn't get emails about notifications, regardless of their settings. */
export const EMAIL_PROBLEMS = ['unconfirmed', 'undeliverable'] as const;
export type EmailProblem = (typeof EMAIL_PROBLEMS)[number];

/** The recipient in the data of a reminder to admins. Admins aren't notified of reminders to other people. */
export const REMINDED_ADMIN = 'admin';

/**
 * Returns the entry of the first reader that has one. A contractor may have gotten or lost the award since the event,
 * so either of their entries can apply. During an upgrade, the type may be one that this build doesn't know.
 */
export function notificationFor(
  type: NotifiedType,
  readers: readonly NotificationReader[],
): NotificationEntry | undefined {
  const { [type]: entries }: { [Type in NotifiedType]?: Entries<NotificationReader> } = NOTIFICATIONS;
  return readers.map((reader) => entries?.[reader]).find((entry) => entry !== undefined);
}

/**
 * In which capacities a person may read a job's event, the likeliest first. The award may have been taken back, so a
 * bidder can read an event about their own bid as an awardee. Other events for awardees are about someone else's work.
 */
export function readersOfJob(role: Role, isAwardee: boolean, isOfBid: boolean): readonly NotificationReader[] {
  if (role === 'contractor' && !isAwardee) return isOfBid ? ['bidder', 'awardee', 'searcher'] : ['bidder', 'searcher'];
  if (role === 'contractor') return ['awardee', 'bidder', 'searcher'];
  return role === 'admin' ? ['admin'] : ['owner'];
}

/** The types that have an email setting for this role. Matches don't, because each saved search has its own. */
export function settableTypesOf(role: Role): readonly NotifiedTypeOfRole[] {
  return notifiedTypesOf(role).filter(({ type }) => type !== MATCHED_EVENT);
}

/** In which capacities a person may read an account's events. */
export function readersOfAccount(isOwn: boolean): readonly NotificationReader[] {
  return isOwn ? ['user'] : ['admin'];
}

/** A type in a person's settings. */
export interface NotifiedTypeOfRole {
  readonly type: NotifiedType;
  readonly channel: Channel;
  /** For a contractor, a type is fixed if it's fixed for an awardee or for a bidder. */
  readonly isFixed: boolean;
}

/** The types that people with this role can be notified of, in the table's order. */
export function notifiedTypesOf(role: Role): readonly NotifiedTypeOfRole[] {
  const readers = [...readersOfJob(role, true, false), 'user'] as const;
  return Object.entries<Entries<NotificationReader>>(NOTIFICATIONS).flatMap(([type, entries]) => {
    const own = readers.map((reader) => entries[reader]).filter((entry) => entry !== undefined);
    const [first] = own;
    if (!first) return [];
    const isFixed = own.some((entry) => entry.isFixed);
    return [{ type: type as NotifiedType, channel: isFixed ? 'now' : first.channel, isFixed }];
  });
}
