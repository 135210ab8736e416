import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createFairQueue, type FairQueueSettings } from '../../../src/platform/quotas/fair-queue.js';
import type { Bound, Client } from '../../../src/platform/quotas/quota.js';

const refusals: Bound[] = [];
const waits: number[] = [];
const events = {
  refused: (_: string, bound: Bound) => void refusals.push(bound),
  waited: (_: string, seconds: number) => void waits.push(seconds),
};

function queueOf(settings: Partial<FairQueueSettings> = {}) {
  const limits = { of: 'calls waiting', total: 10 };
  return createFairQueue({ name: 'databaseQueue', slots: 1, limits, waitMs: 1_000, events, ...settings });
}

const ANNA: Client = { address: 'a' };

/** Work that ends when the test ends it. */
function held() {
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  return { work: () => ended, end };
}

/**
 * Keeps a queue's only slot busy while these calls wait in this order. Returns the order in which they got the slot.
 */
async function servedOf(
  settings: Partial<FairQueueSettings>,
  waiting: readonly (readonly [name: string, client: Client])[],
): Promise<string[]> {
  const queue = queueOf(settings);
  const first = held();
  const order: string[] = [];
  const runs = [queue.run({ address: 'first' }, first.work)];
  for (const [name, client] of waiting) {
    runs.push(
      queue
        .run(client, async () => void order.push(name))
        .catch(({ code }: { code: string }) => void order.push(`${name} ${code}`)),
    );
  }
  first.end();
  await Promise.all(runs);
  return order;
}

beforeEach(() => {
  vi.useFakeTimers();
  refusals.length = 0;
  waits.length = 0;
});
afterEach(() => void vi.useRealTimers());

describe('slots', () => {
  it("are never more than the limit, and the work's result is returned", async () => {
    const queue = queueOf({ slots: 3 });
    let inside = 0;
    let insideMost = 0;
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        queue.run(ANNA, async () => {
          insideMost = Math.max(insideMost, (inside += 1));
          await Promise.resolve();
          inside -= 1;
          return i;
        }),
      ),
    );
    expect(answers).toEqual(Array.from({ length: 12 }, (_, i) => i));
    expect(insideMost).toBe(3);
    expect([queue.active, queue.waiting]).toEqual([0, 0]);
  });

  it("aren't all for one address, so another finds one, however long the first one's work takes", async () => {
    const queue = queueOf({ slots: 5, slotsPerAddress: 4 });
    const works = Array.from({ length: 6 }, held);
    const runs = works.map(({ work }) => queue.run(ANNA, work));
    expect([queue.active, queue.waiting]).toEqual([4, 2]);
    expect(await queue.run({ address: 'b' }, async () => 'at once')).toBe('at once');
    expect([queue.active, queue.waiting]).toEqual([4, 2]);
    for (const { end } of works) end();
    await Promise.all(runs);
    expect([queue.active, queue.waiting]).toEqual([0, 0]);
  });

  it("aren't all for one user, so others at the same address find one", async () => {
    const queue = queueOf({ slots: 5, slotsPerAddress: 4, slotsPerUser: 2 });
    const works = Array.from({ length: 5 }, held);
    const hers = { address: 'a', user: 'anna' };
    const runs = works.map(({ work }) => queue.run(hers, work));
    expect([queue.active, queue.waiting]).toEqual([2, 3]);
    expect(await queue.run({ address: 'a', user: 'bert' }, async () => 'at once')).toBe('at once');
    expect(await queue.run(ANNA, async () => 'nobody is known yet')).toBe('nobody is known yet');
    expect([queue.active, queue.waiting]).toEqual([2, 3]);
    for (const { end } of works) end();
    await Promise.all(runs);
    expect([queue.active, queue.waiting]).toEqual([0, 0]);
  });

  it("are limited for long work, and the same caller's quick work goes first", async () => {
    const queue = queueOf({ slots: 4, slotsForLong: 2 });
    const works = Array.from({ length: 4 }, held);
    const order: string[] = [];
    const runs = works.map(({ work }, at) =>
      queue.run({ address: `a${at}` }, work, { isLong: true }).then(() => order.push(`long ${at}`)),
    );
    expect([queue.active, queue.waiting]).toEqual([2, 2]);
    await queue.run({ address: 'a3' }, async () => order.push('quick'));
    for (const { end } of works) end();
    await Promise.all(runs);
    expect(order).toEqual(['quick', 'long 0', 'long 1', 'long 2', 'long 3']);
    expect([queue.active, queue.waiting]).toEqual([0, 0]);
  });

  it("aren't lost when work fails, by a rejection or by throwing before it returns a promise", async () => {
    const queue = queueOf({ slots: 2 });
    const throwing = (): Promise<void> => {
      throw new Error('thrown');
    };
    for (let round = 0; round < 50; round += 1) {
      await expect(queue.run(ANNA, throwing)).rejects.toThrow('thrown');
      await expect(queue.run(ANNA, () => Promise.reject(new Error('rejected')))).rejects.toThrow('rejected');
    }
    expect([queue.active, queue.waiting]).toEqual([0, 0]);
    expect(await queue.run(ANNA, async () => 'works still')).toBe('works still');
  });
});

