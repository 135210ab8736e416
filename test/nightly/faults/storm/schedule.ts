/**
 * Plans the faults from the run's seed. Each fault comes after a number of operations, so a slower machine has the same
 * run.
 */
import type { Chance } from './chance.js';
import type { Ending } from '../../../faults/durable-postgres.js';

export type Fault =
  | { readonly kind: 'restart of Postgres'; readonly how: Ending; readonly downMs: number }
  | { readonly kind: 'kill -9 of a server'; readonly instance: number }
  | { readonly kind: 'kill -9 of all servers while Postgres is down'; readonly how: Ending };

export interface Planned<What> {
  /** The number of operations before it. */
  readonly after: number;
  readonly what: What;
}

export interface Plan {
  /** One after another. */
  readonly faults: readonly Planned<Fault>[];
  /** In addition: the numbers of busy backends to kill. */
  readonly backendKills: readonly Planned<number>[];
}

export interface Amounts {
  readonly operations: number;
  readonly restarts: number;
  readonly serverKills: number;
  readonly backendKills: number;
  readonly instances: number;
}

export function plan({ operations, restarts, serverKills, backendKills, instances }: Amounts, dice: Chance): Plan {
  // The first twentieth is a calm start, and the last is for recovery.
  const somewhere = () => Math.floor(operations * (0.05 + 0.88 * dice.next()));
  const sorted = <What>(planned: Planned<What>[]) => planned.sort((one, other) => one.after - other.after);
  const how = (at: number): Ending => (['fast', 'immediate', 'killed'] as const)[at % 3] ?? 'fast';
  const pipelined = Math.ceil(restarts / 10);
  const faults: Fault[] = [
    ...Array.from({ length: restarts - pipelined }, (_, at): Fault => ({
      kind: 'restart of Postgres',
      how: how(at),
      downMs: dice.happens(0.5) ? 0 : dice.below(2_500),
    })),
    ...Array.from({ length: pipelined }, (_, at): Fault => ({
      kind: 'kill -9 of all servers while Postgres is down',
      how: how(at + 1),
    })),
    ...Array.from({ length: serverKills - pipelined * instances }, (): Fault => ({
      kind: 'kill -9 of a server',
      instance: dice.below(instances),
    })),
  ];
  const kills: number[] = [];
  for (let left = backendKills; left > 0; left -= kills.at(-1) ?? left) kills.push(Math.min(left, 1 + dice.below(3)));
  return {
    faults: sorted(faults.map((what) => ({ after: somewhere(), what }))),
    backendKills: sorted(kills.map((what) => ({ after: somewhere(), what }))),
  };
}
