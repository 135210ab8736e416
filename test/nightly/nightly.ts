/**
 * `npm run nightly`: the tests that don't gate a change, one part after another on an otherwise idle machine. On two
 * cores, this takes most of a night. `model` and `purchases` take the longest. It continues after a failure. The
 * summary at the end has each part's time, results, and printed figures.
 * `npm run nightly -- storm fuzz` runs only these two parts.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface Part {
  /** Files for vitest. If omitted, the part runs a command. */
  readonly files?: readonly string[];
  readonly command?: string;
  /** Defaults for variables that the environment doesn't set. */
  readonly env?: Readonly<Record<string, string>>;
}

const PARTS: Readonly<Record<string, Part>> = {
  timing: { files: ['test/nightly/timing'] },
  victim: { files: ['test/nightly/attacks/victim'] },
  storm: { files: ['test/nightly/faults/storm.test.ts'], env: { STORM: 'long', STORM_SEED: 'random' } },
  outages: {
    files: [
      'test/nightly/faults/outages.test.ts',
      'test/nightly/faults/embedded.test.ts',
      'test/nightly/faults/demo.test.ts',
      'test/faults/backends.test.ts',
      'test/platform/http/connections.test.ts',
    ],
    env: { KILLS: '600' },
  },
  failover: { files: ['test/nightly/faults/failover.test.ts'], env: { FAILOVER_ROUNDS: '2' } },
  patroni: { files: ['test/nightly/faults/patroni.test.ts'] },
  upgrade: { files: ['test/nightly/upgrade.test.ts', 'test/nightly/migrating.test.ts'] },
  recovery: { files: ['test/nightly/recovery.test.ts', 'test/nightly/backup.test.ts'] },
  lists: {
    files: ['test/nightly/large-market.test.ts', 'test/graphql/nested-lists.test.ts'],
    env: { NESTED: 'whole' },
  },
  live: { files: ['test/nightly/faults/live.test.ts'], env: { LIVE: 'long' } },
  privacy: {
    files: ['test/apis/privacy.test.ts', 'test/contracts/drift.test.ts'],
    env: { PRIVACY: 'whole', MATRIX: 'whole' },
  },
  clock: {
    files: ['test/nightly/faults/clock.test.ts', 'test/market/operations/jobs/deadlines/settings.test.ts'],
    env: { OVERDUE_JOBS: '10000' },
  },
  races: { files: ['test/faults/races.test.ts'], env: { RACE_ROUNDS: '300', RACE_SEED: 'random' } },
  fuzz: { files: ['test/nightly/fuzz'], env: { FUZZ_REQUESTS: '50000', FUZZ_DOCUMENTS: '5000', FUZZ_SEED: 'random' } },
  random: { files: propertyTests(), env: { FC_SEED: 'random', REACH_RUNS: '25' } },
  node24: {
    command:
      'npm run test:node24 test/apis/parity test/graphql/payloads test/platform/call/refusal-order ' +
      'test/platform/graphql/streams',
  },
  audit: { files: ['test/nightly/audit.test.ts'] },
  clients: { files: ['test/nightly/clients'] },
  sight: { files: ['test/nightly/sight'] },
  browser: { files: ['test/browser', 'test/nightly/browser'], env: { STORY: 'whole', STORY_ROUNDS: '2' } },
  purchases: {
    files: ['test/market/operations/purchases/random-orders.test.ts', 'test/nightly/faults/payments.test.ts'],
    env: { PURCHASE_HISTORIES: '2500', FC_SEED: 'random' },
  },
  searches: {
    files: ['test/market/operations/searches', 'test/nightly/faults/saved-searches.test.ts'],
    env: { FC_SEED: 'random' },
  },
  model: { files: ['test/model'], env: { MODEL_RUNS: '20000', MODEL_SEED: 'random' } },
  mail: {
    files: [
      'test/nightly/mail.test.ts',
      'test/nightly/notification-emails.test.ts',
      'test/nightly/mail-server.test.ts',
    ],
    env: { MAILS: '10000' },
  },
  floods: { files: ['test/nightly/attacks/floods.test.ts'], env: { FLOODS: 'long' } },
  mutation: {
    command:
      'npm --prefix test/nightly/mutation ci && ' +
      'test/nightly/mutation/node_modules/.bin/stryker run test/nightly/mutation/stryker.config.mjs',
  },
  bench: {
    command:
      'npm run bench test/bench/bench.ts -- --rounds 3 ' +
      '--only list,job,viewer,rest-list,rest-job,publish,award,check-in',
  },
  knee: { command: 'npm run bench test/bench/knee.ts' },
};

