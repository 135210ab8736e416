/** Bids as clients see them. */
import { BID, HOLD } from '../../market/rules/entities/bid.js';
import { connectionType } from './connection.js';
import { nodeType } from './node.js';

export const Bid = nodeType(BID);
export const Hold = nodeType(HOLD);
export const BidConnection = connectionType('Bid', () => Bid, 'bids');
