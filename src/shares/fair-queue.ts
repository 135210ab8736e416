/**
 * A bounded queue before something scarce, with so many places at work. A place that becomes free goes to the next
 * network address in turn, and there to the next user in turn. Where the queue is full, a caller whose address waits
 * with less than another has that address' newest call give way; where no other waits with more, the server is beyond
 * capacity.
 */
import { createShare, type GiveBack, type Holder, type ShareSettings } from './share.js';

export interface FairQueueSettings extends ShareSettings {
  /** How many may be at work at once, */
  readonly places: number;
  /** and how many of them for one address: the rest stay free for the others, however long its work takes. */
  readonly placesPerAddress?: number;
  /** and how many with work that takes long, from whatever addresses it comes. */
  readonly placesForLong?: number;
  readonly waitMs: number;
}

export interface Work {
  /** Whether it takes a hundred times as long as most. */
  readonly isLong?: boolean;
}

export interface FairQueue {
  run<T>(holder: Holder, work: () => Promise<T>, kind?: Work): Promise<T>;
  readonly active: number;
  readonly waiting: number;
}

interface Waiter {
  readonly asking: Holder;
  readonly holder: Holder;
  readonly kind: Work;
  readonly sinceMs: number;
  readonly giveBack: GiveBack;
  readonly admit: (leave: GiveBack) => void;
  readonly refuse: (reason: Error) => void;
}

/** Those of one user who wait, and those of one address. Whoever was served goes to the end. */
interface OfUser {
  readonly user: string | undefined;
  readonly waiters: Waiter[];
}

interface OfAddress {
  readonly address: string;
  readonly users: OfUser[];
}

/** How often in the time that one may wait it is looked for those who have waited so long. */
const LOOKS_FOR_LATE = 20;

export function createFairQueue({
  places,
  placesPerAddress = places,
  placesForLong = places,
  waitMs,
  ...settings
}: FairQueueSettings): FairQueue {
  const share = createShare(settings);
  const atWork = createShare({ ...settings, limits: { of: 'at work' } });
  const lanes: OfAddress[] = [];
  let longAtWork = 0;
  let looking: NodeJS.Timeout | undefined;
  const hasPlace = (address: string) => atWork.inUse() < places && atWork.inUse(address) < placesPerAddress;
  const mayBegin = ({ isLong = false }: Work) => !isLong || longAtWork < placesForLong;

  async function run<T>(holder: Holder, work: () => Promise<T>, kind: Work = QUICK): Promise<T> {
    // While there is a place for an address none of its calls waits, but for those that take long.
    const mayBeginNow = hasPlace(holder.address) && mayBegin(kind);
    const leave = mayBeginNow ? begin(holder.address, kind) : await wait(holder, kind);
    try {
      return await work();
    } finally {
      leave();
      if (lanes.length > 0) admitNext();
    }
  }

  function begin(address: string, { isLong }: Work): GiveBack {
    const leave = atWork.take({ address });
    if (!isLong) return leave;
    longAtWork += 1;
    return () => {
      longAtWork -= 1;
      leave();
    };
  }

  function wait(asking: Holder, kind: Work): Promise<GiveBack> {
    const { address, user } = asking;
    // As it is now: whose it is may become known while it waits.
    const holder: Holder = { address, user };
    if (share.inUse() >= (settings.limits.total ?? Infinity)) makeRoomFor(address);
    const giveBack = share.take(holder);
    looking ??= setInterval(refuseLate, waitMs / LOOKS_FOR_LATE);
    return new Promise((admit, refuse) => {
      const waiter: Waiter = { asking, holder, kind, sinceMs: performance.now(), giveBack, admit, refuse };
      laneOf(holder).waiters.push(waiter);
    });
  }

  function laneOf({ address, user }: Holder): OfUser {
    const users = findOrPush(lanes, (lane) => lane.address === address, () => ({ address, users: [] })).users;
    return findOrPush(users, (lane) => lane.user === user, () => ({ user, waiters: [] }));
  }

  /** A place goes from hand to hand, so that no call that comes later is served before those that wait. */
  function admitNext(): void {
    for (let next = firstInTurn(); next; next = firstInTurn()) {
      const { address, user } = next.holder;
      remove(next);
      moveToEnd(lanes.find((lane) => lane.address === address)?.users ?? [], (lane) => lane.user === user);
      moveToEnd(lanes, (lane) => lane.address === address);
      if (!next.asking.isGone?.()) return next.admit(begin(address, next.kind));
      next.refuse(share.refusal('gone'));
    }
  }

  function firstInTurn(): Waiter | undefined {
    for (const { address, users } of lanes) {
      if (!hasPlace(address)) continue;
      for (const { waiters } of users) {
        const first = waiters.find(({ kind }) => mayBegin(kind));
        if (first) return first;
      }
    }
    return undefined;
  }

  function makeRoomFor(address: string): void {
    const largest = share.largest();
    if (largest === undefined || share.inUse(largest) <= share.inUse(address) + 1) return;
    const newest = lanes.find((lane) => lane.address === largest)?.users.at(-1)?.waiters.at(-1);
    if (!newest) return;
    remove(newest);
    newest.refuse(share.refusal('server'));
  }

  function refuseLate(): void {
    const lateMs = performance.now() - waitMs;
    const waiters = lanes.flatMap(({ users }) => users.flatMap((lane) => lane.waiters));
    for (const waiter of waiters) if (waiter.sinceMs <= lateMs) refuseAsLate(waiter);
    if (lanes.length > 0) return;
    clearInterval(looking);
    looking = undefined;
  }

  /** Beyond capacity is the server, unless one address among others waits with more than any of them. */
  function refuseAsLate(waiter: Waiter): void {
    const { address } = waiter.holder;
    const isGreedy = share.inUse(address) < share.inUse() && share.largest() === address;
    remove(waiter);
    waiter.refuse(share.refusal(isGreedy ? 'address' : 'server', 'too late'));
  }

  function remove(waiter: Waiter): void {
    const { address, user } = waiter.holder;
    const lane = lanes.find((one) => one.address === address);
    const ofUser = lane?.users.find((one) => one.user === user);
    if (!lane || !ofUser) return;
    ofUser.waiters.splice(ofUser.waiters.indexOf(waiter), 1);
    if (ofUser.waiters.length === 0) lane.users.splice(lane.users.indexOf(ofUser), 1);
    if (lane.users.length === 0) lanes.splice(lanes.indexOf(lane), 1);
    waiter.giveBack();
    settings.events.waited(settings.name, (performance.now() - waiter.sinceMs) / 1_000);
  }

  return {
    run,
    get active() {
      return atWork.inUse();
    },
    get waiting() {
      return share.inUse();
    },
  };
}

const QUICK: Work = {};

function findOrPush<Item>(items: Item[], isIt: (item: Item) => boolean, make: () => Item): Item {
  const known = items.find(isIt);
  if (known) return known;
  const made = make();
  items.push(made);
  return made;
}

function moveToEnd<Item>(items: Item[], isIt: (item: Item) => boolean): void {
  const at = items.findIndex(isIt);
  if (at >= 0) items.push(...items.splice(at, 1));
}
