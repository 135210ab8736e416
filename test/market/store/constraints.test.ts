/**
 * What the database itself rejects, even if the code forgets a check. Every attempt has exactly one flaw, and runs in a
 * transaction that is rolled back.
 */
import type { TransactionSql } from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contractor, homeowner } from '../../story/cast.js';
import { checkDatabase } from '../../setup/database/checker.js';
import { openTestApp, type TestApp } from '../../setup/app.js';
import { statesIn } from '../../story/specified.js';
import { allNumbered } from '../../platform/live/positions.js';

let app: TestApp;
/** The rows that the attempts use: a draft, an open job with bids from Carl and Cora, and a job awarded to Carl. */
const ids = {
  hanna: '',
  hannasProfile: '',
  carl: '',
  carlsProfile: '',
  corasProfile: '',
  draft: '',
  open: '',
  carlsBid: '',
  corasBid: '',
  awarded: '',
  accepted: '',
  rejected: '',
};

beforeAll(async () => {
  app = await openTestApp();
  const hanna = await homeowner(app, 'Hanna');
  const carl = await contractor(app, 'Carl');
  const cora = await contractor(app, 'Cora');
  const call = async (token: string, path: string, body: object = {}) => {
    const answer = await app.rest('POST', `/v1/jobs${path}`, { token, body });
    if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
    return answer.body.id ?? answer.body.job.id;
  };
  const draft = () =>
    call(hanna.token, '', {
      title: 'Sink',
      description: 'It drips',
      category: 'plumbing',
      urgency: 'standard',
      address_line1: '1 Main',
      city: 'Austin',
      state: 'TX',
      budget_min: 10,
      budget_max: 20,
    });
  const opened = async () => call(hanna.token, `/${await draft()}/publish`);
  Object.assign(ids, {
    hanna: hanna.userId,
    hannasProfile: hanna.profileId,
    carl: carl.userId,
    carlsProfile: carl.profileId,
    corasProfile: cora.profileId,
  });
  ids.draft = await draft();
  ids.open = await opened();
  ids.carlsBid = await call(carl.token, `/${ids.open}/bids`, { amount: 5, guaranteed_view: true });
  ids.corasBid = await call(cora.token, `/${ids.open}/bids`, { amount: 5 });
  ids.awarded = await opened();
  ids.accepted = await call(carl.token, `/${ids.awarded}/bids`, { amount: 5 });
  ids.rejected = await call(cora.token, `/${ids.awarded}/bids`, { amount: 5 });
  await call(hanna.token, `/${ids.awarded}/award`, { bid_id: ids.accepted });
  await allNumbered(app);
});
afterAll(() => app.close());

type Attempt = (tx: TransactionSql) => Promise<unknown>;

const bid = (tx: TransactionSql, more: object) => {
  const row = { id: 'bid_new', job_id: ids.draft, contractor_id: ids.carlsProfile, amount: 5 };
  return tx`insert into bids ${tx({ ...row, job_created_at: '2026-01-01', ...more })}`;
};
const hold = (tx: TransactionSql, more: object) => {
  const row = { id: 'hld_new', bid_id: ids.corasBid, job_id: ids.open, user_id: ids.carl, amount: 5 };
  return tx`insert into holds ${tx({ ...row, ...more })}`;
};
const transfer = (tx: TransactionSql, more: object) => {
  const row = { id: 'ttx_new', from_account: 'issuance', to_account: ids.hanna, user_id: ids.hanna, amount: 1 };
  return tx`insert into token_transfers ${tx({ ...row, reason: 'adjustment', ...more })}`;
};
const purchase = (tx: TransactionSql, more: object) => {
  const row = { id: 'pur_new', user_id: ids.hanna, pack: 'small', tokens: 50, amount: 500, currency: 'USD' };
  const checkout = { return_url: 'x', provider: 'stripe', livemode: false, expires_at: '2026-01-01' };
  return tx`insert into purchases ${tx({ ...row, ...checkout, ...more })}`;
};
const savedSearch = (tx: TransactionSql, more: object) => {
  const row = { id: 'sea_new', contractor_id: ids.carlsProfile, name: 'New', alert: 'off', categories: '{roofing}' };
  return tx`insert into saved_searches ${tx({ ...row, matches_after: 0, ...more })}`;
};
const event = (tx: TransactionSql, more: object) =>
  tx`insert into events
    ${tx({
      id: 'evt_new',
      job_id: ids.open,
      sequence: 99,
      type: 'job.updated',
      homeowner_id: ids.hannasProfile,
      ...more,
    })}`;
