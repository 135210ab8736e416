/**
 * Generates a market of any size with SQL. Its jobs are in every state that most jobs pass through. Constraints and
 * triggers stay active, so the result has the same invariants as a market that grew call by call. Each batch is a
 * transaction, so an interrupted run leaves a smaller market without errors.
 */
import postgres, { type Sql } from 'postgres';
import { PUBLISH_COST, URGENCIES } from '../../rules/jobs/publishing.js';
import { GUARANTEED_VIEW_STAKE } from '../../rules/tokens.js';
import type { Connection } from '../../../platform/db/database.js';
import { joinTown, TOWNS, type Town } from './seed-towns.js';

export type SeededState = 'draft' | 'open' | 'awarded' | 'in_progress' | 'in_review' | 'completed' | 'cancelled';

export interface MarketSize {
  readonly jobs: number;
  /** The approximate number of bids. A draft has no bids, and any other job has from one bid to twice the mean. */
  readonly bids: number;
  /** The number of people. Half of them are homeowners and half are contractors. */
  readonly people: number;
  /** The states that the jobs get, in turn. The default is 20 states that leave half of the market open. */
  readonly states?: readonly SeededState[];
  /** The towns that people live in. By default, everyone is in one town, and searches by place don't find any jobs. */
  readonly towns?: readonly Town[] | undefined;
}

/** People are numbered from 1. Odd numbers are homeowners, and even numbers are contractors. */
export interface Market {
  readonly homeowners: number;
  readonly contractors: number;
  readonly jobs: number;
}

/**
 * Throws if the database already has people, because generated data must not be mixed with existing data. Works before
 * the database is migrated.
 */
export async function openEmptyDatabase(connection: Connection): Promise<Sql> {
  const options = { max: 1, fetch_types: false, onnotice: () => {} };
  const sql = 'url' in connection ? postgres(connection.url, options) : postgres({ ...connection, ...options });
  const [table] = await sql`select /* findUsersTable */ to_regclass('users') as name`;
  const [person] = table?.name ? await sql`select /* selectAnyUser */ 1 from users limit 1` : [];
  if (!person) return sql;
  await sql.end();
  const variable = 'url' in connection ? 'DATABASE_URL' : 'DATA_DIR';
  throw new Error(`The database is not empty. Set ${variable} to an empty one.`);
}

const STATES = (
  'open completed open draft awarded open in_progress open completed open ' +
  'cancelled open awarded open draft in_progress open in_review awarded in_progress'
).split(' ') as SeededState[];
const SHARE_WITH_BIDS = STATES.filter((state) => state !== 'draft').length / STATES.length;
const JOBS_IN_A_BATCH = 20_000;
/** The highest mean number of bids that the identifiers have room for. A job has at most twice the mean. */
const MEAN_OF_BIDS_MAX = 8;
const [OLDEST_DAYS, NEWEST_DAYS] = [300, 100];

/** The database's migrations must have run. The jobs are 100 to 300 days old. */
export async function seedMarket(
  sql: Sql,
  { jobs, bids, people, states, towns }: MarketSize,
  passwordHash: string,
  onProgress: (jobs: number) => void = () => {},
): Promise<Market> {
  const market = { homeowners: Math.floor(people / 2), contractors: Math.floor(people / 2), jobs };
  await addPeople(sql, 1, market.homeowners + market.contractors, passwordHash, towns);
  const mean = Math.max(1, Math.min(Math.round(bids / (jobs * SHARE_WITH_BIDS)), MEAN_OF_BIDS_MAX));
  const daysAgo = (done: number) => OLDEST_DAYS - (done / jobs) * (OLDEST_DAYS - NEWEST_DAYS);
  for (let done = 0; done < jobs;) {
    const count = Math.min(JOBS_IN_A_BATCH, jobs - done);
    await addJobs(sql, market, {
      from: done + 1,
      count,
      state: states,
      towns,
      fewestBids: 1,
      bids: 2 * mean - 1,
      daysAgo: [daysAgo(done), daysAgo(done + count)],
    });
    done += count;
    onProgress(done);
  }
  await sql`vacuum (analyze)`;
  return market;
}

const TOKENS_GRANTED = 1_000_000;
/** The transfers that give people their tokens have higher numbers than the transfers for jobs. */
const GRANTS_FROM = 1_000_000_000;

/** Creates an identifier in KSUID format from an object's number among the objects of its kind. */
export const idOf = (prefix: string, n: string) => `'${prefix}_1' || lpad((${n})::text, 26, '0')`;

