/**
 * A bounded queue for a scarce resource with a fixed number of places. A free place goes to the next network address in
 * turn, and within the address to the next user in turn. If the queue is full, a call from an address with fewer
 * waiting calls replaces the newest call of another address. If no other address has more waiting calls, the server is
 * over capacity.
 */
import type { Refusal } from '../errors.js';
import { createQuota, type Bound, type Release, type Client, type QuotaSettings } from './quota.js';

export interface FairQueueSettings extends QuotaSettings {
  /** The number of calls that may run at the same time. */
  readonly places: number;
  /**
   * The number of places that one address may use. The rest stay free for other addresses, no matter how long the work
   * takes.
   */
  readonly placesPerAddress?: number;
  /** The number of places that one user may use at one address. */
  readonly placesPerUser?: number;
  /** The number of places for long work, shared by all addresses. */
  readonly placesForLong?: number;
  readonly waitMs: number;
}

export interface Work {
  /** True if the work takes about a hundred times as long as most other work. */
  readonly isLong?: boolean;
}

export interface FairQueue {
  run<T>(client: Client, work: () => Promise<T>, kind?: Work): Promise<T>;
  /** Refuses all waiting calls and, from now on, every call that would have to wait. */
  stop(reason: () => Refusal): void;
  readonly active: number;
  readonly waiting: number;
}

interface Waiter {
  readonly asking: Client;
  readonly client: Client;
  readonly kind: Work;
  readonly sinceMs: number;
  readonly release: Release;
  readonly timeout: NodeJS.Timeout;
  readonly admit: (leave: Release) => void;
  refuse(reason: Error): void;
}

