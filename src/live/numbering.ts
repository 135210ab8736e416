/** Asks for positions whenever something was committed: one call is under way at a time, and another one follows it. */

export interface Numbering {
  wake(): void;
  /** Waits for the call that is under way. */
  close(): Promise<void>;
}

interface NumberingParts {
  /** Numbers a batch; whether there may be more. */
  number(): Promise<boolean>;
  onFailure(error: unknown): void;
}

/** Under load a call numbers what was committed in so long a time, and not one event alone. */
const PAUSE_MS = 5;

export function createNumbering({ number, onFailure }: NumberingParts): Numbering {
  let isWanted = false;
  let isClosed = false;
  let running: Promise<void> | undefined;

  const mustGoOn = () => isWanted && !isClosed;

  async function run(): Promise<void> {
    while (mustGoOn()) {
      isWanted = false;
      // Those who commit at the same time wake us at once after one another.
      const pause = new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      if (await number()) isWanted = true;
      else await pause;
    }
  }

  return {
    wake: () => {
      isWanted = true;
      running ??= run()
        .catch(onFailure)
        .finally(() => (running = undefined));
    },
    close: async () => {
      isClosed = true;
      await running;
    },
  };
}
