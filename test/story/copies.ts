/** Many copies of a job, written as rows. A test that needs thousands of jobs can't call the APIs for each step. */
import type { TestApp } from '../setup/app.js';

/** How the copies' rows differ. `n` is the number of the copy. */
const newId = (column: string) =>
  `case when ${column} is not null then split_part(${column}, '_', 1) || '_' || substr(md5(${column} || n), 1, 27) end`;

const TABLES: Readonly<Record<string, { key: string; ids: readonly string[]; more?: string }>> = {
  jobs: { key: 'id', ids: ['id', 'awarded_bid_id'] },
  bids: { key: 'job_id', ids: ['id', 'job_id', 'hold_id'] },
  holds: { key: 'job_id', ids: ['id', 'job_id', 'bid_id'] },
  job_search: { key: 'job_id', ids: ['job_id'] },
  open_job_search: { key: 'job_id', ids: ['job_id'] },
  token_transfers: { key: 'job_id', ids: ['id', 'job_id'] },
  events: {
    key: 'job_id',
    ids: ['id', 'job_id'],
    more: `'position', null, 'data', case when t.data ? 'bidId'
      then jsonb_set(t.data, '{bidId}', to_jsonb(${newId("(t.data ->> 'bidId')")})) else t.data end`,
  },
};

/** The owner is given the tokens that the copies cost. The job must have no stakes. */
export async function copyJob({ sql }: Pick<TestApp, 'sql'>, { id }: { id: string }, count: number): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    for (const [table, { key, ids, more }] of Object.entries(TABLES)) {
      const [row] = await tx<{ columns: string }[]>`select string_agg(quote_ident(column_name), ', ') as columns
        from information_schema.columns
        where table_name = ${table} and table_schema = 'public' and is_generated = 'NEVER'`;
      const changes = [...ids.map((column) => `'${column}', ${newId(`t.${column}`)}`), ...(more ? [more] : [])];
      await tx.unsafe(
        `insert into ${table} (${row?.columns}) select ${row?.columns} from (
          select (jsonb_populate_record(t, jsonb_build_object(${changes.join(', ')}))).*
          from ${table} t cross join generate_series(1, $2::int) n where t.${key} = $1) copies`,
        [id, count],
      );
    }
    await tx`insert into token_transfers (id, from_account, to_account, amount, reason, user_id)
      select 'ttx_' || substr(md5(${id}), 1, 27), 'issuance', user_id, sum(amount) * ${count}, 'adjustment', user_id
      from token_transfers where job_id = ${id} group by user_id`;
  });
}
