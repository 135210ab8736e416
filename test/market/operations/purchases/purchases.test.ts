/** Buying tokens with Stripe, which a double of its API stands in for. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openTestApp, type TestApp } from '../../../setup/app.js';
import { deliver, StripeDouble } from '../../../setup/stripe.js';
import { callRest } from '../../../story/calls.js';
import { admin, contractor, homeowner, type Person } from '../../../story/cast.js';
import { newId } from '../../../../src/market/store/new-id.js';
import {
  balanceOf,
  bought,
  buy,
  draft,
  expectSound,
  look,
  OWN_APP,
  publish,
  purchase,
  refund,
  RETURN_URL,
} from './buyer.js';

const stripe = new StripeDouble();
let app: TestApp;
let ada: Person;
let hanna: Person;
beforeAll(async () => {
  app = await openTestApp({ ...(await stripe.open()), ...OWN_APP });
  ada = await admin(app);
});
afterAll(async () => {
  await app.close();
  stripe.close();
});
beforeEach(async () => {
  hanna = await homeowner(app, 'Hanna');
});
afterEach(async () => {
  Object.assign(stripe, {
    failsFor: undefined,
    onEvent: undefined,
    isDown: false,
    losesAnswer: false,
    refusesCheckouts: false,
    refundsAre: 'succeeded',
  });
  await expectSound(app, ada);
});

const status = async (sent: Promise<Response>) => (await sent).status;

/** Hanna has bought a small pack, 50 tokens for 5.00, and paid it. */
async function paid(by = hanna, pack = 'small'): Promise<string> {
  const id = await bought(app, by, pack);
  expect(await status(deliver(app.url, stripe.pay(id)))).toBe(200);
  return id;
}

