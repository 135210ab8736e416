/** The local checkout page, where developers pay without real money. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ConfigError, readConfig } from '../../src/app/config.js';
import { newId } from '../../src/market/store/new-id.js';
import {
  balanceOf,
  bought,
  buy,
  expectSound,
  OWN_APP,
  purchase,
  refund,
  RETURN_URL,
  runLookups,
} from '../market/operations/purchases/buyer.js';
import { openTestApp, type TestApp } from '../setup/app.js';
import { admin, homeowner, type Person } from '../story/cast.js';

let app: TestApp;
let ada: Person;
let hanna: Person;
beforeAll(async () => {
  app = await openTestApp({ PAYMENTS: 'local', ...OWN_APP });
  ada = await admin(app);
});
afterAll(() => app.close());
beforeEach(async () => {
  hanna = await homeowner(app, 'Hanna');
});

const pageOf = (id: string) => fetch(`${app.url}/checkout/${id}`, { headers: { accept: 'text/html' } });

const choose = (id: string, choice: string, headers: Record<string, string> = {}) =>
  fetch(`${app.url}/checkout/${id}`, { method: 'POST', headers, body: new URLSearchParams({ choice }) });

describe('The local checkout page', () => {
  it('Hanna opens it from her purchase, pays, and returns to the app', async () => {
    const answer = await buy(app, hanna);
    const { id } = answer.body.purchase;
    expect(answer.body.checkout_url).toBe(`${app.url}/checkout/${id}`);
    const opened = await pageOf(id);
    // With the other pages' policy, `no-referrer`, browsers would send the form without its origin.
    expect(opened.headers.get('referrer-policy')).toBe('same-origin');
    const page = await opened.text();
    for (const words of ['Buy 50 tokens', '$5.00', 'Pay</button>', 'Fail</button>', 'Pay later</button>', RETURN_URL])
      expect(page).toContain(words);
    const paid = await (await choose(id, 'pay')).text();
    expect(paid).toContain('You paid, and your tokens were credited.');
    expect(paid).toContain(`href="${RETURN_URL}"`);
    expect(paid).not.toContain('<button');
    expect(await balanceOf(app, hanna)).toMatchObject({ balance: 60, bought: 50 });
    await choose(id, 'pay');
    expect(await balanceOf(app, hanna)).toMatchObject({ balance: 60 });
    expect((await refund(app, ada, id)).body).toMatchObject({ status: 'refunded', refunded_amount: 500 });
    await expectSound(app, ada);
  });

  it('Hanna chooses "Fail" and gets no tokens', async () => {
    const id = await bought(app, hanna);
    expect(await (await choose(id, 'fail')).text()).toContain('The payment failed.');
    expect(await purchase(app, hanna, id)).toMatchObject({ status: 'failed' });
    expect(await balanceOf(app, hanna)).toMatchObject({ balance: 10 });
  });

  it('Hanna chooses "Pay later" and gets her tokens at the next lookup', async () => {
    const id = await bought(app, hanna);
    expect(await (await choose(id, 'later')).text()).toContain('Your payment is on its way.');
    expect(await purchase(app, hanna, id)).toMatchObject({ status: 'pending' });
    await runLookups(app);
    expect(await purchase(app, hanna, id)).toMatchObject({ status: 'paid' });
    await expectSound(app, ada);
  });

  it.each(['pay', 'later'])('an hour later, Hanna chooses "%s", but the checkout expired', async (choice) => {
    const id = await bought(app, hanna);
    await app.sql`update purchases set expires_at = now() - interval '1 second' where id = ${id}`;
    await choose(id, choice);
    await runLookups(app);
    expect(await purchase(app, hanna, id)).toMatchObject({ status: 'expired' });
  });

  it('any other choice changes nothing', async () => {
    const id = await bought(app, hanna);
    await choose(id, 'all the tokens');
    expect(await purchase(app, hanna, id)).toMatchObject({ status: 'pending' });
  });

  it("another site's page can't pay, and neither can a client behind a proxy", async () => {
    const id = await bought(app, hanna);
    for (const origin of ['https://evil.example', 'null'])
      expect((await choose(id, 'pay', { origin })).status).toBe(403);
    expect((await choose(id, 'none', { origin: app.url })).status).toBe(200);
    // Another site's name can lead to this machine.
    expect((await choose(id, 'pay', { host: 'evil.example', origin: 'http://evil.example' })).status).toBe(403);
    expect((await choose(id, 'pay', { 'x-forwarded-for': '203.0.113.7' })).status).toBe(403);
    expect(await purchase(app, hanna, id)).toMatchObject({ status: 'pending' });
  });

  it('an unknown purchase has no page', async () => {
    for (const id of [newId('purchase'), 'pur_x', '']) expect((await pageOf(id)).status).toBe(404);
  });

  it('a form that is refused shows a page in a browser', async () => {
    const id = await bought(app, hanna);
    const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
    const type = 'application/x-www-form-urlencoded';
    const submit = (headers: Record<string, string>) => choose(id, 'pay', { 'content-type': type, accept, ...headers });
    const page = await submit({ origin: 'https://evil.example' });
    expect([page.status, page.headers.get('content-type')]).toEqual([403, 'text/html; charset=utf-8']);
    expect(await page.text()).toContain('Only a browser on this machine can open this page.');
    const program = await submit({ origin: 'https://evil.example', accept: '*/*' });
    expect(program.headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  it('events from Stripe are rejected', async () => {
    expect((await fetch(`${app.url}/v1/payments/stripe`, { method: 'POST', body: '{}' })).status).toBe(501);
  });
});

