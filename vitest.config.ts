import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// What does not gate a change: `npm run nightly`.
const exclude = [...configDefaults.exclude, 'test/nightly/**'];

export const settings = {
  test: {
    exclude,
    setupFiles: ['reflect-metadata'],
    // These timeouts are for tests that hang. A busy machine takes long.
    testTimeout: 300_000,
    // The tests' own connections wait longer than 30 seconds, too. The server has its own setting.
    env: { PGCONNECT_TIMEOUT: '300' },
    hookTimeout: 600_000,
    expect: { poll: { timeout: 100_000 } },
    // A test mostly waits for a database or another process. One more worker than cores keeps the cores busy.
    maxWorkers: availableParallelism() + 1,
  },
  // Two copies of graphql in one process reject each other's schemas.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
} satisfies TestProjectInlineConfiguration;

const tests = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .map((name) => `test/${name}`)
  .filter((path) => path.endsWith('.test.ts') && !/node_modules|nightly/.test(path));

const testsWith = (pattern: RegExp) => tests.filter((path) => pattern.test(readFileSync(path, 'utf8')));

/** These start processes and end what is left of them after each test, or look at the output of a build. */
const starting = testsWith(/\/(?:processes|clone)\.js'/);

/**
 * Loading the server takes about three seconds of CPU, so a worker's files share its modules. These don't: they replace
 * a module or the clock, or count sockets and turns of the event loop.
 */
const alone = [
  ...testsWith(/vi\.(mock|resetModules|useFakeTimers)\(/),
  ...tests.filter((path) => /^test\/platform\/(http|quotas)\/[^/]*$/.test(path)),
];

/** Vitest starts large files first. These are small but take long, and one would still run after all others. */
const LONG = /\/(model\/market|contracts\/drift|random-orders|browser\/playground|clients\/openapi-fetch)\.test\.ts$/;

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => LONG.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongFirst },
    globalSetup: ['test/setup/postgres.ts'],
    // Some tests print figures for the nightly run. Here, only a failed test's output is of interest.
    silent: 'passed-only',
    // Otherwise, vitest reports a worker that ends slowly on a busy machine.
    teardownTimeout: 100_000,
    projects: [
      {
        ...settings,
        test: { ...settings.test, name: 'starting', include: starting, globalSetup: ['test/app/first-start.ts'] },
      },
      { ...settings, test: { ...settings.test, name: 'alone', include: alone } },
      {
        ...settings,
        test: {
          ...settings.test,
          name: 'others',
          include: ['test/**/*.test.ts'],
          exclude: [...exclude, ...starting, ...alone],
          isolate: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
