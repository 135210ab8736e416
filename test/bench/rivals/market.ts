/**
 * The market by hand: one statement per operation, joins where possible, literal limits, and rows shaped once. The
 * floor returns these rows, and Yoga and Mercurius resolve from them.
 */
import bcrypt from 'bcrypt';
import { createHash } from 'node:crypto';
import type { ParameterOrJSON } from 'postgres';
import { availableActions } from '../../../src/market/rules/jobs/available-actions.js';
import type { JobFacts } from '../../../src/market/rules/jobs/facts.js';
import type { ContractorId, HomeownerId } from '../../../src/market/rules/ids.js';
import type { JobState } from '../../../src/market/rules/states.js';
import type { Urgency } from '../../../src/market/rules/jobs/publishing.js';
import type { Viewer } from '../../../src/market/rules/viewer.js';
import { newId } from '../../../src/market/store/new-id.js';
import { signToken } from './access.js';
import { sql } from './postgres.js';
import { AWARD_STATEMENT, CHECK_IN_STATEMENT, LIST_STATEMENT, PUBLISH_STATEMENT } from './statements.js';

/** The columns of all statements. Each statement has some of them. */
interface Row {
  id: string;
  title: string;
  description: string;
  status: JobState;
  category: string | null;
  urgency: Urgency | null;
  budget_min: number | null;
  budget_max: number | null;
  address_line1: string | null;
  city: string | null;
  state: string | null;
  zip_code: string | null;
  country: string | null;
  latitude: number | null;
  longitude: number | null;
  desired_start_date: string | null;
  desired_completion_date: string | null;
  requirements: string | null;
  homeowner_id: HomeownerId;
  awarded_contractor_id: ContractorId | null;
  version: number;
  change_request_count: number;
  reopening_count: number;
  bid_count: number;
  live_bid_count: number;
  created_at: Date;
  updated_at: Date;
  h_id: string | null;
  h_city: string | null;
  h_state: string | null;
  first_name: string;
  last_name: string;
  email: string;
  user_type: string;
  referral_code: string;
  password_hash: string;
  b_id: string | null;
  b_amount: number;
  b_status: string;
  c_id: string | null;
  c_company: string | null;
  c_first: string;
  c_last: string;
  company_name: string | null;
  verified: boolean;
  completed_jobs: number;
  rating_count: number;
  rating_average: number | null;
  amount: number;
  message: string | null;
  estimated_duration_days: number | null;
  guaranteed_view: boolean;
  sequence: number;
  type: string;
  from_status: string | null;
  to_status: string | null;
  occurred_at: Date;
  data: object;
  balance: number;
  held: number;
  available: number;
  most_tokens_paid: number;
  count: number;
}

export class Refused extends Error {
  constructor(
    readonly code: string,
    readonly status = 400,
  ) {
    super(code);
  }
}

function run(text: string, values: ParameterOrJSON<never>[]): Promise<Row[]> {
  return sql.unsafe<Row[]>(text, values, { prepare: true });
}

const cursor = (made: Date, id: string) => Buffer.from(JSON.stringify([made.getTime(), id])).toString('base64url');
const upper = (word: string | null) => (word === null ? null : word.toUpperCase());

// ---- the list of open jobs, as a contractor sees it

export async function listOpenJobs(viewer: Viewer) {
  const rows = await run(LIST_STATEMENT, [viewer.contractorId]);
  const page = rows.length > 20 ? rows.slice(0, 20) : rows;
  const last = page.at(-1);
  return {
    nodes: page.map((row) => ({
      id: row.id,
      title: row.title,
      status: upper(row.status),
      category: row.category,
      urgency: upper(row.urgency),
      budgetMin: row.budget_min,
      budgetMax: row.budget_max,
      city: row.city,
      state: row.state,
      bidCount: row.bid_count,
      createdAt: row.created_at,
      homeowner: {
        id: row.h_id,
        city: row.h_city,
        state: row.h_state,
        user: { firstName: row.first_name, lastName: row.last_name },
      },
      myBid: row.b_id === null ? null : { id: row.b_id, amount: row.b_amount, status: upper(row.b_status) },
    })),
    pageInfo: {
      hasNextPage: rows.length > 20,
      endCursor: last === undefined ? null : cursor(last.created_at, last.id),
    },
  };
}

// ---- REST's list and REST's single job: every column in the response

