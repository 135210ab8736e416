/**
 * Material for valid requests: signed-in people, and untouched jobs in every state. A separate app creates them. It
 * shares its database and secret with the server under test.
 */
import { newId } from '../../../../src/market/store/new-id.js';
import { callRest } from '../../../story/calls.js';
import { join, type Person } from '../../../story/cast.js';
import type { Json, TestApp } from '../../../setup/app.js';
import { gather, givenJob, giveTokens, propose, type GivenJob, type People } from '../../../story/journey.js';
import { JOB_STATES, TERMINAL_JOB_STATES, type JobState } from '../../../../src/market/rules/states.js';
import { atOnce, copiesOf } from '../../../story/scenes.js';
import type { Dice } from '../../../setup/random/dice.js';
import { SAVED_SEARCHES } from '../../../../src/market/rules/market-limits.js';
import type { MailId } from '../../../../src/market/rules/ids.js';
import type { LinkKind } from '../../../../src/market/rules/people/mail-kinds.js';
import { bought } from '../../../market/operations/purchases/buyer.js';
import { deliver, type StripeDouble } from '../../../setup/stripe.js';

export type Who = keyof People;
export const EVERYBODY: readonly Who[] = ['owner', 'other', 'awardee', 'bidder', 'stranger', 'admin'];

/** A person whose session may end, because no other call needs it. */
export interface Spare {
  readonly userId: string;
  readonly email: string;
  readonly password: string;
  readonly token: string;
  readonly refreshToken: string;
  /** One of their API keys, to be revoked. */
  readonly apiKeyId: string;
  readonly sessionId: string;
  readonly webhookId: string;
  readonly deliveryId: string;
  /** The tokens in emails to them. */
  readonly links: Readonly<Record<LinkKind, string | undefined>>;
}

export interface Stock {
  readonly people: People;
  /** A bid with a stake that was revised once, its hold, and one of its bidder's transfers. */
  readonly stakedBid: string;
  readonly hold: string;
  readonly transfer: string;
  readonly adminActionId: string;
  /** The owner's webhook. */
  readonly webhookId: string;
  /** An event on the other homeowner's account. */
  readonly accountEvent: string | undefined;
  token(who: Who): string;
  /**
   * A job that has just entered this state, for one call to change. Once those run out, a job that has already changed.
   */
  take(state: JobState, dice: Dice): GivenJob;
  /** A job to read, in whatever state it is by now. */
  any(dice: Dice): GivenJob;
  /** A person whom one call may use up. */
  spare(dice: Dice): Spare;
  /** A person for calls that leave them unchanged. */
  lend(dice: Dice): Spare;
  /** One of the stranger's saved searches, for one call to delete. */
  takeSearch(dice: Dice): string;
  /** One of the stranger's saved searches, to read or update. */
  lendSearch(dice: Dice): string;
  /** An account whose email undo waits for support. */
  disputedAccount(dice: Dice): string;
  /** A purchase that the other homeowner has paid for. A call may refund it completely. Undefined without Stripe. */
  purchase(dice: Dice): string | undefined;
  /** A name that nobody has had before. */
  unheard(): string;
  /** A cursor that a list with this name has returned, if any. */
  cursor(list: string, dice: Dice): string | undefined;
  keepCursor(list: string, cursor: string): void;
  /** Signs everyone in again after a call ended a session unintentionally. */
  signInAgain(): Promise<void>;
  /** Replaces what was used up. */
  refill(): Promise<void>;
}

export interface StockSizes {
  /**
   * The number of jobs in a state that one operation leaves. States that more operations need get proportionally more.
   */
  readonly jobs: number;
  readonly spares: number;
}

const SHARES: Partial<Record<JobState, number>> = { draft: 4, open: 10, in_review: 2, disputed: 3 };

/** Copies of ended jobs would claim credits and refunds that nobody received. */
const COPIED_STATES = JOB_STATES.filter((state) => !TERMINAL_JOB_STATES.some((terminal) => terminal === state));
const ENDED: readonly { state: JobState; through?: JobState }[] = [
  { state: 'cancelled' },
  { state: 'completed' },
  { state: 'completed', through: 'disputed' },
  { state: 'completed', through: 'appealed' },
];
/** Completed jobs without a rating. Each can be reviewed once. */
const UNRATED = 8;
const SEEN_JOBS_MAX = 500;
const CURSORS_MAX = 50;