describe('Buying', () => {
  it('Hanna can’t afford an urgent job, buys the pack that the refusal names, and publishes', async () => {
    const job = await draft(app, hanna, 'urgent');
    const refused = await callRest(app, 'publish', { by: hanna, job });
    expect(refused.body.details).toMatchObject({
      code: 'INSUFFICIENT_TOKENS',
      required: 30,
      available: 10,
      pack: 'small',
    });
    const answer = await buy(app, hanna);
    const { purchase: made, checkout_url: checkout } = answer.body;
    expect([answer.status, answer.headers.get('location')]).toEqual([201, `/v1/purchases/${made.id}`]);
    expect(made).toMatchObject({ pack: 'small', status: 'pending', tokens: 50, amount: 500, currency: 'USD' });
    const session = stripe.sessionOf(made.id);
    expect([checkout, session.success_url, session.amount_total]).toEqual([session.url, RETURN_URL, 500]);
    expect(await status(deliver(app.url, stripe.pay(made.id)))).toBe(200);
    expect(await balanceOf(app, hanna)).toMatchObject({ balance: 60, bought: 50 });
    expect((await callRest(app, 'publish', { by: hanna, job })).status).toBe(200);
    expect(await balanceOf(app, hanna)).toMatchObject({ balance: 30, bought: 30 });
    await look(app);
    expect(await purchase(app, hanna, made.id)).toMatchObject({
      status: 'paid',
      paid_at: expect.any(String),
      receipt_url: expect.stringMatching(/^https:\/\/pay\.stripe\.com\//),
    });
  });

  it('returns to this server under either of its local names', async () => {
    const { port } = new URL(app.url);
    for (const host of ['127.0.0.1', 'localhost', '[::1]']) {
      const body = { pack: 'small', return_url: `http://${host}:${port}/graphql` };
      expect((await app.rest('POST', '/v1/purchases', { token: hanna.token, body })).status, host).toBe(201);
    }
  });

  it('works through GraphQL, where the viewer lists purchases and admins see a user’s', async () => {
    const BUY = `mutation ($input: BuyTokensInput!) { buyTokens(input: $input) { checkoutUrl
      purchase { id status tokens amount currency } viewer { purchases { totalCount } } } }`;
    const input = { pack: 'medium', returnUrl: RETURN_URL };
    const { data } = await app.graphql(BUY, { token: hanna.token, variables: { input } });
    const { id, ...made } = data.buyTokens.purchase;
    expect(made).toEqual({ status: 'PENDING', tokens: 150, amount: 1_200, currency: 'USD' });
    expect(data.buyTokens.viewer.purchases.totalCount).toBe(1);
    await deliver(app.url, stripe.pay(id));
    const READ = `query ($user: ID!) { node(id: $user) { ... on User { purchases { nodes { id status } } } }
      catalog { tokenPacks { id tokens amount currency } } }`;
    const seen = await app.graphql(READ, { token: ada.token, variables: { user: hanna.userId } });
    expect(seen.data.node.purchases.nodes).toEqual([{ id, status: 'PAID' }]);
    expect(seen.data.catalog.tokenPacks[0]).toEqual({ id: 'small', tokens: 50, amount: 500, currency: 'USD' });
    const carl = await contractor(app, 'Carl');
    const other = await app.graphql(READ, { token: carl.token, variables: { user: hanna.userId } });
    expect(other.data.node.purchases).toBeNull();
    expect((await app.rest('GET', `/v1/purchases/${id}`, { token: carl.token })).status).toBe(403);
    expect((await app.rest('GET', '/v1/purchases', { token: hanna.token })).body.pagination.total).toBe(1);
    expect((await app.rest('GET', `/v1/purchases?user_id=${hanna.userId}`, { token: carl.token })).status).toBe(403);
  });

  it('an event that arrives three times, twice of them at the same time, credits once', async () => {
    const id = await bought(app, hanna);
    const event = stripe.pay(id);
    await Promise.all([deliver(app.url, event), deliver(app.url, event)]);
    await deliver(app.url, event);
    expect(await balanceOf(app, hanna)).toMatchObject({ balance: 60, bought: 50 });
  });

  it('tells Hanna: an account event and a notification', async () => {
    const id = await paid();
    const events = await app.sql`select type, data from account_events where user_id = ${hanna.userId}`;
    expect(events.map((row) => ({ ...row }))).toEqual([
      { type: 'purchase.paid', data: { purchaseId: id, tokens: 50 } },
    ]);
  });

  it('Ada buys nothing', async () => {
    expect((await buy(app, ada)).status).toBe(403);
  });
});

describe('The same key', () => {
  it('returns the purchase as it is now, and Stripe opens one checkout', async () => {
    const key = { 'idempotency-key': randomUUID() };
    const first = await buy(app, hanna, 'small', key);
    const calls = stripe.calls.length;
    const again = await buy(app, hanna, 'small', key);
    expect([again.body, again.headers.get('idempotency-replayed')]).toEqual([first.body, 'true']);
    await deliver(app.url, stripe.pay(first.body.purchase.id));
    const later = await buy(app, hanna, 'small', key);
    expect([later.body.purchase.status, later.body.checkout_url]).toEqual(['paid', null]);
    expect(stripe.calls.length).toBe(calls);
    expect((await buy(app, hanna, 'large', key)).status).toBe(422);
  });

  it('tries again after Stripe was down', async () => {
    const key = { 'idempotency-key': randomUUID() };
    stripe.isDown = true;
    const failed = await buy(app, hanna, 'small', key);
    expect([failed.status, failed.body.details.code]).toEqual([503, 'PAYMENTS_UNAVAILABLE']);
    expect(failed.headers.get('retry-after')).toBe('5');
    const rows = await app.sql`select status::text, session_id from purchases where user_id = ${hanna.userId}`;
    expect(rows.map((row) => ({ ...row }))).toEqual([{ status: 'pending', session_id: null }]);
    stripe.isDown = false;
    const answer = await buy(app, hanna, 'small', key);
    expect([answer.status, answer.body.checkout_url]).toEqual([201, expect.stringMatching(/^https:/)]);
    expect((await app.sql`select from purchases where user_id = ${hanna.userId}`).length).toBe(1);
  });

  it('finds the checkout whose response was lost', async () => {
    const key = { 'idempotency-key': randomUUID() };
    stripe.losesAnswer = true;
    const answer = await buy(app, hanna, 'small', key);
    const { id } = answer.body.purchase;
    expect([...stripe.sessions.values()].filter((one) => one.client_reference_id === id)).toHaveLength(1);
    expect(answer.body.checkout_url).toBe(stripe.sessionOf(id).url);
  });

  it('a dry run calls nobody and keeps nothing', async () => {
    const calls = stripe.calls.length;
    const { status, body } = await buy(app, hanna, 'small', { 'dry-run': 'true' });
    expect([status, body.checkout_url, body.purchase.status]).toEqual([201, null, 'pending']);
    expect(stripe.calls.length).toBe(calls);
    expect(await app.sql`select from purchases where user_id = ${hanna.userId}`).toHaveLength(0);
  });

  it('a checkout that Stripe refuses to open has expired', async () => {
    stripe.refusesCheckouts = true;
    const { status, body } = await buy(app, hanna);
    expect([status, body.purchase.status, body.checkout_url]).toEqual([201, 'expired', null]);
  });
});

describe('Refused purchases', () => {
  it.each([
    ['elsewhere', 'https://evil.example/tokens'],
    ['on an origin that only begins like ours', 'http://localhost:5173.evil.example/'],
    ['with our origin as a user name', 'http://localhost:5173@evil.example/'],
    ['of a script', 'javascript:alert(1)'],
    ['without an origin', '/tokens'],
    ['on another port of this machine', 'http://127.0.0.1:1/'],
  ])('a page to return to %s', async (_what, returnUrl) => {
    const body = { pack: 'small', return_url: returnUrl };
    const answer = await app.rest('POST', '/v1/purchases', { token: hanna.token, body });
    expect([answer.status, Object.keys(answer.body.details.fields)]).toEqual([400, ['return_url']]);
  });

  it('a page to return to elsewhere, even if pages of all origins may call the server', async () => {
    const open = await openTestApp({ ...stripe.settings(), CORS_ORIGINS: '*' }, { sameDatabaseAs: app });
    const body = { pack: 'small', return_url: 'https://evil.example/tokens' };
    expect((await open.rest('POST', '/v1/purchases', { token: hanna.token, body })).status).toBe(400);
    await open.close();
  });

  it('but our own origin is fine', async () => {
    const body = { pack: 'small', return_url: `${app.url}/graphql` };
    expect((await app.rest('POST', '/v1/purchases', { token: hanna.token, body })).status).toBe(201);
  });

  it('a pack that no longer exists', async () => {
    const { status, body } = await buy(app, hanna, 'huge');
    expect([status, body.details.fields]).toEqual([400, { pack: 'must be one of small, medium, large' }]);
  });

  it('the sixth open purchase, until one is paid', async () => {
    const ids = [];
    for (let count = 0; count < 5; count += 1) ids.push(await bought(app, hanna));
    const sixth = await buy(app, hanna);
    expect([sixth.status, sixth.body.details.code]).toEqual([400, 'VALIDATION_FAILED']);
    await deliver(app.url, stripe.pay(ids[0] ?? ''));
    expect((await buy(app, hanna)).status).toBe(201);
  });

  it('but checkouts that are over no longer count', async () => {
    for (let count = 0; count < 5; count += 1) await bought(app, hanna);
    await app.sql`update purchases set expires_at = now() where user_id = ${hanna.userId}`;
    expect((await buy(app, hanna)).status).toBe(201);
  });

  it('of six at the same time, one', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => buy(app, hanna)));
    expect(answers.map((one) => one.status).toSorted()).toEqual([201, 201, 201, 201, 201, 400]);
  });

  it('the twenty-first of a day', async () => {
    for (let count = 0; count < 20; count += 1) await deliver(app.url, stripe.pay(await bought(app, hanna)));
    const { status, body, headers } = await buy(app, hanna);
    expect([status, body.details.code]).toEqual([429, 'RATE_LIMITED']);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(86_000);
    await app.sql`update purchases set created_at = created_at - interval '1 day' where user_id = ${hanna.userId}`;
    expect((await buy(app, hanna)).status).toBe(201);
  });
});

