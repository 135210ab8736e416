/** The picture of the lifecycle as SVG. Every move and every state in it is a link to its words below the picture. */
import { isTerminal, JOB_STATE_ROWS, JOB_STATES, type JobState } from '../rules/states.js';
import type { PartyWord } from '../rules/lifecycle.js';
import { wordsOf } from '../rules/words.js';
import { MARKS, type Diagram } from './diagram.js';
import type { Area, Point } from './arrangement.js';
import type { PlacedMove } from './layout.js';
import { SHORT_PARTIES, STEPS } from './words.js';

/** Who acts in the picture; each has a colour, and is named next to every line. */
export const ACTORS = ['owner', 'awardee', 'parties', 'admin'] as const satisfies readonly PartyWord[];

export function pictureOf({ layout, parties }: Diagram): string {
  const { width, height, nodes, moves } = layout;
  const area = (id: string) => nodes.get(id);
  return [
    `<svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="group"`,
    ` aria-label="The states of a job and the moves between them">`,
    `<defs>${ACTORS.map(arrowHead).join('')}</defs>`,
    // Labels lie over the lines of all moves.
    ...moves.map((move) => moveLink(move, parties.get(move.name) ?? 'admin')),
    ...JOB_STATES.map((state) => stateLink(state, area(state))),
    marks(area(MARKS.start), area(MARKS.gone), area(MARKS.anywhere)),
    '</svg>',
  ].join('\n');
}

function moveLink({ name, lines: ways, loops, label }: PlacedMove, by: PartyWord): string {
  const lines = [...ways, ...loops];
  const step = STEPS.find(({ id }) => id === name);
  const words = `${wordsOf(name)}, by ${step?.who}: from ${step?.from} to ${step?.to}`;
  return [
    `<a href="#step-${name}" class="move by-${by}" data-step="${name}" aria-label="${words}">`,
    ...lines.map(({ points }) => `<path class="reach" d="${pathOf(points)}"/>`),
    ...lines.map(({ from, points }) => {
      const all = from === MARKS.anywhere ? ' data-all' : '';
      return `<path class="line" data-from="${from}"${all} d="${pathOf(points)}" marker-end="url(#head-${by})"/>`;
    }),
    `<rect class="plate" ${boxOf(label)} rx="4"/>`,
    `<text x="${label.x}" y="${label.y - 3}"><tspan class="name">${wordsOf(name)}</tspan>`,
    `<tspan class="party" x="${label.x}" dy="13">${SHORT_PARTIES[by]}</tspan></text></a>`,
  ].join('');
}

function stateLink(state: JobState, area: Area | undefined): string {
  if (!area) return '';
  const words = `${wordsOf(state)}: ${JOB_STATE_ROWS[state].description}`;
  return [
    `<a href="#state-${state}" class="state${isTerminal(state) ? ' end' : ''}" data-state="${state}"`,
    ` aria-label="${words}"><rect ${boxOf(area)} rx="8"/>`,
    `<text x="${area.x}" y="${area.y + 4}">${wordsOf(state)}</text></a>`,
  ].join('');
}

function marks(start?: Area, gone?: Area, anywhere?: Area): string {
  return [
    start && `<circle class="mark start" cx="${start.x}" cy="${start.y}" r="${start.width / 2}"/>`,
    gone &&
      `<g class="mark gone"><circle cx="${gone.x}" cy="${gone.y}" r="${gone.width / 2}"/>` +
        `<path d="M${gone.x - 4} ${gone.y - 4}l8 8m0 -8l-8 8"/></g>`,
    anywhere &&
      `<g class="mark anywhere"><rect ${boxOf(anywhere)} rx="16"/>` +
        `<text x="${anywhere.x}" y="${anywhere.y + 4}">any state</text></g>`,
  ]
    .filter((part) => part !== undefined)
    .join('\n');
}

function arrowHead(by: PartyWord): string {
  return (
    `<marker id="head-${by}" class="head by-${by}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" ` +
    `markerHeight="8"` +
    ` markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0.5 8 4 0 7.5z"/></marker>`
  );
}

function pathOf([first, ...rest]: readonly Point[]): string {
  if (!first) return '';
  const parts = rest.map(({ x, y }, at) => {
    const from = rest[at - 1] ?? first;
    if (x === from.x || y === from.y) return `L${x} ${y}`;
    const middle = (from.y + y) / 2;
    return `C${from.x} ${middle} ${x} ${middle} ${x} ${y}`;
  });
  return `M${first.x} ${first.y}${parts.join('')}`;
}

function boxOf({ x, y, width, height }: Area): string {
  return `x="${x - width / 2}" y="${y - height / 2}" width="${width}" height="${height}"`;
}
