/**
 * Purchases in random orders. People buy, pay, spend, and cancel. Admins refund while chargebacks come in. Responses
 * are lost, and Stripe's events arrive late, twice, and in any order. At the end, the rows and Stripe must agree.
 */
import { expect } from 'vitest';
import type { TestApp } from '../../../setup/app.js';
import { diceOf, type Dice } from '../../../setup/random/dice.js';
import type { StripeDouble, StripeEvent } from '../../../setup/stripe.js';
import { callRest } from '../../../story/calls.js';
import { homeowner, type Person } from '../../../story/cast.js';
import { buy, draft, expectSound, refund } from './buyer.js';

export interface World {
  /** If servers are killed, its calls are repeated until there's a response. */
  readonly app: Pick<TestApp, 'rest' | 'sql'>;
  readonly stripe: StripeDouble;
  readonly ada: Person;
  /** Stripe sends an event. */
  send(event: StripeEvent): Promise<unknown>;
  /** The server asks Stripe about every purchase that's waiting. */
  runLookups(): Promise<void>;
}

const STEPS = 24;

/** Each history has its own buyer, who makes a few purchases. */
export async function playHistories(world: World, histories: number, seed: number): Promise<void> {
  for (let history = 0; history < histories; history += 1) {
    const dice = diceOf(seed + history);
    try {
      const firstEvent = world.stripe.events.length;
      const buyer = await homeowner(world.app, 'Rhea');
      await playHistory(world, buyer, dice);
      await sendTheRest(world, firstEvent, dice);
      await expectAgreement(world, [buyer]);
    } catch (error) {
      throw new Error(`History ${seed + history} went wrong.`, { cause: error });
    }
    if (history % 20 === 19) await expectSound(world.app, world.ada);
  }
  await expectSound(world.app, world.ada);
}

export async function playHistory({ app, stripe, ada, ...world }: World, buyer: Person, dice: Dice): Promise<void> {
  const firstEvent = stripe.events.length;
  const ids: string[] = [];
  const jobs: string[] = [];
  const own = () => stripe.events.slice(firstEvent);
  const opened = () => ids.filter((id) => [...stripe.sessions.values()].some((one) => one.client_reference_id === id));
  const inState = (status: string, payment: string) =>
    opened().filter((id) => {
      const session = stripe.sessionOf(id);
      return session.status === status && session.payment_status === payment;
    });
  const ofOne = (some: readonly string[], work: (id: string) => unknown) => some.length > 0 && work(dice.pick(some));

  const actions: Record<string, () => unknown> = {
    buy: async () => {
      const answer = await buy(app, buyer, dice.pick(['small', 'medium']));
      if (answer.status === 201) ids.push(answer.body.purchase.id);
      // The purchase exists, although Stripe couldn't be reached.
      const rows = await app.sql`select id from purchases where user_id = ${buyer.userId}`;
      ids.splice(0, ids.length, ...rows.map((row) => String(row.id)));
    },
    pay: () => ofOne(inState('open', 'unpaid'), (id) => stripe.pay(id)),
    payLater: () => ofOne(inState('open', 'unpaid'), (id) => stripe.payLater(id)),
    arrive: () => ofOne(inState('complete', 'unpaid'), (id) => stripe.arrive(id)),
    fail: () => ofOne(inState('complete', 'unpaid'), (id) => stripe.fail(id)),
    expire: () => ofOne(opened(), (id) => stripe.expire(id)),
    publish: async () => {
      const job = await draft(app, buyer, dice.pick(['standard', 'priority', 'urgent']));
      if ((await callRest(app, 'publish', { by: buyer, job })).status === 200) jobs.push(job);
    },
    cancel: () => ofOne(jobs, (job) => callRest(app, 'cancel', { by: buyer, job })),
    refund: () => ofOne(ids, (id) => refund(app, ada, id, dice.percent(50) ? dice.int(1, 60) : undefined)),
    endRefund: () =>
      waiting(stripe).length > 0 && stripe.endRefund(dice.pick(waiting(stripe)), dice.pick(['succeeded', 'failed'])),
    dispute: () => ofOne(inState('complete', 'paid'), (id) => stripe.dispute(id)),
    closeDispute: () =>
      disputes(stripe).length > 0 && stripe.closeDispute(dice.pick(disputes(stripe)), dice.pick(['won', 'lost'])),
    deliver: () => own().length > 0 && world.send(dice.pick(own())),
    runLookups: world.runLookups,
    grant: () =>
      app.rest('POST', '/v1/tokens/adjustments', {
        token: ada.token,
        body: { user_id: buyer.userId, amount: dice.int(1, 30), reason: 'A gift.' },
      }),
    change: () => {
      stripe.refundsAre = dice.pick(['succeeded', 'pending', 'refused']);
      stripe.isDown = dice.percent(15);
      stripe.losesAnswer = dice.percent(20);
    },
  };
  const weights = [
    [4, 'buy'],
    [6, 'pay'],
    [2, 'payLater'],
    [2, 'arrive'],
    [1, 'fail'],
    [1, 'expire'],
    [3, 'publish'],
    [2, 'cancel'],
    [4, 'refund'],
    [2, 'endRefund'],
    [1, 'dispute'],
    [1, 'closeDispute'],
    [8, 'deliver'],
    [2, 'runLookups'],
    [1, 'grant'],
    [2, 'change'],
  ] as const;
  for (let step = 0; step < STEPS; step += 1)
    // Some calls run at the same time.
    await Promise.all(Array.from({ length: dice.percent(30) ? 3 : 1 }, () => actions[dice.weighted(weights)]?.()));
}

