/**
 * The knee: calls arrive at a fixed rate, whether or not earlier ones have finished, at higher and higher rates. A
 * call's time starts when it is due, so a server can't hide that it keeps callers waiting. Past the knee, the server
 * must shed load with 503, and recover right after the rush. Otherwise this fails.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openDatabase } from './database.js';
import { drive, openLine, type Line } from './work/driver.js';
import { seedMarket } from '../../src/market/store/seed/seed.js';
import { startServer } from './servers.js';
import { asBytes, WORKS } from './work/works.js';
import { keepFigures } from './report/summary.js';

const { values: options } = parseArgs({
  options: {
    work: { type: 'string', default: 'rest-list' },
    seconds: { type: 'string', default: '4' },
    product: { type: 'string' },
    server: { type: 'string', default: 'product' },
    try: { type: 'boolean', default: false },
  },
});
const seconds = Number(options.seconds);
const work = WORKS.find(({ name, kind }) => name === options.work && kind === 'read');
if (!work)
  throw new Error(
    `--work takes a read: ${WORKS.filter(({ kind }) => kind === 'read')
      .map(({ name }) => name)
      .join(', ')}.`,
  );
if (options.server !== 'product' && options.server !== 'floor') throw new Error('--server is product or floor.');

/** Shares of the server's maximum rate. */
const SHARES = [0.25, 0.5, 0.75, 0.9, 1, 1.25, 1.5, 2, 3];
const CALLERS_AT_ONCE_MAX = 6_000;
const WELL_MS = 100;
const RECOVERY_MS_MAX = 500;
/** For a response or a 503, at any rate. */
const WAIT_MS_MAX = 5_000;
/** More at the same time than any queue holds. */
const RUSH = 3_000;

interface LoadResult {
  readonly perSecond: number;
  /** In seconds. */
  readonly lasting: number;
  readonly latencies: number[];
  readonly shedAfter: number[];
  /** Wrong responses other than 503, and calls without a response, with the count of each kind. */
  readonly wrong: Map<string, number>;
  /** Calls that weren't made because no caller was free. */
  unmade: number;
  /** The driver's own delay at the 99th percentile, which is part of its calls' times. */
  driverLateMs: number;
}

const database = await openDatabase();
try {
  const market = await seedMarket(database.sql, { jobs: 10_000, bids: 50_000, people: 2_000 }, 'no password');
  const server = await startServer(options.server, database, { product: options.product });
  const requests = Array.from({ length: 400 }, (_, n) => asBytes(work.ask(market, n, n)));
  const request = (n: number) => requests[n % requests.length] as Buffer;
  try {
    await drive({ port: server.port, connections: 64, seconds: 3, next: request });
    const closed = await drive({ port: server.port, connections: 64, seconds: 3, next: request });
    const capacity = closed.answered / closed.seconds;
    console.log(`${work.name}: ${Math.round(capacity)} a second on 64 connections that wait for their answers.\n`);
    const results: LoadResult[] = [];
    const table: Figures[] = [];
    const note = (result: LoadResult, share: number) =>
      print(figuresOf(result, share), table.push(figuresOf(result, share)) === 1);
    for (const share of SHARES) {
      // The last rush continues until it has sent more than the queue holds.
      const lasting = share === SHARES.at(-1) ? Math.max(seconds, RUSH / ((share - 1) * capacity)) : seconds;
      const result = await offer(server.port, share * capacity, lasting, request);
      results.push(result);
      note(result, share);
    }
    const recovered = await recovery(server.port, request);
    console.log(
      `\nAfter the last rush an answer took less than ${WELL_MS} ms again within ${recovered.toFixed(0)} ms.`,
    );
    const after = await offer(server.port, 0.5 * capacity, seconds, request);
    note(after, 0.5);
    if (!options.try)
      keepFigures('knee.json', {
        node: process.version,
        work: work.name,
        capacity: Math.round(capacity),
        recoveredMs: tenths(recovered),
        steps: table,
      });
    assertRecovers(results, after, recovered);
  } finally {
    await server.stop();
  }
} finally {
  await database.stop();
}

