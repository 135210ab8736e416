/** Prints the lifecycle for people: the page schema/lifecycle.md, and the diagram in README.md. */
import { BID_ACTION_LIST, BID_CONSEQUENCES, BID_RESTORATION, type BidAction } from '../../../src/market/rules/bids.js';
import {
  CLOCK_TRANSITIONS,
  DEADLINES,
  deadlineTable,
  STAKE_DEADLINE,
  type EndingState,
} from '../../../src/market/rules/jobs/deadlines.js';
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
import { between } from './between.js';

export function lifecycleDiagram(): string {
  return [
    '# The life of a job and its bids',
    'This page is generated from `lifecycle.ts`, `bids.ts`, and `jobs/deadlines.ts` in `src/market/rules`.',
    '## States of a job',
    fenced(['stateDiagram-v2', ...jobArrows().map(indented)]),
    '## Operations on a job',
    ...JOB_ACTION_LIST.map(jobSection),
    ...deadlineSections(),
    '## States of a bid',
    fenced(['stateDiagram-v2', ...bidArrows().map(indented)]),
    `A bid is live while it's ${LIVE_BID_STATES.slice(0, -1).join(', ')}, or ${LIVE_BID_STATES.at(-1)}.`,
    '## Operations on a bid',
    ...BID_ACTION_LIST.map(bidSection),
    'The homeowner and admins can read the events of every bid. A contractor can read only their own.',
    '## When a job changes its bids',
    table(['When', 'From', 'To', 'Event'], [...Object.values(BID_CONSEQUENCES), BID_RESTORATION].map(consequenceRow)),
  ]
    .join('\n\n')
    .concat('\n');
}

/** README.md only shows the states and the names of the steps. */
export function withLifecyclePicture(page: string): string {
  const steps = new Map<string, string[]>([[`[*] --> ${INITIAL_JOB_STATE}`, ['create']]]);
  for (const row of JOB_ACTION_LIST.filter(isTransition).filter((row) => !leavesEveryState(row))) {
    const name = row.action.toLowerCase().replaceAll('_', ' ');
    for (const state of [...row.from, ...(row.fromAfterChanges ?? [])]) {
      const arrow = `${state} --> ${row.to}`;
      steps.set(arrow, [...(steps.get(arrow) ?? []), name]);
    }
  }
  const arrows = [...steps].map(([arrow, names]) => `${arrow} : ${names.join(', ')}`);
  return between('lifecycle', page, `${fenced(['stateDiagram-v2', ...arrows.map(indented)])}\n`);
}

type BidConsequence = (typeof BID_CONSEQUENCES)[keyof typeof BID_CONSEQUENCES] | typeof BID_RESTORATION;

/** An operation that leaves every state is a note. Its arrows would cover the diagram. */
function jobArrows(): string[] {
  const transitions = JOB_ACTION_LIST.filter(isTransition);
  const gone = JOB_ACTION_LIST.filter((row) => row.to === 'gone');
  return [
    arrow('[*]', INITIAL_JOB_STATE, JOB_CREATION),
    ...transitions.filter((row) => !leavesEveryState(row)).flatMap(transitionArrows),
    ...gone.flatMap((row) => row.from.map((state) => arrow(state, '[*]', row))),
    ...Object.values(CLOCK_TRANSITIONS).map(({ from, to, action }) => `${from} --> ${to} : ${action} (clock)`),
    ...TERMINAL_JOB_STATES.map((state) => `${state} --> [*]`),
    ...transitions.filter(leavesEveryState).map(noteOf),
  ];
}

/** One arrow from one state to another, with all its reasons. A bid can be rejected for three reasons. */
function bidArrows(): string[] {
  const labels = new Map<string, string[]>([[`[*] --> ${INITIAL_BID_STATE}`, [labelOf(OTHER_JOB_ACTIONS.submitBid)]]]);
  const people = BID_ACTION_LIST.map((row) => ({ ...row, label: labelOf(row) }));
  const restored = BID_RESTORATION.to.map((to) => ({ ...BID_RESTORATION, to }));
  const consequences = [...Object.values(BID_CONSEQUENCES), ...restored].map((row) => ({ ...row, label: row.when }));
  for (const { from, to, label } of [...people, ...consequences]) {
    for (const state of from) {
      const pair = `${state} --> ${to === 'stays' ? state : to}`;
      labels.set(pair, [...(labels.get(pair) ?? []), label]);
    }
  }
  return [...labels].map(([pair, reasons]) => `${pair} : ${reasons.join(', or ')}`);
}

function noteOf(row: JobTransition): string {
  return `note left of ${row.to} : ${labelOf(row)} leads here from every state except the final ones`;
}

function transitionArrows(row: JobTransition): string[] {
  const { from, to, fromAfterChanges = [], notAfterChanges = [] } = row;
  return [
    ...from.flatMap((state) => [
      ...stayArrow(state, row),
      arrow(state, to, row) + (notAfterChanges.includes(state) ? `, unless ${CHANGES_WERE_REQUESTED}` : ''),
    ]),
    ...fromAfterChanges.map((state) => `${arrow(state, to, row)}, after ${CHANGES_WERE_REQUESTED}`),
  ];
}

