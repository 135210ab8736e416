/** When a person is emailed about each type of notification. The feed has every type, regardless of the settings. */
import { z } from 'zod';
import type { Db } from '../../../platform/db/database.js';
import { readOnly } from '../../../platform/fields/read-only.js';
import { emptyInput } from '../../../platform/fields/shapes.js';
import { refuse } from '../../rules/errors.js';
import { unauthenticated } from '../../../platform/errors.js';
import { notificationSetting } from '../../rules/entities/notification.js';
import {
  NOTIFIED_TYPES,
  MATCHED_EVENT,
  settableTypesOf,
  type EmailProblem,
  type NotifiedTypeOfRole,
} from '../../rules/notifications.js';
import type { Role, Viewer } from '../../rules/viewer.js';
import {
  selectNotificationSettings,
  storeNotificationSettings,
} from '../../store/notifications/notification-settings.js';
import { lockOwnAccount } from '../accounts/own-account.js';
import { operation } from '../operation.js';

export interface NotificationSettings {
  readonly settings: readonly NotifiedTypeOfRole[];
  readonly emailProblem: EmailProblem | null;
}

export const readNotificationSettings = operation({
  name: 'notificationSettings',
  description:
    'Returns your email setting for each type of notification: `now`, `daily` (in the digest), or `off`. The feed ' +
    'has every type, regardless of the setting. Saved searches have their own setting, `alert`.',
  allows: 'signed in',
  budget: 'read',
  input: emptyInput,
  run: ({ db, viewer }) => settingsOf(db, viewer),
});

async function settingsOf(db: Db, { userId, role }: Viewer): Promise<NotificationSettings> {
  const [row] = await selectNotificationSettings(db, { userId });
  if (!row) throw unauthenticated('session_ended');
  const chosen = new Map(row.chosen.map(({ type, channel }) => [type, channel]));
  return {
    settings: settableTypesOf(role).map((one) => ({
      ...one,
      channel: one.isFixed ? one.channel : (chosen.get(one.type) ?? one.channel),
    })),
    emailProblem: problemOf(row),
  };
}

function problemOf(email: { emailVerified: boolean; emailUndeliverable: boolean }): EmailProblem | null {
  if (email.emailUndeliverable) return 'undeliverable';
  return email.emailVerified ? null : 'unconfirmed';
}

export const updateNotificationSettings = operation({
  name: 'updateNotificationSettings',
  description:
    'Changes your email settings for types of notifications. Types that you omit are unchanged. Types that can’t be ' +
    'turned off, such as awards and disputes, accept only `now`.',
  allows: 'signed in',
  budget: 'write',
  input: z.strictObject({
    settings: z
      .array(notificationSetting)
      .max(NOTIFIED_TYPES.length)
      .describe('The settings to change. Each type can appear only once.'),
    ...readOnly(['emailProblem']),
  }),
  async run({ db, viewer }, { settings }): Promise<NotificationSettings> {
    const problems = problemsIn(settings, viewer.role);
    if (Object.keys(problems).length > 0) throw refuse('VALIDATION_FAILED', { fields: problems });
    return db.inTransaction(async (tx) => {
      // Two calls that change the same settings in different orders would otherwise wait for each other.
      await lockOwnAccount(tx, viewer);
      const defaults = new Map(settableTypesOf(viewer.role).map((one) => [one.type, one]));
      const chosen = settings
        .filter(({ type }) => defaults.get(type)?.isFixed === false)
        .map(({ type, channel }) => ({ type, channel, isDefault: defaults.get(type)?.channel === channel }));
      await storeNotificationSettings(tx, { userId: viewer.userId, settings: JSON.stringify(chosen) });
      return settingsOf(tx, viewer);
    });
  },
});

type Change = z.output<typeof notificationSetting>;

function problemsIn(settings: readonly Change[], role: Role): Record<string, string> {
  const types = new Map(settableTypesOf(role).map((one) => [one.type, one]));
  const problems: Record<string, string> = {};
  for (const [at, { type, channel }] of settings.entries()) {
    const known = types.get(type);
    if (!known && type === MATCHED_EVENT && role === 'contractor')
      problems[`settings.${at}.type`] = `is ${type}, which is controlled by the alert of each saved search instead`;
    else if (!known) problems[`settings.${at}.type`] = `is ${type}, which ${role}s aren’t notified of`;
    else if (settings.findIndex((other) => other.type === type) < at)
      problems[`settings.${at}.type`] = `is ${type}, which is already in the list`;
    else if (known.isFixed && channel !== 'now')
      problems[`settings.${at}.channel`] = `must be now, because ${type} can’t be turned off`;
  }
  return problems;
}
