/**
 * Numbers events after commits. One call runs at a time. If there are commits in the meantime, another call follows.
 */
import { NUMBERING_PAUSE } from '../service-limits.js';

export interface Numbering {
  wake(): void;
  /** Waits for the running call. */
  close(): Promise<void>;
}

interface NumberingOptions {
  /** Numbers a batch. Returns true if there may be more. */
  number(): Promise<boolean>;
  onFailure(error: unknown): void;
}

export function createNumbering({ number, onFailure }: NumberingOptions): Numbering {
  let isWanted = false;
  let isClosed = false;
  let running: Promise<void> | undefined;

  const mustGoOn = () => isWanted && !isClosed;

  async function run(): Promise<void> {
    while (mustGoOn()) {
      isWanted = false;
      const beganMs = performance.now();
      if (await number()) isWanted = true;
      else await pause(performance.now() - beganMs);
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

function pause(tookMs: number): Promise<void> {
  const ms = Math.min(
    NUMBERING_PAUSE.atMostMs,
    Math.max(NUMBERING_PAUSE.atLeastMs, NUMBERING_PAUSE.timesAsLong * tookMs),
  );
  return new Promise((resolve) => setTimeout(resolve, ms));
}
