/**
 * A bounded gate before something scarce: so many inside at once, so many waiting, none for longer than a set time.
 * Whoever comes beyond that is refused at once, since work that nobody can get to only makes everybody late.
 */

export interface GateSettings {
  readonly concurrent: number;
  readonly waiting: number;
  readonly waitMs: number;
  /** So many more may go in behind the others, while all inside are quick. */
  readonly behind?: Behind;
  /** Makes the refusal for one who finds the queue full, or has waited too long. */
  onFull(): Error;
}

/**
 * To be behind somebody quick costs little, and spares whoever serves them a pause between the two. Once somebody takes longer nobody else is
 * let in so: then it is better to wait for whoever is done first. Who went in before that stays, and the queue's time-out is not theirs.
 */
export interface Behind {
  readonly places: number;
  readonly quickMs: number;
}

export interface Gate {
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Takes a place: at once when one is free (undefined), else when the promise settles. Each place taken is given up by one `leave`. */
  enter(): Promise<void> | undefined;
  leave(): void;
  readonly active: number;
  readonly queued: number;
}

export function createGate({ concurrent, waiting, waitMs, behind = NOBODY_BEHIND, onFull }: GateSettings): Gate {
  let active = 0;
  const queue = createQueue(waitMs, onFull);
  const stays = createStays(concurrent + behind.places);

  function hasRoom(): boolean {
    return active < concurrent || (active < concurrent + behind.places && stays.longestMs() < behind.quickMs);
  }

  function enter(): Promise<void> | undefined {
    if (queue.length() === 0 && hasRoom()) {
      active += 1;
      return undefined;
    }
    return queue.length() < waiting ? queue.join() : Promise.reject(onFull());
  }

  // A place goes from hand to hand: it is never free for a moment in which a newcomer could overtake the queue.
  function leave(): void {
    if (active === 0) throw new Error('A place at the gate was given up that nobody had taken.');
    active -= 1;
    while (queue.length() > 0 && hasRoom()) {
      active += 1;
      queue.admitFirst();
    }
  }

  async function run<T>(work: () => Promise<T>): Promise<T> {
    const turn = enter();
    if (turn) await turn;
    const stay = stays.begin();
    try {
      return await work();
    } finally {
      stays.end(stay);
      leave();
    }
  }

  return {
    run,
    enter,
    leave,
    get active() {
      return active;
    },
    get queued() {
      return queue.length();
    },
  };
}

const NOBODY_BEHIND: Behind = { places: 0, quickMs: 0 };

/** Since when each is inside: a few numbers that are written over, since this is done for every statement. */
function createStays(most: number) {
  const begunMs = new Float64Array(most).fill(Infinity);
  const free = Array.from(begunMs, (_, at) => at);

  return {
    begin(): number {
      const at = free.pop() as number;
      begunMs[at] = performance.now();
      return at;
    },
    end(at: number): void {
      begunMs[at] = Infinity;
      free.push(at);
    },
    /** Below zero while nobody is inside. */
    longestMs: () => performance.now() - begunMs.reduce((one, other) => Math.min(one, other)),
  };
}

interface Waiter {
  readonly deadlineMs: number;
  readonly admit: () => void;
  readonly refuse: (reason: Error) => void;
  next: Waiter | undefined;
}

/**
 * First in, first out. All wait equally long, so the first is also the first to run out of time: one timer for the
 * whole queue is enough, and nobody ever leaves from the middle.
 */
function createQueue(waitMs: number, onFull: () => Error) {
  let first: Waiter | undefined;
  let last: Waiter | undefined;
  let length = 0;
  let timer: NodeJS.Timeout | undefined;

  function join(): Promise<void> {
    return new Promise((admit, refuse) => {
      const waiter: Waiter = { deadlineMs: performance.now() + waitMs, admit, refuse, next: undefined };
      if (last) last.next = waiter;
      else first = waiter;
      last = waiter;
      length += 1;
      timer ??= setTimeout(refuseLate, waitMs);
    });
  }

  function admitFirst(): void {
    removeFirst()?.admit();
  }

  function refuseLate(): void {
    timer = undefined;
    const nowMs = performance.now();
    // Timers may fire up to a millisecond early, which must not cost a second round.
    while (first && first.deadlineMs <= nowMs + 1) removeFirst()?.refuse(onFull());
    if (first) timer = setTimeout(refuseLate, first.deadlineMs - nowMs);
  }

  function removeFirst(): Waiter | undefined {
    const waiter = first;
    if (!waiter) return undefined;
    first = waiter.next;
    // An old waiter that pointed on would keep all who came after it, with their answers, from being collected as what they are: young.
    waiter.next = undefined;
    length -= 1;
    if (!first) stopWaiting();
    return waiter;
  }

  function stopWaiting(): void {
    last = undefined;
    clearTimeout(timer);
    timer = undefined;
  }

  return { join, admitFirst, length: () => length };
}
