/**
 * Growth: the same calls in markets of three sizes. For each statement, measures the pages that the database touches
 * and the time it takes, with a custom and a generic plan. It fails if a statement scans a table, or grows more than
 * allowed.
 */
import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { checkDatabase } from '../setup/database/checker.js';
import { openDatabase } from './database.js';
import {
  GROWTH_MAX,
  openExplainer,
  openListener,
  PLAN_KINDS,
  QUERIES,
  scannedIn,
  type PlanKind,
  type Sent,
} from './work/queries.js';
import type { SeededState } from '../../src/market/store/seed/seed.js';
import { keepFigures } from './report/summary.js';
import { seedUnevenMarket } from './market/uneven-market.js';

const { values: options } = parseArgs({
  options: {
    sizes: { type: 'string', default: '10000,100000,1000000' },
    /** The percentage of open jobs. Nearly half by default. */
    open: { type: 'string' },
    /** Only the queries whose names contain this. */
    only: { type: 'string', default: '' },
    /** Prints the plans of the largest market's statements that miss a goal. */
    plans: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    /** Leaves the results unchanged. */
    try: { type: 'boolean', default: false },
  },
});
const sizes = options.sizes.split(',').map(Number);
const openPercent = options.open === undefined ? undefined : Number(options.open);
const BIDS_A_JOB = 5;
/** Enough for everyone on the crowded job. The largest market has a hundred thousand. */
const peopleOf = (jobs: number) => Math.max(4_000, jobs / 10);
const REPEATS = 9;
const TIMEOUT_MS = 30_000;
/** If all rows may be counted anyway, scanning the table is fine. */
const WHOLLY_COUNTED = 10_000;
/** Below this, a statement's time is mostly clock and planner noise. */
const MS_WORTH_COMPARING = 0.5;
/**
 * Below this, the number mostly depends on which rows happen to share a page. A page of the list and its index can take
 * this many at any size.
 */
const BUFFERS_WORTH_COMPARING = 64;

interface Figure {
  readonly jobs: number;
  readonly buffers: number;
  readonly ms: number;
  /** The rows found or, for a count, the rows counted. */
  readonly rows: number;
  readonly scanned: readonly string[];
  /** True if the database settles on this plan. */
  readonly taken: boolean;
}

interface Measured {
  readonly name: string;
  readonly plan: PlanKind;
  readonly growthMax: number;
  readonly mayScan: boolean;
  readonly figures: Figure[];
}

const measured = new Map<string, Measured>();
const plansOf = new Map<string, unknown>();
const seeding: Record<number, number> = {};
const opened: Opened[] = [];
try {
  for (const jobs of sizes) opened.push(await openMarket(jobs));
  // Runs each statement in all markets before the next one, so a slow moment of the machine affects all of them
  // equally.
  for (const name of new Set(opened.flatMap(({ sent }) => [...sent.keys()]))) {
    for (const { jobs, explainer, sent } of opened) {
      const statement = sent.get(name);
      if (statement) await measure(explainer, statement, jobs);
    }
  }
} finally {
  for (const { close } of opened) await close();
}
report([...measured.values()]);

interface Opened {
  readonly jobs: number;
  readonly explainer: Awaited<ReturnType<typeof openExplainer>>;
  readonly sent: ReadonlyMap<string, Sent>;
  close(): Promise<void>;
}

