/** People, their profiles and their sessions, as clients see them. */
import { ObjectType } from 'type-graphql';
import { CONTRACTOR, HOMEOWNER, USER } from '../../rules/entities/people.js';
import { CHANGED_PASSWORD, ENDED_SESSION, SESSION } from '../../rules/entities/session.js';
import { connectionType } from './connection.js';
import { FieldsOf } from './field.js';
import { Node } from './node.js';

@ObjectType({ implements: Node, description: USER.description })
@FieldsOf(USER)
export class User {}

@ObjectType({ implements: Node, description: HOMEOWNER.description })
@FieldsOf(HOMEOWNER)
export class Homeowner {}

@ObjectType({ implements: Node, description: CONTRACTOR.description })
@FieldsOf(CONTRACTOR)
export class Contractor {}

@ObjectType({ description: SESSION.description })
@FieldsOf(SESSION)
export class Session {}

@ObjectType({ description: ENDED_SESSION.description })
@FieldsOf(ENDED_SESSION)
export class LogOutResult {}

@ObjectType({ description: CHANGED_PASSWORD.description })
@FieldsOf(CHANGED_PASSWORD)
export class ChangePasswordResult {}

export const UserConnection = connectionType('User', () => User, 'accounts');