export function createFairQueue({
  places,
  placesPerAddress = places,
  placesPerUser = placesPerAddress,
  placesForLong = places,
  waitMs,
  ...settings
}: FairQueueSettings): FairQueue {
  const quota = createQuota(settings);
  const atWork = createQuota({ ...settings, limits: { of: 'at work' } });
  /**
   * The waiting calls by address and user. An address or user that was served moves to the end, so the first one is
   * next.
   */
  const lanes = new Map<string, Map<string, Set<Waiter>>>();
  let longAtWork = 0;
  let servedLastMs = -Infinity;
  let stopped: (() => Refusal) | undefined;
  const hasPlace = (address: string) => atWork.inUse() < places && atWork.inUse(address) < placesPerAddress;
  const hasPlaceFor = (address: string, user: string | undefined) =>
    user === undefined || atWork.inUse(address, user) < placesPerUser;
  const mayBegin = ({ isLong = false }: Work) => !isLong || longAtWork < placesForLong;

  async function run<T>(client: Client, work: () => Promise<T>, kind: Work = {}): Promise<T> {
    const { address, user } = client;
    // While there is a free place for a user, only that user's long calls may be waiting.
    const isFree = hasPlace(address) && hasPlaceFor(address, user) && mayBegin(kind);
    const leave = isFree ? begin({ address, user }, kind) : await wait(client, kind);
    try {
      const result = await work();
      servedLastMs = performance.now();
      return result;
    } finally {
      leave();
      admitNext();
    }
  }

  function begin(client: Client, { isLong }: Work): Release {
    const leave = atWork.take(client);
    if (!isLong) return leave;
    longAtWork += 1;
    return () => {
      longAtWork -= 1;
      leave();
    };
  }

  function wait(asking: Client, kind: Work): Promise<Release> {
    if (stopped) throw stopped();
    const { address, user } = asking;
    // This is a copy, because the user of the original may become known while the call waits.
    const client: Client = { address, user };
    if (quota.inUse() >= (settings.limits.total ?? Infinity)) makeRoomFor(address);
    const release = quota.take(client);
    return new Promise((admit, refuse) => {
      const waiter: Waiter = {
        asking,
        client,
        kind,
        release,
        sinceMs: performance.now(),
        timeout: setTimeout(() => turnAwayLate(waiter), waitMs),
        admit,
        refuse,
      };
      const users = putIfAbsent(lanes, address, new Map<string, Set<Waiter>>());
      putIfAbsent(users, user ?? '', new Set<Waiter>()).add(waiter);
    });
  }

  /**
   * Gives free places to waiting calls before any later call. A call that ends may have held up several others: another
   * call of its user, and a long call.
   */
  function admitNext(): void {
    for (let next = firstInTurn(); next; next = firstInTurn()) {
      remove(next);
      const { address, user = '' } = next.client;
      moveToEnd(lanes.get(address), user);
      moveToEnd(lanes, address);
      if (next.asking.isGone?.()) next.refuse(quota.refusal('gone'));
      else next.admit(begin(next.client, next.kind));
    }
  }

  function firstInTurn(): Waiter | undefined {
    if (atWork.inUse() >= places) return undefined;
    for (const [address, users] of lanes) {
      if (!hasPlace(address)) continue;
      for (const waiters of users.values())
        for (const waiter of waiters) {
          if (!hasPlaceFor(address, waiter.client.user)) break;
          if (mayBegin(waiter.kind)) return waiter;
        }
    }
    return undefined;
  }

  function makeRoomFor(address: string): void {
    const largest = quota.largest();
    if (largest === undefined || quota.inUse(largest) <= quota.inUse(address) + 1) return;
    const newest = [...([...(lanes.get(largest)?.values() ?? [])].at(-1) ?? [])].at(-1);
    if (!newest) return;
    remove(newest);
    newest.refuse(quota.refusal('server'));
  }

  function turnAwayLate(waiter: Waiter): void {
    const bound = boundOf(waiter.client);
    remove(waiter);
    waiter.refuse(quota.refusal(bound, 'too late'));
  }

  /**
   * Decides whose limit made a call wait too long. While calls are still being served, it's the caller's own limit if
   * another user or address would get a place. It's also the caller's limit if this address has more waiting calls than
   * all other addresses together. Otherwise, it's the server's limit.
   */
  function boundOf({ address, user }: Client): Bound {
    if (performance.now() - servedLastMs < waitMs / 2) {
      if (!hasPlaceFor(address, user)) return 'user';
      if (!hasPlace(address) && atWork.inUse() < places) return 'address';
    }
    const ofAddress = quota.inUse(address);
    const ofOthers = quota.inUse() - ofAddress;
    return ofOthers > 0 && ofAddress > ofOthers ? 'address' : 'server';
  }

  function remove(waiter: Waiter): void {
    const {
      client: { address, user = '' },
      release,
      timeout,
      sinceMs,
    } = waiter;
    const users = lanes.get(address);
    const waiters = users?.get(user);
    waiters?.delete(waiter);
    if (waiters?.size === 0) users?.delete(user);
    if (users?.size === 0) lanes.delete(address);
    clearTimeout(timeout);
    release();
    settings.events.waited(settings.name, (performance.now() - sinceMs) / 1_000);
  }

  function stop(reason: () => Refusal): void {
    stopped = reason;
    const waiters = [...lanes.values()].flatMap((users) => [...users.values()].flatMap((some) => [...some]));
    for (const waiter of waiters) {
      remove(waiter);
      waiter.refuse(reason());
    }
  }

  return {
    run,
    stop,
    get active() {
      return atWork.inUse();
    },
    get waiting() {
      return quota.inUse();
    },
  };
}

function putIfAbsent<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): Value {
  const known = map.get(key) ?? value;
  if (known === value) map.set(key, value);
  return known;
}

/** Moves a key to the end of a map. Maps iterate in the order in which their keys were set. */
function moveToEnd<Key, Value>(map: Map<Key, Value> | undefined, key: Key): void {
  const value = map?.get(key);
  if (value === undefined) return;
  map?.delete(key);
  map?.set(key, value);
}
