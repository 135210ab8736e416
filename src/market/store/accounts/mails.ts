/** Emails and the links in them. An email's row is written in the transaction of the change that it's about. */
import { and, desc, eq, isNull, sql } from 'drizzle-orm';
import type { MailId, UserId } from '../../rules/ids.js';
import { NOTICES, type MailKind, type MailOutcome } from '../../rules/people/mail-kinds.js';
import type { Row } from '../../../platform/db/rows.js';
import { asArray, builder, type Placeholders, selectFrom, statement } from '../../../platform/db/statement.js';
import { FOREVER, mails } from '../tables/mails.js';

interface MailRow {
  readonly id: MailId;
  readonly kind: MailKind;
  readonly email: string;
  readonly userId: UserId | null;
  readonly tokenHash: string | null;
  /** Null if the email has no link. */
  readonly hours: number | null;
  /** The key of the email's task. Emails to one domain share a limited number of slots. */
  readonly domain: string;
}

/** Also writes the email's task, which `market/mail/tasks.ts` runs. */
export const insertMail = statement(
  'insertMail',
  {},
  ($: Placeholders<MailRow>) => sql`with mail as (
      insert into mails (id, kind, email, user_id, token_hash, expires_at) values (${$('id')}, ${$('kind')},
        ${$('email')}, ${$('userId')}, ${$('tokenHash')}, now() + make_interval(hours => ${$('hours')}::int))
      returning id
    )
    insert into tasks (id, kind, key) select id, 'mail', ${$('domain')} from mail`,
);

const HAS_EXPIRED = sql<boolean>`coalesce(expires_at <= now(), false)`.as('has_expired');

const shape = {
  id: mails.id,
  kind: mails.kind,
  email: mails.email,
  userId: mails.userId,
  createdAt: mails.createdAt,
  tokenHash: mails.tokenHash,
  hasExpired: HAS_EXPIRED,
  type: mails.type,
  jobId: mails.jobId,
  fromPosition: mails.fromPosition,
  upToPosition: mails.upToPosition,
  positions: mails.positions,
  leftOutCount: mails.leftOutCount,
  currentAccountId: sql<UserId | null>`(select u.id from users u where u.email = mails.email)`.as('current_account_id'),
};

export type Mail = Row<typeof shape>;

const IS_NOTICE = sql`${mails.kind} = any(${asArray(NOTICES)}::text[])`;

/** Notifications go only to the confirmed, working address of a person who isn't suspended. */
const isWanted = sql<boolean>`(not ${IS_NOTICE} or exists (select from users u where u.id = mails.user_id
  and u.email = mails.email and u.email_verified and not u.email_undeliverable and u.suspended_at is null))`;

/**
 * How long an email waits if its recipient gets at most one per hour for its type and job. While an earlier one is
 * still unsent, its hour hasn't begun, so the email checks again after a minute.
 */
const waitSeconds = sql<number | null>`(select case when bool_or(earlier.outcome is null) then 60
    else extract(epoch from max(earlier.sent_at) + interval '1 hour' - now())::float8 end
  from mails earlier where earlier.user_id = mails.user_id and earlier.kind = 'notification'
    and earlier.type = mails.type and earlier.job_id is not distinct from mails.job_id
    and earlier.from_position < mails.from_position
    and (earlier.outcome is null or earlier.sent_at > now() - interval '1 hour'))`;

/** Returns no row if the email no longer needs to be sent. */
export const selectMailToSend = statement(
  'selectMailToSend',
  { ...shape, isWanted: isWanted.as('is_wanted'), waitSeconds: waitSeconds.as('wait_seconds') },
  ($: Placeholders<{ id: MailId }>, fields) =>
    selectFrom(mails, fields, and(eq(mails.id, $('id')), isNull(mails.outcome))),
);

const SHOWN_MAX = 50;

