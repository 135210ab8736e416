import { expect, it } from 'vitest';
import { createPasswords } from '../../../src/platform/security/passwords.js';

it('passwords take as long to compare for an unknown account as for a known one', async () => {
  const slow = createPasswords({ cost: 8 });
  const known = await slow.hash('the right one');
  const took = { known: [] as number[], unknown: [] as number[] };
  // Interleaved and in alternating order. Measures CPU time, because waiting for a core reveals nothing. The login's
  // own test measures the time that a stranger sees over the network.
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

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}
