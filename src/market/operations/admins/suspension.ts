/** Suspends and restores people. `market/rules/people/suspension.ts` describes a suspension's effects. */
import { z } from 'zod';
import { refuse } from '../../rules/errors.js';
import { unauthenticated } from '../../../platform/errors.js';
import type { UserId } from '../../rules/ids.js';
import { assertMaySuspend } from '../../rules/people/suspension.js';
import type { Db } from '../../../platform/db/database.js';
import { lockAccount } from '../../store/accounts/accounts.js';
import { recordAdminAction } from '../../store/accounts/admin-actions.js';
import { expireEmailChanges } from '../../store/accounts/mails.js';
import { lockUserAndAdmins, markRestored, markSuspended, restoreAtEnd } from '../../store/accounts/suspensions.js';
import { pauseEndpoints } from '../../store/webhooks/webhooks.js';
import { operation } from '../operation.js';
import { timestampInBody } from '../../../platform/fields/shapes.js';
import { idInPath } from '../../rules/id-fields.js';
import { requiredReason, optionalReason } from './admin-actions.js';
import { endLogins, endSessionsAndKeys } from '../sessions/ended-sessions.js';
import { readUser, type UserWithProfile } from '../people/users.js';
import { TASKS } from '../../rules/market-limits.js';
import type { TaskKind } from '../../../platform/queue/queue.js';

const personInput = z.strictObject({ id: idInPath('user').describe('The user.') });

export const suspendUser = operation({
  name: 'suspendUser',
  description:
    'Suspends a user. Their sessions end, their API keys are revoked, their webhooks are paused, their open jobs are ' +
    'hidden, and their bids can’t be awarded. Jobs in progress continue. If the user is already suspended, this ' +
    'changes the end of the suspension. A call that changes nothing isn’t recorded.',
  allows: ['admin'],
  budget: 'write',
  input: personInput.extend({
    reason: requiredReason,
    until: timestampInBody
      .refine((time) => time.getTime() > Date.now(), 'must be in the future')
      .meta({ timestamp: true })
      .nullish()
      .describe('When the suspension ends automatically. By default, it lasts until the user is restored.'),
  }),
  run: (call, { id, until = null, reason }): Promise<UserWithProfile> =>
    call.db.inTransaction(async (tx) => {
      const { services, viewer, caller } = call;
      const person = await lockUserAsAdmin(tx, id, viewer.userId);
      assertMaySuspend(viewer.userId, id);
      const read = () => readUser.run({ ...call, db: tx }, { id });
      if (person.suspendedAt && person.suspendedUntil?.getTime() === until?.getTime()) return read();
      await pauseEndpoints(tx, { userId: id, pausedReason: 'suspended' });
      const [, , , , user] = await tx.commitWith(
        markSuspended(tx, id, until),
        endSessionsAndKeys({ db: tx, services, caller }, { userId: id, except: null }),
        expireEmailChanges(tx, { userId: id }),
        recordAdminAction(tx, viewer, { action: 'suspendUser', subjectId: id, reason, until }),
        read(),
      );
      return user;
    }),
});

export const restoreUser = operation({
  name: 'restoreUser',
  description:
    'Ends a suspension. The user can log in again, and their open jobs and bids are active again. They must create ' +
    'new API keys and resume their webhooks. If the user isn’t suspended, nothing changes and nothing is recorded.',
  allows: ['admin'],
  budget: 'write',
  input: personInput.extend({ reason: optionalReason }),
  run: (call, { id, reason }): Promise<UserWithProfile> =>
    call.db.inTransaction(async (tx) => {
      const person = await lockUserAsAdmin(tx, id, call.viewer.userId);
      const read = () => readUser.run({ ...call, db: tx }, { id });
      if (!person.suspendedAt) return read();
      const [, , user] = await tx.commitWith(
        markRestored(tx, id),
        recordAdminAction(tx, call.viewer, { action: 'restoreUser', subjectId: id, reason }),
        read(),
      );
      return user;
    }),
});

export const endUserSessions = operation({
  name: 'endUserSessions',
  description: 'Ends all of a user’s sessions, for example if their phone was stolen. Their API keys keep working.',
  allows: ['admin'],
  budget: 'write',
  needsSession: true,
  input: personInput.extend({ reason: requiredReason }),
  async run({ db, services, viewer, caller }, { id, reason }): Promise<{ endedCount: number }> {
    const [ended] = await db.inTransaction(async (tx) => {
      // Keeps new sessions from starting until all existing ones have ended.
      if ((await lockAccount(tx, { userId: id })).length === 0) throw noSuchUser();
      return tx.commitWith(
        endLogins({ db: tx, services, caller }, { userId: id, except: null }),
        recordAdminAction(tx, viewer, { action: 'endUserSessions', subjectId: id, reason }),
      );
    });
    return { endedCount: ended };
  },
});

function noSuchUser() {
  return refuse('NOT_FOUND', { message: 'User not found.' });
}

async function lockUserAsAdmin(tx: Db, id: UserId, adminId: UserId) {
  const locked = await lockUserAndAdmins(tx, { id });
  // Another admin suspended the caller while this call waited for the lock.
  if (locked.find((one) => one.id === adminId)?.suspendedAt) throw unauthenticated('session_ended');
  const person = locked.find((one) => one.id === id);
  if (!person) throw noSuchUser();
  return person;
}

export const restoreUserTasks: TaskKind = {
  limits: TASKS.restore,
  // The task never returns a failure. It either succeeds or throws, and then runs again once its lease expires.
  retryAfterSeconds: [],
  // A suspension locks the person's row before the task's row, so restoring the person in the task's own transaction
  // could deadlock.
  async run(db, { id }) {
    await restoreAtEnd(db, { id: id as UserId });
    return { outcome: 'done' };
  },
};