export async function openStock(app: TestApp, sizes: StockSizes, stripe?: StripeDouble): Promise<Stock> {
  const people = await gather(app);
  for (const who of ['owner', 'awardee', 'bidder', 'stranger'] as const)
    await giveTokens(app, people.admin, people[who], 900_000);
  const tokens = new Map<Who, string>(EVERYBODY.map((who) => [who, people[who].token]));
  const originals = new Map<JobState, GivenJob>();
  for (const state of COPIED_STATES) originals.set(state, await givenJob(app, state, people));
  // The awardee has made a proposal, so readers of a dispute see one, and the owner can accept it.
  const disputed = originals.get('disputed');
  if (disputed) disputed.proposal = await propose(app, people, disputed);
  const { body: hook } = await app.rest('POST', '/v1/webhooks', {
    token: people.owner.token,
    body: { url: NO_RECEIVER },
  });
  const staked = await givenJob(app, 'open', people, { offers: { bidder: { guaranteed_view: true } } });
  const revised = { by: people.bidder, job: staked.id, bid: staked.bids.bidder ?? '', body: { amount: 750 } };
  const { status } = await callRest(app, 'revise', revised);
  if (status !== 200) throw new Error(`The bid could not be revised: ${status}`);
  const { body: transfers } = await app.rest('GET', '/v1/tokens/transactions', { token: people.bidder.token });
  const { body: actions } = await app.rest('GET', '/v1/admin-actions', { token: people.admin.token });
  const purchaseIds: string[] = [];
  for (let at = 0; stripe && at < PURCHASES; at += 1) {
    const id = await bought(app, people.other, 'large');
    await deliver(app.url, stripe.pay(id));
    purchaseIds.push(id);
  }
  const { body: hold } = await app.rest('GET', `/v1/bids/${staked.bids.bidder}/hold`, { token: people.bidder.token });
  const [accountEvent] = await app.sql<{ id: string }[]>`
    select id from account_events where user_id = ${people.other.userId} limit 1`;
  const ended = await atOnce(ENDED, ({ state, ...journey }) => givenJob(app, state, people, journey));

  const fresh = new Map<JobState, GivenJob[]>(JOB_STATES.map((state) => [state, []]));
  // The originals are never changed, so their copies are always the same.
  const seen: GivenJob[] = [...ended];
  const spares: Spare[] = [];
  let lent: readonly Spare[] = [];
  let searches: string[] = [];
  const disputedAccounts: string[] = [];
  const cursors = new Map<string, string[]>();
  let names = 0;

  async function refillJobs(): Promise<void> {
    for (const [state, original] of originals) {
      const shelf = fresh.get(state) ?? [];
      const missing = sizes.jobs * (SHARES[state] ?? 1) - shelf.length;
      if (missing > 0) shelf.push(...(await paidCopiesOf(app, original, missing)));
    }
  }

  /** Expects everybody to be signed in. */
  async function refillUnrated(): Promise<void> {
    const shelf = fresh.get('completed') ?? [];
    const signedIn = EVERYBODY.map((who) => [who, { ...people[who], token: stock.token(who) }]);
    const missing = Array.from({ length: UNRATED - shelf.length });
    const jobs = atOnce(missing, () =>
      givenJob(app, 'completed', Object.fromEntries(signedIn) as People, { unrated: true }),
    );
    shelf.push(...(await jobs));
  }

  async function signEverybodyIn(): Promise<void> {
    for (const who of EVERYBODY) tokens.set(who, await signedIn(app, people[who].email, people[who].password));
  }

  let signingIn: Promise<void> | undefined;
  const stock: Stock = {
    people,
    stakedBid: staked.bids.bidder ?? '',
    hold: hold.id,
    transfer: transfers.data[0].id,
    adminActionId: actions.data[0].id,
    webhookId: hook.webhook.id,
    accountEvent: accountEvent?.id,
    token: (who) => tokens.get(who) ?? '',
    take: (state, dice) => {
      const job = fresh.get(state)?.pop();
      if (!job) return dice.pick(ofState(seen, state));
      seen.push(job);
      if (seen.length > SEEN_JOBS_MAX) seen.splice(ended.length, 1);
      return job;
    },
    any: (dice) => dice.pick(ofState(seen, dice.pick(JOB_STATES))),
    spare: (dice) => (spares.length > 1 ? (spares.pop() as Spare) : dice.pick(spares)),
    lend: (dice) => dice.pick(lent),
    takeSearch: (dice) => (searches.length > 1 ? (searches.pop() as string) : dice.pick(searches)),
    lendSearch: (dice) => dice.pick(searches),
    disputedAccount: (dice) =>
      disputedAccounts.length > 1 ? (disputedAccounts.pop() as string) : dice.pick(disputedAccounts),
    purchase: (dice) => (stripe ? dice.pick(purchaseIds) : undefined),
    unheard: () => `${++names}x${process.pid}`,
    cursor: (list, dice) => (cursors.has(list) ? dice.pick(cursors.get(list) ?? []) : undefined),
    keepCursor: (list, cursor) => {
      const kept = cursors.get(list) ?? [];
      cursors.set(list, [cursor, ...kept].slice(0, CURSORS_MAX));
    },
    // Callers that find out at the same time share one attempt.
    signInAgain: () => (signingIn ??= signEverybodyIn().finally(() => (signingIn = undefined))),
    refill: async () => {
      await refillJobs();
      const missing = Array.from({ length: Math.max(0, sizes.spares - spares.length) });
      spares.push(...(await atOnce(missing, () => spareOf(app))));
      lent = await atOnce(Array.from({ length: LENT }), () => spareOf(app));
      await stock.signInAgain();
      await refillUnrated();
      searches = await filledSearches(app, stock.token('stranger'));
      const settled = Array.from({ length: Math.max(0, DISPUTED - disputedAccounts.length) });
      disputedAccounts.push(...(await atOnce(settled, () => disputedAccountOf(app))));
    },
  };
  await stock.refill();
  return stock;
}