export const selectNewestMails = statement('selectNewestMails', shape, (_: Placeholders<object>, fields) =>
  selectFrom(mails, fields, eq(mails.outcome, sql.raw(`'sent'`)))
    .orderBy(desc(mails.createdAt), desc(mails.id))
    .limit(SHOWN_MAX),
);

/** Also records on the account whether the mail server accepts email to the account's address. */
export const endMail = statement(
  'endMail',
  {},
  ($: Placeholders<{ id: MailId; outcome: MailOutcome }>) => sql`with ended as (
      update mails set outcome = ${$('outcome')}, sent_at = case when ${$('outcome')} = 'sent' then now() end
      where id = ${$('id')} and outcome is null returning email, outcome
    )
    update users set email_undeliverable = ended.outcome = 'refused' from ended
    where users.email = ended.email and ended.outcome in ('sent', 'refused')
      and users.email_undeliverable <> (ended.outcome = 'refused')`,
);

/** Includes links that were used or have expired. */
export const selectLink = statement(
  'selectLink',
  { ...shape, isUsed: sql<boolean>`used_at is not null`.as('is_used') },
  ($: Placeholders<{ tokenHash: string }>, fields) => selectFrom(mails, fields, eq(mails.tokenHash, $('tokenHash'))),
);

/** If several calls use the link at the same time, only one of them gets a row. */
export const markLinkUsed = statement('markLinkUsed', { id: mails.id }, ($: Placeholders<{ id: MailId }>, fields) =>
  builder
    .update(mails)
    .set({ usedAt: sql`now()` })
    .where(and(eq(mails.id, $('id')), isNull(mails.usedAt), sql`expires_at > now()`))
    .returning(fields),
);

/** Finds the account's earliest undo link that was sent to this address and can still be used. */
export const selectUndo = statement(
  'selectUndo',
  { id: mails.id, createdAt: mails.createdAt },
  ($: Placeholders<{ userId: UserId; email: string }>, fields) =>
    selectFrom(
      mails,
      fields,
      sql`${mails.email} = ${$('email')} and ${mails.kind} = 'email_changed' and ${mails.usedAt} is null
          and ${mails.userId} = ${$('userId')} and ${mails.expiresAt} > now()`,
    )
      .orderBy(mails.createdAt)
      .limit(1),
);

/** Finds the account's latest undo link that was sent to this address and has been used. */
export const selectUsedUndo = statement(
  'selectUsedUndo',
  { createdAt: mails.createdAt },
  ($: Placeholders<{ userId: UserId; email: string }>, fields) =>
    selectFrom(
      mails,
      fields,
      sql`${mails.email} = ${$('email')} and ${mails.kind} = 'email_changed' and ${mails.usedAt} is not null
          and ${mails.userId} = ${$('userId')}`,
    )
      .orderBy(desc(mails.createdAt))
      .limit(1),
);

/** Expires email changes that were requested but not confirmed. */
export const expireEmailChanges = statement(
  'expireEmailChanges',
  {},
  ($: Placeholders<{ userId: UserId }>) => sql`update mails set expires_at = 'epoch'
    where user_id = ${$('userId')} and kind = 'email_change' and used_at is null and expires_at > now()`,
);

interface EndedLinks {
  readonly userId: UserId;
  /** The account's current address. */
  readonly email: string;
  /** Undo links of email changes after this time also expire. If null, no undo links expire. */
  readonly undosSince: string | null;
}

/**
 * Makes all of this account's links expire, except an undo link that is waiting for support. The expiry time is the
 * epoch instead of the current time, because a transaction that is waiting for the account's lock has an older `now()`.
 * The links must have expired for that transaction too.
 */
export const expireLinks = statement(
  'expireLinks',
  {},
  ($: Placeholders<EndedLinks>) => sql`update mails set expires_at = 'epoch'
    where (user_id = ${$('userId')} or (user_id is null and email = ${$('email')}))
      and used_at is null and expires_at > now() and expires_at < ${FOREVER}
      and (kind <> 'email_changed' or created_at > ${$('undosSince')}::timestamptz)`,
);
