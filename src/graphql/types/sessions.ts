/** Active sessions, as their owner sees them. */
import { ObjectType } from 'type-graphql';
import { ACTIVE_SESSION } from '../../market/rules/entities/session.js';
import { connectionType } from './connection.js';
import { FieldsOf } from './field.js';
import { Node } from './node.js';

@ObjectType({ implements: Node, description: ACTIVE_SESSION.description })
@FieldsOf(ACTIVE_SESSION)
export class ActiveSession {}

export const ActiveSessionConnection = connectionType('ActiveSession', () => ActiveSession, 'active sessions');
