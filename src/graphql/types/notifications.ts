import { createUnionType } from 'type-graphql';
import { NOTIFICATION, NOTIFICATION_SETTING, NOTIFICATION_SETTINGS } from '../../market/rules/entities/notification.js';
import { AccountEvent } from './account.js';
import { connectionType } from './connection.js';
import { objectType } from './field.js';
import { JobEvent } from './jobs.js';

/** `schema.ts` sets its `resolveType`. */
export const NotificationEvent = createUnionType({
  name: 'NotificationEvent',
  description: 'The event that a notification is about.',
  types: () => [JobEvent, AccountEvent] as const,
});

export const Notification = objectType(NOTIFICATION, { except: ['event'] });
export const NotificationConnection = connectionType('Notification', () => Notification, 'notifications');
export const NotificationSetting = objectType(NOTIFICATION_SETTING);
export const NotificationSettings = objectType(NOTIFICATION_SETTINGS);
