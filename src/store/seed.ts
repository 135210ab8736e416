/**
 * A market of any size, made by SQL alone: people, jobs in every state that most jobs pass, bids, holds, transfers, and
 * every event that tells how it all came about. It keeps the same promises as a market that grew call by call;
 * `checkDatabase` finds nothing.
 */
import postgres, { type Sql, type TransactionSql } from 'postgres';
import type { Connection } from './database.js';

export interface MarketSize {
  readonly jobs: number;
  /** About as many: a job has from one bid to twice the mean, and a draft none. */
  readonly bids: number;
  /** Half of them homeowners, half contractors. */
  readonly people: number;
  /** Adds what makes a market uneven; see `UNEVEN`. Without it a market is the same as ever. */
  readonly uneven?: boolean;
  /**
   * How many of a hundred jobs are open, spread over all ages; where this is left out, states take turns by `STATES`.
   */
  readonly openPercent?: number | undefined;
}

export type SeededState = 'draft' | 'open' | 'awarded' | 'in_progress' | 'in_review' | 'completed' | 'cancelled';

/** Out of twenty jobs in a row, which is where. */
const STATES: readonly SeededState[] = [
  'open',
  'completed',
  'open',
  'draft',
  'awarded',
  'open',
  'in_progress',
  'open',
  'completed',
  'open',
  'cancelled',
  'open',
  'awarded',
  'open',
  'draft',
  'in_progress',
  'open',
  'in_review',
  'awarded',
  'in_progress',
];
const SHARE_WITH_BIDS = STATES.filter((state) => state !== 'draft').length / STATES.length;

/**
 * What few have much of. Numbers are the same in a market of any size: whatever takes longer in a larger one grows with
 * the market.
 */
export const UNEVEN = {
  jobsOfBusyHomeowner: 5_000,
  jobsOfModestHomeowner: 8,
  /** A few less: drafts have no bids. */
  bidsOfBusyContractor: 2_222,
  bidsOnCrowdedJob: 1_000,
  jobsInSmallTown: 200,
  jobsWithRareWord: 12,
} as const;

export const SMALL_TOWN = { city: 'Marfa', zipCode: '79843', town: '(-104.0848,30.293)' } as const;
const LARGE_TOWN = { city: 'Austin', zipCode: '78704', town: '(-97.754,30.302)' } as const;

/** Every job says `drips`, one in five `sink`; these are in the titles of an uneven market. */
export const WORDS = {
  everywhere: 'drips',
  common: 'sink',
  middling: 'pergola',
  sparse: 'cupola',
  rare: 'gargoyle',
} as const;
const MIDDLING_PERCENT = 2;
const SPARSE_PER_THOUSAND = 3;

/** Throws unless the database has no people: what is there already is never mixed with what is made up. */
export async function openEmptyDatabase(connection: Connection): Promise<Sql> {
  const options = { max: 1, fetch_types: false, onnotice: () => {} };
  const sql = 'url' in connection ? postgres(connection.url, options) : postgres({ ...connection, ...options });
  const [found] = await sql`select 1 from users limit 1`;
  if (!found) return sql;
  await sql.end();
  throw new Error('The database has people already; only an empty one is filled. Name another by DATA_DIR.');
}

/** How often a seeding tells what it does next. */
export const SEED_STEPS = 13;

/** The market's own figures, for code that computes identifiers instead of reading them. */
export interface Market {
  readonly homeowners: number;
  readonly contractors: number;
  readonly jobs: number;
  readonly uneven: boolean;
}

/** These people and that job are numbered after all others; only an uneven market has them. */
export const busyHomeowner = ({ homeowners, contractors }: Market) => homeowners + contractors + 1;
export const busyContractor = (market: Market) => busyHomeowner(market) + 1;
export const modestHomeowner = (market: Market) => busyHomeowner(market) + 2;
export const crowdedJob = ({ jobs }: Market) => jobs + 1;

const BIDS_ON_A_JOB_MAX = 15;
const TOKENS_GRANTED = 1_000_000;
const SIGNUP_BONUS = { homeowner: 10, contractor: 25 };

/**
 * Loads an empty, migrated database. Triggers and foreign keys rest meanwhile, since every row is derived from the same
 * plan; indexes are made afterwards.
 */
