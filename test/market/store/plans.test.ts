/**
 * How the database reads for the product's lists, searches, counts, and permission checks, in a market too large to
 * scan. It must always use an index, with both custom and generic plans. test/market/store/jobs/job-search.test.ts
 * checks the results, and test/nightly/large-market.test.ts checks them for this market.
 */
import postgres, { type Sql } from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  BACKWARD_QUERIES,
  indexConditionsIn,
  indexesWithoutRowsIn,
  NESTED_FROM_MIDDLE,
  openExplainer,
  openListener,
  PLAN_KINDS,
  QUERIES,
  scannedIn,
  type Sent,
} from '../../bench/work/queries.js';
import { seededId } from '../../bench/market/market.js';
import { busyContractor, busyHomeowner, seedUnevenMarket } from '../../bench/market/uneven-market.js';
import type { Market } from '../../../src/market/store/seed/seed.js';
import { checkDatabase } from '../../setup/database/checker.js';
import { freshDatabase, type FreshDatabase } from '../../setup/postgres.js';

/** More rows than are ever counted, so even a count reads only some of them. */
const SIZE = { jobs: 16_000, bids: 32_000, people: 12_000 };

let database: FreshDatabase;
let sql: Sql;
let market: Market;
let listener: Awaited<ReturnType<typeof openListener>>;
let explainer: Awaited<ReturnType<typeof openExplainer>>;

beforeAll(async () => {
  database = await freshDatabase();
  sql = postgres({ ...database.connection, max: 1, fetch_types: false, onnotice: () => {} });
  market = await seedUnevenMarket(sql, SIZE, 'no password');
  await addAccountEvents();
  await addSavedSearches();
  listener = await openListener(database.connection, sql, market);
  explainer = await openExplainer(database.connection, 60_000);
});
afterAll(async () => {
  await explainer.close();
  await listener.close();
  await sql.end({ timeout: 5 });
  await database.drop();
});

/** Adds one for each person, numbered after the job events. Postgres prefers to scan a table that is almost empty. */
async function addAccountEvents(): Promise<void> {
  await sql`
    insert into account_events (id, user_id, type, occurred_at, position)
    select 'aev_' || lpad(row_number() over (order by id)::text, 27, '0'), id, 'webhook.paused', now(),
      (select max(position) from events) + row_number() over (order by id)
    from users`;
  await sql`analyze account_events`;
}

/** Adds one for each contractor, for the same reason. */
async function addSavedSearches(): Promise<void> {
  await sql`
    insert into saved_searches (id, contractor_id, name, alert, categories, matches_after)
    select 'sea_' || substr(id, 5), id, 'Roofs', 'off', '{roofing}', 0 from contractors`;
  await sql`analyze saved_searches`;
}

/** Each plan that scans a whole table, as `query (kind): tables`. */
async function scans(statements: readonly Sent[]): Promise<string[]> {
  const found: string[] = [];
  for (const sent of statements) {
    await explainer.prepare(sent);
    for (const kind of PLAN_KINDS) {
      const { Plan: root } = await explainer.explain(kind);
      const tables = scannedIn(root);
      if (tables.length > 0) found.push(`${sent.name} (${kind}): ${tables.join(', ')}`);
    }
  }
  return found;
}