/** Each person gets a session and tokens. */
export async function addPeople(
  sql: Sql,
  from: number,
  to: number,
  passwordHash: string,
  towns: readonly Town[] = [TOWNS.austin],
): Promise<void> {
  const [user, homeowner, contractor] = [idOf('usr', 'n'), idOf('hmw', 'n'), idOf('ctr', 'n')];
  const openedAt = `date_trunc('milliseconds', now()) - interval '600 days' + n * interval '1 minute'`;
  const people = `from generate_series(${from}, ${to}) n ${joinTown('n', towns)}`;
  await sql.begin(async (tx) => {
    await tx.unsafe(
      `insert /* seedUsers */ into users (id, email, user_type, first_name, last_name, phone, password_hash,
        referral_code, created_at, updated_at)
      select ${user}, 'person' || n || '@example.test', (array['contractor', 'homeowner']::user_type[])[1 + n % 2],
        (array['Hanna', 'Olive', 'Otto', 'Ava', 'Ben', 'Stella', 'Carlos', 'Mina', 'Ravi', 'Zoe'])[1 + n % 10],
        (array['Hill', 'Cruz', 'Stone', 'Moss', 'Lake'])[1 + n / 10 % 5] || ' ' || n,
        '+1 ' || area_code || ' 555 ' || lpad((n % 10000)::text, 4, '0'), $1,
        'R' || lpad(upper(to_hex(n)), 7, 'Z'), ${openedAt}, ${openedAt}
      ${people}`,
      [passwordHash],
    );
    await tx.unsafe(`insert /* seedHomeowners */ into homeowners (id, user_id, address_line1, city, state, zip_code,
        country, property_type, created_at, updated_at)
      select ${homeowner}, ${user}, n || ' Oak Lane', city, town_state, zip_code, 'US', 'single_family',
        ${openedAt}, ${openedAt}
      ${people} where n % 2 = 1`);
    await tx.unsafe(`insert /* seedContractors */ into contractors (id, user_id, company_name, business_type,
        license_number, license_state, years_in_business, service_areas, specialties, bio, updated_at)
      select ${contractor}, ${user}, 'Craft & Sons ' || n, 'llc', 'M-' || n, town_state, n % 30,
        array[city || ', ' || town_state, neighbour || ', ' || town_state],
        '{plumbing,roofing}', 'Leaks found and fixed, and roofs mended, by company number ' || n || '.', ${openedAt}
      ${people} where n % 2 = 0`);
    await tx.unsafe(`insert /* seedSessions */ into sessions (id, user_id, created_at, ends_at)
      select ${idOf('ses', 'n')}, ${user}, now(), now() + interval '90 days' ${people}`);
    await tx.unsafe(`insert /* seedGrants */ into token_transfers (id, from_account, to_account, amount, reason,
        user_id, note, created_at)
      select ${idOf('ttx', `${GRANTS_FROM} + n`)}, 'issuance', ${user}, ${TOKENS_GRANTED}, 'adjustment', ${user},
        'Seeded.', ${openedAt} ${people}`);
    await tx.unsafe(`insert /* seedBalances */ into token_balances (user_id, balance)
      select ${user}, ${TOKENS_GRANTED} ${people}`);
  });
}

export interface Batch {
  /** The number of the first job. All identifiers in the batch depend on it. */
  readonly from: number;
  readonly count: number;
  /** One state for all jobs, or several states that the jobs get in turn. Defaults to the states of a new market. */
  readonly state?: SeededState | readonly SeededState[];
  /**
   * The number of bids on each job that isn't a draft. With `fewestBids`, jobs get each number from `fewestBids` to
   * `bids` in turn.
   */
  readonly bids: number;
  readonly fewestBids?: number;
  /**
   * The ages, in days, of the first job and of the job that would come after the last one. The default ages
   * are higher than in a new market.
   */
  readonly daysAgo?: readonly [first: number, last: number];
  /** A person who owns all of these jobs. If `owner` and `bidder` are omitted, people own and bid on jobs in turn. */
  readonly owner?: number;
  readonly bidder?: number;
  readonly towns?: readonly Town[] | undefined;
}

export async function addJobs(sql: Sql, market: Market, batch: Batch): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`set /* withoutTimeout */ local statement_timeout = 0`;
    // This call takes the lock that numbering requires, but numbers no events.
    const [events] = await tx`select /* lockPositions */ last_position from number_events(0)`;
    await tx.unsafe(insertJobs(market, batch), [events?.last_position]);
    if (batch.towns)
      await tx.unsafe(`update /* seedPlaces */ job_search set town = point(longitude, latitude)
        from jobs where id = job_id and town is null`);
  });
}

