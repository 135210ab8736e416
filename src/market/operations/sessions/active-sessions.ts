/** The caller's own sessions: lists them and ends them. */
import { z } from 'zod';
import { refuse } from '../../rules/errors.js';
import type { SessionId } from '../../rules/ids.js';
import { listActiveSessions, selectSession, type ActiveSession } from '../../store/sessions/active-sessions.js';
import type { Db } from '../../../platform/db/database.js';
import type { Viewer } from '../../rules/viewer.js';
import { operation } from '../operation.js';
import { pageRequest, pageShape } from '../../../platform/call/paging.js';
import { emptyInput } from '../../../platform/fields/shapes.js';
import { idInPath } from '../../rules/id-fields.js';
import { endOtherLogIns, endSession as end } from './ended-sessions.js';

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
  run: async (call): Promise<{ endedCount: number }> => ({ endedCount: await endOtherLogIns(call, call.viewer) }),
});

async function ownSession(db: Db, viewer: Viewer, id: SessionId): Promise<ActiveSession> {
  const [row] = await selectSession(db, { id, currentId: viewer.sessionId });
  if (!row) throw refuse('NOT_FOUND', { message: 'Session not found.' });
  if (row.userId !== viewer.userId) throw refuse('FORBIDDEN', { message: 'This session belongs to another user.' });
  if (!row.isActive) throw refuse('NOT_FOUND', { message: 'This session has ended.' });
  return row.session;
}