const LENT = 20;
const PURCHASES = 12;
const DISPUTED = 5;

export const SEARCH_FILTER = {
  search: 'roof',
  categories: ['roofing'],
  urgency: 'standard',
  budget_max: 90_000,
  near: { zip_code: '78701', within_miles: 25 },
};

/** The IDs of this contractor's saved searches, after filling up. */
async function filledSearches(app: TestApp, token: string): Promise<string[]> {
  const own = async () => (await app.rest('GET', '/v1/saved-searches?per_page=100', { token })).body.data as Json[];
  const missing = Array.from({ length: SAVED_SEARCHES.perPerson - (await own()).length });
  const body = { name: 'Roofs', filter: SEARCH_FILTER, alert: 'off' };
  await atOnce(missing, async () => {
    const { status, body: answer } = await app.rest('POST', '/v1/saved-searches', { token, body });
    if (status !== 201) throw new Error(`A search could not be saved: ${JSON.stringify(answer)}`);
  });
  return (await own()).map(({ id }) => id);
}

/** The ID of an account whose former address has undone a change, after the account was used at the new address. */
async function disputedAccountOf(app: TestApp): Promise<string> {
  const person = await joinConfirmed(app);
  const { token, userId } = person;
  await moveTo(app, person, `moved.${person.email}`);
  await app.rest('PUT', '/v1/me', { token, body: { user: { phone: '+1 512 555 0100' } } });
  const undo = { token: (await linksOf(app, userId)).email_changed };
  const { status, body } = await app.rest('POST', '/v1/auth/undo-email-change', { body: undo });
  if (status !== 200 || !body.pending) throw new Error(`No undo is pending: ${status} ${JSON.stringify(body)}`);
  return userId;
}