describe('The configuration of payments', () => {
  const stripe = { STRIPE_SECRET_KEY: 'sk_test_1', STRIPE_WEBHOOK_SECRET: 'whsec_1' };
  const production = { NODE_ENV: 'production', JWT_SECRET: 'x'.repeat(32) };

  it('has the local page only in development, on a loopback address, without a proxy, and without Stripe', () => {
    const local = (env: Record<string, string | undefined>) => readConfig(env).paysLocally;
    expect(local({})).toBe(true);
    expect(local({ HOST: '::1' })).toBe(true);
    for (const env of [production, { TRUST_PROXY_HOPS: '1' }, { HOST: '0.0.0.0' }, stripe])
      expect(local(env)).toBe(false);
  });

  it.each([
    ['with the local page in production', { ...production, PAYMENTS: 'local' }, 'PAYMENTS'],
    ['with the local page on all interfaces', { HOST: '0.0.0.0', PAYMENTS: 'local' }, 'PAYMENTS'],
    ['with the local page behind a proxy', { TRUST_PROXY_HOPS: '1', PAYMENTS: 'local' }, 'PAYMENTS'],
    ['with the local page and Stripe', { ...stripe, PAYMENTS: 'local' }, 'PAYMENTS'],
    ['with STRIPE_API_URL in production', { ...production, STRIPE_API_URL: 'http://x' }, 'STRIPE_API_URL'],
    ['with a test key in production', { ...production, ...stripe }, 'STRIPE_SECRET_KEY'],
    ['with a Stripe key but no webhook secret', { STRIPE_SECRET_KEY: 'sk_test_1' }, 'STRIPE_SECRET_KEY'],
    ['with a publishable key', { ...stripe, STRIPE_SECRET_KEY: 'pk_test_1' }, 'STRIPE_SECRET_KEY'],
    ['with an unknown currency', { CURRENCY: 'usd' }, 'CURRENCY'],
    ['with a pack without a price', { TOKEN_PACKS: 'small:50' }, 'TOKEN_PACKS'],
    ['with a free pack', { TOKEN_PACKS: 'small:50:0' }, 'TOKEN_PACKS'],
    ['with two packs of the same name', { TOKEN_PACKS: 'small:50:500,small:60:500' }, 'TOKEN_PACKS'],
  ])('stops a server from starting %s', (_what, env, variable) => {
    const problems = () => readConfig(env as Record<string, string>);
    expect(problems).toThrow(ConfigError);
    expect(problems).toThrow(variable);
  });
});