export async function seedMarket(
  sql: Sql,
  size: MarketSize,
  passwordHash: string,
  onStep: (what: string) => void = () => {},
): Promise<Market> {
  const half = Math.floor(size.people / 2);
  const market: Market = { homeowners: half, contractors: half, jobs: size.jobs, uneven: size.uneven === true };
  const mean = Math.max(
    1,
    Math.min(Math.round(size.bids / (size.jobs * SHARE_WITH_BIDS)), Math.floor((BIDS_ON_A_JOB_MAX + 1) / 2)),
  );
  await sql.begin(async (tx) => {
    await tx.unsafe(
      `set local statement_timeout = 0; set local synchronous_commit = off;
       set local maintenance_work_mem = '512MB'; set local work_mem = '256MB'`,
    );
    await tx.unsafe(`set local session_replication_role = replica`);
    await tx.unsafe(IDENTIFIER);
    onStep('people');
    await insertPeople(tx, market, passwordHash);
    const rebuild = await withoutIndexes(tx, [
      'bids',
      'holds',
      'events',
      'reviews',
      'job_search',
      'jobs',
      'token_transfers',
    ]);
    const states = stateOf(size.openPercent);
    const bids = `case when ${states} = 'draft' then 0 else 1 + n * 7 % ${2 * mean - 1} end`;
    const made = `date_trunc('milliseconds', now()) - interval '300 days' + n * (interval '200 days' / ${size.jobs})`;
    onStep('a plan of the jobs');
    await planJobs(tx, { from: 1, to: size.jobs, state: states, bids, made }, market);
    await insertPlanned(tx, market, 'with positions', onStep);
    if (market.uneven) await addCrowdedJob(tx, market);
    await tx.unsafe(
      `insert into job_search (job_id, created_at, words, town)
       select j.id, j.created_at, lower(j.title || chr(1) || j.description), ${market.uneven ? TOWN : 'null'}
       from jobs j order by j.created_at, j.id`,
    );
    onStep('indexes');
    await rebuild();
  });
  onStep('statistics');
  await sql.unsafe('vacuum (analyze)');
  return market;
}

/** Over `n`: by turns, or, where few are open, by a hash, so that open jobs are of every kind. */
function stateOf(openPercent: number | undefined): string {
  const byTurns = (states: readonly SeededState[]) =>
    `(array[${states.map((state) => `'${state}'`).join(', ')}]::job_status[])[1 + n % ${states.length}]`;
  if (openPercent === undefined) return byTurns(STATES);
  return `case when ${hashed(100)} < ${openPercent} then 'open'
    else ${byTurns(STATES.filter((state) => state !== 'open'))} end`;
}

/** From nought to below this, evenly, and the same at every run. */
const hashed = (below: number, salt = 0) => `(hashint8extended(n::bigint, ${salt}) & 1048575) % ${below}`;

/** One that half the town bids on, of middling age. */
async function addCrowdedJob(tx: TransactionSql, market: Market): Promise<void> {
  const bids = Math.min(UNEVEN.bidsOnCrowdedJob, market.contractors);
  const n = crowdedJob(market);
  await planJobs(
    tx,
    {
      from: n,
      to: n,
      state: `'open'::job_status`,
      bids: String(bids),
      made: `date_trunc('milliseconds', now()) - interval '200 days'`,
    },
    market,
  );
  await insertPlanned(tx, market, 'with positions');
}

export interface Batch {
  /** The number of the first job; identifiers follow from it. */
  readonly from: number;
  readonly count: number;
  readonly state: SeededState;
  readonly bids: number;
}

/**
 * More jobs, all in one state and older than the others, so that the newest stay the newest. Every trigger and key is
 * at work.
 */
export async function addJobs(sql: Sql, market: Market, { from, count, state, bids }: Batch): Promise<void> {
  await sql.begin(async (tx) => {
    await tx.unsafe(`set local statement_timeout = 0; set constraints all deferred`);
    await tx.unsafe(IDENTIFIER);
    const made = `date_trunc('milliseconds', now()) - interval '400 days' + (n - ${from}) * interval '1 second'`;
    await planJobs(
      tx,
      { from, to: from + count - 1, state: `'${state}'::job_status`, bids: String(bids), made },
      market,
    );
    await insertPlanned(tx, market, 'to be numbered');
    // Or else the servers that run beside would be busy with it.
    await tx.unsafe(`select number_events(${ALL_EVENTS})`);
  });
}

/** More than are ever added at once. */
const ALL_EVENTS = 2 ** 31 - 1;

