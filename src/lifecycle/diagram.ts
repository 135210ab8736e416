/** What the picture of the lifecycle shows: its nodes and moves, from the table. */
import { leavesEveryState } from '../rules/lifecycle-check.js';
import { isTransition, JOB_ACTION_LIST, JOB_CREATION } from '../rules/lifecycle.js';
import { INITIAL_JOB_STATE, JOB_STATES } from '../rules/states.js';
import type { JobAction, JobTransition, PartyWord } from '../rules/lifecycle.js';
import type { JobState } from '../rules/states.js';
import { wordsOf } from '../rules/words.js';
import { placeStates, type Cell } from './cells.js';
import { layOut, type LabelledMove, type Layout, type Node } from './layout.js';
import { idOf, SHORT_PARTIES } from './words.js';

/** Nodes that are no states: where a job comes from, where a deleted one goes, and “any state”. */
export const MARKS = { start: '(start)', gone: '(gone)', anywhere: '(anywhere)' } as const;

export interface Diagram {
  readonly layout: Layout;
  readonly states: readonly JobState[];
  /** Who may take each move, by its name. */
  readonly parties: ReadonlyMap<string, PartyWord>;
}

/** Other rows than the real ones are for the tests. */
export function diagramOf(
  rows: readonly JobAction[] = JOB_ACTION_LIST,
  states: readonly JobState[] = JOB_STATES,
): Diagram {
  const moves = [creation(), ...rows.flatMap(moveOf)];
  const parties = new Map([[CREATE, JOB_CREATION.by as PartyWord], ...rows.map((row) => [idOf(row), row.by] as const)]);
  return { layout: layOut(nodesOf(rows, states), labelled(moves, parties)), states, parties };
}

const CREATE = 'create';

type Unlabelled = Omit<LabelledMove, 'label'>;

function creation(): Unlabelled {
  return { name: CREATE, from: [MARKS.start], to: INITIAL_JOB_STATE, mayKeepState: false };
}

/** Nothing for what leaves the job where it is; lines from every single state would cross out the picture. */
function moveOf(row: JobAction): Unlabelled[] {
  if (row.to === 'stays') return [];
  if (row.to === 'gone') return [{ name: idOf(row), from: row.from, to: MARKS.gone, mayKeepState: false }];
  const from = isTransition(row) && leavesEveryState(row) ? [MARKS.anywhere] : row.from;
  return [{ name: idOf(row), from, to: row.to, mayKeepState: isTransition(row) && row.mayKeepState !== undefined }];
}

function labelled(moves: readonly Unlabelled[], parties: ReadonlyMap<string, PartyWord>): LabelledMove[] {
  return moves.map((move) => {
    const lines = [wordsOf(move.name), SHORT_PARTIES[parties.get(move.name) ?? 'admin']];
    const width = Math.max(wordsOf(move.name).length * LABEL_LETTER, (lines[1]?.length ?? 0) * PARTY_LETTER);
    return { ...move, label: { width: width + 4, height: 29 } };
  });
}

/** How wide a letter of each kind of text is at most, on average, in the widest of the usual fonts. */
const LABEL_LETTER = 6.9;
const PARTY_LETTER = 6.9;
const STATE_LETTER = 7.3;
const STATE_HEIGHT = 32;
const MARK_SIZE = 18;

function nodesOf(rows: readonly JobAction[], states: readonly JobState[]): Node[] {
  const normal = rows.filter(isTransition).filter((row) => !leavesEveryState(row));
  const cells = placeStates(INITIAL_JOB_STATE, states, normal.map(asMove));
  const nodes = [...cells].map(([id, cell]) => ({ id, cell, width: widthOf(wordsOf(id)), height: STATE_HEIGHT }));
  const all: Node[] = [...nodes, { ...MARK, id: MARKS.start, cell: above(cellOf(cells, INITIAL_JOB_STATE)) }];
  for (const row of rows) {
    const [from] = row.from;
    if (row.to === 'gone' && from && !all.some(({ id }) => id === MARKS.gone))
      all.push({ ...MARK, id: MARKS.gone, cell: freeCell(all, below(cellOf(cells, from)), 1) });
    if (isTransition(row) && leavesEveryState(row) && !all.some(({ id }) => id === MARKS.anywhere))
      all.push({ ...ANYWHERE, cell: freeCell(all, above(cellOf(cells, row.to)), -1) });
  }
  return all;
}

const MARK = { width: MARK_SIZE, height: MARK_SIZE };
const ANYWHERE = { id: MARKS.anywhere, width: widthOf('any state'), height: STATE_HEIGHT };

function asMove(row: JobTransition) {
  return { name: idOf(row), from: row.from, to: row.to };
}

function widthOf(text: string): number {
  return Math.ceil(text.length * STATE_LETTER) + 16;
}

function above({ row, lane }: Cell): Cell {
  return { row: row - 1, lane };
}

function below({ row, lane }: Cell): Cell {
  return { row: row + 1, lane };
}

/** The nearest lane on this side that nothing is in, at this row. */
function freeCell(nodes: readonly Node[], { row, lane }: Cell, side: number): Cell {
  let free = lane + side;
  while (nodes.some(({ cell }) => cell.row === row && cell.lane === free)) free += side;
  return { row, lane: free };
}

function cellOf(cells: ReadonlyMap<string, Cell>, state: string): Cell {
  const cell = cells.get(state);
  if (!cell) throw new Error(`${state} is no state of the table.`);
  return cell;
}
