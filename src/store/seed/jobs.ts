/** The jobs of a made-up market, planned first, with their bids, holds, events, reviews and transfers. */
import type { TransactionSql } from 'postgres';
import { PUBLISH_COST, URGENCIES } from '../../rules/publishing.js';
import {
  busyContractor,
  busyHomeowner,
  LARGE_TOWN,
  MIDDLING_PERCENT,
  modestHomeowner,
  SMALL_TOWN,
  SPARSE_PER_THOUSAND,
  UNEVEN,
  WORDS,
  type Market,
  type SeededState,
} from './market.js';

/** An even distribution from 0 to below this, the same in every run. */
export const hashed = (below: number, salt = 0) => `(hashint8extended(n::bigint, ${salt}) & 1048575) % ${below}`;
interface Planned {
  from: number;
  to: number;
  /** Expressions over `n`. */
  state: string;
  bids: string;
  made: string;
}

/** The plan of each job; everything else is derived from it. */
export async function planJobs(
  tx: TransactionSql,
  { from, to, state, bids, made }: Planned,
  market: Market,
): Promise<void> {
  await tx.unsafe('drop table if exists pg_temp.plan, pg_temp.offers');
  const owner = ownerSql(market);
  const bidder = bidderSql(market);
  await tx.unsafe(`
    create temp table plan as
    select n::bigint as n, pg_temp.made('job', n) as id, pg_temp.made('hmw', owner) as owner,
      pg_temp.made('usr', owner) as owner_user, status, bids, made, urgency,
      case when status = 'draft' then 0 else ('${JSON.stringify(PUBLISH_COST)}'::jsonb ->> urgency::text)::int end
        as paid,
      status not in ('draft', 'open', 'cancelled') as awarded
    from (
      select n, ${owner} as owner, ${state} as status, (${bids})::int as bids, ${made} as made,
        ('{${URGENCIES.join()}}'::urgency[])[1 + n % ${URGENCIES.length}] as urgency
      from generate_series(${from}::bigint, ${to}::bigint) n) as job`);
  await tx.unsafe(`
    create temp table offers as
    select p.n, at, pg_temp.made('bid', p.n * 16 + at) as id, p.id as job, pg_temp.made('ctr', bidder) as bidder,
      pg_temp.made('usr', bidder) as bidder_user,
      case when p.status = 'open' then 'pending' when p.awarded and at = 1 then 'accepted' else 'rejected' end
        ::bid_status as status,
      (p.n + at) % 10 = 0 as guaranteed, p.made + at * interval '1 hour' as made, p.made as job_made,
      p.status as job_status
    from plan p, generate_series(1, p.bids) at, lateral (select ${bidder} as bidder) as who`);
  await tx.unsafe('analyze pg_temp.plan; analyze pg_temp.offers');
}

/** The number of the person who posts the job `n`. */
function ownerSql(market: Market): string {
  const owner = `2 * (n % ${market.homeowners}) + 1`;
  if (!market.uneven) return owner;
  return `case when ${isOfBusyHomeowner(market)} then ${busyHomeowner(market)}
    when ${isOfModestHomeowner(market)} then ${modestHomeowner(market)} else ${owner} end`;
}

/** The number of the person who makes the bid `at` on the job of the plan `p`. */
function bidderSql(market: Market): string {
  const bidder = `2 * ((p.n * 31 + at * 37) % ${market.contractors}) + 2`;
  if (!market.uneven) return bidder;
  return `case when at = ${PLACE_OF_BUSY_BID} and ${isBidOnByBusyContractor(market)} then ${busyContractor(market)}
    else ${bidder} end`;
}

/**
 * The owners of jobs, spread over all ages and states: multiples of a prime modulo the size of the market are in no
 * apparent order.
 */
const spread = (prime: number, below: number, { jobs }: Market) => `n * ${prime} % ${jobs} < ${below} and n <= ${jobs}`;
const isOfBusyHomeowner = (market: Market) => spread(7_919, UNEVEN.jobsOfBusyHomeowner, market);
/** Even in the smallest market, half of the jobs are left for others. */
const isOfModestHomeowner = (market: Market) =>
  `n * 7919 % ${market.jobs} >= ${market.jobs - UNEVEN.jobsOfModestHomeowner} and n <= ${market.jobs}`;
const isBidOnByBusyContractor = (market: Market) => spread(7_907, UNEVEN.bidsOfBusyContractor, market);
const isInSmallTown = (market: Market) => spread(7_901, UNEVEN.jobsInSmallTown, market);
const hasRareWord = (market: Market) => spread(7_927, UNEVEN.jobsWithRareWord, market);
/**
 * The first bid is the winning one where there is one, and the only one that every job has: half of the busy
 * contractor's bids are first ones.
 */
const PLACE_OF_BUSY_BID = 'least(bids, 1 + p.n % 2)';

