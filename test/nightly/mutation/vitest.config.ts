/** The tests of the rules alone, which need nothing but memory: no database is started for a mutant. */
import { defineConfig } from 'vitest/config';

export default defineConfig({ test: { include: ['test/nightly/mutation/rules.test.ts'] } });
