/** The parts of the database that the verdict needs, all read at the same moment after a run. */
import type { Sql } from 'postgres';
import type { Fields } from './history.js';

export interface Rows {
  readonly jobs: JobSaid[];
  readonly bids: {
    id: string;
    job_id: string;
    contractor_id: string;
    status: string;
    amount: string;
    message: string | null;
    guaranteed_view: boolean;
  }[];
  readonly holds: { id: string; bid_id: string; user_id: string; amount: number; status: string }[];
  readonly events: { job_id: string; sequence: number; type: string; actor_id: string | null; data: Fields }[];
  readonly transfers: { user_id: string; change: number; reason: string; job_id: string | null; note: string | null }[];
  readonly balances: { user_id: string; balance: number; held: number }[];
  readonly records: { user_id: string; operation: string; key: string }[];
}

interface JobSaid {
  id: string;
  homeowner_id: string;
  status: string;
  title: string;
  requirements: string | null;
  awarded_bid_id: string | null;
}

export function readRows(sql: Sql): Promise<Rows> {
  return sql.begin('isolation level repeatable read read only', async (tx) => ({
    jobs: await tx<Rows['jobs']>`select id, homeowner_id, status, title, requirements, awarded_bid_id from jobs`,
    bids: await tx<Rows['bids']>`select id, job_id, contractor_id, status, amount, message, guaranteed_view from bids`,
    holds: await tx<Rows['holds']>`select id, bid_id, user_id, amount, status from holds`,
    events: await tx<
      Rows['events']
    >`select job_id, sequence, type, actor_id, data from events order by job_id, sequence`,
    transfers: await tx<Rows['transfers']>`
      select user_id, case when to_account = user_id then amount else -amount end as change, reason, job_id, note
        from token_transfers`,
    balances: await tx<Rows['balances']>`select user_id, balance, held from token_balances`,
    records: await tx<Rows['records']>`select user_id, operation, key from idempotency_records`,
  })) as Promise<Rows>;
}