/** Without a confirmed address, a person gets no link to undo a change of it. */
async function joinConfirmed(app: TestApp): Promise<Person> {
  const person = await join(app, 'homeowner', 'Spare');
  const { token } = person;
  await app.rest('POST', '/v1/me/email/verification', { token });
  await follow(app, (await linksOf(app, person.userId)).email_verification);
  return person;
}

async function moveTo(app: TestApp, person: Person, email: string): Promise<void> {
  await changeEmail(app, person, email);
  await follow(app, (await linksOf(app, person.userId)).email_change);
}

const follow = (app: TestApp, token: string | undefined) =>
  app.rest('POST', '/v1/auth/verify-email', { body: { token } });

/** An address that never responds. */
export const NO_RECEIVER = 'https://hooks.example.com/none';

async function spareOf(app: TestApp): Promise<Spare> {
  const person = await joinConfirmed(app);
  const { body } = await app.rest('POST', '/v1/api-keys', { token: person.token, body: { name: 'Spare' } });
  const { token } = person;
  // Another session of theirs, so the one that makes the calls doesn't end itself.
  await signedIn(app, person.email, person.password);
  const made = await app.rest('POST', '/v1/webhooks', { token, body: { url: NO_RECEIVER } });
  const webhookId = made.body.webhook.id;
  const test = await app.rest('POST', `/v1/webhooks/${webhookId}/test`, { token });
  const [session] = (await app.rest('GET', '/v1/sessions', { token })).body.data;
  const email = `moved.${person.email}`;
  await moveTo(app, person, email);
  await app.rest('POST', '/v1/auth/password-reset', { body: { email } });
  await changeEmail(app, person, `again.${person.email}`);
  return {
    ...person,
    email,
    apiKeyId: body.api_key.id,
    sessionId: session.id,
    webhookId,
    deliveryId: test.body.id,
    links: await linksOf(app, person.userId),
  };
}

async function changeEmail(app: TestApp, { token, password }: Person, email: string): Promise<void> {
  await app.rest('POST', '/v1/me/email', { token, body: { email, current_password: password } });
}

/** The links in the newest email of each kind. */
async function linksOf(app: TestApp, userId: string): Promise<Spare['links']> {
  const rows = await app.sql<
    { id: MailId; kind: string }[]
  >`select m.id, m.kind from mails m join users u on u.id = ${userId}
    where m.user_id = u.id or m.email = u.email order by m.created_at, m.id`;
  const tokens = rows.map(({ id, kind }) => [kind, app.services.mail.tokens.tokenOf(id)]);
  return Object.fromEntries(tokens) as Spare['links'];
}

function ofState(seen: readonly GivenJob[], state: JobState): readonly GivenJob[] {
  const found = seen.filter((job) => job.state === state);
  return found.length > 0 ? found : seen;
}

async function signedIn(app: TestApp, email: string, password: string): Promise<string> {
  const { status, body } = await app.rest('POST', '/v1/auth/login', { body: { email, password } });
  if (status !== 200) throw new Error(`${email} can no longer log in: ${JSON.stringify(body)}`);
  return body.token;
}

/**
 * A published job has been paid for, so each copy must be paid for too. Otherwise, the ledger wouldn't balance after
 * the run.
 */
async function paidCopiesOf(app: TestApp, original: GivenJob, count: number): Promise<GivenJob[]> {
  const copies = await copiesOf(app, original, count);
  const paid = await app.sql<
    { user_id: string; amount: number }[]
  >`select user_id, amount from token_transfers where job_id = ${original.id} and reason = 'publish'`;
  for (const { user_id: payer, amount } of paid) {
    const rows = copies.map(({ id }) => `('${newId('transfer')}', '${id}')`).join(', ');
    await app.sql.begin(async (tx) => {
      await tx.unsafe(
        `insert into token_transfers (id, from_account, to_account, amount, reason, user_id, job_id)
         select copied.id, t.from_account, t.to_account, t.amount, t.reason, t.user_id, copied.job
         from (values ${rows}) as copied(id, job), token_transfers t where t.job_id = '${original.id}'
           and t.reason = 'publish'`,
      );
      await tx`update token_balances set balance = balance - ${amount * copies.length}::int where user_id = ${payer}`;
    });
  }
  return copies;
}
