/**
 * The lifecycle as a page for people, schema/lifecycle.md: printed from the tables, so that it cannot say anything
 * else.
 */
import { BID_CONSEQUENCES, BID_TRANSITION_LIST, type BidTransition } from '../../../src/market/rules/bids.js';
import { descriptionOf } from '../../../src/market/rules/jobs/effects.js';
import {
  isTransition,
  JOB_ACTION_LIST,
  JOB_CREATION,
  OTHER_JOB_ACTIONS,
  leavesEveryState,
} from '../../../src/market/rules/lifecycle.js';
import {
  INITIAL_BID_STATE,
  INITIAL_JOB_STATE,
  LIVE_BID_STATES,
  TERMINAL_JOB_STATES,
} from '../../../src/market/rules/states.js';
import type { JobAction, JobTransition } from '../../../src/market/rules/lifecycle.js';
import type { JobState } from '../../../src/market/rules/states.js';
import { ALLOWED_ACTORS } from '../../../src/market/rules/parties.js';

export function lifecycleDiagram(): string {
  return [
    '# The life of a job and of its bids',
    'Printed from `src/market/rules/lifecycle.ts`; a change here is a change of the rules.',
    '## States of a job',
    fenced(['stateDiagram-v2', ...jobArrows().map(indented)]),
    '## Operations on a job',
    table(
      ['Operation', 'Address', 'By', 'From', 'To', 'Event', 'What it means', 'Other effects'],
      JOB_ACTION_LIST.map(jobRow),
    ),
    '## States of a bid',
    fenced(['stateDiagram-v2', ...bidArrows().map(indented)]),
    '## Operations on a bid',
    table(['Operation', 'Address', 'By', 'From', 'To', 'Event', 'What it means'], BID_TRANSITION_LIST.map(bidRow)),
    'The homeowner and admins read every bid’s events. A contractor reads those of their own bid.',
    '## What happens to bids because of their job',
    table(['When', 'From', 'To', 'Event'], Object.values(BID_CONSEQUENCES).map(consequenceRow)),
    `A live bid is ${LIVE_BID_STATES.slice(0, -1).join(', ')} or ${LIVE_BID_STATES.at(-1)}.`,
  ]
    .join('\n\n')
    .concat('\n');
}

/** An operation that leaves every state would cross out the picture; it is a note instead. */
function jobArrows(): string[] {
  const transitions = JOB_ACTION_LIST.filter(isTransition);
  const gone = JOB_ACTION_LIST.filter((row) => row.to === 'gone');
  return [
    arrow('[*]', INITIAL_JOB_STATE, JOB_CREATION),
    ...transitions.filter((row) => !leavesEveryState(row)).flatMap(transitionArrows),
    ...gone.flatMap((row) => row.from.map((state) => arrow(state, '[*]', row))),
    ...TERMINAL_JOB_STATES.map((state) => `${state} --> [*]`),
    ...transitions.filter(leavesEveryState).map(noteOf),
  ];
}

/**
 * One arrow for all that leads from one state to another: a bid is rejected for three reasons and from three states.
 */
function bidArrows(): string[] {
  const labels = new Map<string, string[]>([[`[*] --> ${INITIAL_BID_STATE}`, [labelOf(OTHER_JOB_ACTIONS.submitBid)]]]);
  const people = BID_TRANSITION_LIST.map((row) => ({ ...row, label: labelOf(row) }));
  const consequences = Object.values(BID_CONSEQUENCES).map((row) => ({ ...row, label: row.when }));
  for (const { from, to, label } of [...people, ...consequences]) {
    for (const state of from) labels.set(`${state} --> ${to}`, [...(labels.get(`${state} --> ${to}`) ?? []), label]);
  }
  return [...labels].map(([pair, reasons]) => `${pair} : ${reasons.join(', or ')}`);
}

function noteOf(row: JobTransition): string {
  return `note left of ${row.to} : ${labelOf(row)} leads here from every state but the ends`;
}

function transitionArrows(row: JobTransition): string[] {
  return row.from.flatMap((state) => [...stayArrow(state, row), arrow(state, row.to, row)]);
}

function stayArrow(state: JobState, row: JobTransition): string[] {
  return row.mayKeepState ? [`${arrow(state, state, row)}, until ${row.mayKeepState.until}`] : [];
}

function arrow(from: string, to: string, row: { operation: string; actor: string }): string {
  return `${from} --> ${to} : ${labelOf(row)}`;
}

function labelOf(row: { operation: string; actor: string }): string {
  return `${row.operation} (${row.actor})`;
}

function jobRow(row: JobAction): string[] {
  return [
    code(row.operation),
    code(addressOf('/jobs/{id}', row)),
    ALLOWED_ACTORS[row.actor].description,
    codes(row.from),
    destination(row),
    eventsOf(row),
    row.description,
    row.effects.map(descriptionOf).join('; '),
  ];
}

function destination(row: JobAction): string {
  if (!isTransition(row)) return row.to === 'stays' ? 'the same state' : '(none)';
  const stay = row.mayKeepState ? `, or the same state until ${row.mayKeepState.until}` : '';
  const settled = row.alreadyDoneIn ? `; nothing changes in ${codes(row.alreadyDoneIn)}` : '';
  return code(row.to) + stay + settled;
}

function eventsOf(row: JobAction): string {
  const stay = isTransition(row) ? row.mayKeepState : undefined;
  return codes(stay ? [row.event, stay.event] : [row.event]);
}

function bidRow(row: BidTransition): string[] {
  return [
    code(row.operation),
    code(addressOf('/jobs/{id}/bids/{bid_id}', row)),
    ALLOWED_ACTORS[row.actor].description,
    codes(row.from),
    code(row.to),
    code(row.event),
    row.description,
  ];
}

function consequenceRow(row: (typeof BID_CONSEQUENCES)[keyof typeof BID_CONSEQUENCES]): string[] {
  return [row.when, codes(row.from), code(row.to), code(row.event)];
}

function addressOf(thing: string, row: JobAction | BidTransition): string {
  return `${row.method ?? 'POST'} ${[thing, row.path].filter((part) => part !== '').join('/')}`;
}

function table(head: string[], rows: string[][]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function fenced(lines: string[]): string {
  return ['```mermaid', ...lines, '```'].join('\n');
}

function indented(line: string): string {
  return `  ${line}`;
}

function code(text: string): string {
  return `\`${text}\``;
}

function codes(texts: readonly string[]): string {
  return texts.map(code).join(', ');
}
