/** Work that blocks the event loop starts one piece at a time. The loop runs in between. */
import { expect, it } from 'vitest';
import { createFairQueue } from '../../../src/platform/quotas/fair-queue.js';
import { NO_EVENTS } from '../../../src/platform/quotas/quota.js';
import { waitForSlot } from '../../../src/platform/quotas/quotas.js';

const open = () =>
  createFairQueue({ name: 'heavyReads', limits: { of: 'reads' }, events: NO_EVENTS, slots: 1, waitMs: 60_000 });

it('starts one call per turn of the event loop', async () => {
  const queue = open();
  const order: string[] = [];
  let turns = 0;
  const count = () => {
    order.push(`loop ${(turns += 1)}`);
    if (turns < 3) setImmediate(count);
  };
  setImmediate(count);
  await Promise.all(
    ['one', 'two', 'three'].map(async (name) => {
      await waitForSlot(queue, { address: 'a' });
      order.push(name);
    }),
  );
  expect(order).toEqual(['one', 'loop 1', 'two', 'loop 2', 'three']);
});

it('goes from address to address, so a hundred calls from one delay another address by one of them', async () => {
  const queue = open();
  const order: string[] = [];
  const asked = [...Array<string>(100).fill('greedy'), 'modest'];
  await Promise.all(
    asked.map(async (address) => {
      await waitForSlot(queue, { address });
      order.push(address);
    }),
  );
  expect(order.indexOf('modest')).toBeLessThanOrEqual(2);
});
