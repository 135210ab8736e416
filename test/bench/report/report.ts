/** The product's figures divided by each rival's, as a table. A ratio is the median of the rounds. */
import type { RivalName, Work } from '../work/works.js';
import type { ServerName } from '../servers.js';

export interface Block {
  readonly work: string;
  readonly server: ServerName;
  readonly round: number;
  readonly answered: number;
  readonly perSecond: number;
  /** CPU per request, in milliseconds. */
  readonly serverMs: number;
  readonly postgresMs: number;
  readonly p50: number;
  readonly p99: number;
}

export interface Results {
  readonly blocks: readonly Block[];
  readonly works: readonly Work[];
  readonly rivals: readonly RivalName[];
  /** The requests per second that the database can serve without a server in front of it. */
  readonly limits: Readonly<Record<string, number>>;
}

/** The maximum ratio of the product's server CPU per request to each rival's. */
const READ_GOALS: Partial<Record<RivalName, number>> = { postgraphile: 0.8, yoga: 0.8, mercurius: 1.3 };
const TRANSITION_GOALS: Partial<Record<RivalName, number>> = { floor: 1.6, yoga: 1 };
const GOALS: Readonly<Record<string, Partial<Record<RivalName, number>>>> = {
  list: READ_GOALS,
  job: READ_GOALS,
  viewer: READ_GOALS,
  publish: TRANSITION_GOALS,
  award: TRANSITION_GOALS,
  'check-in': TRANSITION_GOALS,
};
/** At 16 connections, the minimum share of the floor's requests per second. */
const THROUGHPUT_GOAL = 0.8;
/** At 256 connections, the maximum multiple of the floor's p99. */
const P99_GOAL = 2;

export interface Ratio {
  readonly work: string;
  readonly rival: RivalName;
  readonly cpu: number;
  readonly cpuGoal: number | undefined;
  readonly perSecond: number;
  readonly perSecondGoal: number | undefined;
  readonly p99: number;
  readonly p99Goal: number | undefined;
}

export function ratiosOf({ blocks, works, rivals }: Results): Ratio[] {
  return works.flatMap((work) =>
    rivals.flatMap((rival) => {
      const pairs = pairsOf(blocks, work.name, rival);
      if (pairs.length === 0) return [];
      const ratio = (figure: 'serverMs' | 'perSecond' | 'p99') =>
        median(pairs.map(([ours, theirs]) => ours[figure] / theirs[figure]));
      const againstFloor = rival === 'floor';
      return [
        {
          work: work.name,
          rival,
          cpu: ratio('serverMs'),
          cpuGoal: GOALS[work.name]?.[rival],
          perSecond: ratio('perSecond'),
          perSecondGoal: againstFloor && work.connections === 16 ? THROUGHPUT_GOAL : undefined,
          p99: ratio('p99'),
          p99Goal: againstFloor && work.connections === 256 ? P99_GOAL : undefined,
        },
      ];
    }),
  );
}

/** The product's and the rival's figures from the same round. */
function pairsOf(blocks: readonly Block[], work: string, rival: RivalName): [Block, Block][] {
  const of = (server: ServerName) => blocks.filter((block) => block.work === work && block.server === server);
  const theirs = new Map(of(rival).map((block) => [block.round, block]));
  return of('product').flatMap((ours): [Block, Block][] => {
    const other = theirs.get(ours.round);
    return other ? [[ours, other]] : [];
  });
}

export function table(results: Results): string {
  const rows = [
    [
      'work',
      'against',
      'CPU',
      'goal',
      'throughput',
      'p99',
      'ms CPU of server: product/rival',
      'of Postgres',
      'requests/s',
      'p99 ms',
    ],
  ];
  for (const ratio of ratiosOf(results)) {
    const figure = (name: 'serverMs' | 'postgresMs' | 'perSecond' | 'p99', digits: number) =>
      [0, 1]
        .map((side) =>
          median(pairsOf(results.blocks, ratio.work, ratio.rival).map((pair) => pair[side as 0 | 1][name])).toFixed(
            digits,
          ),
        )
        .join(' / ');
    rows.push([
      ratio.work,
      ratio.rival,
      marked(ratio.cpu, ratio.cpuGoal, (value, goal) => value <= goal),
      ratio.cpuGoal === undefined ? '' : `≤${ratio.cpuGoal}`,
      marked(ratio.perSecond, ratio.perSecondGoal, (value, goal) => value >= goal),
      marked(ratio.p99, ratio.p99Goal, (value, goal) => value <= goal),
      figure('serverMs', 3),
      figure('postgresMs', 3),
      figure('perSecond', 0),
      figure('p99', 1),
    ]);
  }
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const lines = rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  for (const [work, perSecond] of Object.entries(results.limits))
    lines.push(
      `The database alone answers ${Math.round(perSecond).toLocaleString('en')} of “${work}” a second (pgbench).`,
    );
  return lines.join('\n');
}

function marked(value: number, goal: number | undefined, reaches: (value: number, goal: number) => boolean): string {
  if (goal === undefined) return value.toFixed(2);
  return `${value.toFixed(2)} ${reaches(value, goal) ? '✓' : '✗'}`;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}
