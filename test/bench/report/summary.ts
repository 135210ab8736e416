/**
 * Writes `results/summary.md` and its plots from the raw figures in `raw/`, which git ignores. A section without raw
 * figures stays as it is.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { plotsOf, withPlot } from './plots.js';
import { ratiosOf, type Ratio, type Results } from './report.js';
import { RIVALS, WORKS } from '../work/works.js';

const folder = (name: string) => fileURLToPath(new URL(`../${name}/`, import.meta.url));
const RAW = folder('raw');
const RESULTS = folder('results');
const SUMMARY = `${RESULTS}summary.md`;
const SLOWEST = 15;

const HEAD = `# The latest results

The scripts in \`test/bench/\` write this page. Each script replaces its section.
`;

const SECTIONS: Readonly<Record<string, () => string | undefined>> = {
  'Compared with the rivals': () => from<Omit<Results, 'works' | 'rivals'> & Run>('bench.json', againstRivals),
  'Lists with ten thousand to a million jobs in the database, half of them open': () =>
    from<Growth>('growth.json', growth),
  'Lists with ten thousand to a hundred thousand jobs in the database, half of them open': () =>
    from<Growth>('growth-to-100000.json', growth),
  'Lists with ten thousand to a million jobs in the database, 2% of them open': () =>
    from<Growth>('growth-open-2.json', growth),
  'Delivery of events': () => from<Live>('live.json', live),
  'Memory during an hour of steady work': () => from<Memory>('memory.json', memory),
  'Up to three times the capacity': () => from<Knee>('knee.json', knee),
  'With and without a replica': () => from<Replicas>('replicas.json', replicas),
};

/** Stores one script's raw figures, and rewrites the summary and its plots. */
export function keepFigures(name: string, figures: object): void {
  mkdirSync(RAW, { recursive: true });
  writeFileSync(`${RAW}${name}`, `${JSON.stringify(figures, null, 1)}\n`);
  writeSummary();
}

export function writeSummary(): void {
  mkdirSync(RESULTS, { recursive: true });
  const before = existsSync(SUMMARY) ? readFileSync(SUMMARY, 'utf8') : '';
  const sections = Object.entries(SECTIONS).map(([title, make]) => {
    const made = make();
    const text = made === undefined ? sectionOf(before, title) : withPlot(title, made);
    return text === undefined ? '' : `\n## ${title}\n\n${text.trim()}\n`;
  });
  const summary = HEAD + sections.join('');
  writeFileSync(SUMMARY, summary);
  for (const [name, plot] of Object.entries(plotsOf(summary))) writeFileSync(RESULTS + name, plot);
}

function from<Figures>(name: string, print: (figures: Figures) => string): string | undefined {
  return existsSync(RAW + name) ? print(JSON.parse(readFileSync(RAW + name, 'utf8')) as Figures) : undefined;
}