describe('the plans', () => {
  it('are from a consistent market', async () => {
    expect(await checkDatabase(sql)).toEqual([]);
  });

  it('read no table from end to end', async () => {
    expect(await scans(await listener.listen(QUERIES.filter(({ mayScan }) => !mayScan)))).toEqual([]);
  });

  it('read no table backward from end to end', async () => {
    expect(await scans(await listener.listen(BACKWARD_QUERIES.filter(({ mayScan }) => !mayScan)))).toEqual([]);
  });

  it('of the most frequent reads are created once, and not on every call', async () => {
    const MOST = [
      'open jobs',
      'open jobs, everything nested',
      'homeowner’s jobs',
      'a job, read by its owner',
      'a job, read by its bidder',
      'oneself',
      'token balance',
      'own bids',
      'all jobs',
    ];
    const anew: string[] = [];
    for (const sent of await listener.listen(QUERIES.filter(({ name }) => MOST.includes(name)))) {
      await explainer.prepare(sent);
      if ((await explainer.taken()) === 'custom') anew.push(sent.name);
    }
    expect(anew).toEqual([]);
  });

  it('start at the position that a nested list is read from, for each of its parents', async () => {
    const BEGINS = { bids: /ROW\(guaranteed_view, created_at, id\) </, events: /sequence >/ };
    const sent = await listener.listen(QUERIES.filter(({ name }) => name.endsWith(NESTED_FROM_MIDDLE)));
    const pages = Object.entries(BEGINS).flatMap(([table, begins]) => {
      const isPage = ({ text }: Sent) => text.includes('as job(id)');
      const found = sent.filter((one) => isPage(one) && one.text.includes(`from "${table}"`));
      expect(found).toHaveLength(9);
      return found.map((page) => ({ page, begins }));
    });
    for (const { page, begins } of pages) {
      await explainer.prepare(page);
      for (const kind of PLAN_KINDS) {
        const { Plan: root } = await explainer.explain(kind);
        const isBegun = indexConditionsIn(root).some((condition) => begins.test(condition));
        expect(isBegun, `${page.name} (${kind})`).toBe(true);
      }
    }
  });

  it.each([
    ['of several trades find each trade in an index', /^(open )?jobs of (two trades|trades nobody has)/, 20],
    ['of a budget skip the jobs that don’t match without reading them', /jobs (of a trade )?in a budget.* for the/, 24],
  ])('%s', async (_, names, count) => {
    const lists = QUERIES.filter(({ name }) => names.test(name));
    expect(lists).toHaveLength(count);
    for (const sent of await listener.listen(lists)) {
      if (sent.name === 'session') continue;
      await explainer.prepare(sent);
      for (const kind of PLAN_KINDS) {
        const { Plan: root } = await explainer.explain(kind);
        const isOfTrades = indexConditionsIn(root).some((condition) => condition.includes('(category = trade.name)'));
        const isIndexOnly = indexesWithoutRowsIn(root).some((index) => /^jobs_.*_(in_state|of_trade)$/.test(index));
        expect(sent.query.name.includes('trades') ? isOfTrades : isIndexOnly, `${sent.name} (${kind})`).toBe(true);
      }
    }
  });

  it('would be detected if an index were missing', async () => {
    const statements = await listener.listen(
      QUERIES.filter(({ name }) => name === 'token transfers' || name === 'admin searches for a very rare word'),
    );
    await explainer.sql.unsafe('begin');
    await explainer.sql.unsafe('drop index token_transfers_history, job_search_words');
    const found = await scans(statements);
    await explainer.sql.unsafe('rollback');
    const expected = { 'admin searches for a very rare word': 'job_search', 'token transfers': 'token_transfers' };
    expect(found).toEqual(
      Object.entries(expected).flatMap(([name, table]) => PLAN_KINDS.map((kind) => `${name} (${kind}): ${table}`)),
    );
  });
});

describe('the plans of other reads', () => {
  const ownJob = async (state: string) => {
    const homeowner = seededId('hmw', busyHomeowner(market));
    const [own] = await sql.unsafe<{ job: string; bid: string }[]>(
      `select j.id as job, b.id as bid from jobs j left join bids b on b.job_id = j.id and b.guaranteed_view
        where j.homeowner_id = '${homeowner}' and j.status = '${state}' order by b.id, j.id limit 1`,
    );
    if (!own) throw new Error(`The busy homeowner has no job that is ${state}.`);
    return own;
  };

  const foreignJob = async () => {
    const [open] = await sql.unsafe<{ job: string }[]>(
      `select j.id as job from jobs j where j.status = 'open' and not exists (select from bids b where b.job_id = j.id
        and b.contractor_id = '${seededId('ctr', busyContractor(market))}') limit 1`,
    );
    if (!open) throw new Error('The busy contractor has bid on every job.');
    return open.job;
  };

  it.each([
    [
      'a publication',
      'busy homeowner',
      async () => `mutation { publishJob(id: "${(await ownJob('draft')).job}") { tokensCharged } }`,
      ['token_balances', 'token_transfers'],
    ],
    [
      'a bid',
      'busy contractor',
      async () =>
        `mutation { submitBid(jobId: "${await foreignJob()}", input: { amount: 5,
          guaranteedView: true }) { bid { id } } }`,
      ['bids', 'holds', 'token_balances'],
    ],
    [
      'an award',
      'busy homeowner',
      async () => {
        const { job, bid } = await ownJob('open');
        return `mutation { awardJob(id: "${job}", input: { bidId: "${bid}" }) { job { id } } }`;
      },
      ['bids', 'holds', 'token_balances'],
    ],
  ] as const)('read no table from end to end for %s', async (name, who, mutation, touched) => {
    // For a cached caller, only the mutation sends statements.
    await listener.ask(who, { graphql: '{ viewer { referralCode } }' });
    const graphql = await mutation();
    const sent = await listener.listen([{ name, as: who, kind: 'steady', api: 'graphql', ask: () => ({ graphql }) }]);
    for (const table of touched) expect(sent.some(({ text }) => text.includes(`"${table}"`))).toBe(true);
    expect(await scans(sent)).toEqual([]);
  });
});
