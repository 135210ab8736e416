/**
 * Limits how much of a resource a user, an address, and all callers together may hold. Above a caller's own limit, a
 * call gets a 429. Above everyone's limit, it gets a 503.
 */
import { type Refusal, refuse } from '../errors.js';
import type { QuotaName } from '../caller-limits.js';
import type { QuotaLimits } from './quota-table.js';

/** A user at an address. Only the address counts until the user's session is known to be active. */
export interface Client {
  readonly address: string;
  user?: string | undefined;
  /** True once the client has closed the connection and can't receive a response. */
  isGone?(): boolean;
}

/** The server's own work, such as startup and cleanup. */
export const SERVER: Client = { address: 'server' };

/** Whose limit was reached. 'gone' if the client left while waiting. */
export const BOUNDS = ['user', 'address', 'server', 'gone'] as const;
export type Bound = (typeof BOUNDS)[number];

export interface QuotaEvents {
  refused(quota: QuotaName, bound: Bound): void;
  waited(quota: QuotaName, seconds: number): void;
}

export const NO_EVENTS: QuotaEvents = { refused: () => undefined, waited: () => undefined };

/** Releases the amount. Calling it again has no effect. */
export type Release = () => void;

export interface Quota {
  /** Takes the amount, or throws a refusal. */
  take(client: Client, amount?: number): Release;
  /** The limit that taking the amount would exceed. */
  boundOf(client: Client, amount?: number): Bound | undefined;
  /** The refusal for a client at its limit, or one that waited too long. */
  refusal(bound: Bound, why?: 'no more' | 'too late'): Refusal;
  inUse(address?: string, user?: string): number;
  largest(): string | undefined;
  /** Clients above a lower limit keep what they hold. */
  changeLimits(limits: QuotaLimits): void;
}

export interface QuotaSettings {
  readonly name: QuotaName;
  readonly limits: QuotaLimits;
  readonly events: QuotaEvents;
  retryAfterSeconds?(): number;
}

export function createQuota({ name, events, retryAfterSeconds = () => 1, ...settings }: QuotaSettings): Quota {
  let { limits } = settings;
  const all: Held = { amount: 0 };
  const addresses = new Map<string, HeldByAddress>();
  let sweptAt = ADDRESSES_UNSWEPT;

  /** Keeps addresses that hold nothing for a while. Frequent changes to the keys burden garbage collection. */
  function heldBy(address: string): HeldByAddress {
    const known = addresses.get(address);
    if (known) return known;
    if (addresses.size >= sweptAt) {
      for (const [other, { amount }] of addresses) if (amount === 0) addresses.delete(other);
      sweptAt = Math.max(ADDRESSES_UNSWEPT, 2 * addresses.size);
    }
    const held: HeldByAddress = { amount: 0, users: undefined };
    addresses.set(address, held);
    return held;
  }

  function inUse(address: string, user?: string): number {
    const held = addresses.get(address);
    return (user === undefined ? held : held?.users?.get(user))?.amount ?? 0;
  }

  function boundOf({ address, user }: Client, amount = 1): Bound | undefined {
    if (user !== undefined && inUse(address, user) + amount > (limits.perUser ?? Infinity)) return 'user';
    if (inUse(address) + amount > (limits.perAddress ?? Infinity)) return 'address';
    return all.amount + amount > (limits.total ?? Infinity) ? 'server' : undefined;
  }

  function refusal(bound: Bound, why: 'no more' | 'too late' = 'no more'): Refusal {
    events.refused(name, bound);
    const details = { retryAfter: retryAfterSeconds() };
    if (bound === 'server' || bound === 'gone') return refuse('OVERLOADED', { details });
    const [max, whose] = bound === 'user' ? [limits.perUser, 'You'] : [limits.perAddress, 'Your network address'];
    const most = `${max} ${limits.of} at the same time`;
    const message = {
      'no more': `${whose} can have at most ${most}. Wait for some to finish, then try again.`,
      'too late': `${whose} had too many ${limits.of}, so this request waited too long. Try again later.`,
    }[why];
    return refuse('RATE_LIMITED', { message, details: { ...details, limit: name } });
  }

  return {
    take(client, amount = 1) {
      const bound = boundOf(client, amount);
      if (bound) throw refusal(bound);
      const { address, user } = client;
      const held = heldBy(address);
      const ofUser = user === undefined ? undefined : userOf(held, user);
      const change = (by: number) => {
        all.amount += by;
        held.amount += by;
        if (user === undefined || !ofUser) return;
        ofUser.amount += by;
        if (ofUser.amount === 0 && held.users && held.users.size > USERS_REMEMBERED) held.users.delete(user);
      };
      change(amount);
      let taken = amount;
      return () => {
        if (taken > 0) change(-taken);
        taken = 0;
      };
    },
    boundOf,
    refusal,
    inUse: (address, user) => (address === undefined ? all.amount : inUse(address, user)),
    largest() {
      let largest: [address: string, amount: number] | undefined;
      for (const [address, { amount }] of addresses) if (amount > (largest?.[1] ?? 0)) largest = [address, amount];
      return largest?.[0];
    },
    changeLimits: (next) => {
      limits = next;
    },
  };
}

interface Held {
  amount: number;
}

interface HeldByAddress extends Held {
  users: Map<string, Held> | undefined;
}

/** Addresses and users that hold nothing are removed only from longer lists. */
const ADDRESSES_UNSWEPT = 1_000;
const USERS_REMEMBERED = 10;

function userOf(held: HeldByAddress, user: string): Held {
  held.users ??= new Map();
  const known = held.users.get(user) ?? { amount: 0 };
  held.users.set(user, known);
  return known;
}
