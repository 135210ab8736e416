/**
 * A real server and its people, reset to the same state before every history. Compares its responses with the model.
 */
import { isDeepStrictEqual } from 'node:util';
import { eventType } from '../story/calls.js';
import { isIn } from '../story/specified.js';
import { admin, contractor, homeowner, type Person as Member } from '../story/cast.js';
import { checkDatabase } from '../setup/database/checker.js';
import { openTestApp, type Json, type TestApp } from '../setup/app.js';
import { deliver, StripeDouble, type StripeEvent } from '../setup/stripe.js';
import { callFrom, describeCall, openingCalls, secondsToAdvance, type Roll } from './commands.js';
import { checkAtRest, checkClock } from './invariants.js';
import { DAY, THE_CLOCK } from './deadlines.js';
import { BID, CONTRACTOR, DISPUTE, EVENTS, JOB, lowered, openApis, PURCHASE, type Apis, type Heard } from './apis.js';
import { THE_TOKENS, TOKEN_PACKS } from './wallet.js';
import {
  APP_ORIGIN,
  isLocated,
  isOutdated,
  Market,
  PRIVATE,
  ratingAverage,
  type Answer,
  type Bid,
  type Call,
  type Dispute,
  type Fields,
  type Job,
  type Person,
  type Purchase,
  type Report,
  type Role,
  type SeenHappening,
  type Upcoming,
} from './market.js';

/** The count of each outcome: operation, state of the job or bid, and result. */
export type Coverage = Map<string, number>;

export interface World {
  /** Plays a history. Throws at the first difference. */
  play(history: readonly Roll[], coverage: Coverage): Promise<void>;
  /** The calls of the last history, to help explain a difference. */
  readonly transcript: string[];
  close(): Promise<void>;
}

/** The most tokens that one refund may ask for. */
const TOO_MANY = 1_000_000;
const BALANCES = { Hanna: 10, Hugo: 20, Carl: 25, Cora: 10, Cody: 4 };
/** Access tokens last 15 minutes; a long run lasts longer. */
const LOG_IN_AGAIN_AFTER_MS = 8 * 60_000;

function partyOf({ owner, awarded }: Job, chance: number): Person {
  return awarded && chance % 2 === 0 ? awarded.by : owner;
}

/** An open job whose deadline was extended: twice 30 days. */
const LONGEST_DEADLINE = 60 * DAY;

/** Also finds a refund that is missing. */
const MISDIRECTED_REFUNDS = `
  select e.job_id, t.to_account, t.amount from events e join jobs j on j.id = e.job_id
  join homeowners h on h.id = j.homeowner_id left join token_transfers t on t.job_id = e.job_id
    and t.reason = 'publish_refund'
  where e.type = 'job.expired' and (t.to_account, t.amount) is distinct from
    (case when j.bids_ever = 0 then h.user_id end, case when j.bids_ever = 0 then j.most_tokens_paid end)`;