describe('Events that credit nothing', () => {
  const ATTEMPTS: [what: string, expected: number, send: (id: string) => Promise<Response>][] = [
    ['with a foreign signature', 400, (id) => deliver(app.url, stripe.pay(id), { secret: 'whsec_of_someone_else' })],
    ['signed over five minutes ago', 400, (id) => deliver(app.url, stripe.pay(id), { at: Date.now() / 1_000 - 310 })],
    ['without a signature', 400, (id) => sendRaw(JSON.stringify(stripe.pay(id)))],
    ['that is too large', 413, (id) => sendRaw(JSON.stringify(stripe.pay(id)) + ' '.repeat(70_000))],
    ['with a smaller amount', 200, (id) => changed(id, { amount_total: 499 })],
    ['in another currency', 200, (id) => changed(id, { currency: 'jpy' })],
    ['of real money for a test purchase', 200, (id) => changed(id, { livemode: true })],
    ['of another checkout', 200, (id) => changed(id, { id: 'cs_test_other' })],
    ['that isn’t paid', 200, (id) => changed(id, { payment_status: 'unpaid' })],
    ['that needs no payment', 200, (id) => changed(id, { payment_status: 'no_payment_required' })],
    ['for a purchase that nobody made', 200, (id) => changed(id, { client_reference_id: newId('purchase') })],
    ['without a purchase', 200, (id) => changed(id, { client_reference_id: null })],
    ['of an unknown type', 200, (id) => deliver(app.url, { ...stripe.pay(id), type: 'invoice.paid' })],
  ];

  const sendRaw = (body: string) => fetch(`${app.url}/v1/payments/stripe`, { method: 'POST', body });

  function changed(id: string, changes: object): Promise<Response> {
    const event = stripe.pay(id);
    return deliver(app.url, { ...event, data: { object: { ...event.data.object, ...changes } } });
  }

  it.each(ATTEMPTS)('an event %s', async (_what, expected, send) => {
    const id = await bought(app, hanna);
    expect(await status(send(id))).toBe(expected);
    expect(await balanceOf(app, hanna)).toMatchObject({ balance: 10, bought: 0 });
    expect(await purchase(app, hanna, id)).toMatchObject({ status: 'pending', paid_at: null });
  });

  it('a mismatch is logged and counted for operators', async () => {
    const before = await app.metric('payment_reports_total{settlement="mismatch"}');
    const id = await bought(app, hanna);
    await changed(id, { amount_total: 1 });
    expect(await app.metric('payment_reports_total{settlement="mismatch"}')).toBe(before + 1);
    expect(app.logged.filter((line) => line.includes(id) && line.includes('differs from its purchase'))).toHaveLength(
      1,
    );
  });

  it('one payment never pays two purchases', async () => {
    const [first, second] = [await bought(app, hanna), await bought(app, hanna)];
    await deliver(app.url, stripe.pay(first));
    const event = stripe.pay(second);
    const payment = stripe.sessionOf(first).payment_intent;
    const stolen = { ...event, data: { object: { ...event.data.object, payment_intent: payment } } };
    expect(await status(deliver(app.url, stolen))).toBe(200);
    expect(await balanceOf(app, hanna)).toMatchObject({ balance: 60 });
  });

  it('GET is not allowed', async () => {
    const answer = await fetch(`${app.url}/v1/payments/stripe`);
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
  });
});