const disputes = (stripe: StripeDouble) =>
  [...stripe.disputes.values()].filter(({ status }) => status === 'needs_response');
const waiting = (stripe: StripeDouble) => [...stripe.refunds.values()].filter(({ status }) => status === 'pending');

/**
 * Stripe works again. It ends pending payments and refunds, and sends its events late, twice, or never. Lookups find
 * the rest.
 */
export async function sendTheRest({ app, stripe, ...world }: World, firstEvent: number, dice: Dice): Promise<void> {
  Object.assign(stripe, { isDown: false, losesAnswer: false, refundsAre: 'succeeded' });
  for (const refunded of waiting(stripe)) stripe.endRefund(refunded, dice.pick(['succeeded', 'failed']));
  const events = stripe.events.slice(firstEvent);
  const late = events.flatMap((event) => (dice.percent(70) ? [event, event] : []));
  for (const event of late.toSorted(() => dice.int(-1, 1))) await world.send(event);
  // Stripe reports lost chargebacks only with events.
  for (const event of events.filter(({ type }) => type.startsWith('charge.dispute.'))) await world.send(event);
  // Lookups don't ask about purchases that expired or failed, so only an event can report that one was paid.
  const ended = await app.sql`select id from purchases where status in ('expired', 'failed')`;
  const ids = new Set(ended.map(({ id }) => id as unknown));
  for (const event of events.filter(({ data }) => ids.has(orderIn(data.object)))) await world.send(event);
  await world.runLookups();
  await world.runLookups();
}

function orderIn(object: object): unknown {
  return 'client_reference_id' in object ? object.client_reference_id : undefined;
}

export async function expectAgreement({ app, stripe }: World, buyers: readonly Person[]): Promise<void> {
  const userIds = buyers.map(({ userId }) => userId).join();
  const rows = await app.sql`select p.*, (select count(*)::int from token_transfers t
      where t.purchase_id = p.id and t.reason = 'purchase') as credits from purchases p
    where user_id = any(string_to_array(${userIds}, ','))`;
  for (const row of rows) {
    const session = [...stripe.sessions.values()].find((one) => one.client_reference_id === row.id);
    const isPaid = session?.payment_status === 'paid';
    const isLost = [...stripe.disputes.values()].some(
      (one) => one.payment_intent === session?.payment_intent && one.status === 'lost',
    );
    expect([row.id, row.credits, row.paid_at !== null]).toEqual([row.id, isPaid ? 1 : 0, isPaid]);
    expect([row.id, row.status === 'charged_back']).toEqual([row.id, isLost]);
    expect([row.id, row.refunding_tokens]).toEqual([row.id, 0]);
    if (isPaid) expect([row.id, row.amount - row.refunded_amount]).toEqual([row.id, stripe.moneyOf(row.id)]);
  }
}
