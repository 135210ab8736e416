/**
 * A bounded gate before something scarce: so many inside at once, so many waiting, none for longer than a set time.
 * Whoever comes beyond that is refused at once, since work that nobody can get to only makes everybody late.
 */

export interface GateSettings {
  readonly concurrent: number;
  readonly waiting: number;
  readonly waitMs: number;
  /** Makes the refusal for one who finds the queue full, or has waited too long. */
  onFull(): Error;
}

export interface Gate {
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Takes a place: at once when one is free (undefined), else when the promise settles. Each place taken is given up by one `leave`. */
  enter(): Promise<void> | undefined;
  leave(): void;
  readonly active: number;
  readonly queued: number;
}

export function createGate({ concurrent, waiting, waitMs, onFull }: GateSettings): Gate {
  let active = 0;
  const queue = createQueue(waitMs, onFull);

  function enter(): Promise<void> | undefined {
    if (active < concurrent) {
      active += 1;
      return undefined;
    }
    return queue.length() < waiting ? queue.join() : Promise.reject(onFull());
  }

  // A place goes from hand to hand: it is never free for a moment in which a newcomer could overtake the queue.
  function leave(): void {
    if (active === 0) throw new Error('A place at the gate was given up that nobody had taken.');
    if (!queue.admitFirst()) active -= 1;
  }

  async function run<T>(work: () => Promise<T>): Promise<T> {
    const turn = enter();
    if (turn) await turn;
    try {
      return await work();
    } finally {
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

  function admitFirst(): boolean {
    const waiter = removeFirst();
    waiter?.admit();
    return waiter !== undefined;
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
