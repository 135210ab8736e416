import { expect, test } from 'vitest';
import { BID_ACTIONS, BID_CONSEQUENCES, changeOfCounts, isLive } from '../../../src/market/rules/bids.js';
import { BID_STATES, type BidState } from '../../../src/market/rules/states.js';

test('a bid is live until it is accepted, rejected, or withdrawn', () => {
  expect(BID_STATES.filter(isLive)).toEqual(['pending', 'viewed', 'shortlisted']);
});

test.each<[from: BidState, to: BidState, liveBids: number, countedBids: number]>([
  ['pending', 'viewed', 0, 0],
  ['viewed', 'shortlisted', 0, 0],
  ['shortlisted', 'accepted', -1, 0],
  ['pending', 'rejected', -1, 0],
  ['viewed', 'withdrawn', -1, -1],
])('when a bid that was %s is %s, the live ones change by %d and all by %d', (from, to, liveBids, countedBids) => {
  expect(changeOfCounts(from, to)).toEqual({ liveBids, countedBids });
});

test("Carla's stake is released once her bid is rejected or withdrawn, or she loses the award", () => {
  const effects = Object.entries({ ...BID_ACTIONS, ...BID_CONSEQUENCES }).map(([key, row]) => [key, row.effects]);
  expect(Object.fromEntries(effects)).toEqual({
    view: [],
    shortlist: [],
    reject: ['releaseHold'],
    withdraw: ['releaseHold'],
    accept: [],
    revise: [],
    passOver: ['releaseHold'],
    decline: ['releaseHold'],
    revoke: ['releaseHold'],
    close: ['releaseHold'],
  });
});
