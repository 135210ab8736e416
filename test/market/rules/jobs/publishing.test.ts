import { describe, expect, test } from 'vitest';
import {
  compareUrgency,
  costOfUrgency,
  missingToPublish,
  publishCost,
  REQUIRED_TO_PUBLISH,
  refundOnCancel,
  URGENCIES,
} from '../../../../src/market/rules/jobs/publishing.js';
import type { Urgency } from '../../../../src/market/rules/jobs/publishing.js';
import { isIn, OPERATIONS_ON_JOBS } from '../../../story/specified.js';
import { kitchen } from '../people.js';

test('publishing costs 5, 15, and 30 tokens, from the least urgent to the most', () => {
  expect(URGENCIES.map(publishCost)).toEqual([5, 15, 30]);
});

test('a draft without an urgency has no price yet', () => {
  expect(publishCost(null)).toBe(0);
});

test('urgencies are in the order standard, priority, urgent', () => {
  const shuffled: Urgency[] = ['urgent', 'standard', 'priority'];
  expect(shuffled.sort(compareUrgency)).toEqual(['standard', 'priority', 'urgent']);
});

describe("the missing fields of Hannah's draft", () => {
  test('are none if it is complete', () => {
    expect(missingToPublish(kitchen('draft'))).toEqual([]);
  });

  test.each(REQUIRED_TO_PUBLISH)('include %s if it is null', (field) => {
    expect(missingToPublish({ ...kitchen('draft'), [field]: null })).toEqual([field]);
  });

  test('include blank text', () => {
    expect(missingToPublish({ ...kitchen('draft'), city: ' \t\n' })).toEqual(['city']);
  });

  test('are listed in the order of the specification', () => {
    const bare = {
      title: 'New kitchen',
      description: 'Cabinets',
      category: null,
      urgency: null,
      addressLine1: null,
      city: '',
      state: null,
    };
    expect(missingToPublish(bare)).toEqual(['category', 'urgency', 'addressLine1', 'city', 'state']);
  });
});

test.each<[urgency: Urgency, mostPaid: number, charge: number]>([
  ['priority', 5, 10],
  ['urgent', 5, 25],
  ['urgent', 15, 15],
  ['priority', 15, 0],
  ['priority', 30, 0],
  ['standard', 30, 0],
])('raising to %s after %d tokens were paid costs %d', (urgency, mostPaid, charge) => {
  expect(costOfUrgency(urgency, mostPaid)).toBe(charge);
});

const CANCELLED_IN = OPERATIONS_ON_JOBS.cancel.from.flatMap((status) => [
  { status, everHadBid: false, refund: isIn('bidding', status) ? 15 : 0 },
  { status, everHadBid: true, refund: 0 },
]);
test.each(CANCELLED_IN)(
  'when Hannah cancels a job that is $status (bids: $everHadBid), $refund tokens are refunded',
  ({ status, everHadBid, refund }) => {
    expect(refundOnCancel({ status, everHadBid, mostTokensPaid: 15 })).toBe(refund);
  },
);