async function openMarket(jobs: number): Promise<Opened> {
  const database = await openDatabase();
  const { PGHOST: host, PGUSER: username, PGDATABASE: name } = database.environment;
  const connection = { host, port: 5432, username, database: name };
  try {
    const began = performance.now();
    const size = { jobs, bids: BIDS_A_JOB * jobs, people: peopleOf(jobs), states: statesWith(openPercent) };
    const market = await seedUnevenMarket(database.sql, size, 'no password');
    // Otherwise, pending writes would fall into the measurement.
    await database.sql.unsafe('checkpoint');
    seeding[jobs] = Math.round((performance.now() - began) / 1_000);
    print(`${jobs} jobs seeded in ${seeding[jobs]} s`);
    if (options.check) {
      const broken = await checkDatabase(database.sql);
      if (broken.length > 0) throw new Error(`The seeded market is not sound:\n${broken.join('\n')}`);
      print('the seeded market is sound');
    }
    const listener = await openListener(connection, database.sql, market);
    const sent = await listener.listen(QUERIES.filter((query) => query.name.includes(options.only)));
    await listener.close();
    const explainer = await openExplainer(connection, TIMEOUT_MS);
    return {
      jobs,
      explainer,
      sent: new Map(sent.map((one) => [one.name, one])),
      close: () => explainer.close().then(database.stop),
    };
  } catch (error) {
    await database.stop();
    throw error;
  }
}

/** A list of 101 states, because 101 has no common divisor with the cycles of trades and urgencies. */
function statesWith(percent: number | undefined): SeededState[] | undefined {
  if (percent === undefined) return undefined;
  const others = ['completed', 'draft', 'awarded', 'in_progress', 'completed', 'cancelled', 'in_review'] as const;
  return Array.from({ length: 101 }, (_, n) =>
    (n * 37) % 101 < percent ? 'open' : (others[n % others.length] ?? 'draft'),
  );
}

async function measure(explainer: Awaited<ReturnType<typeof openExplainer>>, sent: Sent, jobs: number): Promise<void> {
  await explainer.prepare(sent);
  const taken = await explainer.taken();
  for (const plan of PLAN_KINDS) {
    const key = `${sent.name} ${plan}`;
    const known = measured.get(key) ?? {
      name: sent.name,
      plan,
      growthMax: GROWTH_MAX[sent.query.kind],
      mayScan: sent.query.mayScan === true,
      figures: [],
    };
    measured.set(key, known);
    const { scanned } = await planned(explainer, plan);
    try {
      let best: { buffers: number; ms: number; rows: number } | undefined;
      for (let time = 0; time < REPEATS; time += 1) {
        const { Plan: root, 'Execution Time': ms = 0 } = await explainer.explain(
          plan,
          'analyze, buffers, timing off, ',
        );
        const buffers = Number(root['Shared Hit Blocks']) + Number(root['Shared Read Blocks']);
        if (!best || ms < best.ms) best = { buffers, ms, rows: rowsOf(root) };
        if (ms > 2_000) break;
      }
      if (best) known.figures.push({ jobs, ...best, scanned, taken: taken === plan });
    } catch (error) {
      if ((error as { code?: string }).code !== '57014') throw error;
      known.figures.push({
        jobs,
        buffers: Number.POSITIVE_INFINITY,
        ms: TIMEOUT_MS,
        rows: 0,
        scanned,
        taken: taken === plan,
      });
    }
    if (options.plans && jobs === sizes.at(-1)) {
      const values = sent.values.map((value) => (value == null ? 'null' : `'${String(value)}'`)).join(', ');
      const execute = values === '' ? 'execute asked' : `execute asked(${values})`;
      plansOf.set(
        key,
        await explainer.sql
          .unsafe(`explain (analyze, buffers, timing off) ${execute}`)
          .catch(() => [{ 'QUERY PLAN': 'it takes too long' }]),
      );
    }
  }
}

async function planned(explainer: Awaited<ReturnType<typeof openExplainer>>, plan: PlanKind) {
  const { Plan: root } = await explainer.explain(plan);
  return { scanned: scannedIn(root) };
}

type PlanNode = Readonly<Record<string, unknown>>;

/** JSON lists and counts return one row for many. A list may also include a count. */
function rowsOf(root: PlanNode): number {
  const below = (root['Plans'] ?? []) as readonly PlanNode[];
  const gathered =
    root['Node Type'] === 'Aggregate' ? below.find((node) => node['Parent Relationship'] === 'Outer') : root;
  const counted = below.filter(
    (node) => node['Parent Relationship'] === 'InitPlan' && node['Node Type'] === 'Aggregate',
  );
  return Number(gathered?.['Actual Rows'] ?? 0) + counted.reduce((sum, count) => sum + rowsOf(count), 0);
}

