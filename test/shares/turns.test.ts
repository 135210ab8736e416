import { describe, expect, it } from 'vitest';
import { NO_EVENTS } from '../../src/shares/share.js';
import { createTurns, type Turns } from '../../src/shares/turns.js';

const turnsOf = (total: number) => createTurns({ name: 'turns', limits: { of: 'requests', total }, events: NO_EVENTS });

const callback = () => new Promise<void>((resolve) => setImmediate(resolve));

/** As requests do that are read in one turn of the loop, each in a callback of its own: at once if it may, else when it is its turn. */
function requests(turns: Turns, addresses: readonly string[], work: (address: string) => unknown): Promise<string[]> {
  const request = async (address: string) => {
    const turn = turns.wait({ address });
    if (turn) await turn;
    await work(address);
    return 'begun';
  };
  const codeOf = ({ code }: { code: string }) => code;
  const read = async (address: string) => {
    await callback();
    return request(address).catch(codeOf);
  };
  return Promise.all(addresses.map(read));
}

/** Work that keeps the event loop for a while. */
function spin(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

/** In which turn of the loop each piece of work was done. */
async function turnsOfWork(count: number, work: () => unknown): Promise<Set<number>> {
  let loops = 0;
  let isOver = false;
  const countLoops = () => {
    loops += 1;
    if (!isOver) setImmediate(countLoops);
  };
  setImmediate(countLoops);
  const seen: number[] = [];
  const addresses = Array.from({ length: count }, (_, at) => `a${at}`);
  await requests(turnsOf(100), addresses, async () => {
    seen.push(loops);
    await work();
  });
  isOver = true;
  return new Set(seen);
}

describe('turns of the event loop', () => {
  it('begin what takes no time at once', async () => {
    expect((await turnsOfWork(10, () => undefined)).size).toBe(1);
  });

  it('begin a few requests each: between those that take long the loop goes on', async () => {
    expect((await turnsOfWork(10, () => spin(5))).size).toBeGreaterThanOrEqual(9);
  });

  it('count what a request does in the promises that it settles at once', async () => {
    const work = async () => {
      await Promise.resolve();
      await Promise.resolve();
      spin(5);
    };
    expect((await turnsOfWork(10, work)).size).toBeGreaterThanOrEqual(9);
  });

  it('go from address to address, so that one that sends hundreds at once delays another by one of them', async () => {
    const order: string[] = [];
    const addresses = [...Array.from({ length: 300 }, () => 'greedy'), 'modest'];
    await requests(turnsOf(1_000), addresses, (address) => (order.push(address), spin(3)));
    expect(order.indexOf('modest')).toBeLessThanOrEqual(3);
  });

  it('are waited for by so many and no more', async () => {
    const addresses = Array.from({ length: 20 }, (_, at) => `a${at}`);
    const settled = await requests(turnsOf(10), addresses, () => spin(3));
    // One has begun at once, one is at work in the queue's only place, ten wait.
    expect(settled.filter((one) => one === 'OVERLOADED')).toHaveLength(8);
  });
});