const IN_TOWN = `case city when '${SMALL_TOWN.city}' then '${SMALL_TOWN.town}' else '${LARGE_TOWN.town}' end`;
export const TOWN = `(${IN_TOWN})::point`;

export async function insertPlanned(
  tx: TransactionSql,
  market: Market,
  events: 'with positions' | 'to be numbered',
  onStep: (what: string) => void = () => {},
): Promise<void> {
  for (const statement of insertsFor(market, events === 'with positions')) {
    onStep(/^(?:insert into|update) (\w+)/.exec(statement)?.[1] ?? '');
    await tx.unsafe(statement);
  }
}

const REACHED: readonly SeededState[] = ['awarded', 'in_progress', 'in_review', 'completed'];
const reached = (state: SeededState) =>
  `p.status in (${REACHED.slice(REACHED.indexOf(state))
    .map((one) => `'${one}'`)
    .join(', ')})`;

/** The events of each job, numbered: its own steps, and between them those of its bids. */
const STEPS = `
  select n, 1 as sequence, 'job.created' as type, owner_user as actor, null as bidder,
    null::job_status as from_status, 'draft'::job_status as to_status, '{}'::jsonb as data, id, made from plan p
  union all select n, 2, 'job.published', owner_user, null, 'draft', 'open',
    jsonb_build_object('tokensCharged', paid), id, made from plan p where status <> 'draft'
  union all select n, 2 + at, 'bid.submitted', bidder_user, bidder, null, null,
    jsonb_build_object('bidId', id, 'status', 'pending'), job, job_made from offers
  union all select n, 3 + bids, 'job.awarded', owner_user, null, 'open', 'awarded',
    jsonb_build_object('bidId', pg_temp.made('bid', n * 16 + 1)), id, made from plan p where awarded
  union all select n, 3 + bids, 'job.cancelled', owner_user, null, 'open', 'cancelled',
    jsonb_build_object('tokensRefunded', 0), id, made from plan p where status = 'cancelled'
  union all select o.n, 3 + bids + at, 'bid.' || o.status, p.owner_user, o.bidder, null, null,
    jsonb_build_object('bidId', o.id), p.id, p.made
    from offers o join plan p using (n) where o.status <> 'pending'
  union all select p.n, 4 + 2 * bids, 'job.checked_in', o.bidder_user, null, 'awarded', 'in_progress',
    '{"notes": "The valve is worn out."}', p.id, p.made
    from plan p join offers o on o.n = p.n and at = 1 where ${reached('in_progress')}
  union all select p.n, 5 + 2 * bids, 'job.submitted_for_review', o.bidder_user, null, 'in_progress', 'in_review',
    '{"completionNotes": "A new valve, and no drip."}', p.id, p.made
    from plan p join offers o on o.n = p.n and at = 1 where ${reached('in_review')}
  union all select n, 6 + 2 * bids, 'job.approved', owner_user, null, 'in_review', 'completed',
    '{"rating": 4, "review": "Quick and clean."}', id, made from plan p where ${reached('completed')}`;

/** The time of a step: an hour after the one before it. */
const SINCE_MADE = `case sequence when 1 then interval '0' when 2 then interval '30 minutes'
  else (sequence - 2) * interval '1 hour' end`;

/** How many events a job has, without counting them. */
const EVENT_COUNT = `case p.status when 'draft' then 1 when 'open' then 2 + p.bids when 'cancelled' then 3 + 2 * p.bids
  when 'awarded' then 3 + 2 * p.bids when 'in_progress' then 4 + 2 * p.bids when 'in_review' then 5 + 2 * p.bids
    else 6 + 2 * p.bids end`;
const VERSION = `case p.status when 'draft' then 1 when 'open' then 2 when 'awarded' then 3 when 'cancelled' then 3
  when 'in_progress' then 4 when 'in_review' then 5 else 6 end`;

