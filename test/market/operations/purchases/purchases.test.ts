/** Buying tokens with Stripe, against a double of its API. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openTestApp, type TestApp } from '../../../setup/app.js';
import { deliver, StripeDouble } from '../../../setup/stripe.js';
import { callRest } from '../../../story/calls.js';
import { admin, contractor, homeowner, type Person } from '../../../story/cast.js';
import { newId } from '../../../../src/market/store/new-id.js';
import { openPurchaseLookups } from '../../../../src/market/operations/purchases/lookups.js';
import { allNumbered } from '../../../platform/live/positions.js';
import { until } from '../../../platform/security/until.js';
import {
  balanceOf,
  bought,
  buy,
  draft,
  expectSound,
  OWN_APP,
  publish,
  purchase,
  refund,
  RETURN_URL,
  runLookups,
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

const BUY = `mutation {
  buyTokens(input: { pack: "small", returnUrl: "${RETURN_URL}" }) { checkoutUrl }
}`;

const status = async (sent: Promise<Response>) => (await sent).status;

/** Buys a pack and pays for it. A small pack is 50 tokens for 5.00. */
async function paid(by = hanna, pack = 'small'): Promise<string> {
  const id = await bought(app, by, pack);
  expect(await status(deliver(app.url, stripe.pay(id)))).toBe(200);
  return id;
}

