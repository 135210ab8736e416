/**
 * `npm run bench test/bench/bench.ts`: seeds a database, starts the product and its rivals on it, and compares their
 * responses. Then drives them in interleaved rounds and prints one table of ratios. On a busy machine, absolute times
 * are noise, but ratios between servers in the same minutes aren't.
 */
import { parseArgs } from 'node:util';
import bcrypt from 'bcrypt';
import { checkDatabase } from '../setup/database/checker.js';
import { compareAnswers, inItsWords, takesPart } from './work/answers.js';
import { openDatabase, untilSettled, type BenchDatabase } from './database.js';
import { drive } from './work/driver.js';
import { databaseLimit } from './pgbench.js';
import { table, type Block, type Results } from './report/report.js';
import { addJobs, seedMarket, type Market } from '../../src/market/store/seed/seed.js';
import { cpuSeconds, postgresCpuSeconds, startServer, type RunningServer } from './servers.js';
import { asBytes, PASSWORD, RIVALS, WORKS, type Work } from './work/works.js';
import { keepFigures } from './report/summary.js';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: WORKS.map(({ name }) => name).join(',') },
    rivals: { type: 'string', default: RIVALS.join(',') },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '1.5' },
    jobs: { type: 'string', default: '10000' },
    /** Another built version of the product, such as an earlier one. */
    product: { type: 'string' },
    /** Leaves the results that the README shows unchanged. */
    try: { type: 'boolean', default: false },
  },
});

const rounds = Number(options.rounds);
const seconds = Number(options.seconds);
const size = {
  jobs: Number(options.jobs),
  bids: 5 * Number(options.jobs),
  people: Math.max(2_000, Number(options.jobs) / 5),
};
const names = chosen(
  'only',
  options.only,
  WORKS.map(({ name }) => name),
);
const rivals = chosen('rivals', options.rivals, RIVALS);
const works = WORKS.filter(({ name }) => names.includes(name));
/** Requests per second, until this server's rate is known. A write that no row is left for ends the measurement. */
const FIRST_GUESS = 1_500;
const WARM_UP_SECONDS = 10;
/**
 * After waiting for the others, a server has cold memory and processor caches. It runs this long before its time
 * counts.
 */
const SETTLE_SECONDS = 1;
const REQUESTS_REPEATED = 400;

const database = await openDatabase();
const servers: RunningServer[] = [];
try {
  await main(database);
} finally {
  await Promise.all(servers.map((server) => server.stop()));
  await database.stop();
}

async function main({ sql, pid }: BenchDatabase): Promise<void> {
  print(`seeding ${size.jobs.toLocaleString('en')} jobs …`);
  const market = await seedMarket(sql, size, await bcrypt.hash(PASSWORD, 12));
  for (const name of ['product', ...rivals] as const) {
    print(`starting ${name} …`);
    servers.push(await startServer(name, database, { product: options.product }));
  }
  print('comparing answers …');
  let row = await compareAnswers(sql, market, works, servers, size.jobs + 1);

  const blocks: Block[] = [];
  const rates = new Map<string, number>();
  for (const work of works) {
    for (let round = 0; round <= rounds; round += 1) {
      for (const server of shuffled(servers.filter(({ name }) => takesPart(name, work)))) {
        const key = `${work.name} ${server.name}`;
        // The first round warms up, for as long as compilers need.
        const lasting = round === 0 ? Math.max(seconds, WARM_UP_SECONDS) : seconds;
        const requests = await prepare(
          market,
          work,
          server,
          row,
          (SETTLE_SECONDS + lasting) * (rates.get(key) ?? FIRST_GUESS),
        );
        row = requests.nextRow;
        const settled = await drive({
          port: server.port,
          connections: work.connections,
          seconds: SETTLE_SECONDS,
          next: requests.next,
        });
        // All calls to the same row belong to the same measurement.
        const { perRow = 1 } = work;
        const first = Math.ceil((settled.answered + work.connections) / perRow) * perRow;
        const before = { server: cpuSeconds(server.pid), postgres: postgresCpuSeconds(pid) };
        const driven = await drive({
          port: server.port,
          connections: work.connections,
          seconds: lasting,
          next: (n) => requests.next(first + n),
        });
        const used = {
          server: cpuSeconds(server.pid) - before.server,
          postgres: postgresCpuSeconds(pid) - before.postgres,
        };
        expectDone(work, server, driven);
        rates.set(key, driven.answered / driven.seconds);
        if (round > 0) blocks.push(blockOf(work, server, round, driven, used));
      }
    }
    process.stdout.write(`${table({ blocks, works: [work], rivals, limits: {} })}\n`);
  }

  print('checking what all of them wrote …');
  const broken = await checkDatabase(sql);
  if (broken.length > 0) throw new Error(`The database is not sound:\n${broken.join('\n')}`);
  const limits = await databaseLimit(database, market, works, seconds * 2);
  const results: Results = { blocks, works, rivals, limits };
  process.stdout.write(`\n${table(results)}\n`);
  if (options.try) return;
  keepFigures('bench.json', { node: process.version, size, rounds, seconds, limits, blocks });
  print(`written to test/bench/results`);
}

