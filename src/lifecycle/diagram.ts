/** What the picture of the lifecycle shows: its nodes and moves, from the table. */
import { isTransition, JOB_ACTION_LIST, JOB_CREATION, leavesEveryState } from '../rules/lifecycle.js';
import { JOB_STATES } from '../rules/states.js';
import type { JobAction, PartyWord } from '../rules/lifecycle.js';
import { wordsOf } from '../rules/words.js';
import type { Node, Size } from './arrangement.js';
import { layOut, type DrawnMove, type Layout } from './layout.js';
import { idOf, SHORT_PARTIES } from './words.js';

/** Nodes that are no states: where a job comes from, where a deleted one goes, and “any state”. */
export const MARKS = { start: '(start)', gone: '(gone)', anywhere: '(anywhere)' } as const;

/** A row of the table, as the picture shows it. */
export interface DiagramMove extends Omit<DrawnMove, 'label'> {
  readonly by: PartyWord;
}

export interface Diagram {
  readonly layout: Layout;
  /** Who may take each move, by its name. */
  readonly parties: ReadonlyMap<string, PartyWord>;
}

/** Other tables than the real one are for the tests. */
export function diagramOf(
  moves: readonly DiagramMove[] = movesOf(JOB_ACTION_LIST),
  states: readonly string[] = JOB_STATES,
): Diagram {
  const parties = new Map(moves.map(({ name, by }) => [name, by]));
  const drawn = moves.map((move) => ({ ...move, label: labelSize(wordsOf(move.name), SHORT_PARTIES[move.by]) }));
  return { layout: layOut(nodesOf(states, moves), drawn), parties };
}

export function movesOf(rows: readonly JobAction[]): DiagramMove[] {
  const { to, by } = JOB_CREATION;
  return [{ name: 'create', from: [MARKS.start], to, by, mayKeepState: false }, ...rows.flatMap(moveOf)];
}

/** Nothing for what leaves the job where it is; lines from every single state would cross out the picture. */
function moveOf(row: JobAction): DiagramMove[] {
  const { from, to, by } = row;
  const name = idOf(row);
  if (to === 'stays') return [];
  if (!isTransition(row)) return [{ name, from, to: MARKS.gone, by, mayKeepState: false }];
  const shown = leavesEveryState(row) ? [MARKS.anywhere] : from;
  return [{ name, from: shown, to, by, mayKeepState: row.mayKeepState !== undefined }];
}

function labelSize(name: string, party: string): Size {
  return { width: Math.ceil(Math.max(name.length * LABEL_LETTER, party.length * PARTY_LETTER)) + 4, height: 29 };
}

/** How wide a letter of each kind of text is at most, on average, in the widest of the usual fonts. */
const LABEL_LETTER = 6.9;
const PARTY_LETTER = 6.9;
const STATE_LETTER = 7.3;
const STATE_HEIGHT = 32;
const MARK_SIZE = 18;

/** Only the marks of what occurs in the table. */
function nodesOf(states: readonly string[], moves: readonly DiagramMove[]): Node[] {
  const ends = new Set(moves.flatMap(({ from, to }) => [...from, to]));
  const all = [
    { id: MARKS.start, width: MARK_SIZE, height: MARK_SIZE },
    ...states.map((id) => ({ id, width: widthOf(wordsOf(id)), height: STATE_HEIGHT })),
    { id: MARKS.gone, width: MARK_SIZE, height: MARK_SIZE },
    { id: MARKS.anywhere, width: widthOf('any state'), height: STATE_HEIGHT },
  ];
  return all.filter(({ id }) => states.includes(id) || ends.has(id));
}

function widthOf(text: string): number {
  return Math.ceil(text.length * STATE_LETTER) + 16;
}
