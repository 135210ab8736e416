/** The picture of the lifecycle as geometry: what would make it hard to read cannot happen. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { placeStates, type Move } from '../../src/lifecycle/cells.js';
import { diagramOf, MARKS } from '../../src/lifecycle/diagram.js';
import { areaOfSegment, overlap, segmentsOf, type Area, type Point } from '../../src/lifecycle/layout.js';
import { leavesEveryState } from '../../src/rules/lifecycle-check.js';
import { isTransition, JOB_ACTION_LIST, JOB_TRANSITIONS } from '../../src/rules/lifecycle.js';
import { JOB_STATES } from '../../src/rules/states.js';
import type { JobAction } from '../../src/rules/lifecycle.js';

const { layout, parties } = diagramOf();
const lines = layout.moves.flatMap(({ name, lines: own }) => own.map((line) => ({ name, line })));

describe('The picture of the lifecycle', () => {
  it('has each state once, and no two boxes touch', () => {
    const boxes = [...layout.nodes];
    expect(boxes.map(([id]) => id).toSorted()).toEqual([...JOB_STATES, ...Object.values(MARKS)].toSorted());
    expect(pairs(boxes).filter(([[, one], [, other]]) => overlap(grown(one), other))).toEqual([]);
  });

  it('draws each transition of the table once, from each state that it leaves, to the state that it leads to', () => {
    const drawn = layout.moves.filter(({ name }) => !['create', 'delete'].includes(name));
    expect(drawn.map(({ name }) => name)).toEqual(
      Object.values(JOB_TRANSITIONS).map((row) => row.action.toLowerCase()),
    );
    for (const row of JOB_ACTION_LIST.filter(isTransition)) {
      const move = drawn.find(({ name }) => name === row.action.toLowerCase());
      const [forward, loops] = [move?.lines.slice(0, -1) ?? [], move?.lines.slice(-1) ?? []];
      const moving = row.mayKeepState ? forward : [...forward, ...loops];
      const from = leavesEveryState(row) ? [MARKS.anywhere] : row.from;
      expect(
        moving.map((line) => touched(line.points.at(0))),
        row.action,
      ).toEqual(from);
      expect(
        moving.map((line) => touched(line.points.at(-1))),
        row.action,
      ).toEqual(from.map(() => row.to));
      if (row.mayKeepState) expect(loops.map((line) => touched(line.points.at(-1)))).toEqual(row.from);
      expect(parties.get(row.action.toLowerCase())).toBe(row.by);
    }
  });

  it('leads no line across a box', () => {
    for (const { name, line } of lines)
      for (const segment of segmentsOf(line))
        expect(
          [...layout.nodes].filter(([, box]) => overlap(areaOfSegment(segment), box)).map(([id]) => `${name}: ${id}`),
        ).toEqual([]);
  });

  it('lets no two moves share a stretch of a line', () => {
    const segments = lines.flatMap(({ name, line }) => segmentsOf(line).map((segment) => ({ name, segment })));
    const shared = pairs(segments).filter(
      ([one, other]) => one.name !== other.name && sharedLength(one.segment, other.segment) > 0,
    );
    expect(shared.map(([one, other]) => `${one.name} and ${other.name}`)).toEqual([]);
  });

  it('shows every label whole, on its own line, and apart from all else', () => {
    for (const { name, label, lines: own } of layout.moves) {
      expect(isInside(label), name).toBe(true);
      expect(own.some((line) => segmentsOf(line).some((one) => overlap(grown(areaOfSegment(one)), label)))).toBe(true);
      const others = lines
        .filter((one) => one.name !== name)
        .flatMap(({ line }) => segmentsOf(line).map(areaOfSegment));
      const labels = layout.moves.filter((one) => one.name !== name).map((one) => one.label);
      expect(
        [...others, ...labels, ...layout.nodes.values()].filter((area) => overlap(label, area)),
        name,
      ).toEqual([]);
    }
  });

  it('lies inside its view, which a telephone can show', () => {
    for (const area of layout.nodes.values()) expect(isInside(area)).toBe(true);
    for (const { line } of lines)
      for (const point of line.points) expect(isInside({ ...point, width: 0, height: 0 })).toBe(true);
    expect(layout.width).toBeLessThanOrEqual(440);
  });

  it('follows the table: a row that is added is drawn, one that is taken away is not', () => {
    const resume: JobAction = { ...JOB_TRANSITIONS.fileAppeal, action: 'RESUME', from: ['escalated'], to: 'in_review' };
    const names = (rows: readonly JobAction[]) => diagramOf(rows).layout.moves.map(({ name }) => name);
    expect(names([...JOB_ACTION_LIST, resume])).toContain('resume');
    expect(names(JOB_ACTION_LIST.filter(({ action }) => action !== 'CANCEL'))).not.toContain('cancel');
  });

  it('draws a state that is left and returned to below the one that it is left for', () => {
    const moves: Move[] = [
      { name: 'begin', from: ['new'], to: 'busy' },
      { name: 'end', from: ['busy'], to: 'done' },
      { name: 'pause', from: ['busy'], to: 'paused' },
      { name: 'resume', from: ['paused'], to: 'busy' },
    ];
    const cells = placeStates('new', ['new', 'busy', 'done', 'paused'], moves);
    const rows = ['new', 'busy', 'paused'].map((state) => cells.get(state)?.row);
    expect(rows).toEqual([0, 1, 2]);
  });

  it('gives every state of any table a cell of its own', () => {
    const states = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    const state = fc.constantFrom(...states);
    const move = fc.record({ from: fc.uniqueArray(state, { minLength: 1, maxLength: 3 }), to: state });
    const table = fc.array(move, { maxLength: 14 });
    fc.assert(
      fc.property(table, (rows) => {
        const moves: Move[] = rows.map((row, at) => ({ ...row, name: String(at) }));
        const cells = placeStates('a', states, moves);
        expect([...cells.keys()].toSorted()).toEqual(states);
        expect(new Set([...cells.values()].map(({ row, lane }) => `${row} ${lane}`)).size).toBe(states.length);
      }),
    );
  });
});

/** The node that a line begins or ends at. */
function touched(point: Point | undefined): string | undefined {
  return [...layout.nodes].find(([, box]) => point && overlap(grown(box), { ...point, width: 0, height: 0 }))?.[0];
}

function grown(area: Area): Area {
  return { ...area, width: area.width + 4, height: area.height + 4 };
}

function isInside({ x, y, width, height }: Area): boolean {
  const [left, right, top, bottom] = [x - width / 2, x + width / 2, y - height / 2, y + height / 2];
  return left >= 0 && top >= 0 && right <= layout.width && bottom <= layout.height;
}

/** How long two lines run along each other. */
function sharedLength(one: readonly [Point, Point], other: readonly [Point, Point]): number {
  const [a, b] = [areaOfSegment(one), areaOfSegment(other)];
  const across = Math.min(a.x + a.width / 2, b.x + b.width / 2) - Math.max(a.x - a.width / 2, b.x - b.width / 2);
  const down = Math.min(a.y + a.height / 2, b.y + b.height / 2) - Math.max(a.y - a.height / 2, b.y - b.height / 2);
  return across < 0 || down < 0 ? 0 : Math.max(across, down);
}

function pairs<Item>(items: readonly Item[]): [Item, Item][] {
  return items.flatMap((one, at) => items.slice(at + 1).map((other): [Item, Item] => [one, other]));
}
