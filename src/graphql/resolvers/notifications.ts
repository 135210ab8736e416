import { Arg, Args, Ctx, FieldResolver, Int, Mutation, Resolver, Root } from 'type-graphql';
import type { Notification as NotificationRow } from '../../market/operations/notifications/live-notifications.js';
import {
  readNotificationSettings,
  updateNotificationSettings,
} from '../../market/operations/notifications/notification-settings.js';
import {
  listNotifications,
  markNotificationsRead,
  readUnreadCount,
} from '../../market/operations/notifications/notifications.js';
import { NOTIFICATION, notificationSetting, UNREAD_COUNT } from '../../market/rules/entities/notification.js';
import { perform, performWithin } from '../../platform/call/operation.js';
import type { Context } from '../context.js';
import { Viewer } from '../types/account.js';
import { Connection, PageArgs } from '../types/connection.js';
import { inputOf } from '../types/field.js';
import {
  Notification,
  NotificationConnection,
  NotificationEvent,
  NotificationSettings,
} from '../types/notifications.js';
import { MarkNotificationsReadPayload, UpdateNotificationSettingsPayload } from '../types/payloads.js';
import { mutationOptions } from './field-options.js';

const NotificationSettingInput = inputOf('NotificationSettingInput', notificationSetting, 'A setting to change.');

@Resolver(() => Notification)
export class NotificationResolver {
  @FieldResolver(() => NotificationEvent, { description: NOTIFICATION.fields.event.description })
  event(@Root() { event }: NotificationRow) {
    return event;
  }

  @Mutation(() => MarkNotificationsReadPayload, mutationOptions(markNotificationsRead))
  markNotificationsRead(
    @Arg('upTo', () => String, { description: 'The position of the newest notification that you’ve seen.' })
    upTo: string,
    @Ctx() { caller }: Context,
  ) {
    return perform(markNotificationsRead, { upTo }, caller);
  }

  @Mutation(() => UpdateNotificationSettingsPayload, mutationOptions(updateNotificationSettings))
  updateNotificationSettings(
    @Arg('settings', () => [NotificationSettingInput], {
      description: 'The settings to change. Each type can appear only once.',
    })
    settings: object[],
    @Ctx() { caller }: Context,
  ) {
    return perform(updateNotificationSettings, { settings }, caller).then((notificationSettings) => ({
      notificationSettings,
    }));
  }
}

@Resolver(() => Viewer)
export class ViewerNotificationsResolver {
  @FieldResolver(() => NotificationConnection, { description: listNotifications.description })
  async notifications(
    @Arg('unread', () => Boolean, { nullable: true, description: 'True to get only unread notifications.' })
    unread: boolean | undefined,
    @Args(() => PageArgs) pageArgs: PageArgs,
    @Ctx() { caller }: Context,
  ) {
    const { page } = await performWithin(listNotifications, Object.assign({}, pageArgs, { unread }), caller);
    return new Connection(page, ({ position }) => position);
  }

  @FieldResolver(() => Int, { description: UNREAD_COUNT.description })
  unreadCount(@Ctx() { caller }: Context) {
    return performWithin(readUnreadCount, {}, caller);
  }

  @FieldResolver(() => NotificationSettings, { description: readNotificationSettings.description })
  notificationSettings(@Ctx() { caller }: Context) {
    return performWithin(readNotificationSettings, {}, caller);
  }
}
