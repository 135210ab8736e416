/** What policies ask about a job and its viewer besides the job's own row, as columns of a select of jobs. */
import { sql } from 'drizzle-orm';
import type { BidState } from '../rules/states.js';
import type { Role } from '../rules/viewer.js';
import { bidsToAwardOfJob } from './bids.js';
import { availableTo } from './ledger.js';
import type { Placeholders } from './statement.js';
import { isOwnerSuspended, ownBidStates, type ViewerIds } from './visibility.js';

export interface ViewerFacts {
  /** The viewer's own balance less what is held. */
  readonly availableTokens: number;
  /** The states of the viewer's own bids, withdrawn ones among them. */
  readonly ownBids: readonly BidState[];
  readonly isOwnerSuspended: boolean;
  /** Whether support has to decide whose the viewer's account is. */
  readonly isEmailDisputed: boolean;
  /** How many bids, anyone’s, could be awarded. */
  readonly bidsToAward: number;
}

export function viewerFacts(role: Role, $: Placeholders<ViewerIds>) {
  return {
    availableTokens: availableTo($),
    ownBids: sql<BidState[]>`${ownBidStates(role, $)}`,
    isOwnerSuspended,
    isEmailDisputed: sql<boolean>`exists (select from users u
      where u.id = ${$('userId')} and u.email_undo = 'pending')`,
    bidsToAward: bidsToAwardOfJob,
  };
}