export async function openWorld(): Promise<World> {
  const stripe = new StripeDouble();
  const app = await openTestApp({
    DEADLINES: 'act',
    CLOCK: 'adjustable',
    CORS_ORIGINS: APP_ORIGIN,
    TOKEN_PACKS,
    ...(await stripe.open()),
  });
  const apis = openApis(app.url);
  const members = new Map<Person, Member>();
  const join = async (joining: Promise<Member>, role: Role) => {
    const member = await joining;
    members.set({ name: member.name, role, userId: member.userId, profileId: member.profileId }, member);
  };
  await join(homeowner(app, 'Hanna'), 'homeowner');
  await join(homeowner(app, 'Hugo'), 'homeowner');
  await join(contractor(app, 'Carl'), 'contractor');
  await join(contractor(app, 'Cora'), 'contractor');
  await join(contractor(app, 'Cody'), 'contractor');
  await join(admin(app), 'admin');
  const people = [...members.keys()];
  const ada = people.find(({ role }) => role === 'admin')!;
  const balances = new Map(people.map((person) => [person, (BALANCES as Record<string, number>)[person.name] ?? 0]));
  const transcript: string[] = [];
  const tokens = new Map(people.map((person) => [person, members.get(person)!.token]));
  let loggedInAt = Date.now();
  /** People who were suspended and haven't logged in since. */
  const loggedOut = new Set<Person>();

  async function logInAgain(these: Iterable<Person>): Promise<void> {
    for (const person of these) {
      const { email, password } = members.get(person)!;
      tokens.set(person, (await app.rest('POST', '/v1/auth/login', { body: { email, password } })).body.token);
      loggedOut.delete(person);
    }
  }

  async function begin(): Promise<Market> {
    await reset(app, balances);
    await logInAgain([...loggedOut]);
    app.statements();
    app.logged.length = 0;
    transcript.length = 0;
    if (Date.now() - loggedInAt > LOG_IN_AGAIN_AFTER_MS) {
      await logInAgain(people);
      loggedInAt = Date.now();
    }
    return new Market(people, balances, Date.now());
  }

  async function perform(call: Call, market: Market, coverage: Coverage): Promise<void> {
    transcript.push(describeCall(call));
    const before = stateBefore(market, call);
    const expected = market.perform(call);
    const heard = isReport(call)
      ? await report(app.url, stripe, call)
      : await apis.send(call, call.by ? tokens.get(call.by) : undefined);
    transcript.push(`    → ${heard.code ?? heard.status}`);
    const count = (outcome: string) => coverage.set(outcome, (coverage.get(outcome) ?? 0) + 1);
    count(`${call.op} | ${before} | ${expected.is === 'refused' ? expected.refusal.code : 'ok'}`);
    checkAnswer(call, market, expected, heard);
    if (call.op === 'resolveDispute' && expected.is === 'job')
      await learnProposal(apis, expected.job, tokens.get(call.by!)!);
    if (expected.is === 'user' && expected.isSuspended) loggedOut.add(expected.person);
    else if (expected.is === 'user' && loggedOut.has(expected.person)) await logInAgain([expected.person]);
    for (const step of market.tokenSteps) count(`${THE_TOKENS} | - | ${step}`);
    transcript.push(...market.tokenSteps.map((step) => `    ${step}`));
    for (const person of market.accountsToCheck) await checkTokens(market, person);
    if (expected.is !== 'clock') return;
    for (const { state, did } of market.clockActions) count(`${THE_CLOCK} | ${state} | ${did}`);
    transcript.push(...market.clockActions.map(({ state, did }) => `    ${state}: ${did}`));
    checkClock(market);
  }

  /** Admins read everything, even what belongs to people who are suspended. */
  async function asAdmin(call: Pick<Call, 'op' | 'body' | 'user' | 'purchase'>): Promise<Heard> {
    return apis.send({ ...call, by: ada, api: 'rest' }, tokens.get(ada));
  }

  async function checkTokens(market: Market, person: Person): Promise<void> {
    const { data } = await asAdmin({ op: 'readTokens', body: { userId: person.userId } });
    same(`${person.name}’s tokens`, data, market.tokensOf(person));
  }

  /** No API shows what is left of a purchase. A refund of far too many tokens is refused, and says it. */
  async function checkLeft(market: Market): Promise<void> {
    for (const purchase of market.purchases.filter(({ state }) => state === 'paid')) {
      const body = { tokens: TOO_MANY, reason: 'How many are left?' };
      const { code, details } = await asAdmin({ op: 'refundPurchase', purchase: purchase.id, body });
      const available = market.refundable(purchase);
      same(
        'what is left of a purchase',
        { code, ...details },
        { code: 'INSUFFICIENT_TOKENS', required: TOO_MANY, available },
      );
    }
  }

  async function setSuspended(person: Person, isSuspended: boolean, market: Market, coverage: Coverage): Promise<void> {
    const call = isSuspended
      ? ({ op: 'suspendUser', body: { reason: 'A pause' } } as const)
      : ({ op: 'restoreUser', body: {} } as const);
    await perform({ ...call, by: ada, api: 'rest', user: person.userId }, market, coverage);
  }

  /** Nobody acts anymore. Jumps of 3 to 40 days follow until nothing has changed for longer than any deadline. */
  async function comeToRest(history: readonly Roll[], market: Market, coverage: Coverage): Promise<void> {
    const dice = history.map(([first = 0]) => first);
    let quietSince = market.now;
    for (let jump = 0; market.now - quietSince <= LONGEST_DEADLINE; jump += 1) {
      const days = 3 + (((dice[jump % dice.length] ?? 0) + jump * 7) % 38);
      const body = { seconds: secondsToAdvance(days * 24) };
      await perform({ op: 'advanceClock', by: ada, api: 'rest', body }, market, coverage);
      if (market.clockActions.length > 0) quietSince = market.now;
    }
  }

  return {
    transcript,
    async play(history, coverage) {
      const market = await begin();
      for (const call of openingCalls(history, market)) await perform(call(), market, coverage);
      for (const roll of history) await perform(callFrom(roll, market), market, coverage);
      transcript.push('At the end:');
      for (const person of people) await checkAll(apis, market, person, tokens.get(person)!);
      const [chance = 0] = history[0] ?? [];
      if (chance % 2 === 0) await checkLeft(market);
      const going = market.jobs.filter(({ state }) => !isIn('unpublished', state) && !isIn('end', state));
      const job = going.find(({ awarded }) => awarded !== null) ?? going[0];
      if (job && chance % 3 === 0) await setSuspended(partyOf(job, chance), true, market, coverage);
      transcript.push('Then nobody acts:');
      await comeToRest(history, market, coverage);
      checkAtRest(market);
      if (market.suspended.size > 0) {
        transcript.push('Everybody is restored, and nobody acts:');
        for (const person of market.suspended) await setSuspended(person, false, market, coverage);
        await comeToRest(history, market, coverage);
        checkAtRest(market);
      }
      transcript.push('At rest:');
      // To save time, only an admin and one other person read everything again.
      const reader = people[chance % people.length]!;
      for (const person of people.filter((one) => one === reader || one.role === 'admin'))
        await checkAll(apis, market, person, tokens.get(person)!);
      if (chance % 2 === 1) await checkLeft(market);
      same('the database', await checkDatabase(app.sql), []);
      same('misdirected refunds', [...(await app.sql.unsafe(MISDIRECTED_REFUNDS))], []);
      same(
        'failures in the log',
        app.logged.filter((line) => /"level":"(error|fatal)"|the clock could not/.test(line)),
        [],
      );
    },
    async close() {
      apis.close();
      await app.close();
      stripe.close();
    },
  };
}

