/** Email undos: whether the account was used after the change, and the state of the undo. */
import { eq, sql, type SQL } from 'drizzle-orm';
import type { EmailUndoState } from '../../rules/people/email-undo.js';
import type { MailId, UserId } from '../../rules/ids.js';
import { builder, statement, type Placeholders } from '../../../platform/db/statement.js';
import { users } from '../tables/accounts.js';
import { mails } from '../tables/mails.js';

/** What counts as use of the account after the change. The row in `mails` was written with the change. */
const USES_AFTER_CHANGE: Readonly<Record<string, SQL>> = {
  profile: sql`exists (select from users u where u.id = mails.user_id and u.profile_edited_at > mails.created_at)`,
  job: sql`exists (select from jobs j join homeowners h on h.id = j.homeowner_id
    where h.user_id = mails.user_id and j.created_at > mails.created_at)`,
  bid: sql`exists (select from bids b join contractors c on c.id = b.contractor_id
    where c.user_id = mails.user_id and b.created_at > mails.created_at)`,
};

export const selectUseAfterChange = statement(
  'selectUseAfterChange',
  { isUsed: sql<boolean>`(${sql.join(Object.values(USES_AFTER_CHANGE), sql` or `)})`.as('is_used') },
  ($: Placeholders<{ undoId: MailId }>, fields) =>
    builder
      .select(fields)
      .from(mails)
      .where(eq(mails.id, $('undoId'))),
);

interface NewUndoState {
  readonly userId: UserId;
  readonly state: EmailUndoState;
  /** The address that the account doesn't have. */
  readonly address: string;
}

export const setEmailUndo = statement('setEmailUndo', {}, ($: Placeholders<NewUndoState>) =>
  builder
    .update(users)
    .set({ emailUndo: sql`${$('state')}`, emailUndoAddress: sql`${$('address')}` })
    .where(eq(users.id, $('userId'))),
);
