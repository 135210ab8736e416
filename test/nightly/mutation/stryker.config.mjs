/**
 * Mutates the rules, one change at a time, to see whether a test of the rules detects it. Paths are relative to the
 * repository's root.
 */
export default {
  // The generated contracts, numbers.test.ts, and the tests of the APIs cover descriptions, numbers, and shapes. Tests
  // of the rules could only copy these.
  mutate: [
    'src/market/rules/**/*.ts',
    '!src/market/rules/entities/**',
    '!src/market/rules/{market-limits,webhooks,people/mail-kinds}.ts',
  ],
  // Strings are prose, or names of states and codes, which TypeScript checks.
  mutator: { excludedMutations: ['StringLiteral'] },
  // The tables are the rules, so code that runs once when a file loads is mutated too.
  ignoreStatic: false,
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner', './test/nightly/mutation/tables.mjs'],
  ignorers: ['tables'],
  vitest: { configFile: 'test/nightly/mutation/vitest.config.ts', related: false },
  concurrency: 2,
  // Stops endless loops, but not tests that are slow because the machine is busy.
  timeoutMS: 30_000,
  tempDirName: '.data/mutation/sandbox',
  ignorePatterns: ['.data', 'dist'],
  // Both options need TypeScript's old API, which TypeScript 7 doesn't have. Vitest strips types and needs neither.
  disableTypeChecks: false,
  tsconfigFile: 'none',
  reporters: ['progress-append-only', 'clear-text', 'json', 'html'],
  clearTextReporter: { allowColor: false, logTests: false },
  jsonReporter: { fileName: '.data/mutation/report.json' },
  htmlReporter: { fileName: '.data/mutation/report.html' },
  thresholds: { high: 95, low: 90, break: 85 },
};
