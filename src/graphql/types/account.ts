import { InterfaceType } from 'type-graphql';
import { CONTRACTOR, HOMEOWNER, USER } from '../../market/rules/entities/people.js';
import { REVIEW } from '../../market/rules/entities/review.js';
import { SESSION, VIEWER, ACTIVE_SESSION } from '../../market/rules/entities/session.js';
import { connectionType } from './connection.js';
import { FieldsOf } from './field.js';
import { nodeType } from './node.js';
import { API_KEY } from '../../market/rules/entities/api-key.js';
import { ACCOUNT_EVENT } from '../../market/rules/entities/account-event.js';
import { ADMIN_ACTION } from '../../market/rules/entities/admin-action.js';

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

export const Viewer = nodeType(VIEWER, { kind: 'viewer' });

export const ActiveSession = nodeType(ACTIVE_SESSION);
export const ActiveSessionConnection = connectionType('ActiveSession', () => ActiveSession, 'active sessions');

export const ApiKey = nodeType(API_KEY);
export const ApiKeyConnection = connectionType('ApiKey', () => ApiKey, 'API keys');

export const AdminAction = nodeType(ADMIN_ACTION);
export const AdminActionConnection = connectionType('AdminAction', () => AdminAction, 'admin actions');

export const AccountEvent = nodeType(ACCOUNT_EVENT);