async function offer(
  port: number,
  perSecond: number,
  lasting: number,
  request: (n: number) => Buffer,
): Promise<LoadResult> {
  const result: LoadResult = {
    perSecond,
    lasting,
    latencies: [],
    shedAfter: [],
    wrong: new Map(),
    unmade: 0,
    driverLateMs: 0,
  };
  const note = (what: string) => result.wrong.set(what, (result.wrong.get(what) ?? 0) + 1);
  const total = Math.floor(perSecond * lasting);
  // Opened before the first call, like a proxy's connections. A server can't reject connections that it hasn't accepted
  // yet.
  const lines = await openLines(port, Math.min(total, CALLERS_AT_ONCE_MAX));
  const idle = [...lines];
  const calls: Promise<void>[] = [];

  async function call(mine: Line, n: number, due: number): Promise<void> {
    try {
      const { status, refused } = await mine.ask(request(n));
      const took = performance.now() - due;
      if (!refused) result.latencies.push(took);
      else if (status === 503) result.shedAfter.push(took);
      else note(`status ${status}`);
      idle.push(mine);
    } catch (error) {
      note(error instanceof Error ? error.message : String(error));
    }
  }

  const own = monitorEventLoopDelay({ resolution: 1 });
  own.enable();
  const began = performance.now();
  for (let made = 0; made < total;) {
    const dueByNow = Math.min(total, Math.floor(((performance.now() - began) / 1_000) * perSecond));
    for (; made < dueByNow; made += 1) {
      const line = idle.pop();
      if (line) calls.push(call(line, made, began + (made / perSecond) * 1_000));
      else result.unmade += 1;
    }
    await wait(1);
  }
  await Promise.all(calls);
  own.disable();
  result.driverLateMs = own.percentile(99) / 1e6;
  for (const one of lines) one.close();
  return result;
}

function openLines(port: number, count: number): Promise<Line[]> {
  return Promise.all(Array.from({ length: count }, (_, n) => openLine(port, n)));
}

/** The time from a rush's last response until a single caller gets a fast response. */
async function recovery(port: number, request: (n: number) => Buffer): Promise<number> {
  const rush = await openLines(port, RUSH);
  await Promise.all(rush.map((one, n) => one.ask(request(n))));
  const began = performance.now();
  const lone = await openLine(port, RUSH);
  for (;;) {
    const asked = performance.now();
    const { status } = await lone.ask(request(0));
    if (status === 200 && performance.now() - asked < WELL_MS) break;
    if (asked - began > 30_000) throw new Error('The server did not recover in half a minute.');
  }
  const took = performance.now() - began;
  for (const one of [lone, ...rush]) one.close();
  return took;
}

/** The figures to print and store in the results. */
function figuresOf(
  { perSecond, lasting, latencies, shedAfter, wrong, unmade, driverLateMs }: LoadResult,
  share: number,
): Figures {
  const sorted = latencies.toSorted((a, b) => a - b);
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
  return {
    'offered/s': Math.round(perSecond),
    'of that': share,
    'answered/s': Math.round(latencies.length / lasting),
    'shed/s': Math.round(shedAfter.length / lasting),
    wrong: sumOf(wrong),
    unmade,
    'p50 ms': tenths(at(0.5)),
    'p99 ms': tenths(at(0.99)),
    'longest ms': tenths(longestOf(latencies)),
    'longest to be shed, ms': tenths(longestOf(shedAfter)),
    'driver late, ms': tenths(driverLateMs),
  };
}

type Figures = Readonly<Record<string, number>>;

function tenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}

function longestOf(latencies: readonly number[]): number {
  return latencies.reduce((one, other) => Math.max(one, other), 0);
}

function print(figures: Figures, isFirst: boolean): void {
  const line = (cells: readonly unknown[]) =>
    cells.map((cell, at) => String(cell).padStart((Object.keys(figures)[at]?.length ?? 0) + 1)).join('  ');
  if (isFirst) console.log(line(Object.keys(figures)));
  console.log(line(Object.values(figures)));
}

function sumOf(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

function assertRecovers(results: readonly LoadResult[], after: LoadResult, recoveredMs: number): void {
  const problems = [
    ...[...results, after].flatMap(({ perSecond, wrong }) =>
      [...wrong].map(
        ([what, times]) =>
          `at ${perSecond.toFixed(0)} a second, ${times} calls got neither an answer nor a 503 (${what})`,
      ),
    ),
    ...(results.every(({ shedAfter }) => shedAfter.length === 0) ? ['nothing was ever shed: the rush was none'] : []),
    ...(after.shedAfter.length > 0 ? [`${after.shedAfter.length} calls were shed after the rush was over`] : []),
    ...[...results, after].flatMap(({ perSecond, latencies, shedAfter }) => {
      const longest = longestOf([...latencies, ...shedAfter]);
      return longest > WAIT_MS_MAX
        ? [`at ${perSecond.toFixed(0)} a second, someone waited ${longest.toFixed(0)} ms`]
        : [];
    }),
    ...(recoveredMs > RECOVERY_MS_MAX ? [`it took ${recoveredMs.toFixed(0)} ms to be well again`] : []),
  ];
  if (problems.length > 0)
    throw new Error(
      `The server does not bend as it should:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
    );
}
