/** People, their profiles and their sessions, as clients see them. */
import { InterfaceType, ObjectType } from 'type-graphql';
import { CONTRACTOR, HOMEOWNER, USER } from '../../market/rules/entities/people.js';
import { REVIEW } from '../../market/rules/entities/review.js';
import { SESSION } from '../../market/rules/entities/session.js';
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

@ObjectType({ implements: Node, description: REVIEW.description })
@FieldsOf(REVIEW)
export class Review {}

@InterfaceType({ description: SESSION.description })
@FieldsOf(SESSION)
export abstract class Session {}

export const UserConnection = connectionType('User', () => User, 'accounts');
export const ContractorConnection = connectionType('Contractor', () => Contractor, 'contractors');
export const ReviewConnection = connectionType('Review', () => Review, 'reviews');
