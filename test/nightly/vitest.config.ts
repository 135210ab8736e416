/** Runs one test at a time, because many of these measure time. Each part of `nightly.ts` names its files. */
import { configDefaults, defineConfig } from 'vitest/config';
import { settings } from '../../vitest.config.js';

export default defineConfig({
  ...settings,
  test: {
    ...settings.test,
    include: ['test/**/*.test.ts'],
    exclude: configDefaults.exclude,
    globalSetup: ['test/setup/postgres.ts', 'test/app/first-start.ts'],
    maxWorkers: 1,
  },
});
