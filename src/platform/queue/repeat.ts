export interface Repeated {
  wake(): void;
  /** Waits for the work in progress. */
  close(): Promise<void>;
}

/**
 * Does the work whenever it is woken, and at this interval otherwise. Repeats it immediately as long as it returns
 * true.
 */
export function repeat(work: () => Promise<boolean>, everyMs: number, onFailure: (error: unknown) => void): Repeated {
  const state = { isClosed: false, wake: () => {} };

  async function run(): Promise<void> {
    while (!state.isClosed) {
      const woken = new Promise<void>((resolve) => (state.wake = resolve));
      const timer = setTimeout(() => state.wake(), everyMs);
      const isMore = await work().catch(onFailure);
      if (isMore !== true && !state.isClosed) await woken;
      clearTimeout(timer);
    }
  }

  const running = run();
  return {
    wake: () => state.wake(),
    async close() {
      state.isClosed = true;
      state.wake();
      await running;
    },
  };
}
