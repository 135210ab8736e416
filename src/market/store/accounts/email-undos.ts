/** Email undos: whether an undo can return the account, its state, and the undos that wait for an earlier one. */
import { and, eq, isNull, sql, type SQL } from 'drizzle-orm';
import type { EmailUndoState } from '../../rules/people/email-undo.js';
import type { MailId, UserId } from '../../rules/ids.js';
import { MAILS } from '../../rules/people/mail-kinds.js';
import { builder, type Placeholders, selectFrom, statement } from '../../../platform/db/statement.js';
import { users } from '../tables/accounts.js';
import { FOREVER, mails } from '../tables/mails.js';

/** Events of deleted drafts are kept, so they count too. */
const causedAfterChange = sql`e.actor_id = mails.user_id and e.occurred_at > mails.created_at`;

/** Publishing an older draft counts too. */
const changedJob = (hasPosition: SQL) => sql`exists (select from homeowners h join events e on e.homeowner_id = h.id
  where h.user_id = mails.user_id and e.position ${hasPosition} and ${causedAfterChange})`;

/**
 * If any of these conditions is true, support decides. Most of them check whether the account was used after the email
 * change, which wrote the row in `mails`.
 */
const USES_AFTER_CHANGE: Readonly<Record<string, SQL>> = {
  profile: sql`exists (select from users u where u.id = mails.user_id and u.profile_edited_at > mails.created_at)`,
  // Events with a position and events without one are in different indexes, so there is one condition for each.
  job: changedJob(sql`is not null`),
  recentJob: changedJob(sql`is null`),
  bid: sql`exists (select from contractors c join bids b on b.contractor_id = c.id join events e on e.job_id = b.job_id
    where c.user_id = mails.user_id and ${causedAfterChange})`,
  // A payment for an older purchase counts too. `greatest` ignores nulls.
  purchase: sql`exists (select from purchases p
    where p.user_id = mails.user_id and greatest(p.created_at, p.paid_at) > mails.created_at)`,
  decision: sql`exists (select from admin_actions a where a.user_id = mails.user_id and a.action = 'settleEmailUndo'
    and a.created_at > mails.created_at)`,
  // The account moved back to an earlier address. Its owner may have taken it back from a thief, and only support can
  // find out who owned the link's address.
  return: sql`exists (select from users u join mails earlier on earlier.user_id = u.id
    where u.id = mails.user_id and earlier.kind = 'email_changed' and earlier.created_at < mails.created_at
      and earlier.created_at > mails.created_at - interval '${sql.raw(String(MAILS.email_changed.hours))} hours'
      and (earlier.email = u.email or exists (select from mails later where later.user_id = u.id
        and later.kind = 'email_changed' and later.created_at > mails.created_at and later.email = earlier.email)))`,
};

export const selectUseAfterChange = statement(
  'selectUseAfterChange',
  { isUsed: sql<boolean>`(${sql.join(Object.values(USES_AFTER_CHANGE), sql` or `)})`.as('is_used') },
  ($: Placeholders<{ undoId: MailId }>, fields) => selectFrom(mails, fields, eq(mails.id, $('undoId'))),
);

interface NewUndoState {
  readonly userId: UserId;
  readonly state: EmailUndoState;
  /** The address in the undo that the account doesn't currently have. */
  readonly address: string;
}

export const setEmailUndo = statement('setEmailUndo', {}, ($: Placeholders<NewUndoState>) =>
  builder
    .update(users)
    .set({ emailUndo: sql`${$('state')}`, emailUndoAddress: sql`${$('address')}` })
    .where(eq(users.id, $('userId'))),
);

/**
 * Keeps the undo's link from expiring while support decides about another one. Returns no row if the link was used or
 * has already expired.
 */
export const markUndoWaiting = statement(
  'markUndoWaiting',
  { id: mails.id },
  ($: Placeholders<{ id: MailId }>, fields) =>
    builder
      .update(mails)
      .set({ expiresAt: FOREVER })
      .where(and(eq(mails.id, $('id')), isNull(mails.usedAt), sql`expires_at > now()`))
      .returning(fields),
);

/**
 * Returns the address of the earliest email change whose undo is waiting. Consumes all waiting links of that address.
 */
export const takeWaitingUndo = statement(
  'takeWaitingUndo',
  { email: mails.email },
  ($: Placeholders<{ userId: UserId }>, fields) =>
    builder
      .update(mails)
      .set({ usedAt: sql`now()`, expiresAt: sql`now()` })
      .where(
        sql`${mails.userId} = ${$('userId')} and ${mails.expiresAt} = ${FOREVER} and ${mails.email} = (
          select m.email from mails m where m.user_id = ${$('userId')} and m.expires_at = ${FOREVER}
          order by m.created_at limit 1)`,
      )
      .returning(fields),
);
