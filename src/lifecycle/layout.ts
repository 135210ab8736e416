/**
 * Where everything in the picture of the lifecycle lies: from the cells of a grid to coordinates. It is worked out
 * from the table alone, so that the picture is the same on every start and follows whatever the table becomes.
 */
import type { Cell, Move } from './cells.js';
import { routesOf, type Route } from './routes.js';

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Its point is its centre. */
export interface Area extends Point, Size {}

export interface Node extends Size {
  readonly id: string;
  readonly cell: Cell;
}

export interface LabelledMove extends Move {
  readonly label: Size;
  /** The call may also leave a job where it is. */
  readonly mayKeepState: boolean;
}

export interface Line {
  readonly from: string;
  readonly points: readonly Point[];
}

export interface PlacedMove {
  readonly name: string;
  /** One from each node that the move leaves, and one back to each of them if the call may leave the job there. */
  readonly lines: readonly Line[];
  readonly label: Area;
}

export interface Layout extends Size {
  readonly nodes: ReadonlyMap<string, Area>;
  readonly moves: readonly PlacedMove[];
}

const ROW_HEIGHT = 32;
const ROW_GAP = 49;
const LANE_GAP = 26;
const CHANNEL_WIDTH = 32;
const MARGIN = 6;
const PORT_GAP = 14;
const LOOP = { width: 13, height: 14 };

export function layOut(nodes: readonly Node[], moves: readonly LabelledMove[]): Layout {
  const routes = routesOf(new Map(nodes.map(({ id, cell }) => [id, cell])), moves);
  const grid = gridOf(nodes, routes);
  const areas = new Map(
    nodes.map(({ id, cell, width, height }) => [id, { x: grid.x(cell.lane), y: grid.y(cell.row), width, height }]),
  );
  const lines = linesOf(routes, areas, grid);
  return { width: grid.width, height: grid.height, nodes: areas, moves: labelled(moves, lines, areas, grid) };
}

interface Grid extends Size {
  x(lane: number): number;
  y(row: number): number;
  /** A vertical line between a lane and the next one for each route that takes a channel there. */
  channelX(route: Route): number;
  /** The middles of the gaps between rows, from the top. */
  readonly gaps: readonly number[];
}

function gridOf(nodes: readonly Node[], routes: readonly Route[]): Grid {
  const rows = sorted(nodes.map(({ cell }) => cell.row));
  const lanes = sorted(nodes.map(({ cell }) => cell.lane));
  const widths = lanes.map((lane) => Math.max(...nodes.filter(({ cell }) => cell.lane === lane).map(widthOf)));
  const channels = lanes.map((lane) => routes.filter(({ channel }) => channel === lane));
  const lefts: number[] = [];
  let right = MARGIN;
  for (const [at, width] of widths.entries()) {
    lefts.push(right);
    right += width + LANE_GAP + (channels[at]?.length ?? 0) * CHANNEL_WIDTH;
  }
  const y = (row: number) => MARGIN + (row - (rows[0] ?? 0)) * (ROW_HEIGHT + ROW_GAP) + ROW_HEIGHT / 2;
  const laneAt = (lane: number) => lanes.indexOf(lane);
  return {
    x: (lane) => (lefts[laneAt(lane)] ?? 0) + (widths[laneAt(lane)] ?? 0) / 2,
    y,
    channelX: (route) => {
      const at = laneAt(route.channel ?? 0);
      const end = (lefts[at] ?? 0) + (widths[at] ?? 0) + LANE_GAP / 2;
      return end + ((channels[at]?.indexOf(route) ?? 0) + 0.5) * CHANNEL_WIDTH;
    },
    gaps: rows.slice(1).map((row) => y(row) - (ROW_HEIGHT + ROW_GAP) / 2),
    width: right - LANE_GAP + LOOP.width + MARGIN,
    height: y(rows.at(-1) ?? 0) + ROW_HEIGHT / 2 + MARGIN,
  };
}

type Lines = ReadonlyMap<string, readonly Line[]>;

function linesOf(routes: readonly Route[], areas: ReadonlyMap<string, Area>, grid: Grid): Lines {
  const ports = portsOf(routes, areas, grid);
  const lines = new Map<string, Line[]>();
  for (const route of routes) {
    const line = { from: route.from, points: pointsOf(route, areas, grid, ports) };
    lines.set(route.move, [...(lines.get(route.move) ?? []), line]);
  }
  return lines;
}

function pointsOf(route: Route, areas: ReadonlyMap<string, Area>, grid: Grid, ports: Ports): readonly Point[] {
  const from = areaOf(areas, route.from);
  const to = areaOf(areas, route.to);
  const [top, bottom] = [to.y - to.height / 2, from.y + from.height / 2];
  const leaves = () => ports.get(portKey(route, 'from')) ?? from;
  const enters = () => ports.get(portKey(route, 'to')) ?? to;
  switch (route.way) {
    case 'down':
      return [
        { x: from.x, y: bottom },
        { x: to.x, y: top },
      ];
    case 'across then down':
      return [leaves(), { x: to.x, y: leaves().y }, { x: to.x, y: top }];
    case 'down then across':
      return [{ x: from.x, y: bottom }, { x: from.x, y: enters().y }, enters()];
    case 'channel': {
      const x = grid.channelX(route);
      return [leaves(), { x, y: leaves().y }, { x, y: enters().y }, enters()];
    }
  }
}

/** Where a line touches the side of a node, by the line and its end. */
type Ports = ReadonlyMap<string, Point>;

