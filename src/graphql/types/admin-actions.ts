/** Admins' actions on others, as admins see them. */
import { ADMIN_ACTION } from '../../market/rules/entities/admin-action.js';
import { connectionType } from './connection.js';
import { nodeType } from './node.js';

export const AdminAction = nodeType(ADMIN_ACTION);
export const AdminActionConnection = connectionType('AdminAction', () => AdminAction, 'actions of admins');