/**
 * Restores the state right after everybody joined. Triggers forbid this to everything else, so they are disabled here.
 */
async function reset(app: TestApp, balances: ReadonlyMap<Person, number>): Promise<void> {
  const funded = [...balances].filter(([, balance]) => balance > 0);
  const transfers = funded.map(
    ([{ userId }, balance], at) =>
      `('ttx_${String(at).padStart(27, '0')}', 'issuance', '${userId}', ${balance}, 'adjustment', '${userId}')`,
  );
  await app.sql.begin((tx) =>
    tx.unsafe(`
    set local session_replication_role = replica;
    delete from reviews; delete from events; delete from holds; delete from bid_revisions; delete from bids;
    delete from job_search; delete from open_job_search; delete from jobs; delete from token_transfers;
    delete from admin_actions; delete from purchases;
    delete from account_events where type like 'purchase.%';
    update users set suspended_at = null where suspended_at is not null;
    update deadline_clock set ahead_seconds = 0;
    update contractors set completed_jobs = 0, rating_sum = 0, rating_count = 0 where completed_jobs > 0;
    insert into token_transfers (id, from_account, to_account, amount, reason, user_id) values ${transfers.join(', ')};
    update token_balances b
      set held = 0, bought = 0, debt = 0, balance = coalesce((select sum(amount) from token_transfers t
      where t.user_id = b.user_id), 0)`),
  );
}

function isReport(call: Call): call is Call & { op: Report; purchase: string } {
  return call.op in EVENT_OF;
}

/** What happens at Stripe, and the event that tells it. */
const EVENT_OF: Readonly<Record<Report, (stripe: StripeDouble, purchase: string) => StripeEvent>> = {
  payPurchase: (stripe, purchase) => {
    const isPaid = stripe.sessionOf(purchase).payment_status === 'paid';
    return isPaid ? stripe.event('checkout.session.completed', stripe.sessionOf(purchase)) : stripe.pay(purchase);
  },
  expirePurchase: (stripe, purchase) => stripe.expire(purchase),
  chargeBack: (stripe, purchase) => stripe.closeDispute(stripe.dispute(purchase), 'lost'),
};

/** Delivers an event, sometimes twice. */
async function report(
  url: string,
  stripe: StripeDouble,
  call: Call & { op: Report; purchase: string },
): Promise<Heard> {
  const event = EVENT_OF[call.op](stripe, call.purchase);
  let status = 0;
  for (let left = Number(call.body.deliveries); left > 0; left -= 1) {
    const answer = await deliver(url, event);
    await answer.arrayBuffer();
    ({ status } = answer);
  }
  return { status, code: null, fields: undefined, blocked: [], details: {}, data: null };
}

