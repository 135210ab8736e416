/** The picture of the lifecycle as geometry: what would make it hard to read cannot happen. */
import fc from '../property.js';
import { describe, expect, it } from 'vitest';
import { PICTURE_WIDTH, type Area, type Point } from '../../src/lifecycle/arrangement.js';
import { diagramOf, MARKS, movesOf, type DiagramMove } from '../../src/lifecycle/diagram.js';
import type { Layout, PlacedMove } from '../../src/lifecycle/layout.js';
import { isTransition, JOB_ACTION_LIST, JOB_TRANSITIONS, leavesEveryState } from '../../src/rules/lifecycle.js';
import { isTerminal, JOB_STATES } from '../../src/rules/states.js';
import type { JobAction } from '../../src/rules/lifecycle.js';

const TODAY = { title: 'today’s table', moves: movesOf(JOB_ACTION_LIST), states: [...JOB_STATES] };
const TABLES: readonly Table[] = [TODAY, ...JOB_STATES.filter((state) => !isTerminal(state)).map(withHoldOf)];

interface Table {
  readonly title: string;
  readonly moves: readonly DiagramMove[];
  readonly states: readonly string[];
}

/** Today's table, and a state for which another one is left and returned to, and in which a job can be cancelled. */
function withHoldOf(state: string): Table {
  const moves: DiagramMove[] = [
    ...TODAY.moves.map((move) => (move.name === 'cancel' ? { ...move, from: [...move.from, 'held'] } : move)),
    { name: 'hold', from: [state], to: 'held', by: 'owner', mayKeepState: false },
    { name: 'unhold', from: ['held'], to: state, by: 'owner', mayKeepState: false },
  ];
  return { title: `a table with a hold of ${state}`, moves, states: [...TODAY.states, 'held'] };
}

describe.each(TABLES)('The picture of $title', ({ moves, states }) => {
  const { layout, parties } = diagramOf(moves, states);

  it('has each state once', () => {
    expect([...layout.nodes.keys()].toSorted()).toEqual([...states, ...Object.values(MARKS)].toSorted());
  });

  it('draws each move once, from each state that it leaves, to the state that it leads to', () => {
    expect(drawnMoves(layout)).toEqual(moves.map(({ name, from, to }) => ({ name, from: from.toSorted(), to: [to] })));
    for (const { name, from, by, mayKeepState } of moves) {
      const loops = layout.moves.find((move) => move.name === name)?.loops ?? [];
      const ends = loops.map(({ points }) => [points.at(0), points.at(-1)].map((point) => touched(layout, point)));
      expect(ends).toEqual(mayKeepState ? from.map((state) => [state, state]) : []);
      expect(parties.get(name)).toBe(by);
    }
  });

  it('is legible: nothing touches or covers anything else', () => {
    expect(flawsOf(layout)).toEqual([]);
  });

  it('is no wider than a telephone can show', () => {
    expect(layout.width).toBeLessThanOrEqual(PICTURE_WIDTH);
  });
});

describe('The picture of the lifecycle', () => {
  it('has a move for each transition of the table', () => {
    const shown = TODAY.moves.filter(({ name }) => !['create', 'delete'].includes(name));
    expect(shown.map(({ name, from, to, by }) => ({ name, from: from.toSorted(), to, by }))).toEqual(
      Object.values(JOB_TRANSITIONS).map((row) => {
        const from = leavesEveryState(row) ? [MARKS.anywhere] : row.from.toSorted();
        return { name: row.action.toLowerCase(), from, to: row.to, by: row.by };
      }),
    );
    const keeping = JOB_ACTION_LIST.filter((row) => isTransition(row) && row.mayKeepState);
    expect(shown.filter(({ mayKeepState }) => mayKeepState).map(({ name }) => name)).toEqual(
      keeping.map(({ action }) => action.toLowerCase()),
    );
  });

  it('follows the table: a row that is added is drawn, one that is taken away is not', () => {
    const unhold: JobAction = { ...JOB_TRANSITIONS.fileAppeal, action: 'UNHOLD', from: ['escalated'], to: 'in_review' };
    const names = (rows: readonly JobAction[]) => diagramOf(movesOf(rows)).layout.moves.map(({ name }) => name);
    expect(names([...JOB_ACTION_LIST, unhold])).toContain('unhold');
    expect(names(JOB_ACTION_LIST.filter(({ action }) => action !== 'CANCEL'))).not.toContain('cancel');
  });

  it('draws what leads back beside the way that it leads back on', () => {
    const { nodes, moves } = diagramOf(withHoldOf('open').moves, withHoldOf('open').states).layout;
    const y = (name: string) => moves.find((move) => move.name === name)?.label.y ?? nodes.get(name)?.y ?? 0;
    expect(y('hold')).toBe(y('unhold'));
    expect(y('open')).toBeLessThan(y('hold'));
    expect(y('hold')).toBeLessThan(y('held'));
  });

  it('is legible for any table, whatever circles there are', () => {
    const states = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((letter) => `the_state_${letter}`);
    const state = fc.constantFrom(...states);
    const row = fc.record({
      from: fc.uniqueArray(state, { minLength: 1, maxLength: 3 }),
      to: state,
      mayKeepState: fc.boolean(),
    });
    fc.assert(
      fc.property(
        fc.array(row, { maxLength: 10 }),
        fc.array(fc.tuple(state, state), { maxLength: 3 }),
        (rows, pairs) => {
          const returning = pairs.flatMap(([one, other]) => [
            { from: [one], to: other, mayKeepState: false },
            { from: [other], to: one, mayKeepState: false },
          ]);
          const moves = [...rows, ...returning].map((move, at) => ({
            ...move,
            name: `move_${at}`,
            by: 'owner' as const,
          }));
          const { layout } = diagramOf(moves, states);
          expect([...layout.nodes.keys()].toSorted()).toEqual(states);
          expect(drawnMoves(layout)).toEqual(
            moves.map(({ name, from, to }) => ({ name, from: from.toSorted(), to: [to] })),
          );
          expect(flawsOf(layout)).toEqual([]);
        },
      ),
    );
  });
});