describe('Events in any order', () => {
  it('a purchase that expired becomes paid when Stripe says so', async () => {
    const id = await bought(app, hanna);
    await deliver(app.url, stripe.expire(id));
    expect(await purchase(app, hanna, id)).toMatchObject({ status: 'expired' });
    await deliver(app.url, stripe.pay(id));
    expect(await purchase(app, hanna, id)).toMatchObject({ status: 'paid' });
  });

  it('an expiry after the payment changes nothing', async () => {
    const id = await paid();
    await deliver(app.url, stripe.expire(id));
    expect(await purchase(app, hanna, id)).toMatchObject({ status: 'paid' });
    expect(await balanceOf(app, hanna)).toMatchObject({ balance: 60 });
  });

  it('a slow payment is credited when it arrives, even after it was reported as failed', async () => {
    const id = await bought(app, hanna);
    await deliver(app.url, stripe.payLater(id));
    await look(app);
    expect(await purchase(app, hanna, id)).toMatchObject({ status: 'pending' });
    await deliver(app.url, stripe.fail(id));
    expect(await purchase(app, hanna, id)).toMatchObject({ status: 'failed' });
    await deliver(app.url, stripe.arrive(id));
    expect(await purchase(app, hanna, id)).toMatchObject({ status: 'paid' });
    expect(await balanceOf(app, hanna)).toMatchObject({ balance: 60, bought: 50 });
  });
});