describe('turns', () => {
  it('come in order of arrival for one caller, and nobody overtakes those who wait', async () => {
    const queue = queueOf();
    const first = held();
    const order: string[] = [];
    const runs = [
      queue.run(ANNA, first.work),
      ...['second', 'third'].map((name) => queue.run(ANNA, async () => void order.push(name))),
    ];
    first.end();
    await first.work();
    runs.push(queue.run(ANNA, async () => void order.push('later')));
    await Promise.all(runs);
    expect(order).toEqual(['second', 'third', 'later']);
  });

  it('go from address to address, however many calls each has', async () => {
    const calls = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map(
      (name) => [name, { address: name.charAt(0) }] as const,
    );
    expect(await servedOf({}, calls)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
  });

  it('go from user to user within an address: six hundred accounts at one address count as one', async () => {
    const many = Array.from({ length: 6 }, (_, i) => [`a${i}`, { address: 'a', user: `usr_${i}` }] as const);
    const calls = [
      ...many,
      ['a0 again', { address: 'a', user: 'usr_0' }],
      ['b', { address: 'b', user: 'usr_b' }],
    ] as const;
    expect(await servedOf({}, calls)).toEqual(['a0', 'b', 'a1', 'a2', 'a3', 'a4', 'a5', 'a0 again']);
  });
});

describe('a full queue', () => {
  it("refuses a caller's own excess with a 429, the user's before the address's", async () => {
    const limits = { of: 'calls waiting', perUser: 2, perAddress: 3, total: 10 };
    const user = { address: 'a', user: 'usr_1' };
    const order = await servedOf({ limits }, [
      ['1', user],
      ['2', user],
      ['3', user],
      ['4', ANNA],
      ['5', ANNA],
      ['6', { address: 'b' }],
    ]);
    expect(order.toSorted()).toEqual(['1', '2', '3 RATE_LIMITED', '4', '5 RATE_LIMITED', '6']);
    expect(refusals).toEqual(['user', 'address']);
  });

  it('is over capacity for everybody if all wait with equally many calls', async () => {
    const calls = ['a', 'b', 'c', 'd'].map((address) => [address, { address }] as const);
    expect((await servedOf({ limits: { of: 'calls', total: 3 } }, calls)).toSorted()).toEqual([
      'a',
      'b',
      'c',
      'd OVERLOADED',
    ]);
    expect(refusals).toEqual(['server']);
  });

  it('drops the newest call of the address that waits with the most, for one with fewer', async () => {
    const calls = ['a1', 'a2', 'a3', 'b1'].map((name) => [name, { address: name.charAt(0) }] as const);
    expect((await servedOf({ limits: { of: 'calls', total: 3 } }, calls)).toSorted()).toEqual([
      'a1',
      'a2',
      'a3 OVERLOADED',
      'b1',
    ]);
  });

  it('drops nobody’s call for a user who has reached their own limit', async () => {
    const uma = { address: 'u', user: 'usr_uma' };
    const order = await servedOf({ limits: { of: 'calls', perUser: 1, total: 4 } }, [
      ['a1', ANNA],
      ['a2', ANNA],
      ['a3', ANNA],
      ['u1', uma],
      ['u2', uma],
    ]);
    expect(order.toSorted()).toEqual(['a1', 'a2', 'a3', 'u1', 'u2 RATE_LIMITED']);
    expect(refusals).toEqual(['user']);
  });
});

describe('waiting', () => {
  it('ends for each in their own time, and the rest keep waiting', async () => {
    const queue = queueOf();
    const first = held();
    const inside = queue.run(ANNA, first.work);
    const refused: string[] = [];
    const early = queue.run(ANNA, async () => 'early').catch(() => void refused.push('early'));
    await vi.advanceTimersByTimeAsync(600);
    const late = queue.run(ANNA, async () => 'late');
    await vi.advanceTimersByTimeAsync(450);
    await early;
    expect([refused, refusals, queue.waiting]).toEqual([['early'], ['server'], 1]);
    first.end();
    await inside;
    expect(await late).toBe('late');
    await vi.advanceTimersByTimeAsync(5_000);
    expect([queue.active, queue.waiting, vi.getTimerCount()]).toEqual([0, 0, 0]);
    expect(waits).toEqual([1, 0.45]);
  });

  it("too long is an address's own fault if it waits with more than all others together", async () => {
    const queue = queueOf({ limits: { of: 'calls', total: 10 } });
    const first = held();
    const inside = queue.run({ address: 'first' }, first.work);
    const codes = ['a', 'a', 'a', 'a', 'b', 'c'].map((address) =>
      queue.run({ address }, async () => 'served').catch(({ code }: { code: string }) => code),
    );
    await vi.advanceTimersByTimeAsync(1_001);
    // A refused call stops waiting. In the end, two of `a` remain, and one each of `b` and `c`.
    const [blamed, ofAll] = [Array(2).fill('RATE_LIMITED'), Array(4).fill('OVERLOADED')];
    expect(await Promise.all(codes)).toEqual([...blamed, ...ofAll]);
    first.end();
    await inside;
  });

  it.each([
    ['while others are served is no fault of the server', true, ['user', 'address']],
    ['while nobody is served is one', false, ['server', 'server']],
  ])("too long for one of the caller's own %s", async (_when, isServing, bounds) => {
    const queue = queueOf({ slots: 4, slotsPerAddress: 3, slotsPerUser: 2 });
    const works = Array.from({ length: 3 }, held);
    const [hers, his] = ['anna', 'bert'].map((user) => ({ address: 'a', user })) as [Client, Client];
    const outcomeOf = (client: Client, work: () => Promise<unknown>) =>
      queue.run(client, work).then(
        () => 'served',
        ({ message }: Error) => message,
      );
    const served = [hers, hers, his].map((client, at) => outcomeOf(client, works[at]!.work));
    const late = [hers, { address: 'a', user: 'carl' }].map((client) => outcomeOf(client, async () => undefined));
    await vi.advanceTimersByTimeAsync(600);
    if (isServing) expect(await outcomeOf({ address: 'b' }, async () => undefined)).toBe('served');
    await vi.advanceTimersByTimeAsync(401);
    const blamed = await Promise.all(late);
    expect(refusals).toEqual(bounds);
    if (isServing)
      expect(blamed).toEqual(
        ['You', 'Your network address'].map(
          (whose) => `${whose} had too many calls waiting, so this request waited too long. Try again later.`,
        ),
      );
    for (const { end } of works) end();
    expect(await Promise.all(served)).toEqual(['served', 'served', 'served']);
  });

  it('keeps no timer once nobody waits', async () => {
    const queue = queueOf();
    await queue.run(ANNA, async () => undefined);
    expect(vi.getTimerCount()).toBe(0);
    const first = held();
    const runs = [queue.run(ANNA, first.work), queue.run(ANNA, async () => undefined)];
    expect(vi.getTimerCount()).toBe(1);
    first.end();
    await Promise.all(runs);
    expect(vi.getTimerCount()).toBe(0);
  });
});

it("doesn't lose a slot, quota, or turn over ten thousand calls that fail, wait, and time out at random", async () => {
  const queue = queueOf({
    slots: 4,
    slotsPerAddress: 3,
    slotsForLong: 2,
    limits: { of: 'calls', perUser: 10, perAddress: 20, total: 50 },
    waitMs: 20,
  });
  let seed = 7;
  const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  const outcomes = { done: 0, failed: 0, refused: 0 };
  const atWork = new Map<string, number>();
  const runs: Promise<void>[] = [];
  for (let i = 0; i < 10_000; i += 1) {
    const lasts = random() * 12;
    const fails = random() < 0.2;
    // One address makes more calls than all others together.
    const address = random() < 0.6 ? 'greedy' : `a${Math.floor(random() * 20)}`;
    const user = random() < 0.3 ? undefined : `usr_${Math.floor(random() * 4)}`;
    const work = async () => {
      atWork.set(address, (atWork.get(address) ?? 0) + 1);
      expect([queue.active <= 4, (atWork.get(address) ?? 0) <= 3]).toEqual([true, true]);
      await new Promise((resolve) => setTimeout(resolve, lasts));
      atWork.set(address, (atWork.get(address) ?? 0) - 1);
      if (fails) throw new Error('failed');
    };
    runs.push(
      queue.run({ address, user }, work, { isLong: random() < 0.3 }).then(
        () => void (outcomes.done += 1),
        (error: Error) => void (outcomes[error.message === 'failed' ? 'failed' : 'refused'] += 1),
      ),
    );
    if (random() < 0.4) await vi.advanceTimersByTimeAsync(random() * 4);
  }
  await vi.advanceTimersByTimeAsync(1_000);
  await Promise.all(runs);
  expect(outcomes.done + outcomes.failed + outcomes.refused).toBe(10_000);
  expect(Math.min(outcomes.done, outcomes.failed, outcomes.refused)).toBeGreaterThan(100);
  expect([queue.active, queue.waiting, vi.getTimerCount()]).toEqual([0, 0, 0]);
});
