/** The jobs that all clients share and race for. A job stays for a while, then makes room for the next. */
import type { Chance } from './chance.js';
import type { Member } from './history.js';

export interface Spot {
  readonly id: string;
  readonly owner: Member;
  readonly bids: { id: string; by: Member }[];
}

export interface Board {
  any(dice: Chance): Spot | undefined;
  owner(dice: Chance): Member;
  add(id: string, owner: Member): void;
}

const SPOTS = 4;

export function openBoard(owners: readonly Member[]): Board {
  const spots: Spot[] = [];
  return {
    any: (dice) => (spots.length < SPOTS ? undefined : dice.of(spots)),
    owner: (dice) => dice.of(owners),
    add: (id, owner) => {
      spots.push({ id, owner, bids: [] });
      if (spots.length > SPOTS) spots.shift();
    },
  };
}