describe('Lookups, for what no webhook reported', () => {
  it('find a payment, an expiry, and a failed payment', async () => {
    const [paidOne, expired, failed] = [await bought(app, hanna), await bought(app, hanna), await bought(app, hanna)];
    stripe.pay(paidOne);
    stripe.expire(expired);
    stripe.payLater(failed);
    stripe.fail(failed);
    await look(app);
    const statuses = await Promise.all([paidOne, expired, failed].map((id) => purchase(app, hanna, id)));
    expect(statuses.map((one) => one.status)).toEqual(['paid', 'expired', 'failed']);
    expect(statuses[0].receipt_url).toMatch(/^https:/);
    expect(await balanceOf(app, hanna)).toMatchObject({ balance: 60 });
  });

  it('open the checkout of a purchase that has none', async () => {
    stripe.isDown = true;
    await buy(app, hanna);
    stripe.isDown = false;
    await look(app);
    const [row] = await app.sql`select id, session_id from purchases where user_id = ${hanna.userId}`;
    expect(row?.session_id).toBe(stripe.sessionOf(row?.id).id);
  });

  it('a purchase that Stripe fails to answer about doesn’t stop the others', async () => {
    const [stuck, other] = [await bought(app, hanna), await bought(app, hanna)];
    stripe.failsFor = stripe.sessionOf(stuck).id;
    stripe.pay(other);
    await look(app);
    expect(await purchase(app, hanna, stuck)).toMatchObject({ status: 'pending' });
    expect(await purchase(app, hanna, other)).toMatchObject({ status: 'paid' });
  });

  it('a checkout that Stripe doesn’t know has expired, and an operator hears of it once', async () => {
    const before = await app.metric('payment_reports_total{settlement="mismatch"}');
    const id = await bought(app, hanna);
    stripe.sessions.delete(stripe.sessionOf(id).id);
    await look(app);
    await look(app);
    expect(await purchase(app, hanna, id)).toMatchObject({ status: 'expired' });
    expect(await app.metric('payment_reports_total{settlement="mismatch"}')).toBe(before + 1);
  });

  it('ask only about purchases that have waited for half an hour', async () => {
    await bought(app, hanna);
    const [row] = await app.sql`select extract(epoch from look_at - created_at)::int as seconds
      from purchases where user_id = ${hanna.userId}`;
    expect(row?.seconds).toBe(30 * 60);
  });
});

