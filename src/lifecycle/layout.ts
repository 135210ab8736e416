/**
 * Where the lines of the picture run. A line passes a row straight down, between its boxes, and turns only between two
 * rows: so it crosses neither a state nor a label.
 */
import { arrange, spread, labelId } from './arrangement.js';
import type { Area, Leg, Move, Node, Point, Size, Stop } from './arrangement.js';

export interface DrawnMove extends Move {
  /** The call may also leave a job where it is. */
  readonly mayKeepState: boolean;
}

/** Between points that are not one above the other, a line is a curve that leaves and arrives upright. */
export interface Line {
  readonly from: string;
  readonly points: readonly Point[];
}

export interface PlacedMove {
  readonly name: string;
  /** One from each node that the move leaves. */
  readonly lines: readonly Line[];
  /** One at each of them, if the call may leave the job there. */
  readonly loops: readonly Line[];
  readonly label: Area;
}

export interface Layout extends Size {
  readonly nodes: ReadonlyMap<string, Area>;
  readonly moves: readonly PlacedMove[];
}

/** Between lines that touch the same side of a box, and between a line and the corner. */
const PORT_GAP = 10;
const CORNER = 8;
const LOOP = { width: 13, height: 14 };

export function layOut(nodes: readonly Node[], moves: readonly DrawnMove[]): Layout {
  const looping = new Set(moves.filter(({ mayKeepState }) => mayKeepState).flatMap(({ from }) => from));
  const withLoops = nodes.map((node) => ({ ...node, width: node.width + (looping.has(node.id) ? 2 * LOOP.width : 0) }));
  const { boxes, legs, width, height } = arrange(withLoops, moves);
  const areas = new Map(nodes.map((node) => [node.id, { ...found(boxes, node.id), width: node.width }]));
  const ways = waysOf(legs, areas);
  const placed = moves.map(({ name, from, to, mayKeepState }): PlacedMove => {
    const label = labelId(name);
    const onwards = found(ways, keyOf(label, to));
    const lines = from.map((one) => ({ from: one, points: [...found(ways, keyOf(one, label)), ...onwards] }));
    const loops = mayKeepState ? from.map((one) => ({ from: one, points: loopAt(found(areas, one)) })) : [];
    return { name, lines, loops, label: found(boxes, label) };
  });
  return { width, height, nodes: areas, moves: placed };
}

type Ways = ReadonlyMap<string, readonly Point[]>;

function waysOf(legs: readonly Leg[], areas: ReadonlyMap<string, Area>): Ways {
  const halves = new Map<number, number>();
  for (const { y, height } of legs.flatMap(({ stops }) => stops))
    halves.set(y, Math.max(height / 2, halves.get(y) ?? 0));
  /** Straight from a box, or from the middle of a row, to the edge of the row. */
  const upright = ({ stop, x }: Place, next: Place): Point[] => {
    const down = Math.sign(next.stop.y - stop.y);
    return [stop.height / 2, halves.get(stop.y) ?? 0].map((far) => ({ x, y: stop.y + down * far }));
  };
  return new Map(
    placesOf(legs, areas).map(({ leg, places }) => {
      const points = places.slice(1).flatMap((place, at) => {
        const last = places[at] ?? place;
        return [...upright(last, place), ...upright(place, last).toReversed()];
      });
      return [keyOf(leg.from, leg.to), points.filter((point, at) => !isSame(point, points[at - 1]))];
    }),
  );
}

/** Where a leg passes a row, or touches a box. */
interface Place {
  readonly stop: Stop;
  readonly width: number;
  x: number;
}

/** Lines touch a state where that keeps them straight, and a label in the middle; those of one side stay apart. */
function placesOf(legs: readonly Leg[], areas: ReadonlyMap<string, Area>): { leg: Leg; places: readonly Place[] }[] {
  const ways = legs.map((leg) => ({ leg, places: leg.stops.map((stop) => ({ stop, x: stop.x, width: 0 })) }));
  const sides = new Map<string, { area: Area | undefined; places: Place[] }>();
  function touch(box: string, place?: Place, next?: Place): void {
    if (!place || !next) return;
    const key = `${box} ${next.stop.y < place.stop.y ? 'above' : 'below'}`;
    const side = sides.get(key) ?? { area: areas.get(box), places: [] };
    sides.set(key, side);
    side.places.push(place);
    place.x = next.stop.x;
  }
  for (const { leg, places } of ways) {
    touch(leg.from, places.at(0), places.at(1));
    touch(leg.to, places.at(-1), places.at(-2));
  }
  for (const { area, places } of sides.values()) {
    const gaps = places.length - 1;
    const reach = area ? area.width / 2 - CORNER : (gaps * PORT_GAP) / 2;
    const middle = places[0]?.stop.x ?? 0;
    const gap = Math.min(PORT_GAP, (2 * reach) / Math.max(1, gaps));
    spread(
      places.toSorted((a, b) => a.x - b.x),
      gap,
      middle - reach,
      middle + reach,
    );
  }
  return ways;
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

function keyOf(from: string, to: string): string {
  return `${from} to ${to}`;
}

function isSame(one: Point, other: Point | undefined): boolean {
  return one.x === other?.x && one.y === other.y;
}

function found<Thing>(things: ReadonlyMap<string, Thing>, id: string): Thing {
  const thing = things.get(id);
  if (thing === undefined) throw new Error(`${id} is not drawn.`);
  return thing;
}
