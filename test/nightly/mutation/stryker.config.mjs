/**
 * How the rules are mutated, one change at a time, to see whether a test of the rules notices. Paths count from the
 * root of the repository.
 */
export default {
  // What is prose, numbers and shapes is held elsewhere: by the printed contracts, by numbers.test.ts and by the tests
  // of the APIs. No test of the rules alone could say it but by copying it.
  mutate: [
    'src/market/rules/**/*.ts',
    '!src/market/rules/entities/**',
    '!src/market/rules/{market-limits,webhooks,people/mail-kinds}.ts',
  ],
  // Texts are prose, or names of states and codes, which types hold.
  mutator: { excludedMutations: ['StringLiteral'] },
  // The tables are the rules: what is computed once, when a file is loaded, is mutated like all the rest.
  ignoreStatic: false,
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner', './test/nightly/mutation/tables.mjs'],
  ignorers: ['tables'],
  vitest: { configFile: 'test/nightly/mutation/vitest.config.ts', related: false },
  concurrency: 2,
  // Only what never ends is to be stopped, not what a busy machine makes wait.
  timeoutMS: 30_000,
  tempDirName: '.data/mutation/sandbox',
  ignorePatterns: ['.data', 'dist'],
  // Both want TypeScript's old programming interface, which TypeScript 7 does not have; vitest strips types and asks
  // for neither.
  disableTypeChecks: false,
  tsconfigFile: 'none',
  reporters: ['clear-text', 'json', 'html'],
  clearTextReporter: { allowColor: false, logTests: false },
  jsonReporter: { fileName: '.data/mutation/report.json' },
  htmlReporter: { fileName: '.data/mutation/report.html' },
  thresholds: { high: 95, low: 90, break: 85 },
};
