import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { withEitherSignal } from '../../../src/platform/queue/either-signal.js';

/** The sizes of the collections that Node keeps in a signal, such as its listeners. */
function entriesIn(signal: AbortSignal): number[] {
  return Object.getOwnPropertySymbols(signal).flatMap((symbol) => {
    const value: unknown = Reflect.get(signal, symbol);
    return value instanceof Set || value instanceof Map ? [value.size] : [];
  });
}

const never = (signal: AbortSignal) => delay(60_000, undefined, { signal });

describe('work with either of two signals', () => {
  it('leaves nothing in them', async () => {
    const [stop, deadline] = [new AbortController(), new AbortController()];
    for (let times = 0; times < 100; times += 1)
      expect(await withEitherSignal(deadline.signal, stop.signal, async () => times)).toBe(times);
    await expect(
      withEitherSignal(deadline.signal, stop.signal, () => Promise.reject(new Error('It failed.'))),
    ).rejects.toThrow('It failed.');
    for (const { signal } of [stop, deadline]) expect(Math.max(0, ...entriesIn(signal))).toBe(0);
  });

  it.each([0, 1])('is aborted by signal %i, before or after it began', async (which) => {
    for (const isBefore of [true, false]) {
      const controllers = [new AbortController(), new AbortController()] as const;
      if (isBefore) controllers[which]?.abort();
      const work = withEitherSignal(controllers[0].signal, controllers[1].signal, never);
      if (!isBefore) controllers[which]?.abort();
      await expect(work).rejects.toThrow('aborted');
    }
  });
});
