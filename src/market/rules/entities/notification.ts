/** Notifications as their reader sees them, and how the reader wants to be emailed about each type. */
import { z } from 'zod';
import { entity } from '../../../platform/fields/entity.js';
import { enumOf, integer, position, text } from '../../../platform/fields/values.js';
import { idOf } from '../id-fields.js';
import { TEXT, UNREAD_COUNTED_MAX } from '../market-limits.js';
import { CHANNELS, EMAIL_PROBLEMS, NOTIFIED_TYPES } from '../notifications.js';
import { ACCOUNT_EVENT } from './account-event.js';
import { JOB_EVENT } from './event.js';

const TYPE = {
  type: enumOf(NOTIFIED_TYPES, 'NotificationType'),
  description: 'The type of event.',
  example: 'bid.submitted',
} as const;
export const NOTIFICATION = entity('Notification', 'A notification about an event, with a title and a sentence.', {
  position: {
    type: position,
    description: 'The event’s position, as digits. A later event has a higher position.',
    example: '4711',
  },
  type: TYPE,
  title: { type: text(TEXT.line), description: 'The title, in plain English.', example: 'You have a new bid' },
  sentence: {
    type: text(TEXT.line),
    description: 'A sentence that says what happened, without names or values.',
    example: 'A contractor bid on your job.',
  },
  jobId: { type: idOf('job').nullable(), description: 'The job to link to. Null if the event is about an account.' },
  bidId: { type: idOf('bid').nullable(), description: 'The bid to link to. Null if the event isn’t about one bid.' },
  event: { type: z.union([JOB_EVENT.schema, ACCOUNT_EVENT.schema]), description: 'The event, as you can read it now.' },
  isRead: {
    type: z.boolean(),
    description: 'True if you’ve marked this notification or a later one as read.',
    example: false,
  },
});

export const UNREAD_COUNT = {
  type: integer(),
  description: `The number of unread notifications. Counting stops at ${UNREAD_COUNTED_MAX}.`,
  example: 1,
} as const;

export const READ_POSITION = entity('ReadPosition', 'How far you’ve read your notifications.', {
  readUpTo: {
    type: position,
    description: 'The position up to which you’ve read your notifications. It never moves backward.',
    example: '4711',
  },
  unreadCount: { ...UNREAD_COUNT, example: 0 },
});

const CHANNEL = {
  type: enumOf(CHANNELS, 'NotificationChannel'),
  description: 'When an email is sent.',
  example: 'now',
} as const;

export const NOTIFICATION_SETTING = entity('NotificationSetting', 'When you’re emailed about a type of event.', {
  type: TYPE,
  channel: CHANNEL,
  isFixed: {
    type: z.boolean(),
    description: 'True if the type can’t be turned off. Its emails are always sent immediately.',
    example: false,
  },
});

export const NOTIFICATION_SETTINGS = entity('NotificationSettings', 'When you’re emailed about your notifications.', {
  settings: {
    type: z.array(NOTIFICATION_SETTING.schema),
    description: 'One setting for each type that people with your role are notified of.',
  },
  emailProblem: {
    type: enumOf(EMAIL_PROBLEMS, 'EmailProblem').nullable(),
    description: 'Why you don’t get emails about notifications. Null if you can get them.',
    example: null,
  },
});

/** A change to one setting. */
export const notificationSetting = z.strictObject({
  type: TYPE.type.describe('The type of event to change.'),
  channel: CHANNEL.type.describe('When to send an email. A type that can’t be turned off accepts only `now`.'),
  isFixed: z.boolean().optional().describe('Ignored, so you can send settings back as you read them.'),
});