function sectionOf(text: string, title: string): string | undefined {
  return text
    .split(/^## /m)
    .find((section) => section.startsWith(`${title}\n`))
    ?.slice(title.length);
}

interface Run {
  readonly node: string;
  readonly rounds: number;
  readonly seconds: number;
}

function againstRivals({ node, rounds, seconds, blocks, limits }: Omit<Results, 'works' | 'rivals'> & Run): string {
  const results: Results = { blocks, limits, works: WORKS, rivals: RIVALS };
  const ratios = ratiosOf(results);
  const rows = WORKS.flatMap(({ name }) => {
    const of = (rival: string) => ratios.find((ratio) => ratio.work === name && ratio.rival === rival);
    const floor = of('floor');
    if (!floor) return [];
    const served = [
      goal(floor.perSecond, floor.perSecondGoal, floor.perSecond >= (floor.perSecondGoal ?? 0)),
      goal(floor.p99, floor.p99Goal, floor.p99 <= (floor.p99Goal ?? 0)),
    ];
    return [[name, ...RIVALS.map((rival) => cpuOf(of(rival))), ...served]];
  });
  const said =
    `The server's CPU time per request is divided by each rival's. Its throughput and p99 are divided by the ` +
    `floor's. Each value is the median of ${rounds} rounds of ${seconds} s, on Node ${node}. If a value misses its ` +
    `goal, the goal is in parentheses.`;
  return `${said}\n\n${table(['Work', ...RIVALS.map((rival) => `CPU: ${rival}`), 'Throughput', 'p99'], rows)}`;
}

function cpuOf(ratio: Ratio | undefined): string {
  return ratio ? goal(ratio.cpu, ratio.cpuGoal, ratio.cpu <= (ratio.cpuGoal ?? 0)) : '';
}

function goal(value: number, wanted: number | undefined, isReached: boolean): string {
  return wanted === undefined || isReached ? value.toFixed(2) : `${value.toFixed(2)} (${wanted})`;
}

interface Growth {
  readonly node: string;
  readonly sizes: readonly number[];
  readonly problems: readonly string[];
  readonly measured: readonly {
    readonly name: string;
    readonly figures: readonly { jobs: number; buffers: number; ms: number; taken: boolean }[];
  }[];
}

/** The slowest of the plans that the database chooses, at the largest size. */
function growth({ sizes, problems, measured }: Growth): string {
  const largest = Math.max(...sizes);
  const taken = measured.flatMap(({ name, figures }) => {
    const last = figures.find(({ jobs, taken: isTaken }) => jobs === largest && isTaken);
    return last ? [{ name, figures, last }] : [];
  });
  const slowest = taken.toSorted((a, b) => b.last.ms - a.last.ms).slice(0, SLOWEST);
  const within = (ms: number) => taken.filter(({ last }) => last.ms <= ms).length;
  const missed = problems.length === 0 ? 'All goals are met.' : `${problems.length} goals are [missed](missed.md).`;
  const said =
    `At ${largest.toLocaleString('en')} jobs, ${within(1)} of ${taken.length} statements take at most 1 ms, ` +
    `${within(10)} at most 10 ms, and ${within(100)} at most 100 ms. ${missed} These are the slowest ` +
    `${slowest.length}:`;
  const rows = slowest.map(({ name, figures, last }) => [
    name.replaceAll('|', '\\|'),
    ...sizes.map((size) => figures.find(({ jobs }) => jobs === size)?.ms.toFixed(1) ?? ''),
    last.buffers.toLocaleString('en'),
  ]);
  return `${said}\n\n${table(
    ['Statement', ...sizes.map((size) => `ms at ${size.toLocaleString('en')}`), 'Buffers'],
    rows,
  )}`;
}

interface Memory {
  readonly minutes: number;
  readonly rate: number;
  readonly asked: number;
  readonly refused: number;
  readonly megabytes: readonly number[];
}

function memory({ minutes, rate, asked, refused, megabytes }: Memory): string {
  const tenth = Math.max(1, Math.floor(megabytes.length / 10));
  const most = (samples: readonly number[]) => `${Math.max(...samples).toFixed(0)} MB`;
  return (
    `The server got ${asked.toLocaleString('en')} requests in ${minutes} minutes (${rate} per second) and rejected ` +
    `${refused}. Its resident memory was at most ${most(megabytes.slice(0, tenth))} in the first tenth of that time, ` +
    `and ${most(megabytes.slice(-tenth))} in the last.`
  );
}

export interface Latency {
  readonly events: number;
  readonly p50: number;
  readonly p99: number;
  readonly longest: number;
  /** The server's CPU for an event, including its edit and its delivery. */
  readonly cpuMs: number;
}

export interface Resting {
  readonly streams: number;
  readonly megabytes: number;
  /** As a percentage of one core. */
  readonly cpuPercent: number;
}

interface Live {
  readonly rate: number;
  readonly listeners: number;
  readonly latency: Latency;
  readonly resting: Resting;
}

function live({ rate, listeners, latency, resting }: Live): string {
  return (
    `${latency.events.toLocaleString('en')} events (${rate} per second) were sent over WebSockets, each to one of ` +
    `${listeners} subscribers. They arrived ${latency.p50} ms (p50), ${latency.p99} ms (p99), and at most ` +
    `${latency.longest} ms after the change was written. Each event, including the edit that caused it, took ` +
    `${latency.cpuMs} ms of the server's CPU time. ${resting.streams} idle streams take ` +
    `${resting.megabytes} MB and ${resting.cpuPercent}% of a core.`
  );
}

interface Knee {
  readonly work: string;
  readonly capacity: number;
  readonly recoveredMs: number;
  readonly steps: readonly Readonly<Record<string, number>>[];
}

const KNEE_COLUMNS = ['of that', 'offered/s', 'answered/s', 'shed/s', 'p50 ms', 'p99 ms', 'longest ms'];

function knee({ work, capacity, recoveredMs, steps }: Knee): string {
  const rows = steps.map((step) => KNEE_COLUMNS.map((column) => String(step[column] ?? '')));
  const columns = ['Load / capacity', ...KNEE_COLUMNS.slice(1)];
  return (
    `The capacity is ${capacity.toLocaleString('en')} ${work} calls per second. After the last overload, a single ` +
    `caller gets fast responses again within ${recoveredMs} ms.\n\n${table(columns, rows)}`
  );
}

interface Replicas {
  readonly jobs: number;
  /** Microseconds of CPU per request, medians of the rounds. */
  readonly without: PerRequest;
  readonly with: PerRequest;
}

export type PerRequest = Readonly<Record<(typeof REPLICA_COLUMNS)[number], number>>;

const REPLICA_COLUMNS = ['server', 'primary', 'replica'] as const;

function replicas({ jobs, ...figures }: Replicas): string {
  const row = (label: string, of: PerRequest) => [label, ...REPLICA_COLUMNS.map((column) => String(of[column]))];
  const rows = [row('without a replica', figures.without), row('with a replica', figures.with)];
  return (
    `CPU time per request in microseconds, with ${jobs.toLocaleString('en')} jobs. Half of the requests are lists, ` +
    `20% are searches, 20% read one job, and 10% edit one.\n\n${table(['Setup', ...REPLICA_COLUMNS], rows)}`
  );
}

function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(columns), line(columns.map(() => '---')), ...rows.map(line)].join('\n');
}