function stateBefore(market: Market, call: Call): string {
  if (call.purchase !== undefined) return market.purchases.find(({ id }) => id === call.purchase)?.state ?? '-';
  const bid = market.jobs.flatMap(({ bids }) => bids).find(({ id }) => id === call.bid);
  if (call.bid !== undefined) return bid ? `bid ${bid.state}` : '-';
  return market.jobs.find(({ id }) => id === call.job)?.state ?? '-';
}

function checkAnswer(call: Call, market: Market, expected: Answer, heard: Heard): void {
  if (expected.is === 'refused') {
    const { code, fields, blocked, details } = expected.refusal;
    same('the refusal', heard.code, code);
    same('its status', heard.status, STATUS[code] ?? 400);
    if (fields) same('the refused fields', heard.fields ?? [], fields);
    same('the blocked fields', heard.blocked, blocked ?? []);
    for (const [name, value] of Object.entries(details ?? {})) same(name, heard.details[name], value);
    return;
  }
  same('the refusal', heard.code, null);
  const created = 'created' in expected && expected.created === true;
  if (call.api === 'rest') same('the status', heard.status, created || expected.is === 'transfer' ? 201 : 200);
  const { data } = heard;
  switch (expected.is) {
    case 'job':
      if (expected.created) learnJob(expected.job, data);
      if (!expected.paid) return sameJob(market, call.by!, expected.job, data);
      same('the charge', { tokensCharged: data.tokensCharged, remainingBalance: data.remainingBalance }, expected.paid);
      return sameJob(market, call.by!, expected.job, data.job);
    case 'gone':
      if (call.api === 'graphql') return sameJob(market, call.by!, expected.job, data);
      return same('the word', [data.status, typeof data.message, data.data], [200, 'string', {}]);
    case 'bid':
      if (expected.created) learnBid(expected.bid, data);
      return sameBid(market, expected.bid, data);
    case 'transfer':
      return same(
        'the transfer',
        [data.amount, data.bought, expected.amount > 0 ? data.toAccount : data.fromAccount],
        [Math.abs(expected.amount), expected.bought, expected.to.userId],
      );
    case 'purchase':
      if (!expected.created) return samePurchase(expected.purchase, data);
      same('the form of the checkout’s address', URL.canParse(data.checkoutUrl), true);
      learnPurchase(expected.purchase, data.purchase);
      return samePurchase(expected.purchase, data.purchase);
    case 'settled':
      return;
    case 'user':
      return same(
        'the suspension',
        [data.id, data.suspendedAt !== null, data.suspendedUntil],
        [expected.person.userId, expected.isSuspended, null],
      );
    case 'jobs':
      samePage(call, expected.page, data);
      for (const [at, job] of expected.page.rows.entries()) {
        const { distance, ...row } = data.data[at];
        if (call.api === 'rest') same('the distance in a list without a place', distance, null);
        sameJob(market, call.by!, job, row);
      }
      return;
    case 'bids':
      samePage(call, expected.page, data);
      for (const [at, bid] of expected.page.rows.entries()) sameBid(market, bid, data.data[at]);
      return;
    case 'revisions':
      samePage(call, expected.page, data);
      return sameRevisions(expected.page.rows, data.data);
    case 'events':
      samePage(call, expected.page, data);
      return sameEvents(expected.page.rows, data.data);
    case 'dispute':
      return sameDispute(expected.dispute, data);
    case 'upcoming':
      return sameUpcoming(market, expected.upcoming, data.data);
    case 'clock':
      return sameTime('the time', market, data.now, expected.now);
    case 'tokens':
      return same('the tokens', data, expected.tokens);
    case 'contractor':
      return sameRecord(expected.contractor, expected.record, data);
  }
}

const STATUS: Readonly<Record<string, number>> = {
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  RATE_LIMITED: 429,
  STALE_VERSION: 412,
};

function same(what: string, is: unknown, shouldBe: unknown): void {
  if (isDeepStrictEqual(is, shouldBe)) return;
  throw new Error(`${what}: the service says ${JSON.stringify(is)}, the model ${JSON.stringify(shouldBe)}`);
}

/** The service's time also contains the real time since the history began. */
function sameTime(what: string, { startedAt }: Market, is: unknown, shouldBe: number | null): void {
  if (is === null || is === undefined || shouldBe === null) return same(what, is ?? null, shouldBe);
  const ms = Date.parse(String(is));
  const passed = Date.now() - startedAt;
  if (ms < startedAt + shouldBe * 1_000 - 1_000 || ms > startedAt + shouldBe * 1_000 + passed + 1_000)
    same(what, is, `about ${new Date(startedAt + shouldBe * 1_000).toISOString()}`);
}

