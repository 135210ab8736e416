/** Logs users in, refreshes sessions, and logs users out. Also lists, reads, and ends the caller's own sessions. */
import { z } from 'zod';
import { unauthorized, type UNAUTHORIZED_MESSAGES, refuse } from '../../rules/errors.js';
import { accountSuspended } from '../../rules/people/suspension.js';
import { isId, type SessionId, type UserId } from '../../rules/ids.js';
import { TEXT } from '../../rules/market-limits.js';
import { SESSION } from '../../../platform/caller-limits.js';
import { text } from '../../../platform/fields/values.js';
import { findCredentials, type Contractor, type Homeowner, type User } from '../../store/accounts/accounts.js';
import {
  openSession,
  type OpenedSession,
  selectSession,
  type ActiveSession,
  listActiveSessions,
} from '../../store/sessions/sessions.js';
import {
  findCurrentRefreshToken,
  findRefreshToken,
  replaceRefreshToken,
  type CurrentRefreshToken,
} from '../../store/sessions/refresh-tokens.js';
import { operation, type Call } from '../operation.js';
import { emptyInput } from '../../../platform/fields/shapes.js';
import { endLogins, endOldestLogins, endSession as end } from './ended-sessions.js';
import { countingFailure, passwordMatches, passwordTried } from '../accounts/password-checks.js';
import { readableByOneself } from '../people/people.js';
import type { Db } from '../../../platform/db/database.js';
import type { Viewer, Role } from '../../rules/viewer.js';
import { pageRequest, pageShape } from '../../../platform/call/paging.js';
import { idInPath } from '../../rules/id-fields.js';
import type { Services } from '../services.js';

export const logIn = operation({
  name: 'logIn',
  description:
    'Logs in with an email address and a password. You can have up to ' +
    `${SESSION.perAccountMax.toLocaleString('en-US')} sessions. Another login ends the one that you used least ` +
    'recently.',
  allows: 'anyone',
  budget: 'logInPerAddress',
  refusals: ['INVALID_CREDENTIALS'],
  ignoresKeyAndDryRun: true,
  input: z.strictObject({
    email: text(TEXT.email).toLowerCase().describe('The account’s email address.'),
    password: passwordTried.describe('The account’s password.'),
  }),
  async run(call, { email, password }): Promise<Session> {
    const { db, services, caller } = call;
    const whoFromWhere = `${email} ${caller.client.address}`;
    const attempt = await caller.consume('logInPerAccountAndAddress', whoFromWhere);
    const session = await countingFailure(caller, email, async () => {
      const account = await findCredentials(db, email);
      // If a user reports login attempts on their account, an operator can find the attempts in the log by the
      // account's ID.
      caller.request.record.account = account?.user.id;
      // If no account has the email, the comparison takes just as long, so the time doesn't reveal which emails exist.
      const matches = await passwordMatches(call, password, account?.passwordHash).catch(async (error: unknown) => {
        // The hashing queue was full and refused the comparison, so this call doesn't count as an attempt.
        await attempt.refund();
        throw error;
      });
      if (!account || !matches) return undefined;
      if (account.user.suspendedAt) throw accountSuspended(account.user.suspendedUntil, new Date());
      const newSession = await db.inTransaction(async (tx) => {
        const opened = await openSession(tx, {
          userId: account.user.id,
          passwordHash: account.passwordHash,
          program: caller.request.program ?? null,
        });
        await tx.commitWith(endOldestLogins({ ...call, db: tx }, { userId: account.user.id }));
        return opened;
      });
      const user = readableByOneself(account.user);
      return newSession && { ...sessionOf(services, user, newSession), user };
    });
    if (!session) throw unauthorized('INVALID_CREDENTIALS', 'wrong_credentials');
    return session;
  },
});

export const refreshSession = operation({
  name: 'refreshSession',
  description:
    `Exchanges a refresh token for a new access token and a new refresh token. If you use the old ` +
    `refresh token again within ${SESSION.leewaySeconds} seconds of its first use, you get the same new refresh token.`,
  allows: 'anyone',
  budget: 'consumedByOperation',
  refusals: ['INVALID_REFRESH_TOKEN'],
  ignoresKeyAndDryRun: true,
  input: z.strictObject({ refreshToken: z.string().describe('The session’s newest refresh token.') }),
  async run(call, { refreshToken }): Promise<Session> {
    const { db, services, caller } = call;
    const isOne = isId('refreshToken', refreshToken);
    const usedToken = isOne ? await findRefreshToken(db, refreshToken) : undefined;
    if (!usedToken) {
      await caller.consume('invalidToken', caller.client.address);
      throw unauthorized('INVALID_REFRESH_TOKEN', isOne ? 'invalid' : 'malformed');
    }
    await caller.consume('refresh', usedToken.sessionId);
    const successor = await successorOf(call, refreshToken, usedToken);
    return sessionOf(
      services,
      { id: usedToken.userId, userType: usedToken.role },
      { sessionId: usedToken.sessionId, ...successor },
    );
  },
});

