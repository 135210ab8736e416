/** What checks bounds of time and memory runs alone, a test after another, by `npm run test:timing`: test/timing.ts. */
import { readdirSync, readFileSync } from 'node:fs';
import { configDefaults, defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config.js';

const config = mergeConfig(base, defineConfig({ test: { maxWorkers: 1, env: { TIMING: '1' } } }));

export default {
  ...config,
  test: {
    ...config.test,
    testNamePattern: /\(timed\)/,
    include: filesThatCheckTimes(),
    exclude: [...configDefaults.exclude, 'test/attacks/victim/**'],
  },
};

/** Those named for it, and those that use `test/timing.ts`. */
function filesThatCheckTimes(): string[] {
  return readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts') && !name.includes('node_modules'))
    .map((name) => `test/${name}`)
    .filter((path) => path.endsWith('.timing.test.ts') || readFileSync(path, 'utf8').includes('/timing.js'));
}