interface Prepared {
  next(n: number): Buffer | undefined;
  nextRow: number;
}

/** All requests are built before the clock starts. Writes get unused rows. */
async function prepare(
  market: Market,
  work: Work,
  server: RunningServer,
  firstRow: number,
  expected: number,
): Promise<Prepared> {
  const ask = (row: number, n: number) => asBytes(inItsWords(server.name, work.ask(market, row, n)));
  if (!work.stock) {
    const made = Array.from({ length: REQUESTS_REPEATED }, (_, n) => ask(n, n));
    return { next: (n) => made[n % made.length], nextRow: firstRow };
  }
  const { perRow = 1 } = work;
  const rows = Math.ceil((expected * 1.5 + work.connections) / perRow);
  await addJobs(database.sql, market, { from: firstRow, count: rows, ...work.stock });
  await untilSettled(database.sql);
  const made = Array.from({ length: rows * perRow }, (_, n) => ask(firstRow + Math.floor(n / perRow), n));
  return { next: (n) => made[n], nextRow: firstRow + rows };
}

type Outcome = Awaited<ReturnType<typeof drive>>;

/** A wrong response doesn't count, however fast it came. */
function expectDone(
  { name, perRow = 1, allSucceed = true, kind }: Work,
  server: RunningServer,
  { answered, refused }: Outcome,
): void {
  const rowsTouched = Math.ceil(answered / perRow);
  const expected = kind === 'write' && perRow > 1 && !(name === 'bids-hot' && allSucceed) ? answered - rowsTouched : 0;
  if (refused !== expected)
    throw new Error(
      `${server.name} refused ${refused} of ${answered} requests of “${name}”, where ${expected} should be.`,
    );
}

function blockOf(
  { name: work }: Work,
  { name: server }: RunningServer,
  round: number,
  driven: Outcome,
  used: { server: number; postgres: number },
): Block {
  const sorted = driven.latencies.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  const { answered } = driven;
  return {
    work,
    server,
    round,
    answered,
    perSecond: answered / driven.seconds,
    serverMs: (used.server / answered) * 1_000,
    postgresMs: (used.postgres / answered) * 1_000,
    p50: at(0.5),
    p99: at(0.99),
  };
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => [Math.random(), item] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, item]) => item);
}

function chosen<T extends string>(option: string, given: string, known: readonly T[]): T[] {
  const wanted = given.split(',').filter((name) => name !== '');
  const unknown = wanted.filter((name) => !known.includes(name as T));
  if (unknown.length > 0) throw new Error(`--${option} knows no ${unknown.join(', ')}; it knows ${known.join(', ')}.`);
  return wanted as T[];
}

function print(what: string): void {
  process.stderr.write(`${what}\n`);
}
