/**
 * Which cell of a grid each state is drawn in. A state stands in the row below everything that leads to it, and the
 * usual way through the table, the first step out of each state, stands in one lane; what branches off it gets lanes
 * to its left and right in turn.
 */
export interface Cell {
  readonly row: number;
  /** 0 is the lane of the usual way; lanes to its left are negative. */
  readonly lane: number;
}

/** What leads from some states to another, under one name. */
export interface Move {
  readonly name: string;
  readonly from: readonly string[];
  readonly to: string;
}

export function placeStates(
  initial: string,
  states: readonly string[],
  moves: readonly Move[],
): ReadonlyMap<string, Cell> {
  const rowOf = rowsOf(moves);
  const lanes = lanesOf(initial, states, moves);
  return new Map(lanes.flatMap((lane, at) => laneCells(lane, sideOf(at), rowOf)));
}

/** No two states of a lane share a row, whatever circles there are. */
function laneCells(states: readonly string[], lane: number, rowOf: (state: string) => number): [string, Cell][] {
  let last = -1;
  return states.map((state) => {
    last = Math.max(rowOf(state), last + 1);
    return [state, { row: last, lane }];
  });
}

/**
 * The longest way from a state that nothing leads to; a way back to a state that was passed does not count. What was
 * found on such a way is not kept, since from elsewhere the way may be longer.
 */
function rowsOf(moves: readonly Move[]): (state: string) => number {
  const known = new Map<string, number>();
  const passed = new Set<string>();
  let waysBack = 0;
  function rowOf(state: string): number {
    const found = known.get(state);
    if (found !== undefined) return found;
    passed.add(state);
    const waysBackBefore = waysBack;
    const before = moves.filter(({ to }) => to === state).flatMap(({ from }) => from);
    const ahead = before.filter((one) => !passed.has(one));
    waysBack += before.length - ahead.length;
    const row = Math.max(-1, ...ahead.map(rowOf)) + 1;
    passed.delete(state);
    if (waysBack === waysBackBefore) known.set(state, row);
    return row;
  }
  return rowOf;
}

function lanesOf(initial: string, states: readonly string[], moves: readonly Move[]): readonly (readonly string[])[] {
  const placed = new Set<string>();
  const lanes: string[][] = [];
  const nextOf = (state: string) => moves.find(({ from, to }) => from.includes(state) && !placed.has(to))?.to;
  function addLane(first: string): void {
    const lane: string[] = [];
    for (let state: string | undefined = first; state !== undefined; state = nextOf(state)) {
      placed.add(state);
      lane.push(state);
    }
    lanes.push(lane);
  }
  addLane(initial);
  // A set that is added to while it is read is read to its new end.
  for (const state of placed) for (let next = nextOf(state); next !== undefined; next = nextOf(state)) addLane(next);
  for (const state of states) if (!placed.has(state)) addLane(state);
  return lanes;
}

/** 0, -1, 1, -2, 2, … */
function sideOf(at: number): number {
  return at % 2 === 1 ? -(at + 1) / 2 : at / 2;
}
