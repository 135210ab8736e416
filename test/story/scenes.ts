/**
 * Copies of a job with everything that belongs to it, made by SQL. The rows come from real operations, at a hundredth
 * of the cost of repeating them. Tests that change jobs use a separate copy for every call.
 */
import { createHash } from 'node:crypto';
import type { Sql, TransactionSql } from 'postgres';
import { newId } from '../../src/market/store/new-id.js';
import type { TestApp } from '../setup/app.js';
import type { GivenJob } from './journey.js';

/** Doesn't copy bids that stake tokens, because their holds would be counted twice. */
export async function copiesOf({ sql }: TestApp, job: GivenJob, count: number): Promise<GivenJob[]> {
  const copies = Array.from({ length: count }, (): GivenJob => ({
    ...job,
    id: newId('job'),
    bids: { awardee: job.bids.awardee && newId('bid'), bidder: job.bids.bidder && newId('bid') },
  })).map(withItsProposal);
  const jobIds = list(copies.map(({ id }) => id));
  const awardees = list(copies.map(({ bids }) => bids.awardee ?? ''));
  const bidders = list(copies.map(({ bids }) => bids.bidder ?? ''));
  const copied = `unnest('${jobIds}'::text[], '${awardees}'::text[], '${bidders}'::text[])
    as copied(job, awardee, bidder)`;
  const bidId = (old: string) =>
    `case ${old} when '${job.bids.awardee}' then copied.awardee when '${job.bids.bidder}' then copied.bidder end`;

  await sql.begin(async (tx) => {
    // A job and its awarded bid reference each other.
    await tx.unsafe('set constraints all deferred');
    await insertSelect(
      tx,
      'bids',
      { id: bidId('old.id'), job_id: 'copied.job' },
      `${copied}, bids old where old.job_id = '${job.id}'`,
    );
    await insertSelect(
      tx,
      'jobs',
      { id: 'copied.job', awarded_bid_id: bidId('old.awarded_bid_id'), title: `old.title || ' ' || copied.job` },
      `${copied}, jobs old where old.id = '${job.id}'`,
    );
  });
  await insertSelect(
    sql,
    'events',
    {
      id: `'evt_0' || left(md5(copied.job || old.sequence), 26)`,
      job_id: 'copied.job',
      // The copies have no position yet.
      position: 'null::bigint',
      data: `replace(replace(old.data::text, '${job.bids.awardee}', copied.awardee),
         '${job.bids.bidder}', copied.bidder)::jsonb`,
    },
    `${copied}, events old where old.job_id = '${job.id}'`,
  );
  return copies;
}

/** The proposal's ID is derived from its event's ID, in the same way as in the copies below. */
function withItsProposal(copy: GivenJob): GivenJob {
  if (!copy.proposal) return copy;
  const { sequence } = copy.proposal;
  const md5 = createHash('md5').update(`${copy.id}${sequence}`).digest('hex');
  return { ...copy, proposal: { id: `prp_0${md5.slice(0, 26)}`, sequence } };
}

async function insertSelect(
  sql: Sql | TransactionSql,
  table: string,
  changed: Record<string, string>,
  from: string,
): Promise<void> {
  const found = await sql`select column_name from information_schema.columns where table_schema = 'public'
      and table_name = ${table} and is_generated = 'NEVER'`;
  const names = found.map(({ column_name: name }) => `"${name}"`);
  const values = found.map(({ column_name: name }) => changed[name] ?? `old."${name}"`);
  await sql.unsafe(`insert into ${table} (${names.join(', ')}) select ${values.join(', ')} from ${from}`);
}

/**
 * A literal, because the tests' driver doesn't support arrays. Identifiers don't need quotes in it, but empty strings
 * do.
 */
function list(values: string[]): string {
  return `{${values.map((value) => `"${value}"`).join(',')}}`;
}

/** Runs as many in parallel as the server has connections. */
export async function atOnce<Item, Made>(
  items: readonly Item[],
  work: (item: Item, at: number) => Promise<Made>,
  workers = 10,
): Promise<Made[]> {
  const made: Made[] = [];
  let next = 0;
  await Promise.all(
    Array.from({ length: workers }, async () => {
      for (let at = next++; at < items.length; at = next++) made[at] = await work(items[at] as Item, at);
    }),
  );
  return made;
}
