/** What checks bounds of time and memory runs alone, one test after another: `npm run test:timing`. See test/timing.ts. */
import { configDefaults, defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config.js';

const config = mergeConfig(base, defineConfig({ test: { maxWorkers: 1, env: { TIMING: '1' } } }));

export default {
  ...config,
  test: {
    ...config.test,
    testNamePattern: /\(timed\)/,
    include: [
      'test/**/*.timing.test.ts',
      'test/attacks/hardening.test.ts',
      'test/apis/{bounds,dry-run,graphql-limits,statements}.test.ts',
      'test/faults/{embedded,outages,storm}.test.ts',
      'test/fuzz/fuzz.test.ts',
      'test/graphql/failures.test.ts',
      'test/security/rate-limit.test.ts',
    ],
    exclude: [...configDefaults.exclude, 'test/attacks/victim/**'],
  },
};