const ON_WIRE = `j.id, j.title, j.description, j.status, j.category, j.budget_min, j.budget_max, j.urgency, j.city,
  j.state, j.country,
  j.desired_start_date, j.desired_completion_date, j.requirements, j.homeowner_id, j.awarded_bid_id, j.rating, j.review,
    j.version, j.created_at, j.updated_at, j.status_changed_at`;
const PRIVATE = 'j.address_line1, j.address_line2, j.zip_code, j.latitude, j.longitude';
const NO_PRIVATE =
  'null as address_line1, null as address_line2, null as zip_code, null as latitude, null as longitude';

/** An open job hasn't been awarded, so contractors can't read its address. */
const REST_LIST = `select ${ON_WIRE}, ${NO_PRIVATE}, null as distance from jobs j where j.status = 'open'
  order by j.created_at desc, j.id desc limit 21`;
const REST_COUNT = `select count(*)::int from (select from jobs where status = 'open' limit 10001) counted`;

export async function restListOpenJobs() {
  const [rows, [counted]] = await Promise.all([run(REST_LIST, []), run(REST_COUNT, [])]);
  const total = Math.min(counted?.count ?? 0, 10_000);
  const last = rows[19];
  return {
    body: {
      data: rows.length > 20 ? rows.slice(0, 20) : rows,
      pagination: {
        page: 1,
        per_page: 20,
        total,
        total_pages: Math.ceil(total / 20),
        total_capped: (counted?.count ?? 0) > 10_000,
      },
    },
    next: rows.length > 20 && last ? cursor(last.created_at, last.id) : undefined,
  };
}

const REST_JOB = `select ${ON_WIRE}, ${PRIVATE} from jobs j where j.id = $1`;

/** Only the owner may read it. The benchmark doesn't need any other rule. */
export async function restOwnJob(viewer: Viewer, id: string) {
  const [job] = await run(REST_JOB, [id]);
  if (!job) throw new Refused('NOT_FOUND', 404);
  if (job.homeowner_id !== viewer.homeownerId) throw new Refused('FORBIDDEN', 403);
  // The seed's places are real.
  return { ...job, warnings: [] };
}

// ---- one job with everything, as its owner sees it

const JOB = `select j.id, j.title, j.description, j.status, j.category, j.budget_min, j.budget_max, j.urgency, j.city,
  j.state, j.country, j.zip_code, j.address_line1,
    j.latitude, j.longitude, j.desired_start_date, j.desired_completion_date, j.requirements, j.homeowner_id,
      j.awarded_contractor_id, j.version, j.change_request_count, j.reopening_count, j.created_at,
    j.updated_at, j.bid_count, j.live_bid_count, h.city as h_city, h.state as h_state, u.first_name, u.last_name,
      u.email, t.balance - t.held as available,
    b.id as b_id, b.amount as b_amount, c.id as c_id, c.company_name as c_company, cu.first_name as c_first,
      cu.last_name as c_last
  from jobs j join homeowners h on h.id = j.homeowner_id join users u on u.id = h.user_id join token_balances t
    on t.user_id = u.id
  left join bids b on b.id = j.awarded_bid_id left join contractors c on c.id = b.contractor_id left
    join users cu on cu.id = c.user_id
  where j.id = $1`;

export async function ownJob(viewer: Viewer, id: string) {
  const [row] = await run(JOB, [id]);
  if (!row) throw new Refused('NOT_FOUND', 404);
  if (row.homeowner_id !== viewer.homeownerId) throw new Refused('FORBIDDEN', 403);
  return {
    facts: {
      ...NOTHING_SPECIAL,
      job: {
        status: row.status,
        homeownerId: row.homeowner_id,
        awardedContractorId: row.awarded_contractor_id,
        title: row.title,
        description: row.description,
        category: row.category,
        urgency: row.urgency,
        addressLine1: row.address_line1,
        city: row.city,
        state: row.state,
        version: row.version,
        changeRequestCount: row.change_request_count,
        reopeningCount: row.reopening_count,
      },
      bidsToAward: row.live_bid_count,
      availableTokens: row.available,
    },
    id: row.id,
    title: row.title,
    description: row.description,
    status: upper(row.status),
    category: row.category,
    urgency: upper(row.urgency),
    budgetMin: row.budget_min,
    budgetMax: row.budget_max,
    addressLine1: row.address_line1,
    city: row.city,
    state: row.state,
    zipCode: row.zip_code,
    country: row.country,
    latitude: row.latitude,
    longitude: row.longitude,
    desiredStartDate: row.desired_start_date,
    desiredCompletionDate: row.desired_completion_date,
    requirements: row.requirements,
    version: row.version,
    bidCount: row.bid_count,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    homeowner: {
      id: row.homeowner_id,
      city: row.h_city,
      state: row.h_state,
      user: { firstName: row.first_name, lastName: row.last_name, email: row.email },
    },
    awardedBid:
      row.b_id === null
        ? null
        : {
            id: row.b_id,
            amount: row.b_amount,
            contractor: {
              id: row.c_id,
              companyName: row.c_company,
              user: { firstName: row.c_first, lastName: row.c_last },
            },
          },
  };
}