function insertsFor(market: Market, numbered: boolean): string[] {
  const inSmallTown = market.uneven ? isInSmallTown(market) : 'false';
  const words = market.uneven
    ? ` || case when ${hasRareWord(market)} then ' with a ${WORDS.rare}' else '' end
        || case when ${hashed(100, 1)} < ${MIDDLING_PERCENT} then ' under the ${WORDS.middling}' else '' end
        || case when ${hashed(1_000, 2)} < ${SPARSE_PER_THOUSAND} then ' near the ${WORDS.sparse}' else '' end`
    : '';
  return [
    `insert into bids (id, job_id, contractor_id, status, amount, estimated_duration_days, message,
       proposed_start_date, materials_included, payment_terms, guaranteed_view, hold_id,
       created_at, updated_at, submitted_at, job_created_at)
     select id, job, bidder, status, 100 + (n + at * 13) % 900, 1 + n % 14,
       'I can come on Monday morning and bring what is needed. Offer ' || at || '.', '2030-06-01', at % 2 = 0,
       'Half in advance, half when it is done.', guaranteed,
       case when guaranteed then pg_temp.made('hld', n * 16 + at) end, made, made, made, job_made from offers`,

    `insert into jobs (id, homeowner_id, status, title, description, category, budget_min, budget_max, urgency,
      address_line1, city, state, zip_code, country, latitude, longitude,
       desired_start_date, desired_completion_date, requirements, awarded_bid_id, awarded_contractor_id, rating,
         review, version, created_at, updated_at,
       highest_budget_min, highest_budget_max, most_tokens_paid, completion_date_at_check_in, event_count, bid_count,
         live_bid_count, bids_ever)
     select p.id, p.owner, p.status, (array['Repair the kitchen sink', 'Mend the roof', 'Paint the fence',
       'Rewire the attic', 'Tile the bathroom'])[1 + ${market.uneven ? hashed(5, 3) : 'n % 5'}] || ' no. ' || n${words},
       'It drips day and night, and the cabinet below is wet. Please come soon, job ' || n || ' cannot wait for long.',
       (array['plumbing', 'roofing', 'painting', 'electrical', 'tiling'])[1 + n % 5], 150 + n % 100, 400.5 + n % 500,
         p.urgency, n || ' Oak Lane',
       case when ${inSmallTown} then '${SMALL_TOWN.city}' else '${LARGE_TOWN.city}' end, 'TX', case
         when ${inSmallTown} then '${SMALL_TOWN.zipCode}' else '${LARGE_TOWN.zipCode}' end, 'US', 30.2428, -97.7658,
       '2030-06-01', '2030-06-15', 'Bring a ladder.', case when awarded then first.id end, case
         when awarded then first.bidder end,
       case when ${reached('completed')} then 4 end, case when ${reached('completed')} then 'Quick and clean.' end,
         ${VERSION}, p.made, p.made,
       case when p.status <> 'draft' then 150 + n % 100 end, case when p.status <> 'draft' then 400.5 + n % 500 end,
         paid,
       case when ${reached('in_progress')} then date '2030-06-15' end, ${EVENT_COUNT}, p.bids, case
         when p.status = 'open' then p.bids else 0 end, p.bids
     from plan p left join (select n, id, bidder from offers where at = 1) first using (n) order by n`,

    `insert into holds (id, bid_id, job_id, user_id, amount, status, created_at, released_at)
     select pg_temp.made('hld', n * 16 + at), id, job, bidder_user, 5,
       case when held then 'active' else 'released' end::hold_status, made,
       case when not held then made + interval '20 days' end
     from (select *, status = 'pending' or (status = 'accepted' and job_status <> 'completed') as held from offers
       where guaranteed) o`,

    `insert into events (id, job_id, sequence, type, actor_id, bidder_id, from_status, to_status, occurred_at, data,
      homeowner_id, position)
     select pg_temp.made('evt', n * 64 + sequence), step.id, sequence, type, actor, bidder, from_status, to_status,
       step.made + ${SINCE_MADE}, data, p.owner,
       ${
         numbered
           ? `(select coalesce(max(position), 0)
         from events) + row_number() over (order by step.made + ${SINCE_MADE}, n, sequence)`
           : 'null'
       }
     from (${STEPS}) step join plan p using (n)`,

    `insert into reviews (id, job_id, contractor_id, author_id, rating, review, created_at)
     select e.id, p.id, first.bidder, e.actor_id, (e.data->>'rating')::int, e.data->>'review', e.occurred_at
     from plan p join offers first on first.n = p.n and first.at = 1 join events e on 
       e.id = pg_temp.made('evt', p.n * 64 + 6 + 2 * p.bids)
     where ${reached('completed')}`,

    `insert into token_transfers (id, from_account, to_account, amount, reason, user_id, job_id, created_at)
     select pg_temp.made('ttx', n), owner_user, 'fees', paid, 'publish', owner_user, id, made + interval '30 minutes'
       from plan where paid > 0`,

    `update token_balances b set balance = balance - spent.amount
     from (select owner_user, sum(paid) as amount from plan group by owner_user) spent
     where b.user_id = spent.owner_user`,
    `update token_balances b set held = held + staked.amount
     from (select bidder_user, 5 * count(*) as amount from offers where guaranteed
       and (status = 'pending' or (status = 'accepted' and job_status <> 'completed')) group by bidder_user) staked
     where b.user_id = staked.bidder_user`,
    `update contractors c set completed_jobs = completed_jobs + done.jobs, rating_count = rating_count + done.jobs,
       rating_sum = rating_sum + 4 * done.jobs
     from (select bidder, count(*) as jobs from offers where status = 'accepted' and job_status = 'completed'
       group by bidder) done where c.id = done.bidder`,
  ];
}
