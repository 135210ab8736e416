/** The channels that people have chosen for types of notifications. Without a row, the type's default applies. */
import { eq, sql } from 'drizzle-orm';
import type { UserId } from '../../rules/ids.js';
import type { Channel, NotifiedType } from '../../rules/notifications.js';
import { builder, statement, type Placeholders } from '../../../platform/db/statement.js';
import { users } from '../tables/accounts.js';
import { notificationSettings } from '../tables/notifications.js';

/** Also returns whether the person's address can get emails about notifications. */
export const selectNotificationSettings = statement(
  'selectNotificationSettings',
  {
    emailVerified: users.emailVerified,
    emailUndeliverable: users.emailUndeliverable,
    chosen: sql<readonly { type: NotifiedType; channel: Channel }[]>`(
      select coalesce(json_agg(json_build_object('type', s.type, 'channel', s.channel)), '[]')
      from ${notificationSettings} s where s.user_id = "users"."id")`.as('chosen'),
  },
  ($: Placeholders<{ userId: UserId }>, fields) =>
    builder
      .select(fields)
      .from(users)
      .where(eq(users.id, $('userId'))),
);

/** Stores no defaults, because a type's default can differ between jobs that a contractor was awarded and others. */
export const storeNotificationSettings = statement(
  'storeNotificationSettings',
  {},
  ($: Placeholders<{ userId: UserId; settings: string }>) =>
    sql`with chosen as (
        select * from json_to_recordset(${$('settings')}::json) as s (type text, channel text, "isDefault" boolean)
      ),
      reset as (
        delete from ${notificationSettings} stored using chosen
        where stored.user_id = ${$('userId')} and stored.type = chosen.type and chosen."isDefault"
      )
      insert into ${notificationSettings} (user_id, type, channel)
      select ${$('userId')}, type, channel from chosen where not "isDefault"
      on conflict (user_id, type) do update set channel = excluded.channel`,
);
