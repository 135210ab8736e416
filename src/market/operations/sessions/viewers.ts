/** Finds the viewer of a call from its session or its API key. */
import type { NoViewer, Viewers } from '../../../platform/call/services.js';
import type { ActiveSessions } from '../../../platform/live/revocation-feed.js';
import type { Viewer } from '../../rules/viewer.js';
import { findKeyOwner } from '../../store/sessions/api-keys.js';
import { findActiveSession } from '../../store/sessions/sessions.js';
import type { KeyUses } from './key-uses.js';

export interface ViewersSettings {
  readonly activeSessions: ActiveSessions<Viewer>;
  readonly keyUses: KeyUses;
  readonly requireVerifiedEmail: boolean;
}

export function createViewers({ activeSessions, keyUses, requireVerifiedEmail }: ViewersSettings): Viewers<Viewer> {
  const withDuties = ({ viewer, emailVerified }: FoundViewer): Viewer =>
    requireVerifiedEmail && !emailVerified ? { ...viewer, mustVerifyEmail: true } : viewer;

  return {
    inMemory: (credentials) => {
      if (credentials.kind !== 'session') return undefined;
      const { userId, sessionId } = credentials.claims;
      const viewer = activeSessions.find(sessionId);
      // A viewer whose email isn't confirmed isn't taken from memory, so a user can publish and bid on any instance
      // right after confirming.
      const isReliable = viewer?.userId === userId && viewer.role !== 'admin' && !viewer.mustVerifyEmail;
      return isReliable ? viewer : undefined;
    },

    find: async (credentials, db) => {
      if (credentials.kind === 'API key') {
        const owner = await findKeyOwner(db, credentials.secretHash);
        if (typeof owner === 'string') return KEY_PROBLEMS[owner];
        keyUses.note(owner.keyId);
        return { viewer: withDuties(owner), apiKey: owner.keyId, onlyReads: owner.access === 'read' };
      }
      const { claims } = credentials;
      const viewer = await activeSessions.lookUp(claims.sessionId, async () => {
        const session = await findActiveSession(db, claims);
        return session && { ...session, viewer: withDuties(session) };
      });
      return viewer ? { viewer } : { reason: 'session_ended' };
    },

    lastKnown: (sessionId) => activeSessions.lastKnownViewer(sessionId),
  };
}

interface FoundViewer {
  readonly viewer: Viewer;
  readonly emailVerified: boolean;
}

const KEY_PROBLEMS = {
  unknown: { reason: 'invalid', message: 'API key not found. Create a new one.' },
  revoked: { reason: 'session_ended', message: 'This API key was revoked. Create a new one.' },
  expired: { reason: 'expired', message: 'This API key has expired. Create a new one.' },
} as const satisfies Record<string, NoViewer>;