const job = (tx: TransactionSql, id: string, change: object) =>
  tx`update jobs set ${tx({ ...change })} where id = ${id}`;

/** Records an admin's action, then changes its reason. */
async function actThen(tx: TransactionSql, reason: string | null) {
  await tx`insert into admin_actions (id, admin_id, action, user_id, reason)
    values ('act_1', ${ids.carl}, 'unverifyContractor', ${ids.carl}, 'A complaint.')`;
  return tx`update admin_actions set reason = ${reason}`;
}

/** Each attempt, with the name of the constraint that rejects it. A name in capitals is a kind of Postgres error. */
const ATTEMPTS: [what: string, refusedBy: string, attempt: Attempt][] = [
  [
    'a second accepted bid on a job',
    'bids_one_accepted',
    (tx) => tx`update bids set status = 'accepted' where id = ${ids.rejected}`,
  ],
  ['a second live bid of a contractor on a job', 'bids_one_for_each_contractor', (tx) => bid(tx, { job_id: ids.open })],
  [
    'a live bid in addition to a rejected one of the same contractor',
    'bids_one_for_each_contractor',
    (tx) => bid(tx, { job_id: ids.awarded, contractor_id: ids.corasProfile }),
  ],
  ['a bid on no job', 'bids_are_on_a_job', (tx) => bid(tx, { job_id: 'job_none' })],
  ['a bid for nothing', 'bids_amount_is_positive', (tx) => bid(tx, { amount: 0 })],
  ['a bid of nobody', 'bids_contractor_id_contractors_id_fk', (tx) => bid(tx, { contractor_id: 'ctr_none' })],
  ['a bid in a state there is not', 'INVALID_TEXT', (tx) => bid(tx, { status: 'lost' })],
  ['a guaranteed bid without a hold', 'bids_guarantee_has_a_hold', (tx) => bid(tx, { guaranteed_view: true })],
  ['a hold without a guarantee', 'bids_guarantee_has_a_hold', (tx) => bid(tx, { hold_id: 'hld_x' })],
  ['a second hold on a bid', 'holds_bidId_unique', (tx) => hold(tx, { bid_id: ids.carlsBid })],
  ['a hold on no bid', 'holds_bid_id_bids_id_fk', (tx) => hold(tx, { bid_id: 'bid_none' })],
  ['a hold of nothing', 'holds_amount_is_positive', (tx) => hold(tx, { amount: 0 })],
  [
    'a released hold without its time',
    'holds_release_is_timed',
    (tx) => tx`update holds set status = 'released' where bid_id = ${ids.carlsBid}`,
  ],
  [
    'an active hold with the time of its release',
    'holds_release_is_timed',
    (tx) => tx`update holds set released_at = now() where bid_id = ${ids.carlsBid}`,
  ],
  [
    'removing a bid that has a hold',
    'holds_bid_id_bids_id_fk',
    (tx) => tx`delete from bids where id = ${ids.carlsBid}`,
  ],

  [
    'more held than there is',
    'token_balances_cover_what_is_held',
    (tx) => tx`update token_balances set held = balance + 1 where user_id = ${ids.carl}`,
  ],
  [
    'less than nothing held',
    'token_balances_cover_what_is_held',
    (tx) => tx`update token_balances set held = -1 where user_id = ${ids.carl}`,
  ],
  [
    'a balance below zero',
    'token_balances_bought_is_a_part',
    (tx) => tx`update token_balances set balance = -1 where user_id = ${ids.hanna}`,
  ],
  [
    'spending what is held',
    'token_balances_cover_what_is_held',
    (tx) => tx`update token_balances set balance = held - 1 where user_id = ${ids.carl}`,
  ],
  [
    'more bought than there is',
    'token_balances_bought_is_a_part',
    (tx) => tx`update token_balances set bought = balance + 1 where user_id = ${ids.carl}`,
  ],
  [
    'a debt below zero',
    'token_balances_bought_is_a_part',
    (tx) => tx`update token_balances set debt = -1 where user_id = ${ids.carl}`,
  ],
  [
    'a transfer of more bought tokens than it has',
    'token_transfers_bought_is_a_part',
    (tx) => transfer(tx, { bought: 2 }),
  ],
  [
    'a second credit for a purchase',
    'token_transfers_one_credit_of_purchase',
    async (tx) => {
      for (const id of ['ttx_1', 'ttx_2']) await transfer(tx, { id, reason: 'purchase', purchase_id: 'pur_1' });
    },
  ],
  ['a saved search for everything', 'saved_searches_are_narrow', (tx) => savedSearch(tx, { categories: '{}' })],
  ['an unknown alert', 'saved_searches_alert', (tx) => savedSearch(tx, { alert: 'hourly' })],
  ['half a place', 'saved_searches_place_is_whole', (tx) => savedSearch(tx, { latitude: 1 })],
  ['a second search cursor', 'search_cursor_has_one_row', (tx) => tx`insert into search_cursor values (false, 0, 0)`],
  [
    'emails about events that haven’t been compared yet',
    'search_cursor_matches_before_it_mails',
    (tx) => tx`update search_cursor set mailed_up_to = matched_up_to + 1`,
  ],
  [
    'a match with an unknown alert',
    'notifications_match_alert',
    (tx) => tx`insert into notifications (user_id, position, match_alert) values (${ids.carl}, 99, 'hourly')`,
  ],
  ['a purchase of no tokens', 'purchases_have_a_price', (tx) => purchase(tx, { tokens: 0 })],
  ['a free purchase', 'purchases_have_a_price', (tx) => purchase(tx, { amount: 0 })],
  [
    'a refund of more than the price',
    'purchases_refund_at_most_everything',
    (tx) => purchase(tx, { refunded_amount: 501 }),
  ],
  ['a debt of more than the purchase', 'purchases_debt_is_a_part', (tx) => purchase(tx, { debt: 51 })],
  ['a purchase by nobody', 'purchases_user_id_users_id_fk', (tx) => purchase(tx, { user_id: 'usr_none' })],
  ...(['session', 'payment'] as const).map((what): [string, string, Attempt] => [
    `two purchases with one ${what}`,
    `purchases_${what}`,
    async (tx) => {
      for (const id of ['pur_1', 'pur_2']) await purchase(tx, { id, [`${what}_id`]: 'x' });
    },
  ]),
  ['a second balance', 'token_balances_pkey', (tx) => tx`insert into token_balances (user_id) values (${ids.hanna})`],

  [
    'an award on an open job',
    'jobs_award_fits_the_state',
    (tx) => job(tx, ids.open, { awarded_bid_id: ids.carlsBid, awarded_contractor_id: ids.carlsProfile }),
  ],
  ['an award on a draft', 'jobs_award_fits_the_state', (tx) => job(tx, ids.awarded, { status: 'draft' })],
  ...statesIn('award', 'work').map((status): [string, string, Attempt] => [
    `a job that is ${status} without an award`,
    'jobs_award_fits_the_state',
    (tx) => job(tx, ids.open, { status, live_bid_count: 0 }),
  ]),
  [
    'an award without its contractor',
    'jobs_award_is_whole',
    (tx) => job(tx, ids.awarded, { awarded_contractor_id: null }),
  ],
  [
    'an award to another contractor than the bid’s',
    'jobs_awarded_bid_is_on_the_job',
    (tx) => job(tx, ids.awarded, { awarded_contractor_id: ids.corasProfile }),
  ],
  [
    'an award to a bid on another job',
    'jobs_awarded_bid_is_on_the_job',
    (tx) => job(tx, ids.awarded, { awarded_bid_id: ids.carlsBid }),
  ],
  [
    'removing the awarded bid',
    'jobs_awarded_bid_is_on_the_job',
    (tx) => tx`delete from bids where id = ${ids.accepted}`,
  ],
  [
    'live bids on a job that takes none',
    'jobs_live_bids_fit_the_state',
    (tx) => job(tx, ids.open, { status: 'cancelled' }),
  ],
  ['a rating of work that goes on', 'jobs_review_fits_the_state', (tx) => job(tx, ids.awarded, { rating: 5 })],
  [
    'a review of work that goes on',
    'jobs_review_fits_the_state',
    (tx) => job(tx, ids.awarded, { review: 'Well done.' }),
  ],
  [
    'a review of a job that nobody was awarded',
    'jobs_review_fits_the_state',
    (tx) => job(tx, ids.open, { status: 'completed', live_bid_count: 0, review: 'Well done.' }),
  ],
  ['a rating of six', 'jobs_rating_is_sound', (tx) => job(tx, ids.awarded, { status: 'completed', rating: 6 })],
  ['more live bids than bids', 'jobs_counts_are_sound', (tx) => job(tx, ids.open, { live_bid_count: 3 })],
  ['fewer bids ever than bids now', 'jobs_counts_are_sound', (tx) => job(tx, ids.open, { bids_ever: 1 })],
  ['a count below zero', 'jobs_counts_are_sound', (tx) => job(tx, ids.draft, { live_bid_count: -1 })],
  ['a state there is not', 'INVALID_TEXT', (tx) => job(tx, ids.open, { status: 'nowhere' })],
  ['an urgency there is not', 'INVALID_TEXT', (tx) => job(tx, ids.draft, { urgency: 'asap' })],
  ...(['category', 'urgency', 'address_line1', 'city', 'state'] as const).map((field): [string, string, Attempt] => [
    `a published job without its ${field}`,
    'jobs_published_whole',
    (tx) => job(tx, ids.open, { [field]: null }),
  ]),
  ['a job without a title', 'NOT_NULL', (tx) => job(tx, ids.draft, { title: null })],
  ['a job of nobody', 'jobs_homeowner_id_homeowners_id_fk', (tx) => job(tx, ids.draft, { homeowner_id: 'hmw_none' })],
  ['a budget below zero', 'jobs_budget_is_sound', (tx) => job(tx, ids.draft, { budget_min: -1 })],
  ['a least budget above the most', 'jobs_budget_is_sound', (tx) => job(tx, ids.draft, { budget_min: 20.01 })],
  ['a budget that is too large', 'OUT_OF_RANGE', (tx) => job(tx, ids.draft, { budget_max: 1e10 })],
  [
    'a completion before the start',
    'jobs_dates_are_sound',
    (tx) => job(tx, ids.draft, { desired_start_date: '2026-07-02', desired_completion_date: '2026-07-01' }),
  ],
  [
    'a day there is not',
    'NO_SUCH_DAY', // Raw SQL, because the driver would turn it into a different day.
    (tx) => tx.unsafe(`update jobs set desired_start_date = '2026-02-30' where id = '${ids.draft}'`),
  ],

  ['a transfer of nothing', 'token_transfers_amount_is_positive', (tx) => transfer(tx, { amount: 0 })],
  ['a transfer between people', 'token_transfers_touch_one_person', (tx) => transfer(tx, { from_account: ids.carl })],
  [
    'a transfer that is not its person’s',
    'token_transfers_touch_one_person',
    (tx) => transfer(tx, { user_id: ids.carl }),
  ],
  [
    'a reference from elsewhere that is booked twice',
    'token_transfers_external_reference',
    async (tx) => {
      for (const id of ['ttx_one', 'ttx_two']) await transfer(tx, { id, external_reference: 'pi_1' });
    },
  ],
  ['a transfer for no reason there is', 'INVALID_TEXT', (tx) => transfer(tx, { reason: 'gift' })],
  ['a transfer that is rewritten', 'APPEND_ONLY', (tx) => tx`update token_transfers set amount = amount + 1`],
  ['a transfer that is removed', 'APPEND_ONLY', (tx) => tx`delete from token_transfers`],
  ['all transfers removed', 'APPEND_ONLY', (tx) => tx`truncate token_transfers cascade`],
  ['an act of an admin that is rewritten', 'APPEND_ONLY', (tx) => tx`update admin_actions set action = 'x'`],
  ['an act of an admin on another job', 'APPEND_ONLY', (tx) => tx`update admin_actions set job_id = 'job_1'`],
  ['an act of an admin that is removed', 'APPEND_ONLY', (tx) => tx`delete from admin_actions`],
  ['an act of an admin with another reason', 'APPEND_ONLY', (tx) => actThen(tx, 'Another.')],
  ['an event that is rewritten', 'APPEND_ONLY', (tx) => tx`update events set data = '{}'`],
  [
    'an event that becomes another’s',
    'APPEND_ONLY',
    (tx) => tx`update events set homeowner_id = 'hmw_other' where job_id = ${ids.open}`,
  ],
  ['a position that is given twice', 'events_by_position', (tx) => event(tx, { position: 1 })],
  [
    'a position that is changed',
    'APPEND_ONLY',
    (tx) => tx`update events set position = position + 1000 where position is not null`,
  ],
  [
    'a position that is taken away',
    'APPEND_ONLY',
    (tx) => tx`update events set position = null where position is not null`,
  ],
  ['an event that is removed', 'APPEND_ONLY', (tx) => tx`delete from events where job_id = ${ids.open}`],
  ['all events removed', 'APPEND_ONLY', (tx) => tx`truncate events`],
  ['two events with one number', 'events_in_order', (tx) => event(tx, { sequence: 1 })],
  ['an event before the first', 'events_are_numbered_from_one', (tx) => event(tx, { sequence: 0 })],

  ['a rating without a job', 'contractors_counts_are_sound', (tx) => tx`update contractors set completed_jobs = -1`],
  [
    'a rating above five',
    'contractors_counts_are_sound',
    (tx) => tx`update contractors set rating_count = 1, rating_sum = 6`,
  ],
  [
    'a rating below one',
    'contractors_counts_are_sound',
    (tx) => tx`update contractors set rating_count = 2, rating_sum = 1`,
  ],
];