/** Test files whose inputs come from fast-check. */
function propertyTests(): string[] {
  return readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts') && !/node_modules|nightly/.test(name))
    .map((name) => `test/${name}`)
    .filter((path) => readFileSync(path, 'utf8').includes('/property.js'));
}

interface Outcome {
  readonly minutes: number;
  readonly passed: number;
  /** Tests that were skipped. */
  readonly notRun: number;
  readonly failures: readonly string[];
  readonly figures: string;
}

const reports = mkdtempSync(join(tmpdir(), 'nightly-'));
const given = process.argv.slice(2);
const unknown = given.filter((name) => !(name in PARTS));
if (unknown.length > 0) throw new Error(`No such part: ${unknown}. There are ${Object.keys(PARTS)}.`);

const outcomes: [string, Outcome][] = [];
for (const [name, part] of Object.entries(PARTS)) {
  if (given.length === 0 || given.includes(name)) outcomes.push([name, await run(name, part)]);
}
rmSync(reports, { recursive: true });
console.log(`\n${outcomes.map(([name, outcome]) => printed(name, outcome)).join('\n')}`);
process.exitCode = outcomes.some(([, { failures }]) => failures.length > 0) ? 1 : 0;

async function run(name: string, { files, command, env }: Part): Promise<Outcome> {
  const report = join(reports, `${name}.json`);
  const figures = join(reports, `${name}.txt`);
  const startedMs = Date.now();
  const code = await execute(
    command ??
      `vitest run --config test/nightly/vitest.config.ts ${files?.join(' ')} ` +
        `--reporter=default --reporter=json --outputFile.json=${report}`,
    { REQUIRE_ALL: '1', NIGHTLY_FIGURES: figures, ...env, ...process.env },
  );
  const minutes = (Date.now() - startedMs) / 60_000;
  const { passed, notRun, failures } = command
    ? { passed: code === 0 ? 1 : 0, notRun: 0, failures: [] }
    : testsIn(report);
  return {
    minutes,
    passed,
    notRun,
    failures: code !== 0 && failures.length === 0 ? [`exit code ${code}`] : failures,
    figures: textOf(figures),
  };
}

function execute(command: string, env: NodeJS.ProcessEnv): Promise<number | null> {
  const child = spawn('sh', ['-c', command], { env, stdio: 'inherit' });
  return new Promise((resolve) => child.once('close', resolve));
}

interface Report {
  readonly numPassedTests: number;
  readonly numPendingTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/** A file that failed to load has no tests. */
function testsIn(file: string): Omit<Outcome, 'minutes' | 'figures'> {
  const text = textOf(file);
  if (text === '') return { passed: 0, notRun: 0, failures: [] };
  const { numPassedTests: passed, numPendingTests: notRun, testResults } = JSON.parse(text) as Report;
  const failures = testResults
    .filter(({ status }) => status === 'failed')
    .flatMap(({ name, assertionResults }) => {
      const failed = assertionResults.filter(({ status }) => status === 'failed');
      return failed.length > 0 ? failed.map(({ fullName }) => fullName) : [name];
    });
  return { passed, notRun, failures };
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return '';
  }
}

function printed(name: string, { minutes, passed, notRun, failures, figures }: Outcome): string {
  return [
    `${name.padEnd(10)} ${minutes.toFixed(1).padStart(6)} min ${String(passed).padStart(5)} passed, ` +
      `${failures.length} failed${notRun > 0 ? `, ${notRun} not run` : ''}`,
    ...failures.map((failure) => `  failed: ${failure}`),
    ...(figures === '' ? [] : figures.split('\n').map((line) => `  ${line}`)),
  ].join('\n');
}
