/**
 * Decides which notifications are emailed immediately, in the digest, or not at all. One server at a time moves a
 * cursor over the stored notifications. The emails, their tasks, and the cursor are committed together.
 */
import type { Logger } from 'pino';
import type { DatabaseWatch } from '../../platform/db/database-watch.js';
import { pipelined, type Db, type Transaction } from '../../platform/db/database.js';
import { asArray } from '../../platform/db/statement.js';
import { type Queue, repeat, type Repeated } from '../../platform/queue/queue.js';
import { NOTIFICATION_EMAILS } from '../rules/market-limits.js';
import { newId } from '../store/new-id.js';
import {
  clearMarks,
  countRecentEmails,
  endDigest,
  insertDigests,
  insertNotificationEmails,
  lockDigest,
  lockEmails,
  markEmailedLater,
  moveEmailCursor,
  selectDigestRecipients,
  selectEmailBatch,
  selectEmailState,
  selectNotificationsForDigests,
  selectNotificationsToEmail,
  waitForEmails,
  type EmailSource,
  type NewDigest,
  type NewNotificationEmail,
  type NotifiedRow,
} from '../store/notifications/notification-emails.js';
import { NOTIFICATION_DECISIONS, type MailMetrics, type NotificationDecision } from './metrics.js';
import { isFixedFor, readNotified, type Notified } from './notified.js';
import type { MailSettings } from './send.js';

interface NotificationEmailOptions {
  readonly queue: Pick<Queue, 'db' | 'wake'>;
  readonly mail: Pick<MailSettings, 'isOn'>;
  readonly log: Pick<Logger, 'warn'>;
  readonly databaseWatch: Pick<DatabaseWatch, 'problem'>;
  readonly mailMetrics: MailMetrics;
  /** The hour at which the day's digests start, in UTC. */
  readonly digestHour: number;
}

export function openNotificationEmails({
  queue,
  mail: { isOn },
  log,
  databaseWatch,
  mailMetrics,
  digestHour,
}: NotificationEmailOptions): Repeated {
  const { db } = queue;
  async function emailNext(): Promise<boolean> {
    // A server that can't send emails leaves them to others.
    const [state] = isOn ? await selectEmailState(db, { digestHour }) : [];
    const emailed = state?.isBehind === true && (await emailNotifications(db, mailMetrics, 'events'));
    const emailedMatches = state?.isBehindMatches === true && (await emailNotifications(db, mailMetrics, 'matches'));
    const digested = state?.isDigestDue === true && (await sendDigests(db, digestHour));
    const isMore = emailed || emailedMatches || digested;
    if (isMore) queue.wake();
    return isMore;
  }
  return repeat(emailNext, NOTIFICATION_EMAILS.pollEveryMs, (error) => {
    if (!databaseWatch.problem) log.warn({ err: error }, 'queueing emails about notifications failed; retrying');
  });
}

/** Returns true if the cursor has moved, so there may be more. */
export async function emailNotifications(
  db: Db,
  metrics: Pick<MailMetrics, 'recordNotification'>,
  source: EmailSource,
): Promise<boolean> {
  const decided = await db.inTransaction((tx) => decideNext(tx, source));
  for (const decision of NOTIFICATION_DECISIONS) metrics.recordNotification(decision, decided?.[decision] ?? 0);
  return decided !== undefined;
}

/** Returns how many notifications got each decision. Undefined if there are no new ones. */
async function decideNext(
  tx: Transaction,
  source: EmailSource,
): Promise<Record<NotificationDecision, number> | undefined> {
  const [[lock], [batch]] = await pipelined(lockEmails(tx, {}), selectEmailBatch[source](tx, {}));
  if (!lock?.isLocked || !batch || batch.after === batch.upTo) return undefined;
  const rows = await selectNotificationsToEmail[source](tx, batch);
  const notified = readAll(rows.filter(({ isTooOld }) => !isTooOld)).filter(({ channel }) => channel !== 'off');
  const { now, later, beyondLimit } = await withinLimit(tx, notified);
  const toMark = [...later, ...beyondLimit];
  // Updates the cursor before the notifications. Numbering locks them in the same order, so the two can't deadlock.
  await tx.commitWith(
    ...(now.length > 0 ? [insertNotificationEmails(tx, { list: JSON.stringify(emailsFor(now)) })] : []),
    moveEmailCursor[source](tx, batch),
    ...(toMark.length > 0 ? [markEmailedLater(tx, parallel(toMark))] : []),
  );
  return {
    now: now.length,
    later: later.length,
    beyond_limit: beyondLimit.length,
    not_emailed: rows.length - notified.length,
  };
}