/**
 * The identifier of the n-th of its kind, as the database makes it too: 27 characters that are a KSUID to whoever
 * checks.
 */
export function seededId(prefix: string, n: number): string {
  return `${prefix}_1${String(n).padStart(26, '0')}`;
}

const IDENTIFIER = `create or replace function pg_temp.made(prefix text, n bigint) returns text
  immutable parallel safe language sql
  return prefix || '_1' || lpad(n::text, 26, '0')`;

/** Bids, holds and events are numbered by their job: sixteen places for bids, sixty-four for events. */
export const bidNumber = (job: number, at: number) => job * 16 + at;

/** Who has which number among the people: homeowners are odd, contractors even. */
export const personOfHomeowner = (n: number) => 2 * n + 1;
export const personOfContractor = (n: number) => 2 * n + 2;

/** Which homeowner, counted from nought, posted the job. */
export const ownerOf = (job: number, { homeowners }: Market) => job % homeowners;
/** Which contractor made the job's bid at this place, counted from one. */
export const bidderOf = (job: number, at: number, { contractors }: Market) => (job * 31 + at * 37) % contractors;

export const emailOf = (person: number) => `person${person}@example.test`;

async function insertPeople(tx: TransactionSql, market: Market, passwordHash: string): Promise<void> {
  const people = market.homeowners + market.contractors + (market.uneven ? 3 : 0);
  const moment = `date_trunc('milliseconds', now()) - interval '600 days' + n * interval '1 minute'`;
  const firstName = `(array['Hanna','Olive','Otto','Ava','Ben','Stella','Carlos','Mina','Ravi','Zoe'])[1 + n % 10]`;
  const lastName = `(array['Hill','Cruz','Stone','Moss','Lake'])[1 + n / 10 % 5] || ' ' || n`;
  await tx.unsafe(
    `
    insert into users (id, email, user_type, first_name, last_name, phone, password_hash, referral_code, created_at,
      updated_at)
    select pg_temp.made('usr', n), 'person' || n || '@example.test', case when n % 2 = 1 then 'homeowner'
      else 'contractor' end::user_type,
      ${firstName}, ${lastName}, '+1 512 555 ' || lpad((n % 10000)::text, 4, '0'),
      $1, 'R' || lpad(upper(to_hex(n)), 7, 'Z'), ${moment}, ${moment}
    from generate_series(1, ${people}) n`,
    [passwordHash],
  );
  await tx.unsafe(`
    insert into homeowners (id, user_id, address_line1, city, state, zip_code, country, property_type, created_at,
      updated_at)
    select pg_temp.made('hmw', n), pg_temp.made('usr', n), n || ' Oak Lane', 'Austin', 'TX', '78704', 'US',
      'single_family', ${moment}, ${moment}
    from generate_series(1, ${people}, 2) n`);
  await tx.unsafe(`
    insert into contractors (id, user_id, person_name, company_name, business_type, license_number, license_state,
      years_in_business, service_areas, specialties, bio, created_at, updated_at)
    select pg_temp.made('ctr', n), pg_temp.made('usr', n), ${firstName} || ' ' || ${lastName}, 'Craft & Sons ' || n,
      'llc', 'M-' || n, 'TX', n % 30, '{Austin,Dallas}', '{plumbing,roofing}',
      'Leaks found and fixed, and roofs mended, by company number ' || n || '.', ${moment}, ${moment}
    from generate_series(2, ${people}, 2) n`);
  await tx.unsafe(`
    insert into sessions (id, user_id, created_at, ends_at)
    select pg_temp.made('ses', n), pg_temp.made('usr', n), now(), now() + interval '90 days'
      from generate_series(1, ${people}) n`);
  const bonus = `case when n % 2 = 1 then ${SIGNUP_BONUS.homeowner} else ${SIGNUP_BONUS.contractor} end`;
  await tx.unsafe(`
    insert into token_transfers (id, from_account, to_account, amount, reason, user_id, note, created_at)
    select pg_temp.made('ttx', 1000000000::bigint + 2 * n + given.at), 'issuance', pg_temp.made('usr', n),
      given.amount, given.reason::transfer_reason, pg_temp.made('usr', n), given.note, ${moment}
    from generate_series(1, ${people}) n,
      lateral (values (0, ${bonus}, 'signup_bonus', null), (1, ${TOKENS_GRANTED}, 'adjustment', 'Seeded.'))
        as given (at, amount, reason, note)`);
  await tx.unsafe(
    `insert into token_balances (user_id, balance) select pg_temp.made('usr', n), ${bonus} + ${TOKENS_GRANTED}
      from generate_series(1, ${people}) n`,
  );
}

