/** What a victim may notice of an attack, and the table that says what they did. */
import type { AttackTally } from './attack.js';
import type { Row } from './ground.js';
import type { Experience } from './victim.js';

export interface Outcome {
  readonly row: Row;
  readonly experience: Experience;
  readonly tallies: readonly AttackTally[];
  readonly peakMb: number;
  readonly memoryMb: number;
  readonly memoryMbMax: number;
  readonly died: boolean;
  readonly output: string;
}

const READ_MS_MAX = 1_000;
const PUBLISH_MS_MAX = 1_000;
const LOG_IN_MS_MAX = 5_000;
const HEALTH_MS_MAX = 300;

/** Everything that is not as it must be; empty where all is well. */
export function failuresOf({ experience, tallies, memoryMb, memoryMbMax, died, output }: Outcome): string[] {
  const { readMs, publishMs, logInMs, healthMs, refused } = experience;
  const statuses = tallies.flatMap((tally) => Object.keys(tally.statuses));
  const failures: readonly (readonly [hasFailed: boolean, message: string])[] = [
    [died, `the server ended: ${output.slice(-1_000)}`],
    [refused.length > 0, `refused ${refused.length}: ${[...new Set(refused)].slice(0, 3).join('; ')}`],
    [readMs >= READ_MS_MAX, `a read took ${readMs} ms`],
    [publishMs >= PUBLISH_MS_MAX, `a publication took ${publishMs} ms`],
    [logInMs >= LOG_IN_MS_MAX, `the log-in took ${logInMs} ms`],
    [healthMs >= HEALTH_MS_MAX, `/healthz took ${healthMs} ms`],
    [memoryMb > memoryMbMax, `${memoryMb} MB are held afterwards`],
    [statuses.some((status) => Number(status) >= 500 && status !== '503'), `the attacker was answered ${statuses.join(', ')}`],
    [tallies.some(({ internal }) => internal > 0), 'the attacker was answered INTERNAL'],
    [!died && tallies.every(({ sent }) => sent === 0), 'nobody attacked'],
  ];
  return failures.filter(([hasFailed]) => hasFailed).map(([, message]) => message);
}

const COLUMNS = ['row', 'who', 'read', 'publish', 'log-in', 'healthz', 'peak MB', 'then MB', 'refused', 'verdict', 'the attacker’s answers'] as const;

export function printTable(outcomes: readonly Outcome[]): void {
  const lines = outcomes.map((outcome) => {
    const { row, experience, peakMb, memoryMb, tallies } = outcome;
    const { readMs, publishMs, logInMs, healthMs, refused } = experience;
    const answers = tallies.map(({ sent, answered, bytes, internal, statuses, events }) =>
      `${sent} sent, ${answered} answered, ${(bytes / 2 ** 20).toFixed(1)} MB ${JSON.stringify(statuses)} ${JSON.stringify(events)}${internal > 0 ? ` ${internal} INTERNAL` : ''}`);
    const name = row.finding === undefined ? row.name : `[${row.finding}] ${row.name}`;
    return [name, row.who, readMs, publishMs, logInMs, healthMs, peakMb, memoryMb, refused.length, failuresOf(outcome).length === 0 ? 'stands' : 'FAILS', answers.join(' + ')];
  });
  const all = [[...COLUMNS], ...lines.map((line) => line.map(String))];
  const widths = COLUMNS.map((_, at) => (at === COLUMNS.length - 1 ? 0 : Math.max(...all.map((line) => line[at]?.length ?? 0))));
  console.log(all.map((line) => line.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')).join('\n'));
}
