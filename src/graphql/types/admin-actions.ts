/** Admins' actions on others, as admins see them. */
import { ObjectType } from 'type-graphql';
import { ADMIN_ACTION } from '../../market/rules/entities/admin-action.js';
import { connectionType } from './connection.js';
import { FieldsOf } from './field.js';
import { Node } from './node.js';

@ObjectType({ implements: Node, description: ADMIN_ACTION.description })
@FieldsOf(ADMIN_ACTION)
export class AdminAction {}

export const AdminActionConnection = connectionType('AdminAction', () => AdminAction, 'admin actions');
