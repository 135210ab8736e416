/**
 * Bounds of time and memory hold on a machine that does nothing else. `npm test` leaves them out; `npm run nightly`
 * sets TIMING.
 */
import { expect } from 'vitest';

export const CHECKS_TIME = process.env.TIMING === '1';

/** Checks a bound of time or memory, where such bounds are checked. The test's name must say `(timed)`. */
export function expectTimed(check: () => void): void {
  expect(expect.getState().currentTestName).toContain('(timed)');
  if (CHECKS_TIME) check();
}
