/** The caller's own account, which a client's first query starts with. */
import { VIEWER } from '../../market/rules/entities/session.js';
import { nodeType } from './node.js';

export const Viewer = nodeType(VIEWER, { kind: 'viewer' });