function readAll(rows: readonly NotifiedRow[]): Notified[] {
  return rows.map(readNotified).filter((one) => one !== undefined);
}

interface Sorted {
  readonly now: readonly Notified[];
  readonly later: readonly Notified[];
  readonly beyondLimit: readonly Notified[];
}

/** If a person has reached the day's limit, further notifications go into the digest. Fixed ones don't count. */
async function withinLimit(tx: Db, notified: readonly Notified[]): Promise<Sorted> {
  const later = notified.filter(({ channel }) => channel === 'daily');
  const now = notified.filter(({ channel }) => channel === 'now');
  const limited = now.filter(({ entry }) => !entry.isFixed);
  if (limited.length === 0) return { now, later, beyondLimit: [] };
  const roles = new Map(limited.map(({ userId, role }) => [userId, role]));
  const counts = new Map<string, number>();
  for (const { userId, type, count } of await countRecentEmails(tx, { userIds: asArray([...roles.keys()]) })) {
    const role = roles.get(userId);
    if (!role || !isFixedFor(role, type)) counts.set(userId, (counts.get(userId) ?? 0) + count);
  }
  const beyondLimit = limited.filter(({ userId }) => {
    const count = (counts.get(userId) ?? 0) + 1;
    counts.set(userId, count);
    return count > NOTIFICATION_EMAILS.perDayMax;
  });
  return { now: now.filter((one) => !beyondLimit.includes(one)), later, beyondLimit };
}

/** If a type is emailed at most hourly, one email covers all of a person's events of this type about the same job. */
function emailsFor(notified: readonly Notified[]): NewNotificationEmail[] {
  const emails = new Map<string, NewNotificationEmail>();
  for (const { userId, email, position, type, jobId, entry } of notified) {
    const key = entry.isFixed ? [userId, type, jobId].join(' ') : `${userId} ${position}`;
    const { fromPosition = position } = emails.get(key) ?? {};
    emails.set(key, {
      id: newId('mail'),
      userId,
      email,
      domain: domainOf(email),
      type,
      jobId,
      fromPosition,
      upToPosition: position,
      isHourly: entry.isFixed,
    });
  }
  return [...emails.values()];
}

function domainOf(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1);
}

function parallel(notified: readonly Notified[]) {
  return {
    userIds: asArray(notified.map(({ userId }) => userId)),
    positions: asArray(notified.map(({ position }) => position)),
  };
}

/** Returns true if there may be more digests to write. */
export function sendDigests(db: Db, digestHour: number): Promise<boolean> {
  return db.inTransaction(async (tx) => {
    const [due] = await lockDigest(tx, { digestHour });
    if (!due) return false;
    if (due.hasBegun) return true;
    await waitForEmails(tx, {});
    const people = (await selectDigestRecipients(tx, due)).map(({ userId }) => userId);
    if (people.length === 0) {
      await tx.commitWith(endDigest(tx, {}));
      return false;
    }
    const recipients = { userIds: asArray(people), upTo: due.upTo };
    const rows = await selectNotificationsForDigests(tx, recipients);
    const wanted = readAll(rows.filter(({ isRead }) => !isRead)).filter(({ channel }) => channel !== 'off');
    const digests = people.flatMap((userId) => digestFor(wanted.filter((one) => one.userId === userId)));
    // If a person wants none of the latest, the next batch reads their earlier ones.
    const clearedFrom = people.map((userId) => {
      const hasDigest = digests.some((one) => one.userId === userId);
      return (hasDigest ? undefined : rows.find((one) => one.userId === userId)?.position) ?? '0';
    });
    await pipelined(
      ...(digests.length > 0 ? [insertDigests(tx, { list: JSON.stringify(digests) })] : []),
      clearMarks(tx, { ...recipients, from: asArray(clearedFrom) }),
    );
    return true;
  });
}

function digestFor(wanted: readonly Notified[]): NewDigest[] {
  const listed = wanted.slice(-NOTIFICATION_EMAILS.digestItemsMax);
  const [one] = listed;
  if (!one) return [];
  const { userId, email } = one;
  const positions = asArray(listed.map(({ position }) => position));
  const leftOutCount = wanted.length - listed.length;
  return [{ id: newId('mail'), userId, email, domain: domainOf(email), positions, leftOutCount }];
}
