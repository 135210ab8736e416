/**
 * Purchases in random orders while servers are killed and Postgres is restarted in every way. At the end, each payment
 * was credited once, and the ledger, the purchases, and Stripe agree to the token and to the cent.
 */
import type { Sql } from 'postgres';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { clone, type Clone } from '../../app/clone.js';
import { durablePostgres, type DurablePostgres } from '../../faults/durable-postgres.js';
import { OWN_APP } from '../../market/operations/purchases/buyer.js';
import {
  expectAgreement,
  playHistory,
  sendTheRest,
  type World,
} from '../../market/operations/purchases/random-orders.js';
import { until } from '../../platform/security/until.js';
import { ADMIN, JWT_SECRET } from '../../setup/app.js';
import { checkDatabase } from '../../setup/database/checker.js';
import { diceOf } from '../../setup/random/dice.js';
import { seedFrom } from '../../setup/random/seed.js';
import { deliver, StripeDouble, type StripeEvent } from '../../setup/stripe.js';
import { admin, homeowner } from '../../story/cast.js';
import { printFigures } from '../figures.js';
import { kill, patientApp, type Kills, type PatientApp } from './killing.js';
import { openInstances, type Instances } from './storm/instances.js';

const HISTORIES = Number(process.env.PURCHASE_HISTORIES ?? 100);
const SEED = seedFrom(process.env.FC_SEED);
const AT_ONCE = 10;
const INSTANCES = 2;

const stripe = new StripeDouble();
let project: Clone;
let postgres: DurablePostgres;
let instances: Instances;
let sql: Sql;
let app: PatientApp;
beforeAll(async () => {
  project = clone();
  postgres = await durablePostgres();
  await postgres.start();
  sql = postgres.open('payments');
  instances = await openInstances(project, INSTANCES, {
    ...(await stripe.open()),
    ...OWN_APP,
    DATABASE_URL: postgres.url,
    JWT_SECRET,
    RATE_LIMITS: 'off',
    ADMIN_EMAIL: ADMIN.email,
    ADMIN_PASSWORD: ADMIN.password,
  });
  app = patientApp(instances, sql);
});
afterAll(async () => {
  await instances.stop();
  await sql.end({ timeout: 1 });
  await postgres.remove();
  project.remove();
  stripe.close();
});

const kills: Kills = { servers: 0, postgres: 0 };

const makeLookupsDue = () => app.sql`update purchases set look_at = now() - interval '1 ms' where look_at is not null`;

/** A starting server asks about all purchases that are waiting. The one before it may have died after a claim. */
async function runLookups(): Promise<void> {
  await instances.kill(0);
  await makeLookupsDue();
  await instances.revive(0);
  await until(async () => (await app.sql`select from purchases where look_at <= now()`).length === 0);
}

it(
  `${HISTORIES} random histories (FC_SEED=${SEED}) credit each payment once, whatever is killed`,
  { timeout: HISTORIES * 60_000 },
  async () => {
    for (let first = 0; first < HISTORIES; first += AT_ONCE) {
      const dice = diceOf(SEED + first);
      const world: World = {
        app,
        stripe,
        ada: await admin(app),
        // Stripe resends an event that doesn't arrive, but nothing waits for that.
        send: (event: StripeEvent) => deliver(app.anyUrl(), event).catch(() => {}),
        runLookups: async () => void (await makeLookupsDue()),
      };
      const firstEvent = stripe.events.length;
      const buyers = await Promise.all(Array.from({ length: AT_ONCE }, () => homeowner(app, 'Rhea')));
      const over = new AbortController();
      const killing = kill({ instances, postgres }, dice, over, kills);
      await Promise.all(buyers.map((buyer, at) => playHistory(world, buyer, diceOf(SEED + first + at))));
      over.abort();
      await killing;

      const sendOnce = async (event: StripeEvent) => {
        expect((await deliver(app.anyUrl(), event)).status).toBe(200);
      };
      await sendTheRest({ ...world, send: sendOnce }, firstEvent, dice);
      // If the first lookup finds a checkout whose response was lost, the second one finds its payment.
      await runLookups();
      await runLookups();
      // A server that has claimed a purchase may still be asking about it.
      await vi.waitFor(() => expectAgreement(world, buyers), { timeout: 30_000, interval: 200 });
      expect(await checkDatabase(sql)).toEqual([]);
      const audited = await app.rest('GET', '/v1/tokens/audit', { token: world.ada.token });
      expect(audited.body).toMatchObject({ ok: true, mismatches: [] });
    }
    const [row] = await sql`select count(*)::int as purchases, count(paid_at)::int as paid from purchases`;
    printFigures(
      `${HISTORIES} histories, ${row?.purchases} purchases (${row?.paid} paid), ${stripe.events.length} events, ` +
        `${kills.servers} servers killed, Postgres restarted ${kills.postgres} times`,
    );
    // A refund that fails after it was done is an operator's task, so it's logged as an error.
    const unexpected = (line: string) => !line.includes('differs from its purchase');
    expect(instances.complaints().filter(unexpected)).toEqual([]);
    expect([...app.failures, ...postgres.panics()]).toEqual([]);
    expect([kills.servers > 0, kills.postgres > 0]).toEqual([true, true]);
  },
);
