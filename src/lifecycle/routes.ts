/**
 * By which cells a line leads from one node to another. A line goes straight down, or turns once where the cells on
 * its way are free; any other line takes a channel between two lanes.
 */
import type { Cell, Move } from './cells.js';

export type Way = 'down' | 'across then down' | 'down then across' | 'channel';

export interface Route {
  readonly move: string;
  readonly from: string;
  readonly to: string;
  readonly way: Way;
  /** The lane to the left of the channel. */
  readonly channel?: number;
}

/** Straight lines come first: the others go around them. */
export function routesOf(cells: ReadonlyMap<string, Cell>, moves: readonly Move[]): readonly Route[] {
  const taken = new Map<string, string>([...cells].map(([node, cell]) => [keyOf(cell), node]));
  const pairs = moves.flatMap(({ name, from, to }) => from.map((one) => ({ move: name, from: one, to })));
  const straight = pairs.filter(({ from, to }) => cells.get(from)?.lane === cells.get(to)?.lane);
  return [...straight, ...pairs.filter((pair) => !straight.includes(pair))].map((pair) => {
    const [start, end] = [cells.get(pair.from), cells.get(pair.to)];
    if (!start || !end) throw new Error(`${pair.move} leads to or from a place that is not drawn`);
    const free = (passed: readonly Cell[]) =>
      passed.every((cell) => (taken.get(keyOf(cell)) ?? pair.move) === pair.move);
    const way = WAYS.find((one) => isOpen(one, start, end) && free(passedBy(one, start, end)));
    if (!way) return { ...pair, way: 'channel', channel: end.lane < start.lane ? start.lane - 1 : start.lane };
    for (const cell of passedBy(way, start, end)) taken.set(keyOf(cell), pair.move);
    return { ...pair, way };
  });
}

const WAYS = ['down', 'across then down', 'down then across'] as const;

function isOpen(way: Way, start: Cell, end: Cell): boolean {
  return end.row > start.row && (way === 'down') === (end.lane === start.lane);
}

/** The cells between the two ends. */
function passedBy(way: Way, start: Cell, end: Cell): Cell[] {
  if (way === 'down') return column(start.lane, start.row + 1, end.row - 1);
  if (way === 'across then down')
    return [...between(start.row, start.lane, end.lane), ...column(end.lane, start.row, end.row - 1)];
  return [...column(start.lane, start.row + 1, end.row), ...between(end.row, start.lane, end.lane)];
}

function column(lane: number, first: number, last: number): Cell[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => ({ row: first + at, lane }));
}

function between(row: number, one: number, other: number): Cell[] {
  const [left, right] = [Math.min(one, other), Math.max(one, other)];
  return Array.from({ length: Math.max(0, right - left - 1) }, (_, at) => ({ row, lane: left + 1 + at }));
}

function keyOf({ row, lane }: Cell): string {
  return `${row} ${lane}`;
}
