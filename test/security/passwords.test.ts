import bcrypt from 'bcrypt';
import { describe, expect, it } from 'vitest';
import { createPasswords } from '../../src/security/passwords.js';

describe('passwords', () => {
  const passwords = createPasswords({ cost: 5 });

  it('match their own hash, in whatever script they are written, and no other', async () => {
    const hash = await passwords.hash('näher mein 🔑');
    expect(await passwords.matches('näher mein 🔑', hash)).toBe(true);
    expect(await passwords.matches('naher mein 🔑', hash)).toBe(false);
    expect(await passwords.matches('', hash)).toBe(false);
  });

  it('are hashed at the configured cost, with a salt of their own each time', async () => {
    const [one, other] = await Promise.all([passwords.hash('same'), passwords.hash('same')]);
    expect(bcrypt.getRounds(one)).toBe(5);
    expect(one).not.toBe(other);
  });

  it('never match an account that does not exist', async () => {
    for (const plain of ['', 'password', 'undefined']) expect(await passwords.matches(plain, undefined)).toBe(false);
  });

  it('take as long to compare for an unknown account as for a known one', async () => {
    const slow = createPasswords({ cost: 8 });
    const known = await slow.hash('the right one');
    const took = { known: [] as number[], unknown: [] as number[] };
    // Interleaved and in changing order. In processor time: hashing gives way to whatever else runs on the machine, and
    // waiting for a core is nobody's secret. What a stranger's clock sees over the wire is measured where the log-in is
    // tested.
    for (let round = 0; round < 200; round += 1) {
      for (const kind of round % 2 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const)) {
        const before = process.cpuUsage();
        expect(await slow.matches('a wrong one', kind === 'known' ? known : undefined)).toBe(false);
        const { user, system } = process.cpuUsage(before);
        took[kind].push((user + system) / 1_000);
      }
    }
    const ratio = median(took.unknown) / median(took.known);
    expect(median(took.known)).toBeGreaterThan(3);
    expect(Math.abs(ratio - 1)).toBeLessThan(0.1);
  });

  it('are hashed a few at a time: 256 wait, the next is refused at once, and all who waited are answered', async () => {
    const busy = createPasswords({ cost: 4, concurrent: 2 });
    // From so many addresses that none of them waits with more than another.
    const inTime = Array.from({ length: 258 }, (_, at) => busy.hash('x', { address: `10.0.0.${at}` }));
    expect([busy.active, busy.waiting]).toEqual([2, 256]);
    await expect(busy.hash('x', { address: 'late' })).rejects.toMatchObject({ code: 'OVERLOADED' });
    await expect(busy.matches('x', undefined, { address: 'late' })).rejects.toMatchObject({ code: 'OVERLOADED' });
    expect(await Promise.all(inTime)).toHaveLength(258);
    expect([busy.active, busy.waiting]).toEqual([0, 0]);
  });

  it('are hashed for one address as for the others: its 129th that waits is refused, and somebody else is next', async () => {
    const busy = createPasswords({ cost: 4, concurrent: 1 });
    const order: string[] = [];
    const greedy = Array.from({ length: 129 }, (_, at) =>
      busy.hash('x', { address: 'greedy' }).then(() => order.push(`greedy ${at}`)),
    );
    await expect(busy.hash('x', { address: 'greedy' })).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    await busy.hash('x', { address: 'other' }).then(() => order.push('other'));
    expect(order.indexOf('other')).toBeLessThanOrEqual(2);
    await Promise.all(greedy);
  });
});

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}
