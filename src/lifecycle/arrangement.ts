/**
 * Where each box of the picture stands, and where lines pass between the boxes. dagre decides which boxes share a row,
 * and in which order. The label of a move is a box like a state is: a line leads to it from every state that the move
 * leaves, and one from it to the state that the move leads to.
 */
import { Graph, layout as arrangeByDagre } from '@dagrejs/dagre';

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
}

/** What leads from some nodes to another, under one name. */
export interface Move {
  readonly name: string;
  readonly from: readonly string[];
  readonly to: string;
  readonly label: Size;
}

/** A box, or without a size the place where a line passes a row. */
export interface Stop extends Area {
  x: number;
}

/** A line from one box to another: both boxes, and the places in the rows between them. */
export interface Leg {
  readonly from: string;
  readonly to: string;
  readonly stops: readonly Stop[];
}

export interface Arrangement extends Size {
  readonly boxes: ReadonlyMap<string, Stop>;
  readonly legs: readonly Leg[];
}

/** What a telephone can show in letters that can be read; how wide those are is said in `diagram.ts`. */
export const PICTURE_WIDTH = 440;
/** Between two boxes or lines of a row. The fullest row decides how narrow the picture can be. */
const GAP = 12;
const ROW_GAP = 22;
const MARGIN = 6;

/** The id of a label's box. */
export function labelId(move: string): string {
  return `words of ${move}`;
}

export function arrange(nodes: readonly Node[], moves: readonly Move[]): Arrangement {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ nodesep: GAP, edgesep: GAP, ranksep: ROW_GAP, marginx: MARGIN, marginy: MARGIN });
  for (const { id, width, height } of nodes) graph.setNode(id, { width, height });
  for (const { name, label } of moves) graph.setNode(labelId(name), { ...label });
  const edges = edgesOf(nodes, moves);
  for (const { upper, lower, weight, name } of edges) graph.setEdge(upper, lower, { weight }, name);
  arrangeByDagre(graph);

  const boxes = new Map<string, Stop>(graph.nodes().map((id: string) => [id, graph.node(id)]));
  const legs = edges.map(({ upper, lower, isBack, name }): Leg => {
    const stops = stopsOf(boxes, upper, lower, graph.edge(upper, lower, name).points);
    return isBack ? { from: lower, to: upper, stops: stops.toReversed() } : { from: upper, to: lower, stops };
  });
  const { width, height } = graph.graph();
  return squeezed({ width, height, boxes, legs });
}

/** Of the points that dagre gives a line, those between two rows are left out. */
function stopsOf(boxes: ReadonlyMap<string, Stop>, upper: string, lower: string, points: readonly Point[]): Stop[] {
  const rows = new Set([...boxes.values()].map(({ y }) => y));
  const passed = points.slice(1, -1).filter(({ y }) => rows.has(y));
  const stops = [boxes.get(upper), ...passed.map(({ x, y }) => ({ x, y, width: 0, height: 0 })), boxes.get(lower)];
  return stops.filter((stop) => stop !== undefined);
}

interface Edge {
  readonly upper: string;
  readonly lower: string;
  readonly isBack: boolean;
  readonly name: string;
  readonly weight: number;
}

/** A move that leads back is arranged as if it led forward, so that its line runs next to the moves it reverses. */
function edgesOf(nodes: readonly Node[], moves: readonly Move[]): Edge[] {
  const back = movesBack(nodes, moves);
  return moves.flatMap(({ name, from, to }) => {
    const isBack = back.has(name);
    const legs = [...from.map((one) => [one, labelId(name)] as const), [labelId(name), to] as const];
    return legs.map(([start, end]) => {
      const [upper, lower] = isBack ? [end, start] : [start, end];
      // A label stands close to the state that its move leaves, where that is one.
      const weight = from.length === 1 && lower === labelId(name) ? 2 : 1;
      return { upper, lower, isBack, name: `${start} to ${end}`, weight };
    });
  });
}

/** The moves to a state that lies on the way to the one that they leave. */
function movesBack(nodes: readonly Node[], moves: readonly Move[]): ReadonlySet<string> {
  const back = new Set<string>();
  const passed = new Set<string>();
  const way = new Set<string>();
  function follow(state: string): void {
    passed.add(state);
    way.add(state);
    for (const { name, to } of moves.filter(({ from }) => from.includes(state)))
      if (way.has(to)) back.add(name);
      else if (!passed.has(to)) follow(to);
    way.delete(state);
  }
  for (const { id } of nodes) if (!passed.has(id)) follow(id);
  return back;
}

/** What is above one another stays so, as far as its row has room; a row that has too little makes a wider picture. */
function squeezed({ width, height, boxes, legs }: Arrangement): Arrangement {
  const scale = Math.min(1, PICTURE_WIDTH / width);
  const rows = rowsOf([...boxes.values(), ...legs.flatMap(({ stops }) => stops.slice(1, -1))]);
  for (const row of rows) {
    for (const stop of row) stop.x *= scale;
    spread(row, GAP, MARGIN, width * scale - MARGIN);
  }
  const overflow = Math.max(0, ...rows.flat().map((stop) => MARGIN - (stop.x - stop.width / 2)));
  for (const stop of rows.flat()) stop.x = Math.round(stop.x + overflow);
  return { width: Math.ceil(width * scale + overflow), height, boxes, legs };
}

/** From left to right each. */
function rowsOf(stops: readonly Stop[]): Stop[][] {
  const rows = new Map<number, Stop[]>();
  for (const stop of stops.toSorted((a, b) => a.x - b.x)) rows.set(stop.y, [...(rows.get(stop.y) ?? []), stop]);
  return [...rows.values()];
}

/** Moves neighbours apart between two ends, as little as it takes. What has no room ends up beyond the left one. */
export function spread(places: readonly Pick<Stop, 'x' | 'width'>[], gap: number, left: number, right: number): void {
  let end = left;
  for (const place of places) {
    place.x = Math.max(place.x, end + place.width / 2);
    end = place.x + place.width / 2 + gap;
  }
  end = right;
  for (const place of places.toReversed()) {
    place.x = Math.min(place.x, end - place.width / 2);
    end = place.x - place.width / 2 - gap;
  }
}
