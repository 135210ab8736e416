/** Creates the sample data through REST. Prices and other values aren't random, so every run creates the same data. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isIn, JOB_STATES } from '../../market/rules/states.js';
import { openReceiver } from './receiver.js';
import {
  ADMIN,
  CONTRACTORS,
  HOMEOWNERS,
  LOST_AWARDS,
  LOST_EVENT,
  OTHER_ENDS,
  PASSWORD,
  reviewed,
  REVIEWS,
  REVISION,
  SAVED_SEARCH,
  SUSPENDED,
  WAYS,
  WORKS,
  type DemoCall,
} from './town.js';

/** The open jobs, besides one job in each state. */
const MORE_OPEN_JOBS = 6;
const TOKENS_FOR_EACH = 500;
const ATTEMPTS_MAX = 10;

/** The response fields that later calls need. */
interface Answer {
  readonly id: string;
  readonly token: string;
  readonly user: { readonly id: string };
  readonly contractor: { readonly id: string };
  readonly webhook: { readonly id: string };
}

/** True if one of the sample users can log in. All sample data then exists. */
export async function isThere(url: string): Promise<boolean> {
  const [hanna] = HOMEOWNERS;
  return (await send(url, 'POST', '/v1/auth/login', { email: hanna?.email, password: PASSWORD })).status === 200;
}

interface Town {
  readonly url: string;
  /** Reads the token in a person's confirmation email. Undefined if the server has no mailbox. */
  readonly tokenTo: ((email: string) => Promise<string | undefined>) | undefined;
  /** True if webhooks can be sent to this machine. */
  readonly mayReceive: boolean;
  readonly onStep: (what: string) => void;
}

