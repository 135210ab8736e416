import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createGate, type GateSettings } from '../../src/gate.js';

const full = () => new Error('full');
const gateOf = (settings: Partial<GateSettings> = {}) => createGate({ concurrent: 1, waiting: 10, waitMs: 1_000, onFull: full, ...settings });

/** Work that ends when the test says so. */
function held() {
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  return { work: () => ended, end };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('the gate', () => {
  it('lets in as many as it may and no more, and hands back what the work answers', async () => {
    const gate = gateOf({ concurrent: 3 });
    let inside = 0;
    let insideMost = 0;
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        gate.run(async () => {
          insideMost = Math.max(insideMost, (inside += 1));
          await Promise.resolve();
          inside -= 1;
          return i;
        }),
      ),
    );
    expect(answers).toEqual(Array.from({ length: 12 }, (_, i) => i));
    expect(insideMost).toBe(3);
    expect([gate.active, gate.queued]).toEqual([0, 0]);
  });

  it('admits those who wait in the order in which they came, and no newcomer before them', async () => {
    const gate = gateOf();
    const first = held();
    const order: string[] = [];
    const runs = [gate.run(first.work), ...['second', 'third'].map((name) => gate.run(async () => void order.push(name)))];
    first.end();
    await first.work();
    runs.push(gate.run(async () => void order.push('newcomer')));
    await Promise.all(runs);
    expect(order).toEqual(['second', 'third', 'newcomer']);
  });

  it('refuses at once whoever finds the queue full', async () => {
    const gate = gateOf({ waiting: 2 });
    const first = held();
    const runs = [gate.run(first.work), gate.run(async () => 'b'), gate.run(async () => 'c')];
    const work = vi.fn(async () => 'd');
    await expect(gate.run(work)).rejects.toThrow('full');
    expect(work).not.toHaveBeenCalled();
    expect([gate.active, gate.queued]).toEqual([1, 2]);
    first.end();
    await Promise.all(runs);
  });

  it('refuses whoever has waited too long, each at their own time, and lets the rest wait on', async () => {
    const gate = gateOf({ waitMs: 1_000 });
    const first = held();
    const inside = gate.run(first.work);
    const refused: string[] = [];
    const early = gate.run(async () => 'early').catch(() => void refused.push('early'));
    await vi.advanceTimersByTimeAsync(600);
    const late = gate.run(async () => 'late');
    await vi.advanceTimersByTimeAsync(450);
    await early;
    expect(refused).toEqual(['early']);
    expect(gate.queued).toBe(1);
    first.end();
    await inside;
    expect(await late).toBe('late');
    await vi.advanceTimersByTimeAsync(5_000);
    expect([gate.active, gate.queued]).toEqual([0, 0]);
  });

  it('refuses one after another as the time of each runs out, with the place taken all along', async () => {
    const gate = gateOf({ waitMs: 1_000 });
    const first = held();
    const inside = gate.run(first.work);
    const refusedAfterMs: number[] = [];
    const startMs = performance.now();
    for (let i = 0; i < 3; i += 1) {
      gate.run(async () => undefined).catch(() => void refusedAfterMs.push(Math.round(performance.now() - startMs)));
      await vi.advanceTimersByTimeAsync(300);
    }
    await vi.advanceTimersByTimeAsync(2_000);
    expect(refusedAfterMs).toEqual([1_000, 1_300, 1_600]);
    expect([gate.active, gate.queued, vi.getTimerCount()]).toEqual([1, 0, 0]);
    first.end();
    await inside;
  });

  it('keeps no timer once nobody waits', async () => {
    const gate = gateOf();
    await gate.run(async () => undefined);
    expect(vi.getTimerCount()).toBe(0);
    const first = held();
    const runs = [gate.run(first.work), gate.run(async () => undefined)];
    expect(vi.getTimerCount()).toBe(1);
    first.end();
    await Promise.all(runs);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('loses no place when work fails, whether by a rejection or by throwing before it returns a promise', async () => {
    const gate = gateOf({ concurrent: 2 });
    const throwing = (): Promise<void> => {
      throw new Error('thrown');
    };
    for (let round = 0; round < 50; round += 1) {
      await expect(gate.run(throwing)).rejects.toThrow('thrown');
      await expect(gate.run(() => Promise.reject(new Error('rejected')))).rejects.toThrow('rejected');
    }
    expect([gate.active, gate.queued]).toEqual([0, 0]);
    expect(await gate.run(async () => 'works still')).toBe('works still');
  });

  it('loses no place and no order over ten thousand calls that fail, wait and time out at random', async () => {
    const gate = gateOf({ concurrent: 4, waiting: 50, waitMs: 20 });
    let seed = 7;
    const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
    const outcomes = { done: 0, failed: 0, full: 0 };
    const runs: Promise<void>[] = [];
    for (let i = 0; i < 10_000; i += 1) {
      const lasts = random() * 12;
      const fails = random() < 0.2;
      const work = async () => {
        expect(gate.active).toBeLessThanOrEqual(4);
        await new Promise((resolve) => setTimeout(resolve, lasts));
        if (fails) throw new Error('failed');
      };
      runs.push(
        gate.run(work).then(
          () => void (outcomes.done += 1),
          (error: Error) => void (outcomes[error.message === 'full' ? 'full' : 'failed'] += 1),
        ),
      );
      if (random() < 0.4) await vi.advanceTimersByTimeAsync(random() * 4);
    }
    await vi.advanceTimersByTimeAsync(1_000);
    await Promise.all(runs);
    expect(outcomes.done + outcomes.failed + outcomes.full).toBe(10_000);
    expect(Math.min(outcomes.done, outcomes.failed, outcomes.full)).toBeGreaterThan(100);
    expect([gate.active, gate.queued, vi.getTimerCount()]).toEqual([0, 0, 0]);
  });

  it('can be entered and left by hand, at once when a place is free', async () => {
    const gate = gateOf();
    expect(gate.enter()).toBeUndefined();
    const turn = gate.enter();
    expect([gate.active, gate.queued]).toEqual([1, 1]);
    gate.leave();
    await turn;
    expect([gate.active, gate.queued]).toEqual([1, 0]);
    gate.leave();
    expect(gate.active).toBe(0);
    expect(() => gate.leave()).toThrow('nobody had taken');
  });

  describe('with places behind others', () => {
    it('lets so many more in while all inside are quick, and the next waits', async () => {
      const gate = gateOf({ concurrent: 2, behind: { places: 2, quickMs: 50 } });
      const works = Array.from({ length: 6 }, held);
      const runs = works.map(({ work }) => gate.run(work));
      expect([gate.active, gate.queued]).toEqual([4, 2]);
      for (const { end } of works) end();
      await Promise.all(runs);
      expect([gate.active, gate.queued]).toEqual([0, 0]);
    });

    it('lets nobody in behind one who takes longer, but all who may go in once that one has left', async () => {
      const gate = gateOf({ concurrent: 2, behind: { places: 2, quickMs: 50 } });
      const [slow, quick] = [held(), held()];
      const runs = [gate.run(slow.work), gate.run(quick.work)];
      vi.advanceTimersByTime(50);
      const others = Array.from({ length: 5 }, held);
      runs.push(...others.map(({ work }) => gate.run(work)));
      expect([gate.active, gate.queued]).toEqual([2, 5]);
      // One place beside the slow one goes from hand to hand.
      quick.end();
      await runs[1];
      expect([gate.active, gate.queued]).toEqual([2, 4]);
      slow.end();
      await runs[0];
      expect([gate.active, gate.queued]).toEqual([4, 1]);
      for (const { end } of others) end();
      await Promise.all(runs);
      expect([gate.active, gate.queued]).toEqual([0, 0]);
    });

    it('keeps to its places over ten thousand calls that last and fail at random', async () => {
      const gate = gateOf({ concurrent: 4, waiting: 50, waitMs: 20, behind: { places: 3, quickMs: 6 } });
      let seed = 11;
      const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
      let most = 0;
      const runs: Promise<unknown>[] = [];
      for (let i = 0; i < 10_000; i += 1) {
        const lasts = random() * 9;
        const fails = random() < 0.2;
        const work = async () => {
          most = Math.max(most, gate.active);
          await new Promise((resolve) => setTimeout(resolve, lasts));
          if (fails) throw new Error('failed');
        };
        runs.push(gate.run(work).catch(() => undefined));
        if (random() < 0.4) await vi.advanceTimersByTimeAsync(random() * 4);
      }
      await vi.advanceTimersByTimeAsync(1_000);
      await Promise.all(runs);
      expect(most).toBe(7);
      expect([gate.active, gate.queued, vi.getTimerCount()]).toEqual([0, 0, 0]);
    });
  });

  it('lets nobody wait where no waiting is allowed', async () => {
    const gate = gateOf({ waiting: 0 });
    const first = held();
    const inside = gate.run(first.work);
    await expect(gate.run(async () => undefined)).rejects.toThrow('full');
    first.end();
    await inside;
  });
});
