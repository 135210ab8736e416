/** Keys for programs, as their owner sees them. */
import { API_KEY } from '../../market/rules/entities/api-key.js';
import { connectionType } from './connection.js';
import { nodeType } from './node.js';

export const ApiKey = nodeType(API_KEY);
export const ApiKeyConnection = connectionType('ApiKey', () => ApiKey, 'API keys');
