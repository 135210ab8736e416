import type { Sql } from 'postgres';

/** How many of the servers' calls wait for a lock. Background work may wait for other locks, and isn't counted. */
export async function waitingCalls(sql: Sql): Promise<number> {
  const calls = await sql`select from pg_stat_activity where datname = current_database()
    and application_name = 'job-marketplace' and wait_event_type = 'Lock'`;
  return calls.length;
}
