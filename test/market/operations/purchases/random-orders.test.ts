import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestApp, type TestApp } from '../../../setup/app.js';
import { checkDatabase } from '../../../setup/database/checker.js';
import { seedFrom } from '../../../setup/random/seed.js';
import { deliver, StripeDouble } from '../../../setup/stripe.js';
import { admin } from '../../../story/cast.js';
import { OWN_APP, runLookups } from './buyer.js';
import { playHistories } from './random-orders.js';

const stripe = new StripeDouble();
let app: TestApp;
beforeAll(async () => {
  app = await openTestApp({ ...(await stripe.open()), ...OWN_APP }, { tokensLast: true });
});
afterAll(async () => {
  await app.close();
  stripe.close();
});

/** Each history has about four purchases. */
const HISTORIES = Number(process.env.PURCHASE_HISTORIES ?? 12);

it(
  'random histories credit each payment once, and the rows agree with Stripe to the cent',
  async () => {
    const send = async (event: object) => expect((await deliver(app.url, event)).status).toBeOneOf([200, 503]);
    const world = { app, stripe, ada: await admin(app), send, runLookups: () => runLookups(app) };
    await playHistories(world, HISTORIES, seedFrom(process.env.FC_SEED));
    expect(await checkDatabase(app.sql)).toEqual([]);
    const [rows] = await app.sql`select count(paid_at)::int as paid,
      count(*) filter (where refunded_amount > 0)::int as refunded,
      count(*) filter (where status = 'charged_back')::int as charged_back from purchases`;
    for (const [what, count] of Object.entries(rows ?? {})) expect(count, what).toBeGreaterThan(0);
  },
  HISTORIES * 30_000,
);