/** In order of time. The model doesn't know which of two actions in the same minute comes first. */
function sameUpcoming(market: Market, expected: readonly Upcoming[], data: Json[]): void {
  const times = data.map(({ at }) => Date.parse(at));
  same(
    'the order of what is upcoming',
    times,
    times.toSorted((one, other) => one - other),
  );
  const byAction = <Item extends { action: string }>(list: readonly Item[]) =>
    list.toSorted((one, other) => (one.action.toUpperCase() < other.action.toUpperCase() ? -1 : 1));
  const [shown, known] = [byAction(data), byAction(expected)];
  same(
    'what is upcoming',
    shown.map(({ action }) => action.toUpperCase()),
    known.map(({ action }) => action),
  );
  for (const [index, { action, at }] of known.entries()) {
    sameTime(`when the clock does this: ${action}`, market, shown[index].at, at);
    same('whether someone can prevent it', typeof shown[index].unless, 'string');
  }
}

/** Copies the values of a new job that only the service knows. */
function learnJob(job: Job, data: Json): void {
  if (!/^job_[0-9A-Za-z]{27}$/.test(data?.id)) throw new Error(`A new job was answered as ${JSON.stringify(data)}`);
  job.id = data.id;
  job.createdAt = data.createdAt;
}

/** A proposal returns the job, whose dispute has the proposal's ID. */
async function learnProposal(apis: Apis, { id, dispute }: Job, token: string): Promise<void> {
  const standing = dispute?.proposal;
  if (!standing) return;
  const query = 'query($id: ID!) { job(id: $id) { dispute { proposal { id } } } }';
  const { data } = await apis.graphql(query, { id }, token);
  const read = data.job.dispute.proposal.id;
  if (!/^prp_[0-9A-Za-z]{27}$/.test(read)) throw new Error(`A proposal has the ID ${read}`);
  if (standing.id !== '') same('the standing proposal', read, standing.id);
  standing.id = read;
}

function learnBid(bid: Bid, data: Json): void {
  if (!/^bid_[0-9A-Za-z]{27}$/.test(data?.id)) throw new Error(`A new bid was answered as ${JSON.stringify(data)}`);
  bid.id = data.id;
  bid.createdAt = data.createdAt;
  bid.holdId = data.holdId;
  same('whether there is a hold', /^hld_[0-9A-Za-z]{27}$/.test(String(data.holdId)), bid.guaranteed);
}

function learnPurchase(purchase: Purchase, data: Json): void {
  if (!/^pur_[0-9A-Za-z]{27}$/.test(data?.id))
    throw new Error(`A new purchase was answered as ${JSON.stringify(data)}`);
  purchase.id = data.id;
  purchase.createdAt = data.createdAt;
}

function samePurchase(purchase: Purchase, { receiptUrl: _receipt, expiresAt: _expiry, paidAt, ...data }: Json): void {
  const { id, by, pack, state, refundedTokens, refundedAmount, createdAt } = purchase;
  const { tokens, amount } = pack;
  const price = { pack: pack.id, tokens, amount, currency: 'USD' };
  const shown = { id, userId: by.userId, status: state, refundedTokens, refundedAmount, disputedAt: null, createdAt };
  same('the purchase', data, { ...price, ...shown });
  same('whether it was paid', paidAt !== null, state !== 'pending' && state !== 'expired');
}

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

function sameJob(
  market: Market,
  reader: Person,
  job: Job,
  { latitude, longitude, updatedAt, statusChangedAt, warnings, ...data }: Json,
): void {
  const expected: Fields = {
    ...job.fields,
    id: job.id,
    status: job.state,
    homeownerId: job.owner.profileId,
    awardedBidId: job.awarded?.id ?? null,
    rating: job.rating,
    review: job.review,
    version: job.version,
    createdAt: job.createdAt,
  };
  const readsAll = market.readsAll(reader, job);
  if (!readsAll) for (const field of PRIVATE) if (field in expected) expected[field] = null;
  same('the job', data, expected);
  const located = readsAll && isLocated(job.fields);
  same(
    'whether it is located',
    [typeof latitude, typeof longitude],
    located ? ['number', 'number'] : ['object', 'object'],
  );
  const isWarned = reader === job.owner || reader.role === 'admin';
  // REST lists have no warnings.
  if (warnings !== undefined) same('who is warned', warnings !== null, isWarned);
  if (job.changed?.state === job.state) same('when the status changed', statusChangedAt, job.changed.at);
  else if (job.changed) same('that the status changed no earlier', statusChangedAt >= job.changed.at, true);
  job.changed = { state: job.state, at: statusChangedAt };
  same('the form of updated_at', MOMENT.test(updatedAt) && updatedAt >= job.createdAt, true);
}

