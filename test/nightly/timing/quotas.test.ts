import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { createQuota, NO_EVENTS } from '../../../src/platform/quotas/quota.js';

setFlagsFromString('--expose-gc');
const collectGarbage = (): unknown => runInNewContext('gc()');

it('a quota keeps nothing about fifty thousand users who no longer hold anything', () => {
  const limits = { of: 'requests', perUser: 1, perAddress: 2 } as const;
  const quota = createQuota({ name: 'requests', limits, events: NO_EVENTS });
  const bytesHeld = () => {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  quota.take({ address: 'a' });
  const before = bytesHeld();
  for (let at = 0; at < 50_000; at += 1) quota.take({ address: 'a', user: `one of many ${at}` })();
  // Each user would take more than a hundred bytes.
  expect(bytesHeld() - before).toBeLessThan(2_000_000);
});
