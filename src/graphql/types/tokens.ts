import { TOKEN_AUDIT, TOKEN_BALANCE, TOKEN_MISMATCH, TOKEN_TRANSFER } from '../../market/rules/entities/tokens.js';
import { connectionType } from './connection.js';
import { objectType } from './field.js';
import { nodeType } from './node.js';

export const TokenBalance = objectType(TOKEN_BALANCE);
export const TokenTransfer = nodeType(TOKEN_TRANSFER);
export const TokenMismatch = objectType(TOKEN_MISMATCH);
export const TokenAudit = objectType(TOKEN_AUDIT);
export const TokenTransferConnection = connectionType('TokenTransfer', () => TokenTransfer, 'token transfers');