describe('Refunds', () => {
  it('take back all tokens that are left, and return all the money', async () => {
    const id = await paid();
    const answer = await refund(app, ada, id);
    expect([answer.status, answer.body]).toEqual([
      200,
      expect.objectContaining({ status: 'refunded', refunded_tokens: 50, refunded_amount: 500 }),
    ]);
    expect(await balanceOf(app, hanna)).toMatchObject({ balance: 10, bought: 0 });
    expect(stripe.moneyOf(id)).toBe(0);
    expect((await refund(app, ada, id)).body.details.code).toBe('INVALID_TRANSITION');
    const actions = await app.rest('GET', `/v1/admin-actions?user_id=${hanna.userId}`, { token: ada.token });
    expect(actions.body.data[0]).toMatchObject({ action: 'refundPurchase', amount: -50 });
  });

  it('in parts, round the money down and never return more than was paid', async () => {
    const id = await paid(hanna, 'medium');
    for (const tokens of [7, 1, 50]) expect((await refund(app, ada, id, tokens)).status).toBe(200);
    expect(await purchase(app, hanna, id)).toMatchObject({
      status: 'paid',
      refunded_tokens: 58,
      refunded_amount: Math.floor((1_200 * 58) / 150),
    });
    expect(stripe.moneyOf(id)).toBe(1_200 - Math.floor((1_200 * 58) / 150));
    await refund(app, ada, id);
    expect(stripe.moneyOf(id)).toBe(0);
  });

  it('never take back tokens that were spent, staked, or granted', async () => {
    const id = await paid();
    await publish(app, hanna, 'urgent');
    const refused = await refund(app, ada, id, 31);
    expect([refused.status, refused.body.details]).toEqual([
      400,
      expect.objectContaining({ code: 'INSUFFICIENT_TOKENS', required: 31, available: 30 }),
    ]);
    expect((await refund(app, ada, id)).body).toMatchObject({ status: 'paid', refunded_tokens: 30 });
    await app.rest('POST', '/v1/tokens/adjustments', {
      token: ada.token,
      body: { user_id: hanna.userId, amount: 50, reason: 'A gift.' },
    });
    expect((await refund(app, ada, id, 1)).body.details.code).toBe('INSUFFICIENT_TOKENS');
  });

  it('spending takes the oldest purchase first, so the newest one can still be refunded', async () => {
    const [old, recent] = [await paid(), await paid()];
    await publish(app, hanna, 'urgent');
    await publish(app, hanna, 'urgent');
    expect((await refund(app, ada, old, 1)).body.refunded_tokens).toBeUndefined();
    expect((await refund(app, ada, recent)).body).toMatchObject({ status: 'refunded', refunded_tokens: 50 });
  });

  it('that Stripe refuses give the tokens back', async () => {
    const id = await paid();
    stripe.refundsAre = 'refused';
    expect((await refund(app, ada, id)).body).toMatchObject({ status: 'paid', refunded_tokens: 0 });
    expect(await balanceOf(app, hanna)).toMatchObject({ balance: 60, bought: 50 });
    stripe.refundsAre = 'succeeded';
    expect((await refund(app, ada, id)).body).toMatchObject({ status: 'refunded' });
  });

  it('that wait are done, or refused, when Stripe says so', async () => {
    stripe.refundsAre = 'pending';
    const [first, second] = [await paid(), await paid()];
    expect((await refund(app, ada, first)).body).toMatchObject({ status: 'refunding', refunded_tokens: 0 });
    expect((await refund(app, ada, second, 20)).body).toMatchObject({ status: 'refunding' });
    const [one, other] = [...stripe.refunds.values()].slice(-2);
    const done = stripe.endRefund(one!, 'succeeded');
    const failed = stripe.endRefund(other!, 'failed');
    for (const event of [done, failed, done, failed]) expect(await status(deliver(app.url, event))).toBe(200);
    expect(await purchase(app, hanna, first)).toMatchObject({ status: 'refunded' });
    expect(await purchase(app, hanna, second)).toMatchObject({ status: 'paid', refunded_tokens: 0 });
    expect(await balanceOf(app, hanna)).toMatchObject({ balance: 60, bought: 50 });
  });

  it('whose response was lost are found, and made only once', async () => {
    const id = await paid();
    stripe.isDown = true;
    expect((await refund(app, ada, id, 20)).status).toBe(503);
    expect(await balanceOf(app, hanna)).toMatchObject({ balance: 40, bought: 30 });
    expect((await refund(app, ada, id, 20)).body.details.code).toBe('INVALID_TRANSITION');
    stripe.isDown = false;
    await look(app);
    await look(app);
    expect(await purchase(app, hanna, id)).toMatchObject({ status: 'paid', refunded_tokens: 20, refunded_amount: 200 });
    expect(stripe.moneyOf(id)).toBe(300);
  });

  it('are counted once, if the event overtakes the response', async () => {
    const id = await paid();
    stripe.onEvent = (event) => deliver(app.url, event);
    expect((await refund(app, ada, id, 20)).body).toMatchObject({ status: 'paid', refunded_tokens: 20 });
    expect(await balanceOf(app, hanna)).toMatchObject({ balance: 40, bought: 30 });
  });

  it('of a purchase that was made with another kind of key take nothing', async () => {
    const id = await paid();
    await app.sql`update purchases set livemode = true where id = ${id}`;
    expect((await refund(app, ada, id)).body.details.code).toBe('NOT_CONFIGURED');
    expect(await balanceOf(app, hanna)).toMatchObject({ balance: 60, bought: 50 });
  });

  it('made elsewhere are a mismatch', async () => {
    const id = await paid();
    const before = await app.metric('payment_reports_total{settlement="mismatch"}');
    const made = { id: 're_elsewhere', object: 'refund', status: 'succeeded', amount: 500, currency: 'usd' };
    const refundElsewhere = { ...made, metadata: {}, payment_intent: stripe.paymentOf(id).id };
    await deliver(app.url, stripe.event('refund.created', refundElsewhere));
    expect(await app.metric('payment_reports_total{settlement="mismatch"}')).toBe(before + 1);
    expect(await purchase(app, hanna, id)).toMatchObject({ status: 'paid', refunded_tokens: 0 });
  });

  it('are for admins, and of purchases that exist', async () => {
    const id = await paid();
    expect((await refund(app, hanna, id)).status).toBe(403);
    expect((await refund(app, ada, newId('purchase'))).status).toBe(404);
    expect((await refund(app, ada, await bought(app, hanna))).body.details.code).toBe('INVALID_TRANSITION');
  });

  it('two at the same time take the tokens once', async () => {
    const id = await paid();
    const answers = await Promise.all([refund(app, ada, id, 30), refund(app, ada, id, 30)]);
    expect(answers.map((one) => one.status).toSorted()).toEqual([200, 400]);
    expect(await balanceOf(app, hanna)).toMatchObject({ balance: 30, bought: 20 });
  });
});

