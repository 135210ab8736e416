import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // These judge time: vitest.attacks.config.ts runs them alone.
    exclude: [...configDefaults.exclude, 'test/attacks/victim/**'],
    globalSetup: ['test/postgres.ts'],
    setupFiles: ['reflect-metadata'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Most of a test's time is waiting for a database or another process: a worker more than there are cores keeps them
    // busy.
    maxWorkers: availableParallelism() + 1,
  },
  // Two copies of graphql in one process refuse each other's schemas.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
});