type FoundToken = NonNullable<Awaited<ReturnType<typeof findRefreshToken>>>;

/** If the session has ended, the call is refused before the token is checked. */
async function successorOf(
  call: Pick<Call<null>, 'db' | 'services' | 'caller'>,
  token: string,
  usedToken: FoundToken,
): Promise<CurrentRefreshToken> {
  const { db, services } = call;
  const { sessionId, sessionEnded, expired, usedAt, secondsSinceUse, readAt } = usedToken;
  const refusal = (reason: RefreshProblem) => unauthorized('INVALID_REFRESH_TOKEN', reason);
  if (sessionEnded) throw refusal('session_ended');
  if (usedAt === null) {
    if (expired) throw refusal('expired');
    const [successor] = services.refreshTokens.successorsOf(token, readAt);
    const successorToken = await replaceRefreshToken(db, token, readAt, successor);
    if (successorToken) return successorToken;
    // A concurrent call has used the token since this call read it.
    const tokenNow = await findRefreshToken(db, token);
    if (!tokenNow) throw refusal('invalid');
    return successorOf(call, token, tokenNow);
  }
  if (secondsSinceUse > SESSION.leewaySeconds) {
    await end(call, sessionId);
    throw refusal('reused');
  }
  const currentToken = await findCurrentRefreshToken(db, sessionId, services.refreshTokens.successorsOf(token, usedAt));
  if (!currentToken) throw refusal('superseded');
  return currentToken;
}

type RefreshProblem = keyof (typeof UNAUTHORIZED_MESSAGES)['INVALID_REFRESH_TOKEN'];

export const logOut = operation({
  name: 'logOut',
  description: 'Ends this session. Its access token and refresh token stop working immediately, everywhere.',
  allows: 'signed in',
  budget: 'write',
  ignoresKeyAndDryRun: true,
  needsSession: true,
  input: emptyInput,
  async run(call): Promise<{ sessionId: SessionId; session: ActiveSession | null }> {
    const { db, viewer } = call;
    const { sessionId } = viewer;
    const [row] = await selectSession(db, { id: sessionId, currentId: sessionId });
    await end(call, sessionId);
    return { sessionId, session: row?.session ?? null };
  },
});

const NEWEST_FIRST = ['time', 'text'] as const;

export const listSessions = operation({
  name: 'sessions',
  description: 'Lists your active sessions, newest first.',
  allows: 'signed in',
  budget: 'read',
  needsSession: true,
  input: z.strictObject(pageShape),
  run: ({ db, viewer, include }, input) =>
    listActiveSessions(
      db,
      { userId: viewer.userId, currentId: viewer.sessionId },
      pageRequest(input, NEWEST_FIRST, include),
    ),
});

const sessionInput = z.strictObject({ id: idInPath('session').describe('The session.') });

export const readSession = operation({
  name: 'session',
  description: 'Returns one of your active sessions.',
  allows: 'signed in',
  budget: 'read',
  needsSession: true,
  input: sessionInput,
  run: ({ db, viewer }, { id }): Promise<ActiveSession> => ownSession(db, viewer, id),
});

export const endSession = operation({
  name: 'endSession',
  description: 'Ends one of your sessions. Its tokens stop working immediately, everywhere.',
  allows: 'signed in',
  budget: 'write',
  needsSession: true,
  input: sessionInput,
  async run(call, { id }): Promise<ActiveSession> {
    const session = await ownSession(call.db, call.viewer, id);
    await end(call, id);
    return session;
  },
});

export const endOtherSessions = operation({
  name: 'endOtherSessions',
  description: 'Ends all of your sessions except this one. Your API keys keep working.',
  allows: 'signed in',
  budget: 'write',
  needsSession: true,
  input: emptyInput,
  run: async (call): Promise<{ endedCount: number }> => ({
    endedCount: await endLogins(call, { userId: call.viewer.userId, except: call.viewer.sessionId }),
  }),
});

async function ownSession(db: Db, viewer: Viewer, id: SessionId): Promise<ActiveSession> {
  const [row] = await selectSession(db, { id, currentId: viewer.sessionId });
  if (!row) throw refuse('NOT_FOUND', { message: 'Session not found.' });
  if (row.userId !== viewer.userId) throw refuse('FORBIDDEN', { message: 'This session belongs to another user.' });
  if (!row.isActive) throw refuse('NOT_FOUND', { message: 'This session has ended.' });
  return row.session;
}

export interface Session {
  token: string;
  refreshToken: string;
  expiresAt: Date;
  refreshExpiresAt: Date;
  user?: User;
  homeowner?: Homeowner;
  contractor?: Contractor;
  tokensAwarded?: number;
}

export function sessionOf(
  services: Pick<Services, 'accessTokens'>,
  person: { id: UserId; userType: Role },
  newSession: OpenedSession,
): Session {
  const { sessionId, refreshToken, refreshExpiresAt } = newSession;
  const accessToken = services.accessTokens.sign({ userId: person.id, sessionId, role: person.userType });
  return { ...accessToken, refreshToken, refreshExpiresAt };
}
