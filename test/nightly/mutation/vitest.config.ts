/** Only the tests of the rules, which run in memory. No database starts for a mutant. */
import { defineConfig } from 'vitest/config';

// On a busy machine, a test that times out would look like one that detected the mutant. Stryker itself stops endless
// loops.
export default defineConfig({ test: { include: ['test/nightly/mutation/rules.test.ts'], testTimeout: 300_000 } });