function sameBid(market: Market, bid: Bid, { createdAt, updatedAt, submittedAt, ...data }: Json): void {
  same('the bid', data, {
    ...bid.fields,
    id: bid.id,
    jobId: bid.job.id,
    contractorId: bid.by.profileId,
    status: bid.state,
    guaranteedView: bid.guaranteed,
    holdId: bid.holdId,
    suspended: market.suspended.has(bid.by),
    version: bid.version,
    isOutdated: isOutdated(bid),
  });
  same(
    'the moments of the bid',
    [createdAt, submittedAt, MOMENT.test(updatedAt)],
    [bid.createdAt, bid.createdAt, true],
  );
}

function sameRevisions(expected: readonly Bid['revisions'][number][], data: Json[]): void {
  same(
    'the earlier offers',
    data.map(({ replacedAt: _, ...offer }) => offer),
    expected.map(({ version, fields }) => ({ version, ...fields })),
  );
  same(
    'the times of the earlier offers',
    data.every(({ replacedAt }) => MOMENT.test(replacedAt)),
    true,
  );
}

function samePage(
  call: Call,
  { rows, total, page, perPage }: Extract<Answer, { is: 'jobs' | 'bids' | 'revisions' | 'events' }>['page'],
  data: Json,
): void {
  same('how many', data.data.length, rows.length);
  if (call.api === 'graphql') return same('the total', data.total, total);
  same('the pagination', data.pagination, {
    page,
    perPage,
    total,
    totalPages: Math.ceil(total / perPage),
    totalCapped: false,
  });
}

function sameEvents(expected: readonly SeenHappening[], data: Json[]): void {
  const shown = ({ type, sequence, fromStatus, toStatus, actorId }: Json) => ({
    type: type.includes('.') ? type : eventType(type),
    sequence,
    from: fromStatus,
    to: toStatus,
    actorId,
  });
  same(
    'the events',
    data.map(shown),
    expected.map(({ type, sequence, from, to, actorId }) => ({ type, sequence, from, to, actorId })),
  );
  for (const [at, { texts, whole, type }] of expected.entries()) {
    const { rating, review, fields, tokensCharged, tokensRefunded, bidId, data: rest } = data[at];
    const details = { rating, review, fields, tokensCharged, tokensRefunded, bidId };
    const shownData = {
      ...(rest as Fields),
      ...Object.fromEntries(Object.entries(details).filter(([, value]) => value !== null)),
    } as Fields;
    if (whole)
      same(
        `the texts of ${type}`,
        Object.fromEntries(Object.keys(texts).map((name) => [name, shownData[name]])),
        texts,
      );
    else if (type === 'job.updated') same('an edit, to a bidder', Object.keys(shownData), ['fields']);
    else same(`the texts of ${type}, to others`, shownData, type === 'job.approved' ? texts : {});
  }
}

function sameDispute(dispute: Dispute | null, data: Json): void {
  if (dispute === null) return same('the dispute', data, null);
  const { reason, details, proposal, escalation, decision, appeal, finalDecision, ending } = dispute;
  const picked = (part: Json, names: readonly string[]) =>
    part && Object.fromEntries(names.map((name) => [name, part[name]]));
  const by = (person: Person | null) => person?.userId ?? null;
  same('the dispute', [data.reason, data.details], [reason, details]);
  same(
    'the proposal',
    picked(data.proposal, ['id', 'resolution', 'proposedBy', 'agreedBy']),
    proposal && {
      id: proposal.id,
      resolution: proposal.resolution,
      proposedBy: by(proposal.by),
      agreedBy: proposal.agreedBy,
    },
  );
  same(
    'the escalation',
    picked(data.escalation, ['reason', 'by']),
    escalation && { reason: escalation.reason, by: by(escalation.by) },
  );
  same(
    'the decision',
    picked(data.decision, ['decision', 'ruling', 'resolutionTerms', 'by']),
    decision && {
      decision: decision.decision,
      ruling: decision.ruling,
      resolutionTerms: decision.resolutionTerms,
      by: by(decision.by),
    },
  );
  same(
    'the appeal',
    picked(data.appeal, ['reason', 'supportingEvidence', 'by']),
    appeal && { reason: appeal.reason, supportingEvidence: appeal.supportingEvidence, by: by(appeal.by) },
  );
  same(
    'the final decision',
    picked(data.finalDecision, ['finalDecision', 'ruling', 'by']),
    finalDecision && {
      finalDecision: finalDecision.finalDecision,
      ruling: finalDecision.ruling,
      by: by(finalDecision.by),
    },
  );
  same(
    'the ending',
    picked(data.ending, ['how', 'text', 'by']),
    ending && { how: ending.how, text: ending.text, by: by(ending.by) },
  );
}

