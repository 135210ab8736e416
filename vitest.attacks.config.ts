/** The victim's table measures time, and so it runs alone: `npm run test:attacks`. */
import { configDefaults, defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config.js';

const config = mergeConfig(base, defineConfig({ test: { maxWorkers: 1 } }));

export default {
  ...config,
  test: { ...config.test, include: ['test/attacks/victim/**/*.test.ts'], exclude: configDefaults.exclude },
};
