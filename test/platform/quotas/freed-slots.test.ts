/** When one piece of work ends, several calls may start that waited for different reasons. */
import { expect, it } from 'vitest';
import { createFairQueue } from '../../../src/platform/quotas/fair-queue.js';
import { NO_EVENTS } from '../../../src/platform/quotas/quota.js';

it('the end of one call starts all that it kept waiting, because of their user or because they are long', async () => {
  const limits = { of: 'calls waiting', total: 10 };
  const bounds = { slots: 3, slotsPerUser: 1, slotsForLong: 1, waitMs: 60_000 };
  const queue = createFairQueue({ name: 'databaseQueue', limits, events: NO_EVENTS, ...bounds });
  let end = () => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  const begun: string[] = [];
  let beginBoth = () => {};
  const both = new Promise<void>((resolve) => (beginBoth = resolve));
  const work = (name: string) => async () => {
    begun.push(name);
    if (begun.length === 2) beginBoth();
    await both;
  };
  const anna = { address: 'a', user: 'anna' };
  const first = queue.run(anna, () => ended, { isLong: true });
  const others = [
    queue.run(anna, work('of her own')),
    queue.run({ address: 'b' }, work('long as well'), { isLong: true }),
  ];
  expect([queue.active, queue.waiting]).toEqual([1, 2]);
  end();
  await first;
  expect([queue.active, queue.waiting]).toEqual([2, 0]);
  await Promise.all(others);
});