describe('Chargebacks', () => {
  it('while one is open, admins see it and nobody refunds; when it’s won, all is as before', async () => {
    const id = await paid();
    const dispute = stripe.dispute(id);
    const opened = stripe.events.at(-1)!;
    await deliver(app.url, opened);
    expect(await purchase(app, ada, id)).toMatchObject({ status: 'paid', disputed_at: expect.any(String) });
    expect(await purchase(app, hanna, id)).toMatchObject({ disputed_at: null });
    expect((await refund(app, ada, id)).body.details.code).toBe('INVALID_TRANSITION');
    await deliver(app.url, stripe.closeDispute(dispute, 'won'));
    await deliver(app.url, opened);
    expect(await purchase(app, ada, id)).toMatchObject({ status: 'paid', disputed_at: null });
    expect((await refund(app, ada, id)).status).toBe(200);
  });

  it('a lost one takes what is available, and later credits pay the rest', async () => {
    const id = await paid();
    const job = await publish(app, hanna, 'urgent');
    const lost = stripe.closeDispute(stripe.dispute(id), 'lost');
    await deliver(app.url, lost);
    await deliver(app.url, lost);
    expect(await purchase(app, hanna, id)).toMatchObject({ status: 'charged_back' });
    expect(await balanceOf(app, hanna)).toEqual({ balance: 0, held: 0, available: 0, bought: 0, debt: 20 });
    const next = await draft(app, hanna, 'urgent');
    const refused = await callRest(app, 'publish', { by: hanna, job: next });
    expect(refused.body.details).toMatchObject({ required: 30, available: 0, pack: 'small' });
    await callRest(app, 'cancel', { by: hanna, job });
    expect(await balanceOf(app, hanna)).toMatchObject({ balance: 10, bought: 10, debt: 0 });
    const events = await app.sql`select data from account_events where user_id = ${hanna.userId}
      and type = 'purchase.charged_back'`;
    expect(events.map(({ data }) => data)).toEqual([{ purchaseId: id, tokens: 30, debt: 20 }]);
  });

  it('a lost one that overtakes the payment’s own event is settled after it', async () => {
    const id = await bought(app, hanna);
    const payment = stripe.pay(id);
    await deliver(app.url, stripe.closeDispute(stripe.dispute(id), 'lost'));
    expect(await purchase(app, hanna, id)).toMatchObject({ status: 'charged_back' });
    await deliver(app.url, payment);
    expect(await balanceOf(app, hanna)).toEqual({ balance: 10, held: 0, available: 10, bought: 0, debt: 0 });
  });

  it('one during a refund takes only the other tokens, whatever becomes of the refund', async () => {
    for (const end of ['succeeded', 'failed'] as const) {
      const id = await paid();
      stripe.refundsAre = 'pending';
      await refund(app, ada, id, 20);
      const waiting = [...stripe.refunds.values()].at(-1)!;
      await deliver(app.url, stripe.closeDispute(stripe.dispute(id), 'lost'));
      expect(await balanceOf(app, hanna)).toMatchObject({ balance: 10, bought: 0, debt: 0 });
      const mismatches = await app.metric('payment_reports_total{settlement="mismatch"}');
      const ended = stripe.endRefund(waiting, end);
      await deliver(app.url, ended);
      await deliver(app.url, ended);
      expect(await app.metric('payment_reports_total{settlement="mismatch"}')).toBe(mismatches);
      expect(await purchase(app, hanna, id)).toMatchObject({
        status: 'charged_back',
        refunded_tokens: end === 'succeeded' ? 20 : 0,
      });
      expect(await balanceOf(app, hanna)).toMatchObject({ balance: 10, bought: 0, debt: 0 });
      await expectSound(app, ada);
    }
  });

  it('an inquiry isn’t a chargeback, so a refund can still prevent one', async () => {
    const id = await paid();
    const inquiry = stripe.dispute(id, 'warning_needs_response');
    await deliver(app.url, stripe.events.at(-1)!);
    expect(await purchase(app, ada, id)).toMatchObject({ status: 'paid', disputed_at: null });
    await deliver(app.url, stripe.changeDispute(inquiry, 'needs_response'));
    expect(await purchase(app, ada, id)).toMatchObject({ status: 'paid', disputed_at: expect.any(String) });
    await deliver(app.url, stripe.closeDispute(inquiry, 'lost'));
    await deliver(app.url, stripe.changeDispute(inquiry, 'under_review'));
    expect(await purchase(app, ada, id)).toMatchObject({ status: 'charged_back', disputed_at: null });
  });

  it('a chargeback of a payment that isn’t ours is ignored', async () => {
    const foreign = { id: 'du_1', object: 'dispute', status: 'lost', payment_intent: 'pi_foreign', livemode: false };
    expect(await status(deliver(app.url, stripe.event('charge.dispute.closed', foreign)))).toBe(200);
  });

  it('if Stripe can’t be asked about an unknown payment, it sends the event again', async () => {
    const id = await bought(app, hanna);
    stripe.pay(id);
    const event = stripe.closeDispute(stripe.dispute(id), 'lost');
    stripe.isDown = true;
    expect(await status(deliver(app.url, event))).toBe(503);
    stripe.isDown = false;
    expect(await status(deliver(app.url, event))).toBe(200);
    expect(await purchase(app, hanna, id)).toMatchObject({ status: 'charged_back' });
  });
});

describe('Without a payment provider', () => {
  it('nobody can buy, the catalog has no packs, and refusals name none', async () => {
    const plain = await openTestApp({}, { sameDatabaseAs: app });
    try {
      const answer = await buy(plain, hanna);
      expect([answer.status, answer.body.details.code]).toEqual([501, 'NOT_CONFIGURED']);
      expect((await plain.rest('GET', '/v1/catalog')).body.token_packs).toEqual([]);
      const refused = await callRest(plain, 'publish', { by: hanna, job: await draft(plain, hanna, 'urgent') });
      expect(refused.body.details).not.toHaveProperty('pack');
      expect(await status(deliver(plain.url, stripe.event('checkout.session.completed', {})))).toBe(501);
    } finally {
      await plain.close();
    }
  });
});