const CHANGES_WERE_REQUESTED = 'changes were requested';

function stayArrow(state: JobState, row: JobTransition): string[] {
  return row.mayKeepState ? [`${arrow(state, state, row)}, until ${row.mayKeepState.until}`] : [];
}

function arrow(from: string, to: string, row: { operation: string; actor: string }): string {
  return `${from} --> ${to} : ${labelOf(row)}`;
}

function labelOf(row: { operation: string; actor: string }): string {
  return `${row.operation} (${row.actor})`;
}

function jobSection(row: JobAction): string {
  return [
    heading(row, '/v1/jobs/{id}'),
    `- Who: ${ALLOWED_ACTORS[row.actor].description}`,
    `- From: ${originsOf(row)}`,
    `- To: ${destination(row)}`,
    `- Event: ${eventsOf(row)}`,
    ...(row.effects.length > 0 ? ['- Effects:', ...row.effects.map((effect) => `  - ${descriptionOf(effect)}`)] : []),
  ].join('\n');
}

function originsOf({ from, fromAfterChanges, notAfterChanges }: JobAction): string {
  const also = fromAfterChanges ? `; after ${CHANGES_WERE_REQUESTED}, also ${codes(fromAfterChanges)}` : '';
  const not = notAfterChanges ? `; after ${CHANGES_WERE_REQUESTED}, not ${codes(notAfterChanges)}` : '';
  return codes(from) + also + not;
}

function deadlineSections(): string[] {
  const { day, reminderDay } = DEADLINES.disputed.limit;
  return [
    '## Deadlines',
    'These are the defaults. An operator [can change them](../docs/operating.md#deadlines). ' +
      '`GET /v1/lifecycle` returns your server’s actual deadlines.',
    table(
      ['Status', 'Counted from', 'Reminders', 'Then, with `DEADLINES=act`', 'Extended by'],
      deadlineTable(usualTimes()).map(deadlineRow),
    ),
    `A dispute is escalated no later than ${day} days after it began, no matter when the last proposal was made. ` +
      `Both parties get another reminder after ${reminderDay} days.`,
    'The clock never acts less than 48 hours after its last reminder.',
    [...Object.values(CLOCK_TRANSITIONS), STAKE_DEADLINE]
      .map(({ action, description, event, unless }) =>
        [`- ${code(action)}: ${description}`, `  - Unless: ${unless}`, `  - Event: ${code(event)}`].join('\n'),
      )
      .join('\n'),
  ];
}

function usualTimes() {
  const days = (state: EndingState) => DEADLINES[state].end.day;
  return {
    days: {
      open: days('open'),
      in_review: days('in_review'),
      disputed: days('disputed'),
      decision_reached: days('decision_reached'),
    },
    stakeHours: STAKE_DEADLINE.hour,
  };
}

type Deadline = ReturnType<typeof deadlineTable>[number];

function deadlineRow({ status, countedFrom, reminders, action, hours, to, extendedBy }: Deadline): string[] {
  const who = [...new Set(reminders.map((reminder) => reminder.to))].join(', ');
  return [
    code(status),
    action === STAKE_DEADLINE.action ? `${countedFrom}, if it has a stake` : countedFrom,
    `${who}, after ${daysOf(reminders.map((reminder) => reminder.hours))}`,
    action && hours ? `${daysOf([hours])}: ${code(action)}${to ? ` → ${code(to)}` : ''}` : 'nothing',
    extendedBy ? `${extendedBy}, once` : 'nobody',
  ];
}

function daysOf(hours: readonly number[]): string {
  const days = hours.map((each) => String(each / 24));
  return `${days.join(' and ')} ${days.join('') === '1' ? 'day' : 'days'}`;
}

function bidSection(row: BidAction): string {
  return [
    heading(row, '/v1/jobs/{id}/bids/{bid_id}'),
    `- Who: ${ALLOWED_ACTORS[row.actor].description}`,
    `- From: ${codes(row.from)}`,
    `- To: ${row.to === 'stays' ? 'the same state' : code(row.to)}`,
    `- Event: ${code(row.event)}`,
  ].join('\n');
}

function heading(row: JobAction | BidAction, thing: string): string {
  return `### ${row.operation}\n\n${row.description}\n\n- REST: ${code(addressOf(thing, row))}`;
}

function destination(row: JobAction): string {
  if (!isTransition(row)) return row.to === 'stays' ? 'the same state' : 'none; the job no longer exists';
  const stay = row.mayKeepState ? `, or the same state until ${row.mayKeepState.until}` : '';
  const settled = row.alreadyDoneIn ? `; nothing changes in ${codes(row.alreadyDoneIn)}` : '';
  return code(row.to) + stay + settled;
}

function eventsOf(row: JobAction): string {
  const stay = isTransition(row) ? row.mayKeepState : undefined;
  return codes(stay ? [row.event, stay.event] : [row.event]);
}

function consequenceRow(row: BidConsequence): string[] {
  const { to } = row;
  return [row.when, codes(row.from), typeof to === 'string' ? code(to) : codes(to), code(row.event)];
}

function addressOf(thing: string, row: JobAction | BidAction): string {
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