describe('Buying', () => {
  it('Hanna can’t afford an urgent job, buys the pack that the error names, and publishes', async () => {
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
    await runLookups(app);
    expect(await purchase(app, hanna, made.id)).toMatchObject({
      status: 'paid',
      paid_at: expect.any(String),
      receipt_url: expect.stringMatching(/^https:\/\/pay\.stripe\.com\//),
    });
  });

  it('Hanna returns to this server under any of its local names', async () => {
    const { port } = new URL(app.url);
    for (const host of ['127.0.0.1', 'localhost', '[::1]']) {
      const body = { pack: 'small', return_url: `http://${host}:${port}/graphql` };
      expect((await app.rest('POST', '/v1/purchases', { token: hanna.token, body })).status, host).toBe(201);
    }
  });

  it('through GraphQL, Hanna buys and lists her purchases, Ada sees them, and Carl doesn’t', async () => {
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

  it('an event that arrives three times, twice at the same time, credits Hanna once', async () => {
    const id = await bought(app, hanna);
    const event = stripe.pay(id);
    await Promise.all([deliver(app.url, event), deliver(app.url, event)]);
    await deliver(app.url, event);
    expect(await balanceOf(app, hanna)).toMatchObject({ balance: 60, bought: 50 });
  });

  it('Hanna gets an account event and a notification', async () => {
    const id = await paid();
    const events = await app.sql`select type, data from account_events where user_id = ${hanna.userId}`;
    expect(events.map((row) => ({ ...row }))).toEqual([
      { type: 'purchase.paid', data: { purchaseId: id, tokens: 50 } },
    ]);
    await allNumbered(app);
    const { body } = await app.rest('GET', '/v1/notifications', { token: hanna.token });
    expect(body.data).toMatchObject([{ type: 'purchase.paid', title: 'You have new tokens' }]);
  });

  it('Ada can’t buy tokens, because she’s an admin', async () => {
    expect((await buy(app, ada)).status).toBe(403);
  });
});

describe('Repeating a call with the same key', () => {
  it('Hanna gets the purchase’s current state, and Stripe opens one checkout', async () => {
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

  it('Hanna gets her checkout after Stripe was down', async () => {
    const key = { 'idempotency-key': randomUUID() };
    const calls = (outcome: string) => app.metric(`payment_calls_total{outcome="${outcome}"}`);
    const before = await calls('failed');
    stripe.isDown = true;
    const failed = await buy(app, hanna, 'small', key);
    expect(await calls('failed')).toBe(before + 1);
    expect([failed.status, failed.body.details.code]).toEqual([503, 'PAYMENTS_UNAVAILABLE']);
    expect(failed.headers.get('retry-after')).toBe('5');
    const rows = await app.sql`select status::text, session_id from purchases where user_id = ${hanna.userId}`;
    expect(rows.map((row) => ({ ...row }))).toEqual([{ status: 'pending', session_id: null }]);
    // The second call finds its document in the cache.
    for (let call = 0; call < 2; call += 1) {
      const byGraphql = await app.graphql(BUY, { token: hanna.token, headers: key });
      expect([byGraphql.status, byGraphql.headers.get('retry-after')]).toEqual([503, '5']);
      expect(byGraphql.errors?.[0]?.extensions.code).toBe('PAYMENTS_UNAVAILABLE');
    }
    stripe.isDown = false;
    const answered = await calls('answered');
    const answer = await buy(app, hanna, 'small', key);
    expect(await calls('answered')).toBe(answered + 1);
    expect([answer.status, answer.body.checkout_url]).toEqual([201, expect.stringMatching(/^https:/)]);
    expect((await app.sql`select from purchases where user_id = ${hanna.userId}`).length).toBe(1);
  });

  it('Hanna gets the checkout whose response was lost', async () => {
    const key = { 'idempotency-key': randomUUID() };
    stripe.losesAnswer = true;
    const answer = await buy(app, hanna, 'small', key);
    const { id } = answer.body.purchase;
    expect([...stripe.sessions.values()].filter((one) => one.client_reference_id === id)).toHaveLength(1);
    expect(answer.body.checkout_url).toBe(stripe.sessionOf(id).url);
  });

  it('Hanna’s dry run doesn’t call Stripe or store anything', async () => {
    const calls = stripe.calls.length;
    const { status, body } = await buy(app, hanna, 'small', { 'dry-run': 'true' });
    expect([status, body.checkout_url, body.purchase.status]).toEqual([201, null, 'pending']);
    expect(stripe.calls.length).toBe(calls);
    expect(await app.sql`select from purchases where user_id = ${hanna.userId}`).toHaveLength(0);
  });

  it('Hanna’s purchase expires if Stripe refuses to open its checkout', async () => {
    stripe.refusesCheckouts = true;
    const { status, body } = await buy(app, hanna);
    expect([status, body.purchase.status, body.checkout_url]).toEqual([201, 'expired', null]);
  });
});

describe('Hanna can’t buy', () => {
  it.each([
    ['on another site', 'https://evil.example/tokens'],
    ['on an origin that only starts like ours', 'http://localhost:5173.evil.example/'],
    ['with our origin as its username', 'http://localhost:5173@evil.example/'],
    ['that runs a script', 'javascript:alert(1)'],
    ['that is too long once it’s escaped', `http://localhost:5173/${'€'.repeat(1_900)}`],
    ['without an origin', '/tokens'],
    ['on another port of this machine', 'http://127.0.0.1:1/'],
  ])('with a return URL %s', async (_what, returnUrl) => {
    const body = { pack: 'small', return_url: returnUrl };
    const answer = await app.rest('POST', '/v1/purchases', { token: hanna.token, body });
    expect([answer.status, Object.keys(answer.body.details.fields)]).toEqual([400, ['return_url']]);
  });

  it('with a return URL on another site, even if CORS_ORIGINS allows all origins', async () => {
    const open = await openTestApp({ ...stripe.settings(), CORS_ORIGINS: '*' }, { sameDatabaseAs: app });
    const body = { pack: 'small', return_url: 'https://evil.example/tokens' };
    expect((await open.rest('POST', '/v1/purchases', { token: hanna.token, body })).status).toBe(400);
    await open.close();
  });

  it('but can return to the server’s own origin', async () => {
    const body = { pack: 'small', return_url: `${app.url}/graphql` };
    expect((await app.rest('POST', '/v1/purchases', { token: hanna.token, body })).status).toBe(201);
  });

  it('a pack that no longer exists', async () => {
    const { status, body } = await buy(app, hanna, 'huge');
    expect([status, body.details.fields]).toEqual([400, { pack: 'must be one of small, medium, large' }]);
  });

  it('a sixth pack, until one of five open purchases is paid', async () => {
    const ids = [];
    for (let count = 0; count < 5; count += 1) ids.push(await bought(app, hanna));
    const sixth = await buy(app, hanna);
    expect([sixth.status, sixth.body.details.code]).toEqual([429, 'RATE_LIMITED']);
    expect(Number(sixth.headers.get('retry-after'))).toBeGreaterThan(59 * 60);
    await deliver(app.url, stripe.pay(ids[0] ?? ''));
    expect((await buy(app, hanna)).status).toBe(201);
  });

  it('but can, after her open checkouts expired', async () => {
    for (let count = 0; count < 5; count += 1) await bought(app, hanna);
    await app.sql`update purchases set expires_at = now() - interval '1 ms' where user_id = ${hanna.userId}`;
    expect((await buy(app, hanna)).status).toBe(201);
  });

  it('more than five of six packs at the same time', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => buy(app, hanna)));
    expect(answers.map((one) => one.status).toSorted()).toEqual([201, 201, 201, 201, 201, 429]);
  });

  it('a twenty-first pack in one day', async () => {
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
    ['signed with another secret', 400, (id) => deliver(app.url, stripe.pay(id), { secret: 'whsec_of_someone_else' })],
    ['with an empty signature', 400, (id) => deliver(app.url, stripe.pay(id), { signature: '' })],
    ['whose signature isn’t ASCII', 400, (id) => deliver(app.url, stripe.pay(id), { signature: 'é'.repeat(64) })],
    ['of a payment link', 200, (id) => changed(id, { payment_link: 'plink_test_1' })],
    ['of a connected account', 200, (id) => deliver(app.url, { ...stripe.pay(id), account: 'acct_connected' })],
    ['signed over five minutes ago', 400, (id) => deliver(app.url, stripe.pay(id), { at: Date.now() / 1_000 - 310 })],
    ['without a signature', 400, (id) => sendRaw(JSON.stringify(stripe.pay(id)))],
    ['that is too large', 413, (id) => sendRaw(JSON.stringify(stripe.pay(id)) + ' '.repeat(70_000))],
    ['with a smaller amount', 200, (id) => changed(id, { amount_total: 499 })],
    ['in another currency', 200, (id) => changed(id, { currency: 'jpy' })],
    ['about real money for a test purchase', 200, (id) => changed(id, { livemode: true })],
    ['about another checkout', 200, (id) => changed(id, { id: 'cs_test_other' })],
    ['that isn’t paid', 200, (id) => changed(id, { payment_status: 'unpaid' })],
    ['that needs no payment', 200, (id) => changed(id, { payment_status: 'no_payment_required' })],
    ['for a purchase that doesn’t exist', 200, (id) => changed(id, { client_reference_id: newId('purchase') })],
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

  it('one payment never pays for two purchases', async () => {
    const [first, second] = [await bought(app, hanna), await bought(app, hanna)];
    await deliver(app.url, stripe.pay(first));
    const event = stripe.pay(second);
    const payment = stripe.sessionOf(first).payment_intent;
    const stolen = { ...event, data: { object: { ...event.data.object, payment_intent: payment } } };
    expect(await status(deliver(app.url, stolen))).toBe(200);
    expect(await balanceOf(app, hanna)).toMatchObject({ balance: 60 });
  });

  it('a GET request isn’t allowed', async () => {
    const answer = await fetch(`${app.url}/v1/payments/stripe`);
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
  });
});

describe('Events in any order', () => {
  it('Hanna’s expired purchase becomes paid when Stripe says so', async () => {
    const id = await bought(app, hanna);
    await deliver(app.url, stripe.expire(id));
    expect(await purchase(app, hanna, id)).toMatchObject({ status: 'expired' });
    await deliver(app.url, stripe.pay(id));
    expect(await purchase(app, hanna, id)).toMatchObject({ status: 'paid' });
  });

  it('an expiry after Hanna’s payment changes nothing', async () => {
    const id = await paid();
    await deliver(app.url, stripe.expire(id));
    expect(await purchase(app, hanna, id)).toMatchObject({ status: 'paid' });
    expect(await balanceOf(app, hanna)).toMatchObject({ balance: 60 });
  });

  it('Hanna’s slow payment is credited when it arrives, even after it was reported as failed', async () => {
    const id = await bought(app, hanna);
    await deliver(app.url, stripe.payLater(id));
    await runLookups(app);
    expect(await purchase(app, hanna, id)).toMatchObject({ status: 'pending' });
    await deliver(app.url, stripe.fail(id));
    expect(await purchase(app, hanna, id)).toMatchObject({ status: 'failed' });
    await deliver(app.url, stripe.arrive(id));
    expect(await purchase(app, hanna, id)).toMatchObject({ status: 'paid' });
    expect(await balanceOf(app, hanna)).toMatchObject({ balance: 60, bought: 50 });
  });
});

describe('Lookups, without events from Stripe', () => {
  it('find a payment, an expiry, and a failed payment', async () => {
    const [paidOne, expired, failed] = [await bought(app, hanna), await bought(app, hanna), await bought(app, hanna)];
    stripe.pay(paidOne);
    stripe.expire(expired);
    stripe.payLater(failed);
    stripe.fail(failed);
    await runLookups(app);
    const statuses = await Promise.all([paidOne, expired, failed].map((id) => purchase(app, hanna, id)));
    expect(statuses.map((one) => one.status)).toEqual(['paid', 'expired', 'failed']);
    expect(statuses[0].receipt_url).toMatch(/^https:/);
    expect(await balanceOf(app, hanna)).toMatchObject({ balance: 60 });
  });

  it('run automatically', async () => {
    const id = await bought(app, hanna);
    stripe.pay(id);
    await app.sql`update purchases set look_at = now() - interval '1 ms' where id = ${id}`;
    const lookups = openPurchaseLookups(app.services);
    await until(async () => (await purchase(app, hanna, id)).status === 'paid');
    await lookups.close();
  });

  it('open the checkout of a purchase without one', async () => {
    stripe.isDown = true;
    await buy(app, hanna);
    stripe.isDown = false;
    await runLookups(app);
    const [row] = await app.sql`select id, session_id from purchases where user_id = ${hanna.userId}`;
    expect(row?.session_id).toBe(stripe.sessionOf(row?.id).id);
  });

  it('continue with other purchases after Stripe fails for one', async () => {
    const [stuck, other] = [await bought(app, hanna), await bought(app, hanna)];
    stripe.failsFor = stripe.sessionOf(stuck).id;
    stripe.pay(other);
    await runLookups(app);
    expect(await purchase(app, hanna, stuck)).toMatchObject({ status: 'pending' });
    expect(await purchase(app, hanna, other)).toMatchObject({ status: 'paid' });
  });

  it('expire a purchase whose checkout Stripe doesn’t recognize, and alert operators once', async () => {
    const before = await app.metric('payment_reports_total{settlement="mismatch"}');
    const id = await bought(app, hanna);
    stripe.sessions.delete(stripe.sessionOf(id).id);
    await runLookups(app);
    await runLookups(app);
    expect(await purchase(app, hanna, id)).toMatchObject({ status: 'expired' });
    expect(await app.metric('payment_reports_total{settlement="mismatch"}')).toBe(before + 1);
  });

  it('ask about a purchase only after half an hour', async () => {
    await bought(app, hanna);
    const [row] = await app.sql`select extract(epoch from look_at - created_at)::int as seconds
      from purchases where user_id = ${hanna.userId}`;
    expect(row?.seconds).toBe(30 * 60);
  });
});

describe('Refunds', () => {
  it('Ada takes back all of Hanna’s bought tokens and returns all of her money', async () => {
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

  it('Ada’s partial refunds round the money down and never return more than Hanna paid', async () => {
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

  it('Ada can’t take back tokens that Hanna spent or was granted', async () => {
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

  it('Hanna spends her oldest purchase first, so Ada can still refund the newest one', async () => {
    const [old, recent] = [await paid(), await paid()];
    await publish(app, hanna, 'urgent');
    await publish(app, hanna, 'urgent');
    expect((await refund(app, ada, old, 1)).body.refunded_tokens).toBeUndefined();
    expect((await refund(app, ada, recent)).body).toMatchObject({ status: 'refunded', refunded_tokens: 50 });
  });

  it('Hanna gets her tokens back if Stripe refuses the refund', async () => {
    const id = await paid();
    stripe.refundsAre = 'refused';
    expect((await refund(app, ada, id)).body).toMatchObject({ status: 'paid', refunded_tokens: 0 });
    expect(await balanceOf(app, hanna)).toMatchObject({ balance: 60, bought: 50 });
    stripe.refundsAre = 'succeeded';
    expect((await refund(app, ada, id)).body).toMatchObject({ status: 'refunded' });
  });

  it('Hanna’s pending refunds succeed or fail when Stripe says so', async () => {
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

  it('a refund that couldn’t reach Stripe is made later, and only once', async () => {
    const id = await paid();
    stripe.isDown = true;
    expect((await refund(app, ada, id, 20)).status).toBe(503);
    expect(await balanceOf(app, hanna)).toMatchObject({ balance: 40, bought: 30 });
    expect((await refund(app, ada, id, 20)).body.details.code).toBe('INVALID_TRANSITION');
    stripe.isDown = false;
    await runLookups(app);
    await runLookups(app);
    expect(await purchase(app, hanna, id)).toMatchObject({ status: 'paid', refunded_tokens: 20, refunded_amount: 200 });
    expect(stripe.moneyOf(id)).toBe(300);
  });

  it('a refund whose event arrives before the response is counted once', async () => {
    const id = await paid();
    stripe.onEvent = (event) => deliver(app.url, event);
    expect((await refund(app, ada, id, 20)).body).toMatchObject({ status: 'paid', refunded_tokens: 20 });
    expect(await balanceOf(app, hanna)).toMatchObject({ balance: 40, bought: 30 });
  });

  it('Ada can’t refund a purchase that was made with another kind of key', async () => {
    const id = await paid();
    await app.sql`update purchases set livemode = true where id = ${id}`;
    expect((await refund(app, ada, id)).body.details.code).toBe('NOT_CONFIGURED');
    expect(await balanceOf(app, hanna)).toMatchObject({ balance: 60, bought: 50 });
  });

  it('a refund that was made in Stripe’s dashboard is a mismatch', async () => {
    const id = await paid();
    const before = await app.metric('payment_reports_total{settlement="mismatch"}');
    const made = { id: 're_elsewhere', object: 'refund', status: 'succeeded', amount: 500, currency: 'usd' };
    const refundElsewhere = { ...made, metadata: {}, payment_intent: stripe.paymentOf(id).id };
    await deliver(app.url, stripe.event('refund.created', refundElsewhere));
    expect(await app.metric('payment_reports_total{settlement="mismatch"}')).toBe(before + 1);
    expect(await purchase(app, hanna, id)).toMatchObject({ status: 'paid', refunded_tokens: 0 });
  });

  it('only Ada can refund, and only paid purchases that exist', async () => {
    const id = await paid();
    expect((await refund(app, hanna, id)).status).toBe(403);
    expect((await refund(app, ada, newId('purchase'))).status).toBe(404);
    expect((await refund(app, ada, await bought(app, hanna))).body.details.code).toBe('INVALID_TRANSITION');
  });

  it('two refunds at the same time take Hanna’s tokens once', async () => {
    const id = await paid();
    const answers = await Promise.all([refund(app, ada, id, 30), refund(app, ada, id, 30)]);
    expect(answers.map((one) => one.status).toSorted()).toEqual([200, 400]);
    expect(await balanceOf(app, hanna)).toMatchObject({ balance: 30, bought: 20 });
  });
});

describe('Chargebacks', () => {
  it('Ada sees an open chargeback and can’t refund until it’s won', async () => {
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

  it('a lost chargeback takes Hanna’s available tokens, and later credits pay the rest', async () => {
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

  it('a lost chargeback that arrives before the payment’s event is settled after the payment', async () => {
    const id = await bought(app, hanna);
    const payment = stripe.pay(id);
    await deliver(app.url, stripe.closeDispute(stripe.dispute(id), 'lost'));
    expect(await purchase(app, hanna, id)).toMatchObject({ status: 'charged_back' });
    await deliver(app.url, payment);
    expect(await balanceOf(app, hanna)).toEqual({ balance: 10, held: 0, available: 10, bought: 0, debt: 0 });
  });

  it('a chargeback during a refund takes only the other tokens, even if the refund fails', async () => {
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

  it('an inquiry isn’t a chargeback until Stripe turns it into one', async () => {
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

  it('a chargeback of another account’s payment is ignored', async () => {
    const foreign = { id: 'du_1', object: 'dispute', status: 'lost', payment_intent: 'pi_foreign', livemode: false };
    expect(await status(deliver(app.url, stripe.event('charge.dispute.closed', foreign)))).toBe(200);
  });

  it('an event about an unknown payment fails while Stripe is down, and succeeds when it’s sent again', async () => {
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
  it('Hanna can’t buy, the catalog has no packs, and errors don’t name a pack', async () => {
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
