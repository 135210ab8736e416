import { PURCHASE, TOKEN_PACK } from '../../market/rules/entities/purchase.js';
import { connectionType } from './connection.js';
import { objectType } from './field.js';
import { nodeType } from './node.js';

export const TokenPack = objectType(TOKEN_PACK);
export const Purchase = nodeType(PURCHASE);
export const PurchaseConnection = connectionType('Purchase', () => Purchase, 'purchases');
