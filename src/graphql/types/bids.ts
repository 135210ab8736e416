/** Bids as clients see them. */
import { ObjectType } from 'type-graphql';
import { BID, HOLD } from '../../market/rules/entities/bid.js';
import { connectionType } from './connection.js';
import { FieldsOf } from './field.js';
import { Node } from './node.js';

@ObjectType({ implements: Node, description: BID.description })
@FieldsOf(BID)
export class Bid {}

@ObjectType({ implements: Node, description: HOLD.description })
@FieldsOf(HOLD)
export class Hold {}

export const BidConnection = connectionType('Bid', () => Bid, 'bids');
