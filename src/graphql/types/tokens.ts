/** Prepaid tokens as clients see them. */
import { ObjectType } from 'type-graphql';
import { TOKEN_AUDIT, TOKEN_BALANCE, TOKEN_MISMATCH, TOKEN_TRANSFER } from '../../market/rules/entities/tokens.js';
import { connectionType } from './connection.js';
import { FieldsOf } from './field.js';
import { Node } from './node.js';

@ObjectType({ description: TOKEN_BALANCE.description })
@FieldsOf(TOKEN_BALANCE)
export class TokenBalance {}

@ObjectType({ implements: Node, description: TOKEN_TRANSFER.description })
@FieldsOf(TOKEN_TRANSFER)
export class TokenTransfer {}

@ObjectType({ description: TOKEN_MISMATCH.description })
@FieldsOf(TOKEN_MISMATCH)
export class TokenMismatch {}

@ObjectType({ description: TOKEN_AUDIT.description })
@FieldsOf(TOKEN_AUDIT)
export class TokenAudit {}

export const TokenTransferConnection = connectionType('TokenTransfer', () => TokenTransfer, 'token transfers');
