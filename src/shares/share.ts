/**
 * A share: how much of something scarce one user, one network address and all callers together hold at once. Whoever asks for more than is theirs is
 * refused with 429; 503 is for what the whole server has no room for.
 */
import { refuse, type Refusal } from '../rules/errors.js';
import type { ShareLimits, ShareName } from '../rules/limits.js';

/** Who a share is counted for: a user inside a network address; the address alone until the user's session is known to be active. */
export interface Holder {
  readonly address: string;
  user?: string | undefined;
  /** Whether nobody is there any more to take an answer. */
  isGone?(): boolean;
}

/** The server's own work, such as starting and tidying. */
export const SERVER: Holder = { address: 'server' };

/** Whose limit was reached; or who waited is gone, and nobody hears the refusal. */
export type Bound = 'user' | 'address' | 'server' | 'gone';

/** What an operator wants to see of shares. */
export interface ShareEvents {
  refused(share: ShareName, bound: Bound): void;
  waited(share: ShareName, seconds: number): void;
}

export const NO_EVENTS: ShareEvents = { refused: () => undefined, waited: () => undefined };

/** Gives back what was taken; a second time changes nothing. */
export type GiveBack = () => void;

export interface Share {
  /** Takes that much, or throws the refusal. */
  take(holder: Holder, amount?: number): GiveBack;
  /** Who may have no more, or has waited too long for it. */
  refusal(bound: Bound, why?: 'no more' | 'too late'): Refusal;
  inUse(address?: string): number;
  /** The address that holds the most. */
  largest(): string | undefined;
}

export interface ShareSettings {
  readonly name: ShareName;
  readonly limits: ShareLimits;
  readonly events: ShareEvents;
  retryAfterSeconds?(): number;
}

export function createShare({ name, limits, events, retryAfterSeconds = () => 1 }: ShareSettings): Share {
  let total = 0;
  const byAddress = new Map<string, number>();
  const byUser = new Map<string, number>();

  function boundOf({ address, user }: Holder, amount: number): Bound | undefined {
    if (user !== undefined && heldBy(byUser, userKey(address, user)) + amount > (limits.perUser ?? Infinity)) return 'user';
    if (heldBy(byAddress, address) + amount > (limits.perAddress ?? Infinity)) return 'address';
    return total + amount > (limits.total ?? Infinity) ? 'server' : undefined;
  }

  function refusal(bound: Bound, why: 'no more' | 'too late' = 'no more'): Refusal {
    events.refused(name, bound);
    const details = { retryAfter: retryAfterSeconds() };
    if (bound === 'server' || bound === 'gone') return refuse('OVERLOADED', { details });
    const [max, whose] = bound === 'user' ? [limits.perUser, 'you'] : [limits.perAddress, 'your network address'];
    const message = {
      'no more': `At most ${max} ${limits.of} at once are for ${whose}; wait for some to end.`,
      'too late': `No other network address has as many ${limits.of} as yours, and this waited too long; wait for some to end.`,
    }[why];
    return refuse('RATE_LIMITED', { message, details });
  }

  function hold({ address, user }: Holder, amount: number): GiveBack {
    const change = (by: number) => {
      total += by;
      add(byAddress, address, by);
      if (user !== undefined) add(byUser, userKey(address, user), by);
    };
    change(amount);
    let held = amount;
    return () => {
      change(-held);
      held = 0;
    };
  }

  return {
    take(holder, amount = 1) {
      const bound = boundOf(holder, amount);
      if (bound) throw refusal(bound);
      return hold(holder, amount);
    },
    refusal,
    inUse: (address) => (address === undefined ? total : heldBy(byAddress, address)),
    largest: () => largestOf(byAddress),
  };
}

function userKey(address: string, user: string): string {
  return `${address} ${user}`;
}

function heldBy(held: ReadonlyMap<string, number>, key: string): number {
  return held.get(key) ?? 0;
}

function add(held: Map<string, number>, key: string, by: number): void {
  const now = heldBy(held, key) + by;
  if (now === 0) held.delete(key);
  else held.set(key, now);
}

function largestOf(held: ReadonlyMap<string, number>): string | undefined {
  let largest: [key: string, amount: number] | undefined;
  for (const [key, amount] of held) if (!largest || amount > largest[1]) largest = [key, amount];
  return largest?.[0];
}