function sameRecord(
  person: Person,
  { completedJobs, ratings }: { completedJobs: number; ratings: number[] },
  data: Json,
): void {
  same(
    'the contractor',
    {
      id: data.id,
      completedJobs: data.completedJobs,
      ratingAverage: data.ratingAverage,
      ratingCount: data.ratingCount,
    },
    { id: person.profileId, completedJobs, ratingAverage: ratingAverage(ratings), ratingCount: ratings.length },
  );
}

const EVERYTHING = `query($hidden: ID!, $anyHidden: Boolean!, $isAdmin: Boolean!, $a: ID!, $b: ID!, $c: ID!,
  $jobs: Int!, $bids: Int!, $acts: Int!, $purchases: Int!) {
  viewer { tokens { balance held available bought debt }
    purchases(first: $purchases) { totalCount nodes { ${PURCHASE} } } }
  jobs(first: $jobs) { totalCount nodes { ${JOB} bidCount
    bids(first: $bids) { totalCount nodes { ${BID} hold { id amount status } } }
    myBid { id } awardedBid { id }
    availableActions { action allowed reason missingFields tokenCost until }
    upcoming { action at unless }
    dispute { ${DISPUTE} } } }
  hidden: job(id: $hidden) @include(if: $anyHidden) { id }
  a: contractor(id: $a) { ${CONTRACTOR} } b: contractor(id: $b) {
    ${CONTRACTOR} } c: contractor(id: $c) { ${CONTRACTOR} }
  auditTokens @include(if: $isAdmin) { ok mismatches { userId } }
  adminActions(first: $acts) @include(if: $isAdmin) { nodes { action adminId userId jobId reason } }
}`;

const REVISIONS = `query($id: ID!, $first: Int!) { node(id: $id) { ... on Bid { revisions(first: $first) {
  totalCount nodes { version amount estimatedDurationDays message proposedStartDate materialsIncluded paymentTerms
    replacedAt } } } } }`;

/** Read separately, a few jobs at a time. Together they might cost more than an operation may. */
const TIMELINES = `query($jobs: Int!, $events: Int!, $after: String) {
  jobs(first: $jobs, after: $after) { nodes { timeline(first: $events) { ${EVENTS} } }
    pageInfo { hasNextPage endCursor } } }`;
const EVENTS_AT_ONCE = 60;

async function timelinesOf(apis: Apis, token: string, events: number): Promise<Json[]> {
  const timelines: Json[] = [];
  const jobs = Math.max(1, Math.floor(EVENTS_AT_ONCE / events));
  for (let after = null, isMore = true; isMore;) {
    const { data, errors } = await apis.graphql(TIMELINES, { jobs, events, after }, token);
    same('refusals of timelines', errors ?? [], []);
    const { nodes, pageInfo } = data.jobs;
    timelines.push(...lowered(nodes).map(({ timeline }: Json) => timeline));
    ({ endCursor: after, hasNextPage: isMore } = pageInfo);
  }
  return timelines;
}

