/** Keys for programs, as their owner sees them. */
import { ObjectType } from 'type-graphql';
import { API_KEY } from '../../market/rules/entities/api-key.js';
import { connectionType } from './connection.js';
import { FieldsOf } from './field.js';
import { Node } from './node.js';

@ObjectType({ implements: Node, description: API_KEY.description })
@FieldsOf(API_KEY)
export class ApiKey {}

export const ApiKeyConnection = connectionType('ApiKey', () => ApiKey, 'API keys');
