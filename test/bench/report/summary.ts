/**
 * Writes `results/summary.md` and the chart from the raw figures that the bench scripts leave in `raw/`, which git does
 * not keep. A section whose figures are not there stays as it is.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chart, ratiosOf, type Ratio, type Results } from './report.js';
import { RIVALS, WORKS } from '../work/works.js';

const folder = (name: string) => fileURLToPath(new URL(`../${name}/`, import.meta.url));
const RAW = folder('raw');
const RESULTS = folder('results');
const SUMMARY = `${RESULTS}summary.md`;
const SLOWEST = 15;

const HEAD = `# What was measured last

Written by the scripts of \`test/bench/\` from what they measured; the section of each is replaced when it runs again.
`;

const SECTIONS: Readonly<Record<string, () => string | undefined>> = {
  'Against the rivals': () => from<Omit<Results, 'works' | 'rivals'> & Run>('bench.json', againstRivals),
  'Lists from ten thousand to a million jobs, half of them open': () => from<Growth>('growth.json', growth),
  'Lists from ten to a hundred thousand jobs, half of them open': () => from<Growth>('growth-to-100000.json', growth),
  'Lists from ten thousand to a million jobs, 2 % of them open': () => from<Growth>('growth-open-2.json', growth),
  'Events to subscribers': () => from<Live>('live.json', live),
  'Memory through an hour of steady work': () => from<Memory>('memory.json', memory),
  'Up to three times what the server can answer': () => from<Knee>('knee.json', knee),
};

/** Keeps the raw figures of one script, and writes the summary and the chart anew. */
export function keepFigures(name: string, figures: object): void {
  mkdirSync(RAW, { recursive: true });
  writeFileSync(`${RAW}${name}`, `${JSON.stringify(figures, null, 1)}\n`);
  writeSummary();
}

export function writeSummary(): void {
  mkdirSync(RESULTS, { recursive: true });
  const before = existsSync(SUMMARY) ? readFileSync(SUMMARY, 'utf8') : '';
  const sections = Object.entries(SECTIONS).map(([title, make]) => {
    const text = make() ?? sectionOf(before, title);
    return text === undefined ? '' : `\n## ${title}\n\n${text.trim()}\n`;
  });
  writeFileSync(SUMMARY, HEAD + sections.join(''));
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
  writeFileSync(`${RESULTS}bench.svg`, chart(results));
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
    `Server CPU a request, the product's divided by each rival's, and its throughput and p99 divided ` +
    `by the floor's: medians of ${rounds} rounds of ${seconds} s, Node ${node}. In brackets: a goal that was missed.`;
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

/** The slowest of the plans that the database takes, at the largest size. */
function growth({ sizes, problems, measured }: Growth): string {
  const largest = Math.max(...sizes);
  const taken = measured.flatMap(({ name, figures }) => {
    const last = figures.find(({ jobs, taken: isTaken }) => jobs === largest && isTaken);
    return last ? [{ name, figures, last }] : [];
  });
  const slowest = taken.toSorted((a, b) => b.last.ms - a.last.ms).slice(0, SLOWEST);
  const within = (ms: number) => taken.filter(({ last }) => last.ms <= ms).length;
  const missed = problems.length === 0 ? 'none' : `${problems.length}, in [missed.md](missed.md)`;
  const said =
    `Of ${taken.length} statements ${within(1)} take at most 1 ms at ${largest.toLocaleString('en')} ` +
    `jobs, ${within(10)} at most 10 ms, ${within(100)} at most 100 ms. Goals that are missed: ${missed}. ` +
    `The slowest ${slowest.length}:`;
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
    `${asked.toLocaleString('en')} requests in ${minutes} minutes (${rate} a second), ${refused} refused. ` +
    `Resident at most ${most(megabytes.slice(0, tenth))} in the first tenth, ${most(megabytes.slice(-tenth))} in ` +
    `the last.`
  );
}

export interface Latency {
  readonly events: number;
  readonly p50: number;
  readonly p99: number;
  readonly longest: number;
  /** Of the server, for an event with its edit and its delivery. */
  readonly cpuMs: number;
}

export interface Resting {
  readonly streams: number;
  readonly megabytes: number;
  /** Of one core. */
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
    `${latency.events.toLocaleString('en')} events (${rate} a second) to ${listeners} subscribers over WebSockets: ` +
    `p50 ${latency.p50} ms, p99 ${latency.p99} ms, at most ${latency.longest} ms after the change was written; ` +
    `${latency.cpuMs} ms of the server's CPU each, its edit included. ${resting.streams} idle streams take ` +
    `${resting.megabytes} MB and ${resting.cpuPercent} % of a core.`
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
  const columns = ['Of the capacity', ...KNEE_COLUMNS.slice(1)];
  return (
    `${work}: ${capacity.toLocaleString('en')} a second. After the last rush a lone caller is answered ` +
    `quickly again within ${recoveredMs} ms.\n\n${table(columns, rows)}`
  );
}

function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(columns), line(columns.map(() => '---')), ...rows.map(line)].join('\n');
}