interface Contact {
  readonly key: string;
  readonly side: string;
  readonly area: Area;
  readonly runX: number;
  /** What comes from above touches the side above what leaves, and the nearest of them first. */
  readonly order: number;
}

/** Lines that touch the same side of a node do so one below the other, in an order in which they do not cross. */
function portsOf(routes: readonly Route[], areas: ReadonlyMap<string, Area>, grid: Grid): Ports {
  const contacts = routes.flatMap((route) => contactsOf(route, areas, grid));
  const sides = new Map<string, Contact[]>();
  for (const contact of contacts) sides.set(contact.side, [...(sides.get(contact.side) ?? []), contact]);
  return new Map([...sides.values()].flatMap(spread));
}

function contactsOf(route: Route, areas: ReadonlyMap<string, Area>, grid: Grid): Contact[] {
  const [from, to] = [areaOf(areas, route.from), areaOf(areas, route.to)];
  const contact = (end: 'from' | 'to', area: Area, runX: number): Contact => ({
    key: portKey(route, end),
    side: `${route[end]} ${runX > area.x ? 'right' : 'left'}`,
    area,
    runX,
    order: end === 'to' ? Math.abs(runX - area.x) : 1e6 - Math.abs(runX - area.x),
  });
  if (route.way === 'down') return [];
  if (route.way === 'across then down') return [contact('from', from, to.x)];
  if (route.way === 'down then across') return [contact('to', to, from.x)];
  return [contact('from', from, grid.channelX(route)), contact('to', to, grid.channelX(route))];
}

function spread(contacts: readonly Contact[]): [string, Point][] {
  const inOrder = contacts.toSorted((a, b) => a.order - b.order);
  return inOrder.map(({ key, area, runX }, at) => {
    const x = area.x + (Math.sign(runX - area.x) * area.width) / 2;
    return [key, { x, y: area.y + (at - (inOrder.length - 1) / 2) * PORT_GAP }];
  });
}

function portKey({ move, from }: Route, end: 'from' | 'to'): string {
  return `${move} ${from} ${end}`;
}

/** Labels lie on the lines, where they cover nothing else; that with the fewest places has the first choice. */
function labelled(
  moves: readonly LabelledMove[],
  lines: Lines,
  areas: ReadonlyMap<string, Area>,
  grid: Grid,
): PlacedMove[] {
  const choices = moves.map(({ name, label }) => ({ name, places: placesOn(lines.get(name) ?? [], label, grid) }));
  const labels = new Map<string, Area>();
  for (const { name, places } of choices.toSorted((a, b) => a.places.length - b.places.length)) {
    const others = [...lines].filter(([move]) => move !== name).flatMap(([, all]) => all.flatMap(segmentsOf));
    const covered = [...areas.values(), ...others.map(areaOfSegment), ...labels.values()];
    const place = places.find((one) => !covered.some((area) => overlap(one, area))) ?? places[0];
    if (place) labels.set(name, place);
  }
  return moves.map(({ name, from, mayKeepState }) => {
    const label = labels.get(name);
    if (!label) throw new Error(`There is no place for the label of ${name}.`);
    const loops = mayKeepState ? from.map((state) => ({ from: state, points: loopAt(areaOf(areas, state)) })) : [];
    return { name, lines: [...(lines.get(name) ?? []), ...loops], label };
  });
}

/** Between two rows first, near where the line begins; where several lines become one, near its end. */
function placesOn(lines: readonly Line[], size: Size, { gaps }: Grid): Area[] {
  const upright = lines.flatMap(segmentsOf).filter(([a, b]) => a.x === b.x);
  const inGaps = upright.flatMap(([a, b]) => {
    const [top, bottom] = [Math.min(a.y, b.y), Math.max(a.y, b.y)];
    const within = gaps.filter((y) => y - size.height / 2 >= top && y + size.height / 2 <= bottom);
    return within.map((y) => ({ x: a.x, y, ...size }));
  });
  const inTheMiddle = upright.map(([a, b]) => ({ x: a.x, y: (a.y + b.y) / 2, ...size }));
  return [...(lines.length > 1 ? inGaps.toReversed() : inGaps), ...inTheMiddle];
}

function loopAt({ x, y, width }: Area): readonly Point[] {
  const right = x + width / 2;
  return [
    { x: right, y: y - LOOP.height / 2 },
    { x: right + LOOP.width, y: y - LOOP.height / 2 },
    { x: right + LOOP.width, y: y + LOOP.height / 2 },
    { x: right, y: y + LOOP.height / 2 },
  ];
}

export function segmentsOf({ points }: Line): [Point, Point][] {
  return points.slice(1).map((end, at) => [points[at] ?? end, end]);
}

export function areaOfSegment([a, b]: readonly [Point, Point]): Area {
  return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, width: Math.abs(a.x - b.x), height: Math.abs(a.y - b.y) };
}

export function overlap(one: Area, other: Area): boolean {
  return (
    Math.abs(one.x - other.x) < (one.width + other.width) / 2 &&
    Math.abs(one.y - other.y) < (one.height + other.height) / 2
  );
}

function areaOf(areas: ReadonlyMap<string, Area>, id: string): Area {
  const area = areas.get(id);
  if (!area) throw new Error(`${id} is not drawn.`);
  return area;
}

function widthOf({ width }: Node): number {
  return width;
}

function sorted(numbers: readonly number[]): number[] {
  return [...new Set(numbers)].toSorted((a, b) => a - b);
}