/** What the lines of each move lead from, and to. */
function drawnMoves(layout: Layout) {
  return layout.moves.map(({ name, lines }) => ({
    name,
    from: lines.map(({ points }) => touched(layout, points.at(0))).toSorted(),
    to: [...new Set(lines.map(({ points }) => touched(layout, points.at(-1))))],
  }));
}

/** The node that a line begins or ends at. */
function touched({ nodes }: Layout, point: Point | undefined): string | undefined {
  return [...nodes].find(([, box]) => point && overlap(grown(box), { ...point, width: 0, height: 0 }))?.[0];
}

/** Everything that would make a picture hard to read, but for its width. */
function flawsOf(layout: Layout): string[] {
  const boxes = [...layout.nodes, ...layout.moves.map(({ name, label }) => [`label of ${name}`, label] as const)];
  return [
    ...boxes.filter(([, box]) => !isInside(layout, box)).map(([id]) => `${id} is outside`),
    ...pairs(boxes)
      .filter(([[, one], [, other]]) => overlap(grown(one), grown(other)))
      .map(([[one], [other]]) => `${one} touches ${other}`),
    ...layout.moves.flatMap((move) => lineFlaws(layout, move, boxes)),
    ...pairs(layout.moves)
      .filter(areTooClose)
      .map(([one, other]) => `${one.name} runs along ${other.name}`),
  ];
}

function lineFlaws(layout: Layout, move: PlacedMove, boxes: readonly (readonly [string, Area])[]): string[] {
  const { name, label } = move;
  const parts = [...move.lines, ...move.loops].flatMap(partsOf);
  const crossed = boxes.filter(([, box]) => box !== label && parts.some((part) => overlap(part, box)));
  return [
    ...parts.filter((part) => !isInside(layout, part)).map(() => `${name} leads outside`),
    ...crossed.map(([id]) => `${name} crosses ${id}`),
    ...move.lines
      .filter((line) => !partsOf(line).some((part) => overlap(part, grown(label))))
      .map(() => `${name} has no label`),
  ];
}

/** A curve keeps to the area between its ends. */
function partsOf({ points }: { readonly points: readonly Point[] }): Area[] {
  return points.slice(1).map((end, at) => {
    const start = points[at] ?? end;
    const [width, height] = [Math.abs(start.x - end.x), Math.abs(start.y - end.y)];
    return { x: (start.x + end.x) / 2, y: (start.y + end.y) / 2, width, height };
  });
}

/** All lines turn at the same heights: two that are apart at each of them can cross, but have no stretch in common. */
function areTooClose([one, other]: readonly [PlacedMove, PlacedMove]): boolean {
  const corners = (move: PlacedMove) => move.lines.flatMap(({ points }) => points);
  return corners(one).some(({ x, y }) => corners(other).some((point) => point.y === y && Math.abs(point.x - x) < 3));
}

function overlap(one: Area, other: Area): boolean {
  return (
    Math.abs(one.x - other.x) < (one.width + other.width) / 2 &&
    Math.abs(one.y - other.y) < (one.height + other.height) / 2
  );
}

function grown(area: Area): Area {
  return { ...area, width: area.width + 4, height: area.height + 4 };
}

function isInside(picture: Layout, { x, y, width, height }: Area): boolean {
  const [left, right, top, bottom] = [x - width / 2, x + width / 2, y - height / 2, y + height / 2];
  return left >= 0 && top >= 0 && right <= picture.width && bottom <= picture.height;
}

function pairs<Item>(items: readonly Item[]): [Item, Item][] {
  return items.flatMap((one, at) => items.slice(at + 1).map((other): [Item, Item] => [one, other]));
}
