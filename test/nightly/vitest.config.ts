/** A test after another, since many of these measure time; each part of `nightly.ts` names its files. */
import { configDefaults, defineConfig, mergeConfig } from 'vitest/config';
import base from '../../vitest.config.js';

const config = mergeConfig(base, defineConfig({ test: { maxWorkers: 1, env: { TIMING: '1' } } }));

export default { ...config, test: { ...config.test, exclude: configDefaults.exclude } };