const KINDS: Readonly<Record<string, string>> = {
  22003: 'OUT_OF_RANGE',
  22007: 'NO_SUCH_DAY',
  22008: 'NO_SUCH_DAY',
  '22P02': 'INVALID_TEXT',
  23502: 'NOT_NULL',
  23001: 'APPEND_ONLY',
};

class Accepted extends Error {}

/** The constraint or error that rejected the attempt. Either way, the attempt is rolled back. */
async function refusalOf(attempt: Attempt): Promise<string> {
  try {
    await app.sql.begin(async (tx) => {
      await attempt(tx);
      throw new Accepted('nothing refused it');
    });
  } catch (error) {
    if (error instanceof Accepted) return error.message;
    const {
      constraint_name: name,
      code,
      message,
    } = error as { constraint_name?: string; code?: string; message: string };
    return name ?? KINDS[String(code)] ?? `${code}: ${message}`;
  }
  throw new Error('A transaction that threw has ended well.');
}

describe('the database refuses', () => {
  it.each(ATTEMPTS)('%s', async (_what, refusedBy, attempt) => {
    expect(await refusalOf(attempt)).toBe(refusedBy);
  });

  it("and doesn't store any of it", async () => {
    expect(await checkDatabase(app.sql)).toEqual([]);
  });
});