/**
 * Growth from the smallest to the largest market. If the larger market returns more rows, such as a count below its
 * cap, the growth is per row.
 */
function growthOf({ figures }: Measured, figure: 'buffers' | 'ms'): number {
  const [first, last] = [figures[0], figures.at(-1)];
  if (!first || !last) return Number.NaN;
  const least = figure === 'ms' ? MS_WORTH_COMPARING : BUFFERS_WORTH_COMPARING;
  return (
    Math.max(last[figure], least) / Math.max(first[figure], least) / Math.max(1, last.rows / Math.max(first.rows, 1))
  );
}

function report(all: readonly Measured[]): void {
  const problems: string[] = [];
  const rows = [
    [
      'query',
      'plan',
      'taken',
      ...sizes.map((size) => `rows ${short(size)}`),
      ...sizes.map((size) => `buffers ${short(size)}`),
      ...sizes.map((size) => `ms ${short(size)}`),
      'buffers ×',
      'ms ×',
      'goal',
      'scans',
    ],
  ];
  for (const one of all) {
    const { name, plan, figures, growthMax, mayScan } = one;
    const growth = { buffers: growthOf(one, 'buffers'), ms: growthOf(one, 'ms') };
    const scanned = [
      ...new Set(figures.filter(({ jobs }) => jobs > WHOLLY_COUNTED).flatMap((figure) => figure.scanned)),
    ];
    const missed = [
      ...(mayScan
        ? []
        : (['buffers', 'ms'] as const)
            .filter((figure) => growth[figure] > growthMax)
            .map((figure) => `${figure === 'ms' ? 'time' : figure} × ${growth[figure].toFixed(2)}`)),
      ...(mayScan || scanned.length === 0 ? [] : [`scans ${scanned.join(', ')}`]),
    ];
    if (missed.length > 0)
      problems.push(`${name} (${plan}${figures.at(-1)?.taken ? '' : ', not chosen'}): ${missed.join(', ')}`);
    rows.push([
      name,
      plan,
      figures.map(({ taken }) => (taken ? '+' : '-')).join(''),
      ...figures.map((figure) => String(figure.rows)),
      ...figures.map(({ buffers }) => String(buffers)),
      ...figures.map(({ ms }) => ms.toFixed(2)),
      growth.buffers.toFixed(2),
      growth.ms.toFixed(2),
      `≤${growthMax}${missed.length > 0 ? ' ✗' : ''}`,
      scanned.join(','),
    ]);
    const text = plansOf.get(`${name} ${plan}`) as { 'QUERY PLAN': string }[] | undefined;
    if (text && missed.length > 0)
      process.stdout.write(`\n--- ${name} (${plan})\n${text.map((line) => line['QUERY PLAN']).join('\n')}\n`);
  }
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  for (const row of rows)
    process.stdout.write(
      `${row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
    );
  if (!options.try) {
    const largest = Math.max(...sizes);
    const reached = largest === 1_000_000 ? '' : `-to-${largest}`;
    const name = openPercent === undefined ? `growth${reached}.json` : `growth-open-${openPercent}${reached}.json`;
    const figures = { sizes, openPercent: openPercent ?? null, seedingSeconds: seeding, problems, measured: all };
    keepFigures(name, { node: process.version, ...figures });
  }
  if (problems.length === 0) return;
  process.stderr.write(
    `${problems.length} of ${all.length} miss a goal:\n${problems.map((problem) => `  - ${problem}`).join('\n')}\n`,
  );
  process.exitCode = 1;
}

function short(size: number): string {
  return size >= 1_000_000 ? `${size / 1_000_000}M` : `${size / 1_000}k`;
}

function print(what: string): void {
  process.stderr.write(`${what}\n`);
}