/** Checks everything that a person can read against the model. */
async function checkAll(apis: Apis, market: Market, person: Person, token: string): Promise<void> {
  const contractors = market.people.filter(({ role }) => role === 'contractor');
  const hidden = market.jobs.find((job) => !market.sees(person, job));
  if (market.suspended.has(person)) {
    const { errors } = await apis.graphql('{ viewer { id } }', {}, token);
    return same(`what ${person.name} hears, who is suspended`, errors?.[0]?.extensions.code, 'UNAUTHENTICATED');
  }
  const [a, b, c] = contractors.map(({ profileId }) => profileId);
  const jobs = market.listedJobs(person);
  // One more than expected, and no more than that, because queries have a cost.
  const sizes = {
    jobs: jobs.length + 1,
    bids: most(jobs.map(({ bids }) => bids.length)) + 1,
    events: most(jobs.map(({ happenings }) => happenings.length)) + 1,
  };
  const variables = {
    hidden: hidden?.id ?? '',
    anyHidden: hidden !== undefined,
    isAdmin: person.role === 'admin',
    a,
    b,
    c,
    acts: market.acts.length + 1,
    purchases: market.purchasesOf(person).length + 1,
    ...sizes,
  };
  const { data: raw, errors } = await apis.graphql(EVERYTHING, variables, token);
  same(
    `refusals to ${person.name}`,
    errors?.map(({ path, message, extensions }) => [path?.[0] ?? message, extensions.code]) ?? [],
    hidden ? [['hidden', 'FORBIDDEN']] : [],
  );
  const data: Json = lowered(raw);
  const timelines = await timelinesOf(apis, token, sizes.events);
  for (const [at, timeline] of timelines.entries()) data.jobs.nodes[at].timeline = timeline;
  same(`${person.name}’s tokens`, data.viewer.tokens, market.tokensOf(person));
  const purchases = market.purchasesOf(person);
  same(`how many purchases ${person.name} made`, data.viewer.purchases.totalCount, purchases.length);
  for (const [at, purchase] of purchases.entries()) samePurchase(purchase, data.viewer.purchases.nodes[at]);
  same(
    `the jobs that ${person.name} sees`,
    data.jobs.nodes.map(({ id }: Json) => id),
    jobs.map(({ id }) => id),
  );
  same(`how many jobs ${person.name} sees`, data.jobs.totalCount, jobs.length);
  for (const [at, job] of jobs.entries()) sameWholeJob(market, person, job, data.jobs.nodes[at]);
  for (const bid of jobs.flatMap((job) => market.visibleBids(person, job)).filter(({ version }) => version > 1)) {
    const { data: read } = await apis.graphql(REVISIONS, { id: bid.id, first: bid.revisions.length + 1 }, token);
    sameRevisions(bid.revisions.toReversed(), read.node.revisions.nodes);
    same('how many earlier offers', read.node.revisions.totalCount, bid.revisions.length);
  }
  for (const [at, contractor] of contractors.entries())
    sameRecord(contractor, market.recordOf(contractor), [data.a, data.b, data.c][at]);
  if (person.role !== 'admin') return;
  same('the audit', data.auditTokens, { ok: true, mismatches: [] });
  const sorted = (acts: object[]) => acts.map((act) => JSON.stringify(act)).toSorted();
  same(
    'what admins did',
    sorted(data.adminActions.nodes),
    sorted(market.acts.map(({ action, ...act }) => ({ action, adminId: person.userId, ...act }))),
  );
}

function most(counts: readonly number[]): number {
  return Math.max(0, ...counts);
}

function sameWholeJob(
  market: Market,
  person: Person,
  job: Job,
  { bidCount, bids, myBid, awardedBid, availableActions, upcoming, timeline, dispute, ...data }: Json,
): void {
  sameJob(market, person, job, data);
  same('the bid count', bidCount, job.bids.filter(({ state }) => state !== 'withdrawn').length);
  const visible = market.visibleBids(person, job);
  same(
    'the bids',
    bids.nodes.map(({ id }: Json) => id),
    visible.map(({ id }) => id),
  );
  for (const [at, bid] of visible.entries()) {
    const { hold, ...shown } = bids.nodes[at];
    sameBid(market, bid, shown);
    same('the hold', hold, bid.hold === undefined ? null : { id: bid.holdId, amount: 5, status: bid.hold });
  }
  const own = job.bids.filter(({ by }) => by === person);
  if (own.length < 2) same('one’s own bid', myBid?.id ?? null, own[0]?.id ?? null);
  same('the awarded bid', awardedBid?.id ?? null, job.awarded && visible.includes(job.awarded) ? job.awarded.id : null);
  const actions = Object.fromEntries(availableActions.map(({ action, ...rest }: Json) => [action, rest]));
  const expected = market.actionsFor(person, job);
  for (const name of Object.keys({ ...actions, ...expected })) {
    const what = `${name} for ${person.name} on a job that is ${job.state}`;
    const { until, ...action } = actions[name] ?? {};
    const { until: end = null, ...other } = expected[name] ?? {};
    same(what, action, other);
    sameTime(`until when: ${what}`, market, until, end);
  }
  sameUpcoming(market, market.upcomingFor(person, job), upcoming);
  sameEvents(market.eventsFor(person, job), timeline.nodes);
  sameDispute(market.disputeFor(person, job), dispute);
}
