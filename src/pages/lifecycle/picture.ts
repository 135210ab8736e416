/** Draws the lifecycle as SVG, with a layout by dagre. Each state and step links to its description. */
import { Graph, layout } from '@dagrejs/dagre';
import type { DeadlineSettings } from '../../market/rules/jobs/deadlines.js';
import { isTerminal, JOB_PHASES, JOB_STATE_ROWS, JOB_STATES, type JobState } from '../../market/rules/states.js';
import { wordsOf } from '../../market/rules/words.js';
import { ARROWS, deadlineIn, MARKS, timeIn, type Arrow } from './words.js';

type Point = Readonly<Record<'x' | 'y', number>>;
type Box = Point & Readonly<Record<'width' | 'height', number>>;

/** The average width of a letter in the widest common font, in pixels. */
const LETTER_WIDTH = 6.8;

export function drawPicture(deadlines: DeadlineSettings): string {
  const graph = arrange(deadlines);
  const { width, height } = graph.graph();
  return [
    `<svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="group"`,
    ` aria-label="The states of a job and the steps between them">`,
    `<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8"`,
    ` markerUnits="userSpaceOnUse" orient="auto"><path fill="context-stroke" d="M0 0.5 8 4 0 7.5z"/></marker>`,
    ...ARROWS.map((step) => (step.leadsTo ? stepLink(step, step.leadsTo, graph) : '')),
    ...JOB_STATES.map((state) => stateLink(state, deadlines, graph.node(state))),
    ...Object.values(MARKS).map((mark) => `<g class="mark">${boxWith(mark, graph.node(mark))}</g>`),
    '</svg>',
  ].join('\n');
}

/** A step's label is a node too. Lines lead to it from each state that the step leaves. */
function arrange(deadlines: DeadlineSettings): Graph {
  const graph = new Graph();
  // With these distances, the picture fits in a window of 400 by 800 pixels.
  graph.setGraph({ nodesep: 4, edgesep: 4, ranksep: 7, marginx: 8, marginy: 4 });
  const addBox = (box: string, text: string) => graph.setNode(box, { width: widthOf(text) + 16, height: 24 });
  for (const mark of Object.values(MARKS)) addBox(mark, mark);
  for (const state of JOB_STATES) addBox(state, textOf(state, deadlines));
  for (const [at, { id, actor, leaves, leadsTo }] of ARROWS.entries()) {
    if (!leadsTo) continue;
    const isBack = leaves.some((state) => phaseOf(leadsTo) < phaseOf(state));
    const connect = (from: string, to: string, line: object) =>
      isBack ? graph.setEdge(to, from, line) : graph.setEdge(from, to, line);
    graph.setNode(labelOf(id), { width: Math.max(widthOf(wordsOf(id)), widthOf(actor)) + 4, height: 28 });
    connect(labelOf(id), leadsTo, isBack ? { weight: 4 } : {});
    // Labels are near the states that their steps leave. Labels of steps to the same state are stacked. Side by side,
    // they would make the picture too wide.
    for (const state of leaves) {
      const above = ARROWS.slice(0, at).filter((step) => step.leadsTo === leadsTo && step.leaves.includes(state));
      connect(state, labelOf(id), { weight: 2, minlen: 1 + above.length });
    }
  }
  layout(graph);
  return graph;
}

const PHASES: readonly string[] = Object.keys(JOB_PHASES);

/** The index of a state's phase. Other boxes don't have a phase. */
function phaseOf(box: string): number {
  const state = JOB_STATES.find((one) => one === box);
  return state ? PHASES.indexOf(JOB_STATE_ROWS[state].phase) : Number.NaN;
}

/** The points of a line between two boxes. A step back to an earlier phase is laid out in reverse. */
function pointsOf(graph: Graph, from: string, to: string): Point[] {
  return graph.hasEdge(from, to) ? graph.edge(from, to).points : graph.edge(to, from).points.toReversed();
}

const labelOf = (step: string) => `label of ${step}`;
const widthOf = (text: string) => Math.ceil(text.length * LETTER_WIDTH);

function stepLink({ id, actor, leaves, mayKeepState, words }: Arrow, leadsTo: string, graph: Graph): string {
  const label: Box = graph.node(labelOf(id));
  const onwards = curve(pointsOf(graph, labelOf(id), leadsTo));
  const lines = leaves.flatMap((state) => {
    const line = lineFrom(state, curve(pointsOf(graph, state, labelOf(id))) + onwards);
    return mayKeepState ? [line, lineFrom(state, loopAt(graph.node(state)))] : [line];
  });
  return [
    `<a href="#step-${id}" class="move by-${actor}" data-step="${id}"`,
    ` aria-label="${wordsOf(id)} ${actor}: by ${words.Who}, from ${words.From} to ${words.To}">`,
    ...lines,
    `<rect class="plate" ${outline(label)} rx="4"/>`,
    `<text class="name" x="${label.x}" y="${label.y - 2}">${wordsOf(id)}</text> `,
    `<text class="party" x="${label.x}" y="${label.y + 10}">${actor}</text></a>`,
  ].join('');
}

function lineFrom(state: string, path: string): string {
  return `<path class="line" data-from="${state}" d="${path}" marker-end="url(#head)"/>`;
}

function textOf(state: JobState, deadlines: DeadlineSettings): string {
  const time = timeIn(state, deadlines);
  return time === undefined ? wordsOf(state) : `${wordsOf(state)}, ${time}`;
}

function stateLink(state: JobState, deadlines: DeadlineSettings, box: Box): string {
  const { description } = JOB_STATE_ROWS[state];
  const text = textOf(state, deadlines);
  const words = [`${text}: ${description}`, deadlineIn(state, deadlines) ?? []].flat().join(' ');
  const kind = isTerminal(state) ? 'state end' : 'state';
  return (
    `<a href="#state-${state}" class="${kind}" data-state="${state}" aria-label="${words}">` +
    `${boxWith(text, box)}</a>`
  );
}

function boxWith(text: string, box: Box): string {
  return `<rect ${outline(box)} rx="6"/><text x="${box.x}" y="${box.y + 4}">${text}</text>`;
}

function outline({ x, y, width, height }: Box): string {
  return `x="${x - width / 2}" y="${y - height / 2}" width="${width}" height="${height}"`;
}

function loopAt({ x, y, width }: Box): string {
  return `M${x + width / 2} ${y - 8}c20 -8 20 24 0 16`;
}

/** Draws a line through dagre's points, with rounded corners. */
function curve([first, ...rest]: readonly Point[]): string {
  const corners = rest.slice(0, -1).map(({ x, y }, at) => {
    const next = rest[at + 1] ?? { x, y };
    const isLast = at === rest.length - 2;
    return `Q${x} ${y} ${isLast ? next.x : (x + next.x) / 2} ${isLast ? next.y : (y + next.y) / 2}`;
  });
  return first ? `M${first.x} ${first.y}${corners.join('')}` : '';
}
