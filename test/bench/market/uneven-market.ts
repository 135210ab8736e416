/**
 * Adds the uneven parts to a seeded market: a few people who have many things. Their numbers are the same in markets of
 * any size. If a call takes longer in a larger market, the cause is then the market's size.
 */
import type { Sql } from 'postgres';
import {
  addJobs,
  addPeople,
  idOf,
  seedMarket,
  type Market,
  type MarketSize,
} from '../../../src/market/store/seed/seed.js';
import { vacuumWhole } from '../../setup/database/vacuum.js';
import { seededId } from './market.js';

const JOBS_OF_BUSY_HOMEOWNER = 5_000;
const JOBS_OF_MODEST_HOMEOWNER = 8;
/** The drafts among them have no bids. */
const JOBS_OF_BUSY_CONTRACTOR = 2_222;
const BIDS_ON_CROWDED_JOB = 1_000;
const JOBS_IN_SMALL_TOWN = 200;
const JOBS_WITH_RARE_WORD = 12;
const KEYS_OF_BUSY_HOMEOWNER = 40;

export const SMALL_TOWN = { city: 'Marfa', zipCode: '79843' } as const;
const CENTRES = { small: '(-104.0848,30.293)', large: '(-97.754,30.302)' } as const;

/** Every job contains `drips`, and one in five contains `replace`. The other words are added to titles. */
export const WORDS = {
  everywhere: 'drips',
  common: 'replace',
  middling: 'pergola',
  sparse: 'cupola',
  rare: 'gargoyle',
} as const;

/** These people have the numbers after all others, and the crowded job is the last. */
export const busyHomeowner = ({ homeowners, contractors }: Market) => homeowners + contractors + 1;
export const busyContractor = (market: Market) => busyHomeowner(market) + 1;
export const modestHomeowner = (market: Market) => busyHomeowner(market) + 2;
export const crowdedJob = ({ jobs }: Market) =>
  jobs + JOBS_OF_BUSY_HOMEOWNER + JOBS_OF_MODEST_HOMEOWNER + JOBS_OF_BUSY_CONTRACTOR + 1;

export async function seedUnevenMarket(sql: Sql, size: MarketSize, passwordHash: string): Promise<Market> {
  // Writes each row only once. Updating all towns later would rewrite the word indexes.
  await sql.unsafe(`alter table job_search alter town set default '${CENTRES.large}'`);
  const market = await seedMarket(sql, size, passwordHash);
  await addPeople(sql, busyHomeowner(market), modestHomeowner(market), passwordHash);
  let from = market.jobs + 1;
  for (const part of [
    { count: JOBS_OF_BUSY_HOMEOWNER, owner: busyHomeowner(market) },
    { count: JOBS_OF_MODEST_HOMEOWNER, owner: modestHomeowner(market) },
    { count: JOBS_OF_BUSY_CONTRACTOR, bidder: busyContractor(market) },
  ]) {
    await addJobs(sql, market, { from, ...part, state: size.states, fewestBids: 1, bids: 3, daysAgo: [300, 100] });
    from += part.count;
  }
  const bids = Math.min(BIDS_ON_CROWDED_JOB, market.contractors);
  await addJobs(sql, market, { from, count: 1, state: 'open', bids, daysAgo: [200, 200] });
  await sql`alter table job_search alter town drop default`;
  await addWords(sql, market);
  await moveToSmallTown(sql, market);
  await addIntegrations(sql, market);
  // As if all parts had been created together, so few jobs of one person share a page.
  await sql`cluster jobs using jobs_newest`;
  await sql`cluster job_search using job_search_newest`;
  await sql`cluster open_job_search using open_job_search_newest`;
  await vacuumWhole(sql);
  return market;
}

const NUMBER = 'substr(id, 6)::bigint';
/** Evenly distributed from 0 to below this, and the same in every run. */
const hashed = (below: number, salt: number) => `(hashint8extended(${NUMBER}, ${salt}) & 1048575) % ${below}`;
/** This many jobs of all ages and states. Multiples of a prime have no apparent order. */
const spread = (prime: number, count: number, { jobs }: Market) =>
  `(${NUMBER} * ${prime} % ${jobs} < ${count} and ${NUMBER} <= ${jobs})`;

