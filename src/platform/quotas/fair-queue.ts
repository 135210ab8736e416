/**
 * A bounded queue for a resource with a fixed number of slots. A free slot goes to the next address in turn, and within
 * it to the next user in turn. If the queue is full, a call from an address with fewer waiting calls replaces another
 * address's newest call. If no address has more waiting calls, the server is over capacity.
 */
import type { Refusal } from '../errors.js';
import { createQuota, type Bound, type Release, type Client, type QuotaSettings } from './quota.js';

export interface FairQueueSettings extends QuotaSettings {
  /** How many calls may run at the same time. */
  readonly slots: number;
  /** How many slots one address may use. The rest serve other addresses, however long the work takes. */
  readonly slotsPerAddress?: number;
  /** How many slots one user may use at one address. */
  readonly slotsPerUser?: number;
  readonly slotsForLong?: number;
  readonly waitMs: number;
}

export interface Work {
  /** True for work that takes about a hundred times as long as most. */
  readonly isLong?: boolean;
}

export interface FairQueue {
  run<T>(client: Client, work: () => Promise<T>, kind?: Work): Promise<T>;
  /** Refuses all waiting calls, and later ones that would have to wait. */
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
  slots,
  slotsPerAddress = slots,
  slotsPerUser = slotsPerAddress,
  slotsForLong = slots,
  waitMs,
  ...settings
}: FairQueueSettings): FairQueue {
  const quota = createQuota(settings);
  const atWork = createQuota({ ...settings, limits: { of: 'at work' } });
  /**
   * Waiting calls by address and user. After each turn, the address and the user move to the end. The first one is
   * next.
   */
  const lanes = new Map<string, Map<string, Set<Waiter>>>();
  let longAtWork = 0;
  let servedLastMs = -Infinity;
  let stopped: (() => Refusal) | undefined;
  const hasSlot = (address: string) => atWork.inUse() < slots && atWork.inUse(address) < slotsPerAddress;
  const hasSlotFor = (address: string, user: string | undefined) =>
    user === undefined || atWork.inUse(address, user) < slotsPerUser;
  const mayBegin = ({ isLong = false }: Work) => !isLong || longAtWork < slotsForLong;

  async function run<T>(client: Client, work: () => Promise<T>, kind: Work = {}): Promise<T> {
    const { address, user } = client;
    // If a user has a free slot, only their long calls can be waiting.
    const isFree = hasSlot(address) && hasSlotFor(address, user) && mayBegin(kind);
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
    // A copy, because the original's user may become known while the call waits.
    const client: Client = { address, user };
    if (quota.boundOf(client) === 'server') makeRoomFor(address);
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
   * Gives free slots to waiting calls before any later call. A call that ends may have held up two others: its user's
   * next call, and a long call.
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
    if (atWork.inUse() >= slots) return undefined;
    for (const [address, users] of lanes) {
      if (!hasSlot(address)) continue;
      for (const waiters of users.values())
        for (const waiter of waiters) {
          if (!hasSlotFor(address, waiter.client.user)) break;
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
    const bound = boundOfLate(waiter.client);
    remove(waiter);
    waiter.refuse(quota.refusal(bound, 'too late'));
  }

  /**
   * Decides whose limit made a call wait too long. While calls are still being served, it's the caller's if others
   * could take the free slot. It's also the caller's if this address has more waiting calls than all others together.
   * Otherwise, it's the server's.
   */
  function boundOfLate({ address, user }: Client): Bound {
    if (performance.now() - servedLastMs < waitMs / 2) {
      if (!hasSlotFor(address, user)) return 'user';
      if (!hasSlot(address) && atWork.inUse() < slots) return 'address';
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

/** Moves a key to the end, because maps iterate in insertion order. */
function moveToEnd<Key, Value>(map: Map<Key, Value> | undefined, key: Key): void {
  const value = map?.get(key);
  if (value === undefined) return;
  map?.delete(key);
  map?.set(key, value);
}