it('the same rows are accepted if nothing is wrong with them', async () => {
  const sound: Attempt[] = [
    (tx) => bid(tx, {}),
    (tx) => hold(tx, {}),
    (tx) => transfer(tx, {}),
    (tx) => purchase(tx, {}),
    (tx) => savedSearch(tx, {}),
    (tx) => actThen(tx, null),
    (tx) => event(tx, {}),
    (tx) =>
      job(tx, ids.draft, { budget_min: 20, desired_start_date: '2026-07-01', desired_completion_date: '2026-07-01' }),
    (tx) => tx`update token_balances set held = balance where user_id = ${ids.carl}`,
    (tx) => tx`update contractors set completed_jobs = 1, rating_count = 1, rating_sum = 5`,
  ];
  for (const attempt of sound) expect(await refusalOf(attempt)).toBe('nothing refused it');
});

it('every check and every unique constraint on jobs, bids, holds, tokens, and events is violated once', async () => {
  const named = await app.sql<{ name: string }[]>`
    select conname as name from pg_constraint where contype = 'c' and conrelid::regclass::text in ('jobs', 'bids',
      'holds', 'events', 'token_transfers', 'token_balances', 'purchases', 'contractors', 'saved_searches',
      'search_cursor')
    union select indexrelid::regclass::text from pg_index join pg_class on pg_class.oid = indexrelid
    where indisunique and not indisprimary and indrelid::regclass::text in ('jobs', 'bids', 'holds', 'events',
      'token_transfers', 'token_balances', 'purchases')`;
  // The unique index on a bid's whole key only serves the award's foreign key.
  const untried = named
    .map(({ name }) => name.replaceAll('"', ''))
    .filter((name) => name !== 'bids_whole_key' && !ATTEMPTS.some(([, refusedBy]) => refusedBy === name));
  expect(untried).toEqual([]);
});

it('keeps every column of an event except its position, which is set later', async () => {
  const free = await app.sql`
    select a.attname as name from pg_attribute a join pg_trigger t on t.tgrelid = a.attrelid
    where t.tgname = 'events_are_append_only' and a.attnum > 0 and not a.attisdropped and not a.attnum = any(t.tgattr)`;
  expect(free.map(({ name }) => name)).toEqual(['position']);
});