const BIDS = `select b.id, b.amount, b.status, b.message, b.estimated_duration_days, b.guaranteed_view, b.created_at,
  c.id as c_id, c.company_name, c.verified, c.rating_count,
    round(c.rating_sum::numeric / nullif(c.rating_count, 0), 2)::float8 as rating_average, u.first_name, u.last_name
  from bids b join contractors c on c.id = b.contractor_id join users u on u.id = c.user_id
  where b.job_id = $1 order by b.guaranteed_view desc, b.created_at desc, b.id desc limit 21`;

export async function bidsOn(jobId: string) {
  const rows = await run(BIDS, [jobId]);
  return {
    nodes: (rows.length > 20 ? rows.slice(0, 20) : rows).map((row) => ({
      id: row.id,
      amount: row.amount,
      status: upper(row.status),
      message: row.message,
      estimatedDurationDays: row.estimated_duration_days,
      guaranteedView: row.guaranteed_view,
      createdAt: row.created_at,
      contractor: {
        id: row.c_id,
        companyName: row.company_name,
        verified: row.verified,
        ratingAverage: row.rating_average,
        ratingCount: row.rating_count,
        user: { firstName: row.first_name, lastName: row.last_name },
      },
    })),
    pageInfo: { hasNextPage: rows.length > 20 },
  };
}

const TIMELINE = `select sequence, type, from_status, to_status, occurred_at from events where job_id = $1
  order by sequence limit 21`;

export async function timelineOf(jobId: string) {
  const rows = await run(TIMELINE, [jobId]);
  return {
    nodes: (rows.length > 20 ? rows.slice(0, 20) : rows).map((row) => ({
      sequence: row.sequence,
      type: row.type,
      fromStatus: upper(row.from_status),
      toStatus: upper(row.to_status),
      occurredAt: row.occurred_at,
    })),
    pageInfo: { hasNextPage: rows.length > 20 },
  };
}

/** Values that none of the rivals has to read. */
export const NOTHING_SPECIAL = {
  ownBids: [],
  isOwnerSuspended: false,
  isEmailUndoPending: false,
  standingProposal: null,
  reviewWindow: null,
} satisfies Partial<JobFacts>;

type ActionJob = Parameters<typeof availableActions>[1];

export function actionsOn(viewer: Viewer, { job, ...facts }: Partial<JobFacts> & { readonly job: ActionJob }) {
  return availableActions(viewer, job, facts).map(({ action, allowed, reason }) => ({ action, allowed, reason }));
}

// ---- the caller's own account

const ME = `select u.id, u.email, u.first_name, u.last_name, u.user_type, u.referral_code, t.balance, t.held,
  t.balance - t.held as available,
    h.id as h_id, h.city, h.state, h.zip_code, c.id as c_id, c.company_name, c.completed_jobs, c.rating_count,
    round(c.rating_sum::numeric / nullif(c.rating_count, 0), 2)::float8 as rating_average
  from users u join token_balances t on t.user_id = u.id left join homeowners h on h.user_id = u.id left
    join contractors c on c.user_id = u.id where u.id = $1`;

export async function me(viewer: Viewer) {
  const [row] = await run(ME, [viewer.userId]);
  if (!row) throw new Refused('UNAUTHENTICATED', 401);
  return {
    user: {
      id: row.id,
      email: row.email,
      firstName: row.first_name,
      lastName: row.last_name,
      userType: upper(row.user_type),
    },
    homeowner: row.h_id === null ? null : { id: row.h_id, city: row.city, state: row.state, zipCode: row.zip_code },
    contractor:
      row.c_id === null
        ? null
        : {
            id: row.c_id,
            companyName: row.company_name,
            completedJobs: row.completed_jobs,
            ratingAverage: row.rating_average,
            ratingCount: row.rating_count,
          },
    tokens: { balance: row.balance, held: row.held, available: row.available },
    referralCode: row.referral_code,
  };
}

// ---- transitions, each as one statement: an illegal one changes nothing, and a second statement finds the reason

