import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // What does not gate a change: `npm run nightly`.
    exclude: [...configDefaults.exclude, 'test/nightly/**'],
    globalSetup: ['test/postgres.ts'],
    setupFiles: ['reflect-metadata'],
    // A busy machine takes long: these are for what hangs.
    testTimeout: 300_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 100_000 } },
    // Most of a test's time is waiting for a database or another process: a worker more than there are cores keeps them
    // busy.
    maxWorkers: availableParallelism() + 1,
  },
  // Two copies of graphql in one process refuse each other's schemas.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
});
