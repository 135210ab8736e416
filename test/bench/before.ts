/**
 * `npm run bench test/bench/before.ts -- --before <folder>`: compares the CPU per call with an earlier version, checked
 * out and built in that folder. Each version has its own database with its own migrations, and the two take turns. It
 * fails if a call takes over a tenth more CPU, of server and database together.
 */
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import bcrypt from 'bcrypt';
import type { Market } from '../../src/market/store/seed/seed.js';
import { untilSettled, type BenchDatabase } from './database.js';
import { drive } from './work/driver.js';
import { cpuSeconds, postgresCpuSeconds, startServer, type RunningServer } from './servers.js';
import { asBytes, PASSWORD, WORKS, type Work } from './work/works.js';

const { values: options } = parseArgs({
  options: {
    before: { type: 'string' },
    only: { type: 'string', default: 'publish,check-in,award' },
    rounds: { type: 'string', default: '12' },
  },
});
if (options.before === undefined) throw new Error('--before names the folder of an earlier state, built there.');

const RATIO_MAX = 1.1;
const SECONDS = 1.5;
/** More transitions than one round completes, each on a separate job. */
const JOBS_A_ROUND = 4_000;
const READS_A_ROUND = 400;
const WARM_UP_ROUNDS = 2;
const SIZE = { jobs: 10_000, bids: 50_000, people: 2_000 };

type DatabaseModule = typeof import('./database.js');
type SeedModule = typeof import('../../src/market/store/seed/seed.js');

interface Side {
  readonly database: BenchDatabase;
  readonly server: RunningServer;
  readonly market: Market;
  readonly addJobs: SeedModule['addJobs'];
  nextJob: number;
  /** Each request's figures per round. */
  figures: { server: number; postgres: number }[];
}

async function openSide(folder: string): Promise<Side> {
  const load = async <Module>(path: string) => (await import(pathToFileURL(join(folder, path)).href)) as Module;
  const { openDatabase } = await load<DatabaseModule>('test/bench/database.ts');
  const { seedMarket, addJobs } = await load<SeedModule>('src/market/store/seed/seed.ts');
  const database = await openDatabase();
  const market = await seedMarket(database.sql, SIZE, await bcrypt.hash(PASSWORD, 4));
  const server = await startServer('product', database, { product: folder });
  return { database, server, market, addJobs, nextJob: SIZE.jobs + 1, figures: [] };
}

async function requestsOf(work: Work, side: Side): Promise<(n: number) => Buffer | undefined> {
  const { database, market, nextJob: from } = side;
  const asked = (first: number, count: number) =>
    Array.from({ length: count }, (_, n) => asBytes(work.ask(market, first + n, n)));
  if (!work.stock) {
    const requests = asked(1, READS_A_ROUND);
    return (n) => requests[n % READS_A_ROUND];
  }
  await side.addJobs(database.sql, market, { from, count: JOBS_A_ROUND, ...work.stock });
  side.nextJob += JOBS_A_ROUND;
  const requests = asked(from, JOBS_A_ROUND);
  return (n) => requests[n];
}

async function measure(work: Work, side: Side): Promise<Side['figures'][number]> {
  const { database, server } = side;
  const next = await requestsOf(work, side);
  await untilSettled(database.sql);
  const used = () => ({ server: cpuSeconds(server.pid), postgres: postgresCpuSeconds(database.pid) });
  const before = used();
  const { port } = server;
  const driven = await drive({ port, connections: work.connections, seconds: SECONDS, next });
  if (driven.refused > 0) throw new Error(`${work.name}: ${driven.refused} calls were refused.`);
  await untilSettled(database.sql);
  const after = used();
  const perRequest = (seconds: number) => (1_000 * seconds) / driven.answered;
  return { server: perRequest(after.server - before.server), postgres: perRequest(after.postgres - before.postgres) };
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** The median of all rounds' ratios. */
function compare(now: Side, earlier: Side, of: (figure: Side['figures'][number]) => number) {
  const ratios = now.figures.map((figure, round) => {
    const other = earlier.figures[round];
    return other ? of(figure) / of(other) : Number.NaN;
  });
  const [ms, msBefore] = [now, earlier].map(({ figures }) => median(figures.map(of)));
  return { ms, msBefore, ratio: median(ratios) };
}

const sides = [await openSide(resolve(import.meta.dirname, '../..')), await openSide(resolve(options.before))] as const;
try {
  for (const name of options.only.split(',')) {
    const work = WORKS.find((one) => one.name === name);
    if (!work) throw new Error(`There is no ${name}.`);
    for (const side of sides) side.figures = [];
    for (let round = 0; round < WARM_UP_ROUNDS + Number(options.rounds); round += 1) {
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
        const figure = await measure(work, side);
        if (round >= WARM_UP_ROUNDS) side.figures.push(figure);
      }
    }
    const both = compare(...sides, ({ server, postgres }) => server + postgres);
    const rows = {
      server: compare(...sides, ({ server }) => server),
      postgres: compare(...sides, ({ postgres }) => postgres),
      both,
    };
    for (const [what, { ms, msBefore, ratio }] of Object.entries(rows))
      console.log(`${name}, ${what}: ${ms?.toFixed(3)} ms, before ${msBefore?.toFixed(3)}; ${ratio.toFixed(2)} of it`);
    if (!(both.ratio <= RATIO_MAX)) {
      console.log(`${name} takes more than ${RATIO_MAX} of what it took before.`);
      process.exitCode = 1;
    }
  }
} finally {
  for (const { server, database } of sides) {
    await server.stop();
    await database.stop();
  }
}
process.exit();