const changedJob = (row: Row) => ({
  id: row.id,
  status: upper(row.status),
  version: row.version,
  updatedAt: row.updated_at,
});

async function whyNot(viewer: Viewer, id: string): Promise<never> {
  const [job] = await run('select homeowner_id, awarded_contractor_id, status from jobs where id = $1', [id]);
  if (!job) throw new Refused('NOT_FOUND', 404);
  if (job.homeowner_id !== viewer.homeownerId && job.awarded_contractor_id !== viewer.contractorId)
    throw new Refused('FORBIDDEN', 403);
  throw new Refused('INVALID_TRANSITION');
}

export async function checkIn(viewer: Viewer, id: string, notes: string | null) {
  const [moved] = await run(CHECK_IN_STATEMENT, [id, viewer.contractorId, newId('event'), viewer.userId, notes]);
  return moved ? changedJob(moved) : whyNot(viewer, id);
}

export async function publish(viewer: Viewer, id: string) {
  try {
    const [moved] = await run(PUBLISH_STATEMENT, [
      id,
      viewer.homeownerId,
      viewer.userId,
      newId('transfer'),
      newId('event'),
    ]);
    if (!moved) return await whyNot(viewer, id);
    return { job: changedJob(moved), tokensCharged: moved.most_tokens_paid, remainingBalance: moved.available };
  } catch (error) {
    throw violated(error) === 'token_balances_cover_what_is_held' ? new Refused('INSUFFICIENT_TOKENS') : error;
  }
}

export async function award(viewer: Viewer, id: string, bidId: string) {
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    const [moved] = await run(AWARD_STATEMENT, [id, bidId, viewer.homeownerId, newId('event'), viewer.userId]);
    if (moved) return changedJob(moved);
  }
  return whyNot(viewer, id);
}

const SUBMIT_BID = `with counted as (
    update jobs set event_count = event_count + 1, live_bid_count = live_bid_count + 1, bid_count = bid_count + 1,
      bids_ever = bids_ever + 1
    where id = $1 and status = 'open' returning id, event_count, created_at, homeowner_id),
  made as (insert into bids (id, job_id, contractor_id, amount, message, job_created_at) select $2, id, $3, $4, $5,
    created_at from counted returning id, job_id, amount, status, created_at),
  logged as (insert into events (id, job_id, sequence, type, actor_id, bidder_id, occurred_at, data, homeowner_id)
    select $6, id, event_count, 'bid.submitted', $7, $3, clock_timestamp(), jsonb_build_object('bidId', $2::text,
      'status', 'pending'), homeowner_id from counted)
  select id, amount, status, created_at from made`;

export async function submitBid(viewer: Viewer, jobId: string, amount: number, message: string | null) {
  if (viewer.contractorId === null) throw new Refused('FORBIDDEN', 403);
  try {
    const [made] = await run(SUBMIT_BID, [
      jobId,
      newId('bid'),
      viewer.contractorId,
      amount,
      message,
      newId('event'),
      viewer.userId,
    ]);
    return made
      ? { id: made.id, amount: made.amount, status: upper(made.status), createdAt: made.created_at }
      : await whyNot(viewer, jobId);
  } catch (error) {
    throw violated(error) === 'bids_one_for_each_contractor' ? new Refused('DUPLICATE_BID') : error;
  }
}

function violated(error: unknown): string | undefined {
  return error instanceof Error && 'constraint_name' in error ? String(error.constraint_name) : undefined;
}

// ---- logging in

const CREDENTIALS = 'select id, email, user_type, password_hash from users where email = $1';
const OPEN_SESSION = `with opened as (
    insert into sessions (id, user_id, ends_at) select $1, id, now() + interval '90 days' from users
      where id = $2 and password_hash = $3 for share returning id)
  insert into refresh_tokens (hash, session_id, expires_at) select $4, id, now() + interval '30 days' from opened
    returning session_id`;

export async function logIn(email: string, password: string) {
  const [account] = await run(CREDENTIALS, [email.toLowerCase()]);
  if (!account || !(await bcrypt.compare(password, account.password_hash)))
    throw new Refused('INVALID_CREDENTIALS', 401);
  const refreshToken = newId('refreshToken');
  const sessionId = newId('session');
  const hash = createHash('sha256').update(refreshToken).digest('base64url');
  await run(OPEN_SESSION, [sessionId, account.id, account.password_hash, hash]);
  return {
    token: signToken(account.id, sessionId, account.user_type),
    refreshToken,
    user: { id: account.id, email: account.email },
  };
}
