/** Active sessions, as their owner sees them. */
import { ACTIVE_SESSION } from '../../market/rules/entities/session.js';
import { connectionType } from './connection.js';
import { nodeType } from './node.js';

export const ActiveSession = nodeType(ACTIVE_SESSION);
export const ActiveSessionConnection = connectionType('ActiveSession', () => ActiveSession, 'log-ins that go on');
