import { describe, expect, it } from 'vitest';
import { NO_EVENTS } from '../../src/shares/share.js';
import { createTurns } from '../../src/shares/turns.js';

/** However busy the machine is, nobody here waits too long. */
const WAIT_MS = 60_000;

const turnsOf = (total: number) =>
  createTurns({ name: 'turns', limits: { of: 'requests', total }, events: NO_EVENTS }, WAIT_MS);

/** Work that keeps the event loop for a while. */
function spin(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

describe('turns of the event loop', () => {
  it('begin a few requests each: between two that take long the loop goes on', async () => {
    const turns = turnsOf(100);
    let loops = 0;
    let over = false;
    const count = () => void (over || ((loops += 1), setImmediate(count)));
    setImmediate(count);
    const seen: number[] = [];
    await Promise.all(
      Array.from({ length: 10 }, (_, at) => turns.begin({ address: `a${at}` }, () => (seen.push(loops), spin(5)))),
    );
    over = true;
    expect(new Set(seen).size).toBeGreaterThanOrEqual(9);
  });

  it('count what a request does in the promises that it settles at once', async () => {
    const turns = turnsOf(100);
    let loops = 0;
    let over = false;
    const count = () => void (over || ((loops += 1), setImmediate(count)));
    setImmediate(count);
    const seen: number[] = [];
    const work = async () => {
      await Promise.resolve();
      await Promise.resolve();
      seen.push(loops);
      spin(5);
    };
    await Promise.all(Array.from({ length: 10 }, (_, at) => turns.begin({ address: `a${at}` }, () => void work())));
    over = true;
    expect(new Set(seen).size).toBeGreaterThanOrEqual(9);
  });

  it.each([
    ['so many turns later, where it goes on only then', 16],
    ['in the next turn, where nothing is in its way', 1],
  ])('are begun %s', async (_when, turnsBetween) => {
    const turns = turnsOf(100);
    let loops = 0;
    let over = false;
    const count = () => {
      loops += 1;
      if (!over) setImmediate(count);
    };
    count();
    turns.onlyWhile(() => loops % turnsBetween === 0);
    const seen: number[] = [];
    await Promise.all(
      Array.from({ length: 5 }, (_, at) => turns.begin({ address: `a${at}` }, () => (seen.push(loops), spin(5)))),
    );
    over = true;
    // The first finds nobody before it, and is begun at once.
    const between = seen.slice(2).map((loop, at) => loop - seen[at + 1]!);
    expect(between).toEqual(between.map(() => turnsBetween));
  });

  it('go from address to address, so that one that sends hundreds at once delays another by one of them', async () => {
    const turns = turnsOf(1_000);
    const order: string[] = [];
    const begin = (address: string) => turns.begin({ address }, () => (order.push(address), spin(1)));
    const all = Array.from({ length: 300 }, () => begin('greedy'));
    all.push(begin('modest'));
    await Promise.all(all);
    expect(order.indexOf('modest')).toBeLessThanOrEqual(2);
  });

  it('are waited for by so many and no more', async () => {
    const turns = turnsOf(10);
    const all = Array.from({ length: 20 }, (_, at) =>
      turns
        .begin({ address: `a${at}` }, () => undefined)
        .then(
          () => 'begun',
          ({ code }: { code: string }) => code,
        ),
    );
    const settled = await Promise.all(all);
    expect(settled.filter((one) => one === 'OVERLOADED')).toHaveLength(9);
  });
});
