/** Getting in, staying in, getting out. */
import { z } from 'zod';
import { refuse } from '../../rules/errors.js';
import { isId, type SessionId } from '../../rules/ids.js';
import { SESSION, TEXT } from '../../rules/limits.js';
import { text } from '../../rules/values.js';
import { addressIdentity } from '../../security/address.js';
import { findCredentials } from '../../store/accounts.js';
import { findRefreshToken, openSession, revokeSession, rotateRefreshToken } from '../../store/sessions.js';
import { digest } from '../caller.js';
import { operation, type Call } from '../operation.js';
import { nothing } from '../shapes.js';
import { passwordMatches } from './people.js';
import { sessionOf, type Session } from './session.js';

export const logIn = operation({
  name: 'logIn',
  says: 'Logs in with email and password.',
  allows: 'anyone',
  budget: 'logInPerAddress',
  aboutSessions: true,
  input: z.strictObject({
    email: text(TEXT.email).toLowerCase().describe('The address that the account was opened with.'),
    password: z.string().max(1_000, 'must be at most 1000 characters').describe('The password.'),
  }),
  async run(call, { email, password }): Promise<Session> {
    const { db, house } = call;
    const { attempt, failure } = await drawForAttempt(call, email);
    const account = await findCredentials(db, email);
    // An unknown email is hashed against nothing for just as long, so that time tells no more than the answer does.
    const matches = await passwordMatches(call, password, account?.passwordHash).catch(async (error: unknown) => {
      // Shed unread, it was no attempt and no failure of theirs.
      await Promise.all([attempt.giveBack(), failure.giveBack()]);
      throw error;
    });
    if (!account || !matches) throw refuse('INVALID_CREDENTIALS');
    const opened = await db.inTransaction((tx) => openSession(tx, account.user.id, account.passwordHash));
    if (!opened) throw refuse('INVALID_CREDENTIALS');
    await failure.giveBack();
    return { ...sessionOf(house, account.user, opened), user: account.user };
  },
});

/** The failure is counted before the password is looked at, or a thousand guesses at once would all be the first. */
async function drawForAttempt({ caller }: Call<null>, email: string) {
  const account = digest(email);
  const attempt = await caller.draw(
    'logInPerAccountAndAddress',
    `${account} ${addressIdentity(caller.request.address)}`,
  );
  return { attempt, failure: await caller.draw('logInFailuresPerAccount', account) };
}

export const refreshSession = operation({
  name: 'refreshSession',
  says: 'Exchanges a refresh token for a new access token and a new refresh token; each can be used once.',
  allows: 'anyone',
  budget: 'own',
  aboutSessions: true,
  input: z.strictObject({ refreshToken: z.string().describe('The newest refresh token of the session.') }),
  async run({ db, house, caller }, { refreshToken }): Promise<Session> {
    const found = isId('refreshToken', refreshToken) ? await findRefreshToken(db, refreshToken) : undefined;
    if (!found) {
      await caller.draw('invalidToken', addressIdentity(caller.request.address));
      throw refuse('INVALID_REFRESH_TOKEN');
    }
    await caller.draw('refresh', found.sessionId);
    const { sessionId, secondsSinceUse, usable } = found;
    if (secondsSinceUse !== null && secondsSinceUse > SESSION.reuseGraceSeconds) await revokeSession(db, { sessionId });
    const next = usable ? await db.inTransaction((tx) => rotateRefreshToken(tx, refreshToken, sessionId)) : undefined;
    if (!next) throw refuse('INVALID_REFRESH_TOKEN');
    return sessionOf(
      house,
      { id: found.userId, userType: found.role },
      { sessionId: found.sessionId, refreshToken: next },
    );
  },
});

export const logOut = operation({
  name: 'logOut',
  says: 'Ends this session: its access token and its refresh token are refused from now on, everywhere.',
  allows: 'signed in',
  budget: 'write',
  aboutSessions: true,
  input: nothing,
  async run({ db, viewer, caller }): Promise<{ sessionId: SessionId }> {
    await revokeSession(db, { sessionId: viewer.sessionId });
    caller.forgetViewer();
    return { sessionId: viewer.sessionId };
  },
});
