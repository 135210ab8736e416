/** Runs the comparison of jobs with saved searches: when events get positions, and on a timer. */
import type { Logger } from 'pino';
import { repeat, type Queue, type Repeated } from '../../../platform/queue/queue.js';
import { SAVED_SEARCHES } from '../../rules/market-limits.js';
import { matchNext, selectMatchState } from '../../store/searches/matches.js';
import type { Services } from '../services.js';

interface MatchingOptions extends Pick<Services, 'live' | 'databaseWatch'> {
  readonly queue: Pick<Queue, 'db'>;
  readonly log: Pick<Logger, 'warn'>;
}

export function openMatching({ queue: { db }, live, log, databaseWatch }: MatchingOptions): Pick<Repeated, 'close'> {
  /** While nobody has a saved search, new events don't wake the matching. The timer still moves the cursor. */
  let hasSearches = false;
  const matching = repeat(
    async () => {
      const [state] = await selectMatchState(db, {});
      hasSearches = state?.hasSearches === true;
      return state?.isBehind === true && matchNext(db);
    },
    SAVED_SEARCHES.pollEveryMs,
    (error) => {
      if (!databaseWatch.problem) log.warn({ err: error }, 'matching saved searches failed; retrying');
    },
  );
  const stopListening = live.onEvents(() => hasSearches && matching.wake());
  return {
    async close() {
      stopListening();
      await matching.close();
    },
  };
}