/** All rows are computed from the job's number `n` and each bid's place among the job's bids. */
function insertJobs({ homeowners, contractors }: Market, batch: Batch): string {
  const { from, count, state = STATES, bids, fewestBids = bids, daysAgo = [400, 301], towns = [TOWNS.austin] } = batch;
  const states = [state].flat();
  const age = `${daysAgo[0]} - (n - ${from}) * ${(daysAgo[0] - daysAgo[1]) / count}::float8`;
  const owner = batch.owner ?? `2 * (n % ${homeowners}) + 1`;
  const anyBidder = `2 * ((n * 31 + place * 37) % ${contractors}) + 2`;
  const bidder = batch.bidder
    ? `case place when least(bids, 1 + n % 2) then ${batch.bidder} else ${anyBidder} end`
    : anyBidder;
  return `with /* seedJobs */
  step (at, type, from_status, to_status) as (values
    (0, 'job.created', null, 'draft'::job_status),
    (1, 'job.published', 'draft'::job_status, 'open'),
    (2, 'job.awarded', 'open', 'awarded'),
    (2, 'job.cancelled', 'open', 'cancelled'),
    (3, 'job.checked_in', 'awarded', 'in_progress'),
    (4, 'job.submitted_for_review', 'in_progress', 'in_review'),
    (5, 'job.approved', 'in_review', 'completed')
  ),
  job as (
    select n, ${idOf('job', 'n')} as job_id, ${idOf('hmw', 'owner')} as homeowner_id, ${idOf('usr', 'owner')} as owner,
      status, at as steps, urgency, town.*,
      case when at = 5 then 3 + n / 7 % 3 end as rating,
      case when at = 5 then (array['Late, but good.', 'Good work.', 'Quick and clean.'])[1 + n / 7 % 3] end as review,
      case when at = 0 then 0 else ('${JSON.stringify(PUBLISH_COST)}'::jsonb ->> urgency::text)::int end as paid,
      case when at = 0 then 0 else ${fewestBids} + n::int * 17 % ${bids - fewestBids + 1} end as bids,
      date_trunc('milliseconds', now() - (${age}) * interval '1 day') as made
    from (
      select n, ${owner} as owner, ('{${states.join()}}'::job_status[])[1 + n % ${states.length}] as status,
        ('{${URGENCIES.join()}}'::urgency[])[1 + n % ${URGENCIES.length}] as urgency
      from generate_series(${from}::bigint, ${from + count - 1}) n) planned
    join step on to_status = status
    ${joinTown('owner', towns)}
  ),
  bid as (
    select job.*, place, ${idOf('bid', 'n * 16 + place')} as bid_id, ${idOf('hld', 'n * 16 + place')} as hold_id,
      ${idOf('ctr', 'bidder')} as contractor_id, ${idOf('usr', 'bidder')} as bidder, bid_status,
      (n + place) % 10 = 0 as guaranteed,
      bid_status = 'pending' or (bid_status = 'accepted' and status <> 'completed') as held,
      made + (place + 1) * interval '1 hour' as bid_made
    from job, generate_series(1, bids) place, lateral (
      select ${bidder} as bidder,
        (case when status = 'open' then 'pending' when status <> 'cancelled' and place = 1 then 'accepted'
          else 'rejected' end)::bid_status as bid_status) offer
  ),
  winner as (select * from bid where bid_status = 'accepted'),
  new_bids as (
    insert into bids (id, job_id, contractor_id, status, amount, estimated_duration_days, message, proposed_start_date,
      materials_included, payment_terms, guaranteed_view, hold_id, created_at, updated_at, submitted_at, job_created_at)
    select bid_id, job_id, contractor_id, bid_status, 100 + (n + place * 13) % 900, 1 + n % 14,
      'I can come on Monday morning and bring what is needed. Offer ' || place || '.', '2030-06-01', place % 2 = 0,
      'Half in advance, half when it is done.', guaranteed, case when guaranteed then hold_id end,
      bid_made, bid_made, bid_made, made
    from bid
  ),
  new_jobs as (
    insert into jobs (id, homeowner_id, status, title, description, category, budget_min, budget_max, urgency,
      address_line1, city, state, zip_code, country, latitude, longitude, desired_start_date, desired_completion_date,
      requirements, awarded_bid_id, awarded_contractor_id, rating, review, version, created_at, updated_at,
      status_changed_at, highest_budget_min, highest_budget_max, most_tokens_paid, completion_date_at_check_in,
      event_count, bid_count, live_bid_count, bids_ever)
    select job.job_id, job.homeowner_id, job.status,
      (array['Mend', 'Clean', 'Replace', 'Move', 'Inspect'])[1 + job.n / 5 % 5] || ' the ' ||
        (array['kitchen sink', 'roof', 'fence', 'attic light', 'bathroom floor'])[1 + job.n % 5] || ' no. ' || job.n,
      'It drips day and night, and the cabinet below is wet. Please come soon, job ' || job.n
        || ' cannot wait for long.',
      (array['plumbing', 'roofing', 'painting', 'electrical', 'tiling'])[1 + job.n % 5],
      150 + job.n % 100, 400.5 + job.n % 500, job.urgency, job.n || ' Oak Lane', job.city, job.town_state,
      job.zip_code, 'US', job.latitude, job.longitude, '2030-06-01', '2030-06-15', 'Bring a ladder.',
      winner.bid_id, winner.contractor_id, job.rating, job.review,
      job.steps + 1, job.made, job.made,
      job.made + (job.steps + job.bids * greatest(0, least(job.steps, 3) - 1)) * interval '1 hour',
      case when job.steps > 0 then 150 + job.n % 100 end, case when job.steps > 0 then 400.5 + job.n % 500 end,
      job.paid, case when job.steps > 2 then date '2030-06-15' end,
      job.steps + 1 + job.bids * least(job.steps, 2), job.bids, case when job.status = 'open' then job.bids else 0 end,
      job.bids
    from job left join winner using (n)
  ),
  new_holds as (
    insert into holds (id, bid_id, job_id, user_id, amount, status, created_at, released_at)
    select hold_id, bid_id, job_id, bidder, ${GUARANTEED_VIEW_STAKE},
      (case when held then 'active' else 'released' end)::hold_status, bid_made,
      case when not held then made + interval '20 days' end
    from bid where guaranteed
  ),
  new_transfers as (
    insert into token_transfers (id, from_account, to_account, amount, reason, user_id, job_id, created_at)
    select ${idOf('ttx', 'n')}, owner, 'fees', paid, 'publish', owner, job_id, made + interval '1 hour'
    from job where paid > 0
  ),
  new_balances as (
    update token_balances b set balance = b.balance - used.paid, held = b.held + used.staked
    from (
      select person, sum(paid) as paid, sum(staked) as staked from (
        select owner as person, paid, 0 as staked from job
        union all select bidder, 0, ${GUARANTEED_VIEW_STAKE} from bid where guaranteed and held) each_one
      group by person) used
    where b.user_id = used.person
  ),
  new_ratings as (
    update contractors c set completed_jobs = c.completed_jobs + done.jobs, rating_count = c.rating_count + done.jobs,
      rating_sum = c.rating_sum + done.ratings
    from (
      select contractor_id, count(*) as jobs, sum(rating) as ratings from winner where status = 'completed'
      group by contractor_id) done
    where c.id = done.contractor_id
  ),
  event as (
    select n, at + 1 + case when at < 2 then 0 when at = 2 then job.bids else 2 * job.bids end as sequence, type,
      case when at in (3, 4) then winner.bidder else job.owner end as actor, null as contractor_id, from_status,
      to_status,
      case at when 1 then jsonb_build_object('tokensCharged', job.paid)
        when 2 then case when winner.n is null then '{"tokensRefunded": 0}'
          else jsonb_build_object('bidId', winner.bid_id) end
        when 3 then '{"notes": "The valve is worn out."}'
        when 4 then '{"completionNotes": "A new valve, and no drip."}'
        when 5 then jsonb_build_object('rating', job.rating, 'review', job.review) else '{}' end as data
    from job
    join step on at <= job.steps and (at <> 2 or (to_status = 'cancelled') = (job.status = 'cancelled'))
    left join winner using (n)
    union all
    select n, 2 + place, 'bid.submitted', bidder, contractor_id, null, null,
      jsonb_build_object('bidId', bid_id, 'status', 'pending') from bid
    union all
    select n, 3 + bids + place, 'bid.' || bid_status, owner, contractor_id, null, null,
      jsonb_build_object('bidId', bid_id) from bid where bid_status <> 'pending'
  )
  insert into events (id, job_id, sequence, type, actor_id, bidder_id, from_status, to_status, occurred_at, data,
    homeowner_id, position)
  select ${idOf('evt', 'n * 64 + sequence')}, job_id, sequence, type, actor, contractor_id, from_status, to_status,
    made + (sequence - 1) * interval '1 hour', data, homeowner_id,
    $1::bigint + row_number() over (order by made + (sequence - 1) * interval '1 hour', n, sequence)
  from event join job using (n)`;
}
