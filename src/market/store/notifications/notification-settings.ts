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

/**
 * Keeps a default that the person hasn't changed, because it can differ between the jobs that a contractor was awarded
 * and other jobs. Inserts in the order of the types, so two concurrent calls can't deadlock.
 */
export const upsertNotificationSettings = statement(
  'upsertNotificationSettings',
  {},
  ($: Placeholders<{ userId: UserId; settings: string }>) =>
    sql`insert into ${notificationSettings} (user_id, type, channel)
      select ${$('userId')}, s.type, s.channel
      from json_to_recordset(${$('settings')}::json) as s (type text, channel text, "isDefault" boolean)
      where not s."isDefault" or exists (select from ${notificationSettings} stored
        where stored.user_id = ${$('userId')} and stored.type = s.type)
      order by s.type
      on conflict (user_id, type) do update set channel = excluded.channel`,
);
