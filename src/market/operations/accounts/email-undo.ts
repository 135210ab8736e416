/** Undoes an email change for the owner of the former address. If both owners claim the account, support decides. */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { EMAIL_UNDO_DECISIONS } from '../../rules/people/email-undo.js';
import { refuse } from '../../rules/errors.js';
import type { UserId } from '../../rules/ids.js';
import { TEXT } from '../../rules/market-limits.js';
import { enumOf, requiredText } from '../../../platform/fields/values.js';
import { lockAccount, selectCredentials, setConfirmedEmail, setPasswordHash } from '../../store/accounts/accounts.js';
import { recordAdminAction } from '../../store/accounts/admin-actions.js';
import type { Db } from '../../../platform/db/database.js';
import {
  markUndoWaiting,
  selectUseAfterChange,
  setEmailUndo,
  takeWaitingUndo,
} from '../../store/accounts/email-undos.js';
import { expireEmailChanges, expireLinks, selectUsedUndo } from '../../store/accounts/mails.js';
import { logAccountEvents, type NewAccountEvent } from '../../store/events/account-events.js';
import { pauseEndpoints } from '../../store/webhooks/webhooks.js';
import { operation, type Call } from '../operation.js';
import { idInPath } from '../../rules/id-fields.js';
import { asEmailTaken } from './email.js';
import { announceChange, ownCredentials } from './own-account.js';
import { endSessionsAndKeys } from '../sessions/ended-sessions.js';
import { consumeMailLimits, findLink, invalidLink, linkToken, consumeLink, enqueueMail } from './mails-and-links.js';
import { readUser, type UserWithProfile } from '../people/users.js';

export const undoEmailChange = operation({
  name: 'undoEmailChange',
  description:
    'Restores an account’s former address, with the link that was sent to it. Ends all sessions, revokes all ' +
    'API keys, blocks the old password, pauses webhooks, and sends a link to set a new password. If the account was ' +
    'used after the change (the profile was edited, tokens were bought, or something was done with a job or a bid), ' +
    'nothing changes until support decides. The same is true if another email undo for this account is waiting for ' +
    'support.',
  allows: 'anyone',
  budget: 'consumedByOperation',
  refusals: ['INVALID_LINK', 'EMAIL_TAKEN'],
  ignoresKeyAndDryRun: true,
  input: z.strictObject({ token: linkToken }),
  async run(call, { token }): Promise<{ email: string; pending: boolean }> {
    const { db, services } = call;
    const link = await findLink(call, token, ['email_changed']);
    const { id: undoId, email, userId } = link;
    if (userId === null) throw invalidLink('unknown');
    const passwordHash = await unknownPassword(call);
    const undo = () =>
      db.inTransaction(async (tx) => {
        await lockAccount(tx, { userId });
        const { email: currentEmail, emailUndo, emailUndoAddress } = await ownCredentials(tx, userId);
        // True if the account already has this address again. In that case, no other address loses the account.
        const isBack = currentEmail === email;
        if (emailUndo === 'pending' && !isBack) {
          // Support decides about one address at a time. The undo link of any other address waits.
          await consumeLink(tx, link, email === emailUndoAddress ? undefined : markUndoWaiting);
          return { email, pending: true };
        }
        await consumeLink(tx, link);
        const [use] = await selectUseAfterChange(tx, { undoId });
        if (use?.isUsed && !isBack) {
          await setEmailUndo(tx, { userId, state: 'pending', address: email });
          await expireEmailChanges(tx, { userId });
          await logAccountEvents(tx, [{ type: 'account.email_undo_pending', userId }]);
          await enqueueMail(services.mail, tx, { kind: 'email_undo_pending', email: currentEmail, userId });
          return { email, pending: true };
        }
        await handOver({ ...call, db: tx }, { userId, email, passwordHash });
        await logAccountEvents(tx, handOverEvents({ userId, data: { cause: 'undo' } }, !isBack));
        // If the account had already moved back to this address, undo links stay valid. The owner of the address that
        // the account moved back from can still use one to claim it.
        const undosSince = isBack ? null : link.createdAt.toISOString();
        await expireLinks(tx, { userId, email: currentEmail, undosSince });
        await enqueueMail(services.mail, tx, { kind: 'password_reset_after_undo', email, userId: null });
        if (isBack) return { email, pending: false };
        await setEmailUndo(tx, { userId, state: 'undone', address: currentEmail });
        await enqueueMail(services.mail, tx, { kind: 'email_undone', email: currentEmail, userId });
        return { email, pending: false };
      });
    const outcome = await undo().catch(asEmailTaken);
    await announceChange(services, userId);
    return outcome;
  },
});

