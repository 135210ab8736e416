/** People, their profiles and their sessions, as clients see them. */
import { InterfaceType } from 'type-graphql';
import { CONTRACTOR, HOMEOWNER, USER } from '../../market/rules/entities/people.js';
import { REVIEW } from '../../market/rules/entities/review.js';
import { SESSION } from '../../market/rules/entities/session.js';
import { connectionType } from './connection.js';
import { FieldsOf } from './field.js';
import { nodeType } from './node.js';

export const User = nodeType(USER);
export const Homeowner = nodeType(HOMEOWNER);
export const Contractor = nodeType(CONTRACTOR);
export const Review = nodeType(REVIEW);

@InterfaceType({ description: SESSION.description })
@FieldsOf(SESSION)
export abstract class Session {}

export const UserConnection = connectionType('User', () => User, 'accounts');
export const ContractorConnection = connectionType('Contractor', () => Contractor, 'contractors');
export const ReviewConnection = connectionType('Review', () => Review, 'reviews');