interface Planned {
  from: number;
  to: number;
  /** Expressions over `n`. */
  state: string;
  bids: string;
  made: string;
}

/** What each job will be; everything else is derived from it. */
async function planJobs(tx: TransactionSql, { from, to, state, bids, made }: Planned, market: Market): Promise<void> {
  await tx.unsafe('drop table if exists pg_temp.plan, pg_temp.offers');
  const owner = ownerSql(market);
  const bidder = bidderSql(market);
  await tx.unsafe(`
    create temp table plan as
    select n::bigint as n, pg_temp.made('job', n) as id, pg_temp.made('hmw', owner) as owner,
      pg_temp.made('usr', owner) as owner_user, status, bids, made, urgency,
      case when status = 'draft' then 0 when urgency = 'standard' then 5 when urgency = 'priority' then 15 else 30 end
        as paid,
      status not in ('draft', 'open', 'cancelled') as awarded
    from (
      select n, ${owner} as owner, ${state} as status, (${bids})::int as bids, ${made} as made,
        (array['standard', 'priority', 'urgent']::urgency[])[1 + n % 3] as urgency
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
 * Which jobs are whose, spread over all ages and states: multiples of a prime, taken modulo the market, come in no
 * order.
 */
const spread = (prime: number, below: number, { jobs }: Market) => `n * ${prime} % ${jobs} < ${below} and n <= ${jobs}`;
const isOfBusyHomeowner = (market: Market) => spread(7_919, UNEVEN.jobsOfBusyHomeowner, market);
/** Even the market's smallest has half its jobs left for others. */
const isOfModestHomeowner = (market: Market) =>
  `n * 7919 % ${market.jobs} >= ${market.jobs - UNEVEN.jobsOfModestHomeowner} and n <= ${market.jobs}`;
const isBidOnByBusyContractor = (market: Market) => spread(7_907, UNEVEN.bidsOfBusyContractor, market);
const isInSmallTown = (market: Market) => spread(7_901, UNEVEN.jobsInSmallTown, market);
const hasRareWord = (market: Market) => spread(7_927, UNEVEN.jobsWithRareWord, market);
/**
 * The first bid is the one that wins where any does, and the only one that every job has: half of the busy contractor's
 * are that.
 */
const PLACE_OF_BUSY_BID = 'least(bids, 1 + p.n % 2)';

const TOWN = `(case city when '${SMALL_TOWN.city}' then '${SMALL_TOWN.town}' else '${LARGE_TOWN.town}' end)::point`;

async function insertPlanned(
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

/** What happened to each job, numbered: its own steps, and between them what happened to its bids. */
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

/** When a step was taken: each an hour after the one before it. */
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
        || case when ${hashed(1_000, 2)} < ${SPARSE_PER_THOUSAND} then ' beside the ${WORDS.sparse}' else '' end`
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

/**
 * Drops what can be made again faster than it is kept up, and returns what makes it again. Keys that other tables refer
 * to stay.
 */
async function withoutIndexes(tx: TransactionSql, tables: readonly string[]): Promise<() => Promise<void>> {
  const given = [`{${tables.join(',')}}`];
  const keys = await tx.unsafe<{ table: string; name: string; definition: string }[]>(
    `select k.conrelid::regclass::text as table, k.conname as name, pg_get_constraintdef(k.oid) as definition
     from pg_constraint k
     where k.conrelid::regclass::text = any($1::text[]) and k.contype in ('p', 'u') and not exists (
       select from pg_constraint f where f.contype = 'f' and f.conindid = k.conindid)`,
    given,
  );
  for (const { table, name } of keys) await tx.unsafe(`alter table ${table} drop constraint "${name}"`);
  const indexes = await tx.unsafe<{ name: string; definition: string }[]>(
    `select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition from pg_index i
     where i.indrelid::regclass::text = any($1::text[]) and not exists (
       select from pg_constraint c where c.conindid = i.indexrelid)`,
    given,
  );
  for (const { name } of indexes) await tx.unsafe(`drop index ${name}`);
  return async () => {
    for (const { table, name, definition } of keys)
      await tx.unsafe(`alter table ${table} add constraint "${name}" ${definition}`);
    for (const { definition } of indexes) await tx.unsafe(definition);
  };
}
