/** How much of an attack a victim may notice, and the table of what victims did notice. */
import type { AttackTally } from './attack.js';
import type { Row } from './ground.js';
import type { Experience } from './victim.js';
import { printFigures } from '../../figures.js';

export interface Outcome {
  readonly row: Row;
  readonly isBehindProxy: boolean;
  readonly experience: Experience;
  readonly tallies: readonly AttackTally[];
  readonly peakMb: number;
  /** The process's memory at the end. `hasReturned` is true if that is little enough. */
  readonly memoryMb: number;
  readonly hasReturned: boolean;
  readonly died: boolean;
  readonly output: string;
}

const READ_MS_MAX = 1_000;
const PUBLISH_MS_MAX = 1_000;
const LOG_IN_MS_MAX = 5_000;
const HEALTH_MS_MAX = { bare: 300, behindProxy: 700 };
/** Fewer calls would measure nothing. */
const CALLS_MIN = 2;

type Findings = readonly (readonly [isFound: boolean, message: string])[];

/** Every finding. Empty if everything is fine. */
export function failuresOf(outcome: Outcome): string[] {
  const { experience, tallies, memoryMb, hasReturned, died, output } = outcome;
  const { reads, publications, refused } = experience;
  const statuses = tallies.flatMap((tally) => Object.keys(tally.statuses));
  const findings: Findings = [
    [died, `the server ended: ${output.slice(-1_000)}`],
    [refused.length > 0, `refused ${refused.length}: ${[...new Set(refused)].slice(0, 3).join('; ')}`],
    [!died && !hasReturned, `${memoryMb} MB are held afterwards`],
    [
      statuses.some((status) => Number(status) >= 500 && status !== '503'),
      `the attacker was answered ${statuses.join(', ')}`,
    ],
    [tallies.some(({ internal }) => internal > 0), 'the attacker was answered INTERNAL'],
    [reads < CALLS_MIN || publications < CALLS_MIN, `only ${reads} reads and ${publications} publications were made`],
    [!died && tallies.every(({ sent }) => sent === 0), 'nobody attacked'],
  ];
  return [...messagesOf(findings), ...delaysOf(outcome)];
}

/** The calls that took too long. */
export function delaysOf({ experience, isBehindProxy }: Outcome): string[] {
  const { readMs, publishMs, logInMs, healthMs } = experience;
  const healthMsMax = isBehindProxy ? HEALTH_MS_MAX.behindProxy : HEALTH_MS_MAX.bare;
  return messagesOf([
    [readMs >= READ_MS_MAX, `a read took ${readMs} ms`],
    [publishMs >= PUBLISH_MS_MAX, `a publication took ${publishMs} ms`],
    [logInMs >= LOG_IN_MS_MAX, `the login took ${logInMs} ms`],
    [healthMs >= healthMsMax, `/healthz took ${healthMs} ms`],
  ]);
}

function messagesOf(findings: Findings): string[] {
  return findings.filter(([isFound]) => isFound).map(([, message]) => message);
}

const COLUMNS =
  'row,who,read,publish,login,healthz,plain server,refused,peak MB,then MB,verdict,the attacker’s answers'.split(',');

export function printTable(outcomes: readonly Outcome[], calm: Experience | undefined): void {
  const lines = outcomes.map((outcome) => {
    const { row, experience, peakMb, memoryMb, tallies } = outcome;
    const name = row.finding === undefined ? row.name : `[${row.finding}] ${row.name}`;
    const verdict = failuresOf(outcome).length === 0 ? 'stands' : 'FAILS';
    return [name, row.who, ...figuresOf(experience), peakMb, memoryMb, verdict, tallies.map(inWords).join(' + ')];
  });
  const before = calm ? [['nobody attacks', '', ...figuresOf(calm)]] : [];
  const all = [COLUMNS, ...[...before, ...lines].map((line) => line.map(String))];
  const widthOf = (at: number) => Math.max(...all.map((line) => line[at]?.length ?? 0));
  const widths = COLUMNS.map((_, at) => (at === COLUMNS.length - 1 ? 0 : widthOf(at)));
  printFigures(all.map((line) => line.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')).join('\n'));
}

function figuresOf({ readMs, publishMs, logInMs, healthMs, plainMs, refused }: Experience): number[] {
  return [readMs, publishMs, logInMs, healthMs, plainMs, refused.length];
}

function inWords({ sent, answered, bytes, internal, statuses, events }: AttackTally): string {
  const megabytes = (bytes / 2 ** 20).toFixed(1);
  const counts = `${JSON.stringify(statuses)} ${JSON.stringify(events)}`;
  return `${sent} sent, ${answered} answered, ${megabytes} MB ${counts}${internal > 0 ? ` ${internal} INTERNAL` : ''}`;
}