async function addWords(sql: Sql, market: Market): Promise<void> {
  const words = {
    [` with a ${WORDS.rare}`]: spread(7_927, JOBS_WITH_RARE_WORD, market),
    [` under the ${WORDS.middling}`]: `${hashed(100, 1)} < 2`,
    [` near the ${WORDS.sparse}`]: `${hashed(1_000, 2)} < 3`,
  };
  for (const [word, where] of Object.entries(words))
    await sql.unsafe(`update jobs set title = title || '${word}' where ${where}`);
}

async function moveToSmallTown(sql: Sql, market: Market): Promise<void> {
  const { city, zipCode } = SMALL_TOWN;
  const where = spread(7_901, JOBS_IN_SMALL_TOWN, market);
  await sql.unsafe(`update jobs set city = '${city}', zip_code = '${zipCode}' where ${where}`);
  await sql.unsafe(`update job_search set town = '${CENTRES.small}'
    where job_id in (select id from jobs where city = '${city}')`);
}

/** The first number for the sessions of API keys and for webhooks, after all people. */
const INTEGRATIONS_FROM = 1_000_000_000;

export const busyEndpoint = (market: Market) => seededId('whk', INTEGRATIONS_FROM + busyHomeowner(market));

/**
 * API keys and webhook endpoints for one person in five, a delivery for each of the busy homeowner's events, and admin
 * actions.
 */
async function addIntegrations(sql: Sql, market: Market): Promise<void> {
  const busy = busyHomeowner(market);
  const [user, number] = [idOf('usr', 'owner'), `${INTEGRATIONS_FROM} + n`];
  const timestamp = `date_trunc('milliseconds', now()) - interval '500 days' + n * interval '1 minute'`;
  const owners = `(select n, n as owner from generate_series(1, ${busy}, 5) n
    union all select ${busy} + 10 + at, ${busy} from generate_series(1, ${KEYS_OF_BUSY_HOMEOWNER}) at) o`;
  for (const statement of [
    `insert into sessions (id, user_id, created_at, ends_at)
      select ${idOf('ses', number)}, ${user}, ${timestamp}, 'infinity' from ${owners}`,
    `insert into api_keys (id, user_id, session_id, name, secret_hash, created_at)
      select ${idOf('key', number)}, ${user}, ${idOf('ses', number)}, 'Program ' || n, 'seeded ' || n, ${timestamp}
      from ${owners}`,
    `insert into webhook_endpoints (id, user_id, url, event_types, status, paused_reason, secrets, sealed_by,
        created_at, updated_at)
      select ${idOf('whk', number)}, ${idOf('usr', 'n')}, 'https://hooks.example.com/' || n, '{}', 'paused',
        'requested', '[]', 'seeded', ${timestamp}, ${timestamp}
      from (select n from generate_series(1, ${busy - 1}, 5) n union select ${busy}) o`,
    `insert into webhook_deliveries (id, endpoint_id, event_id, event_type, status, created_at, ended_at)
      select 'dlv_' || substr(id, 5), '${busyEndpoint(market)}', id, type,
        case when position % 50 = 0 then 'failed' else 'delivered' end, occurred_at, occurred_at
      from events where homeowner_id = '${seededId('hmw', busy)}'`,
    `insert into webhook_attempts (delivery_id, number, started_at, duration_ms, response_status)
      select id, 1, created_at, 40, case when status = 'failed' then 500 else 204 end from webhook_deliveries`,
    // Tasks without deliveries. There are so many that scanning them all is never the best plan.
    `insert into tasks (id, kind, key) select 'dlv_' || substr(id, 5), 'webhook', '${busyEndpoint(market)}'
      from events where homeowner_id <> '${seededId('hmw', busy)}'`,
    `insert into webhook_cursor (position) select max(position) from events`,
    // One for each person. Every other one is about a job.
    `insert into admin_actions (id, admin_id, action, user_id, job_id, created_at)
      select ${idOf('act', 'n')}, ${idOf('usr', 'n % 3 + 1')}, 'completeJob', ${idOf('usr', 'n')},
        case when n % 2 = 1 then ${idOf('job', 'n')} end, ${timestamp} from generate_series(1, ${busy}) n`,
  ])
    await sql.unsafe(statement);
}
