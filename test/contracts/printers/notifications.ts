/** Prints the table of notifications into docs/notifications.md. */
import {
  NOTIFICATION_READERS,
  NOTIFICATIONS,
  type NotificationEntry,
  type NotificationReader,
} from '../../../src/market/rules/notifications.js';
import { between } from './between.js';

const HEADINGS: Readonly<Record<NotificationReader, string>> = {
  owner: 'Homeowners, about their jobs',
  awardee: 'Contractors, about jobs they were awarded',
  bidder: 'Contractors, about other jobs they bid on',
  searcher: 'Contractors, about jobs that match their saved searches',
  admin: 'Admins',
  user: 'Everyone, about their own account',
};

export function withNotificationTables(page: string): string {
  const sections = NOTIFICATION_READERS.map((reader) => `### ${HEADINGS[reader]}\n\n${table(reader)}\n`);
  return between('notifications', page, `\n${sections.join('\n')}\n`);
}

function table(reader: NotificationReader): string {
  const rows = Object.entries<{ readonly [Reader in NotificationReader]?: NotificationEntry }>(NOTIFICATIONS).flatMap(
    ([type, { [reader]: entry }]) =>
      entry ? [`| \`${type}\` | ${emailOf(entry)} | ${entry.title} | ${entry.sentence} |`] : [],
  );
  return ['| Type | Email | Title | Sentence |', '|---|---|---|---|', ...rows].join('\n');
}

function emailOf({ channel, isFixed }: NotificationEntry): string {
  return isFixed ? 'always' : channel;
}
