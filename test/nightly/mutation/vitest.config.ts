/** The tests of the rules alone, which need nothing but memory: no database is started for a mutant. */
import { defineConfig } from 'vitest/config';

// A test that a busy machine makes wait would pass for one that noticed the change. What never ends Stryker stops.
export default defineConfig({ test: { include: ['test/nightly/mutation/rules.test.ts'], testTimeout: 300_000 } });