export const settleEmailUndo = operation({
  name: 'settleEmailUndo',
  description:
    'Decides which address keeps an account with a pending email undo. That address gets a link to set a new ' +
    'password, and the other address gets an email. If the former address keeps the account, all sessions end, ' +
    'all API keys are revoked, the old password is blocked, and webhooks are paused. If another email undo for the ' +
    'account is waiting, that one becomes pending.',
  allows: ['admin'],
  budget: 'write',
  needsSession: true,
  refusals: ['NOT_CONFIGURED', 'INVALID_TRANSITION', 'EMAIL_TAKEN'],
  input: z.strictObject({
    id: idInPath('user').describe('The user whose account is disputed.'),
    keep: enumOf(EMAIL_UNDO_DECISIONS, 'EmailUndoDecision').describe('The address that keeps the account.'),
    reason: requiredText(TEXT.note).describe('The reason. It’s stored in the log of admin actions.'),
  }),
  async prepare(call, { id }): Promise<string> {
    // An admin can't decide about their own account, because a thief may be using it.
    if (id === call.viewer.userId) throw refuse('FORBIDDEN', { message: 'Another admin must decide on your account.' });
    await pendingUndo(call.db, id);
    await consumeMailLimits(call, { requesterId: call.viewer.userId });
    return unknownPassword(call);
  },
  async run(call, { id: userId, keep, reason }, passwordHash): Promise<UserWithProfile> {
    const { db, services, viewer } = call;
    const settle = () =>
      db.inTransaction(async (tx) => {
        await lockAccount(tx, { userId });
        const { current, former } = await pendingUndo(tx, userId);
        const [kept, other] = keep === 'current' ? [current, former] : [former, current];
        if (keep === 'former') {
          await handOver({ ...call, db: tx }, { userId, email: former, passwordHash });
          const support = { userId, actorId: viewer.userId, data: { cause: 'support' } };
          await logAccountEvents(tx, handOverEvents(support, true));
        }
        // If the former address wins, the undo links of all later email changes expire. The links of earlier changes
        // stay valid, because nobody has decided about those.
        const [undo] = keep === 'former' ? await selectUsedUndo(tx, { userId, email: former }) : [];
        await expireLinks(tx, { userId, email: current, undosSince: undo?.createdAt.toISOString() ?? null });
        const [next] = await takeWaitingUndo(tx, { userId });
        if (next) {
          await logAccountEvents(tx, [{ type: 'account.email_undo_pending', userId }]);
          await enqueueMail(services.mail, tx, { kind: 'email_undo_pending', email: kept, userId });
        }
        const [, , , , user] = await tx.commitWith(
          setEmailUndo(tx, { userId, state: next ? 'pending' : 'settled', address: next?.email ?? other }),
          enqueueMail(services.mail, tx, { kind: 'email_undo_granted', email: kept, userId }),
          enqueueMail(services.mail, tx, { kind: 'email_undo_denied', email: other, userId }),
          recordAdminAction(tx, viewer, { action: 'settleEmailUndo', subjectId: userId, reason, decision: keep }),
          readUser.run({ ...call, db: tx }, { id: userId }),
        );
        return user;
      });
    return settle().catch(asEmailTaken);
  },
});

async function pendingUndo(db: Db, userId: UserId): Promise<{ current: string; former: string }> {
  const [account] = await selectCredentials(db, { userId });
  if (!account) throw refuse('NOT_FOUND', { message: 'User not found.' });
  const { email: current, emailUndo, emailUndoAddress: former } = account;
  if (emailUndo !== 'pending' || former === null)
    throw refuse('INVALID_TRANSITION', { message: 'This account has no email undo waiting for a decision.' });
  return { current, former };
}

interface HandOver {
  readonly userId: UserId;
  readonly email: string;
  readonly passwordHash: string;
}

/** Gives the account to the owner of this address and locks everyone else out. */
async function handOver(call: Pick<Call<unknown>, 'db' | 'services' | 'caller'>, to: HandOver): Promise<void> {
  const { db } = call;
  // Pauses the endpoints first, because a new address takes a stronger lock on the account's row. A failing delivery
  // also locks its endpoint before the account, so the two can't deadlock.
  await pauseEndpoints(db, { userId: to.userId, pausedReason: 'account_recovered' });
  await setConfirmedEmail(db, to);
  await setPasswordHash(db, to);
  await endSessionsAndKeys(call, { userId: to.userId, except: null });
}

function handOverEvents(event: Omit<NewAccountEvent, 'type'>, isNewAddress: boolean): NewAccountEvent[] {
  const types = isNewAddress
    ? (['account.email_changed', 'account.password_changed'] as const)
    : (['account.password_changed'] as const);
  return types.map((type) => ({ type, ...event }));
}

/** Hashes a random password that nobody knows, so a login attempt takes as long as for any other account. */
function unknownPassword({ services, caller }: Call<unknown>): Promise<string> {
  return services.passwords.hash(randomBytes(48).toString('base64'), caller.client);
}