export async function play({ url, tokenTo, mayReceive, onStep }: Town): Promise<void> {
  const call = async (method: string, path: string, body: object, token?: string): Promise<Answer> => {
    const key = randomUUID();
    for (let attempt = 1; ; attempt += 1) {
      const response = await send(url, method, path, body, { token, key });
      const answer = await response.json();
      if (response.ok) return answer as Answer;
      // On a very busy machine, the database can take seconds to respond.
      if (response.status !== 503 || attempt === ATTEMPTS_MAX)
        throw new Error(`${method} ${path} failed: ${JSON.stringify(answer)}`);
      await sleep(1_000 * Number(response.headers.get('retry-after')));
    }
  };

  onStep('Signing up people');
  const { token: admin } = await call('POST', '/v1/auth/login', ADMIN);
  const signUp = async (kind: 'homeowner' | 'contractor', { first, last, email, phone }: Person, more = {}) => {
    const body = { email, password: PASSWORD, first_name: first, last_name: last, phone, ...more };
    const { token, ...session } = await call('POST', `/v1/auth/signup/${kind}`, body);
    const gift = { user_id: session.user.id, amount: TOKENS_FOR_EACH, reason: 'A welcome gift' };
    await call('POST', '/v1/tokens/adjustments', gift, admin);
    return { token, session };
  };
  const homeowners: { token: string; address: { city: string; state: string } }[] = [];
  for (const homeowner of HOMEOWNERS) {
    const { token } = await signUp('homeowner', homeowner);
    const address = { ...homeowner.lives, country: 'US' };
    await call('PUT', '/v1/me', { homeowner: address }, token);
    homeowners.push({ token, address });
  }
  const contractors: { token: string; trades: readonly string[]; areas: readonly string[] }[] = [];
  for (const contractor of CONTRACTORS) {
    const { company, trades, areas, since } = contractor;
    const { token, session } = await signUp('contractor', contractor, { company_name: company });
    const profile = { specialties: trades, service_areas: areas, bio: `${company}, since ${since}.` };
    await call('PUT', '/v1/me', { contractor: profile }, token);
    if (contractors.length === 0) await call('POST', `/v1/contractors/${session.contractor.id}/verify`, {}, admin);
    contractors.push({ token, trades, areas });
  }

  onStep('Confirming email addresses');
  // Only people with a confirmed address get emails about their jobs and bids.
  for (const { email } of [...HOMEOWNERS, ...CONTRACTORS]) {
    const token = await tokenTo?.(email);
    if (token !== undefined) await call('POST', '/v1/auth/verify-email', { token });
  }

  onStep('Saving a search');
  const carl = contractors[0]?.token;
  await call('POST', '/v1/saved-searches', SAVED_SEARCH, carl);
  const receiver = mayReceive ? await openReceiver(LOST_EVENT) : undefined;
  const webhooks = receiver && (await call('POST', '/v1/webhooks', { url: receiver.url }, carl));

  let jobs = 0;
  async function draft() {
    jobs += 1;
    const { price, ...work } = turn(WORKS, jobs);
    const { token: owner, address } = turn(homeowners, jobs);
    const budget = { budget_min: Math.round(price * 0.8), budget_max: Math.round(price * 1.3) };
    const urgency = turn(['standard', 'standard', 'priority', 'urgent'], jobs);
    const { id } = await call('POST', '/v1/jobs', { ...work, ...address, ...budget, urgency }, owner);
    return { id, owner, price, town: `${address.city}, ${address.state}`, category: work.category };
  }

  /** The town's contractors in the job's trade bid on it. In a trade without contractors, the whole town bids. */
  async function openJob() {
    const { id, owner, price, town, category } = await draft();
    await call('POST', `/v1/jobs/${id}/publish`, {}, owner);
    const near = contractors.filter(({ areas }) => areas.includes(town));
    const fitting = near.filter(({ trades }) => trades.includes(category));
    const bids = [];
    for (const [at, { token: by }] of (fitting.length > 0 ? fitting : near).entries()) {
      const bid = await call('POST', `/v1/jobs/${id}/bids`, offer(price, jobs + 5 * at), by);
      bids.push({ bid, by });
    }
    return { id, owner, bids };
  }

  async function awardedJob() {
    const { id, owner, bids } = await openJob();
    const { bid, by } = turn(bids, jobs);
    await call('POST', `/v1/jobs/${id}/award`, { bid_id: bid.id }, owner);
    return { id, owner, contractor: by };
  }

  async function lead({ id, owner, contractor = '' }: Led, way: readonly DemoCall[]) {
    const tokens = { owner, contractor, admin };
    for (const [by, path, body] of way) await call('POST', `/v1/jobs/${id}/${path}`, body, tokens[by]);
  }

  for (const state of JOB_STATES) {
    onStep(`Creating a job that is “${state.replaceAll('_', ' ')}”`);
    const begin = isIn('unpublished', state) ? draft : isIn('bidding', state) ? openJob : awardedJob;
    await lead(await begin(), WAYS[state]);
  }
  onStep('Creating more open jobs');
  for (let more = 0; more < MORE_OPEN_JOBS; more += 1) await openJob();
  onStep('Completing jobs');
  for (const review of REVIEWS) await lead(await awardedJob(), reviewed(review));
  onStep('Ending jobs in other ways');
  for (const way of OTHER_ENDS) await lead(await awardedJob(), way);
  onStep('Opening jobs again after a lost award');
  for (const step of LOST_AWARDS) await lead(await awardedJob(), [step]);
  onStep('Awarding a revised bid');
  const { id, owner, bids } = await openJob();
  const { bid, by } = turn(bids, jobs);
  await call('PUT', `/v1/jobs/${id}/bids/${bid.id}`, REVISION, by);
  await call('POST', `/v1/jobs/${id}/award`, { bid_id: bid.id, expected_bid_version: 2 }, owner);
  onStep('Suspending a contractor');
  const { company, reason } = SUSPENDED;
  const { session } = await signUp('contractor', SUSPENDED, { company_name: company });
  await call('POST', `/v1/users/${session.user.id}/suspend`, { reason }, admin);
  if (!receiver || !webhooks) return;
  onStep('Replaying an event that Carl’s server lost');
  const path = `/v1/webhooks/${webhooks.webhook.id}`;
  const gap = await receiver.gap();
  await call('POST', `${path}/replay`, gap, carl);
  await receiver.untilFilled(gap);
  // The endpoint's events wait until someone gives it another URL and resumes it.
  await call('PUT', path, { status: 'paused' }, carl);
  receiver.close();
}

type Person = Readonly<Record<'first' | 'last' | 'email' | 'phone', string>>;

interface Led {
  readonly id: string;
  readonly owner: string;
  readonly contractor?: string;
}

function offer(price: number, n: number) {
  return {
    amount: Math.round(price * (0.85 + ((n * 7) % 30) / 100)),
    estimated_duration_days: (n % 10) + 1,
    message: turn(['I can start on Monday.', 'Materials are included.', 'I’ve done three of these this year.'], n),
    guaranteed_view: n % 4 === 0,
  };
}

function turn<T>(list: readonly T[], n: number): T {
  return list[n % list.length] as T;
}

interface CallHeaders {
  readonly token?: string | undefined;
  readonly key?: string;
}

function send(url: string, method: string, path: string, body: object, { token, key }: CallHeaders = {}) {
  const headers = {
    'content-type': 'application/json',
    ...(token && { authorization: `Bearer ${token}` }),
    ...(key && { 'idempotency-key': key }),
  };
  return fetch(url + path, { method, headers, body: JSON.stringify(body) });
}
