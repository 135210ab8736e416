/**
 * Bounds of time hold on a machine that does nothing else: `npm run nightly` sets TIMING, and `npm test` leaves them
 * out.
 */
import { expect } from 'vitest';

export const CHECKS_TIME = process.env.TIMING === '1';

/** Checks a bound of time or memory, where such bounds are checked. The test's name must say `(timed)`. */
export function expectTimed(check: () => void): void {
  expect(expect.getState().currentTestName).toContain('(timed)');
  if (CHECKS_TIME) check();
}
