/** The result of a login, a signup, or a refresh. */
import type { Contractor, Homeowner, User } from '../../store/accounts/accounts.js';
import type { OpenedSession } from '../../store/sessions/sessions.js';
import type { UserId } from '../../rules/ids.js';
import type { Role } from '../../rules/viewer.js';
import type { Services } from '../services.js';

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
