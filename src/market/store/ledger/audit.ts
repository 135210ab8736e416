/** Checks a restored database: adds up every transfer and hold, and counts accounts, jobs, and bids. */
import { sql } from 'drizzle-orm';
import { connect, type Connection } from '../../../platform/db/database.js';
import { LAST_POSITION } from '../events/positions.js';
import { countLedger, selectMismatches } from './ledger.js';
import { statement } from '../../../platform/db/statement.js';

const countMarket = statement(
  'countMarket',
  { jobs: sql<number>`jobs`, bids: sql<number>`bids`, lastPosition: sql<number>`last_position` },
  () => sql`select (select count(*) from jobs)::int as jobs, (select count(*) from bids)::int as bids,
    ${LAST_POSITION}::float8 as last_position`,
);

/** Throws if the tokens don't add up. */
export async function auditDatabase(connection: Connection): Promise<string> {
  const db = connect(connection, { poolSize: 1, statementTimeoutMs: 600_000 });
  try {
    const mismatches = await selectMismatches(db, {});
    const [ledger] = await countLedger(db, {});
    const [market] = await countMarket(db, {});
    const there =
      `${ledger?.accounts} accounts, ${ledger?.transfers} token transfers, ${market?.jobs} jobs, and ` +
      `${market?.bids} bids; the last event has position ${market?.lastPosition}`;
    if (mismatches.length > 0)
      throw new Error(
        `The tokens of ${mismatches.map(({ userId }) => userId).join(', ')} do not add up. There are ${there}.`,
      );
    return `${there}. All tokens add up`;
  } finally {
    await db.close();
  }
}
