/**
 * Attacks on the market's own scarce resources: documents, statements, passwords, responses. They reach the server
 * directly.
 */
import { describe, it } from 'vitest';
import { ANSWERS } from './answers.js';
import { MARKET_ROWS } from './rows/rows.js';
import { CHOSEN, victimsTable } from './table.js';

describe('during an attack, a homeowner elsewhere logs in, reads, and publishes', () => {
  const attacked = victimsTable(MARKET_ROWS, { behindProxy: false });

  it.each(ANSWERS.filter(([outcome]) => CHOSEN.test(outcome)))(
    'and afterward %s',
    async (_, check) => {
      await attacked().server.ensureHealthy();
      await check(attacked());
    },
    60_000,
  );
});
