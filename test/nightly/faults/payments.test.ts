/**
 * Purchases in random orders while servers are killed and Postgres is restarted in every way. At the end, each payment
 * was credited once, and the ledger, the purchases, and Stripe agree to the token and to the cent.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Sql } from 'postgres';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { clone, type Clone } from '../../app/clone.js';
import { durablePostgres, ENDINGS, type DurablePostgres, type Ending } from '../../faults/durable-postgres.js';
import { OWN_APP } from '../../market/operations/purchases/buyer.js';
import {
  expectAgreement,
  playHistory,
  sendTheRest,
  type World,
} from '../../market/operations/purchases/random-orders.js';
import { until } from '../../platform/security/until.js';
import { ADMIN, JWT_SECRET, type CallOptions, type Json, type TestApp } from '../../setup/app.js';
import { checkDatabase } from '../../setup/database/checker.js';
import { diceOf, type Dice } from '../../setup/random/dice.js';
import { seedFrom } from '../../setup/random/seed.js';
import { deliver, StripeDouble, type StripeEvent } from '../../setup/stripe.js';
import { admin, homeowner } from '../../story/cast.js';
import { printFigures } from '../figures.js';
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
});
afterAll(async () => {
  await instances.stop();
  await sql.end({ timeout: 1 });
  await postgres.remove();
  project.remove();
  stripe.close();
});

/** Repeats the work until it succeeds, because a server or Postgres may have been killed. */
async function again<Result>(work: () => Promise<Result | undefined>): Promise<Result> {
  const endMs = performance.now() + RECOVERED_WITHIN_MS;
  for (;;) {
    try {
      const result = await work();
      if (result !== undefined) return result;
    } catch (error) {
      if (performance.now() > endMs) throw error;
    }
    await pause(50);
  }
}

const RECOVERED_WITHIN_MS = 60_000;

const anyUrl = () => instances.urls[Math.floor(Math.random() * INSTANCES)] ?? '';

/** Repeats a call with its key until it has a response. PAYMENTS_UNAVAILABLE counts as a response. */
async function rest(method: string, path: string, { token, body, headers }: CallOptions = {}) {
  const sent = new Headers({ 'content-type': 'application/json', ...headers });
  if (token !== undefined) sent.set('authorization', `Bearer ${token}`);
  if (method === 'POST' && !path.startsWith('/v1/auth')) sent.set('idempotency-key', randomUUID());
  return again(async () => {
    const response = await fetch(anyUrl() + path, { method, headers: sent, body: JSON.stringify(body) });
    const answer = { status: response.status, headers: response.headers, body: (await response.json()) as Json };
    const code = answer.body.details?.code;
    if (answer.status >= 500 && answer.status !== 503) failures.push(`${method} ${path}: ${answer.status} ${code}`);
    const isPassing = answer.status === 503 ? code !== 'PAYMENTS_UNAVAILABLE' : code === 'IDEMPOTENCY_KEY_IN_USE';
    return isPassing ? undefined : answer;
  });
}

const failures: string[] = [];

const app: Pick<TestApp, 'rest' | 'sql'> = {
  rest,
  sql: ((...query: Parameters<Sql>) => again(async () => sql(...query))) as unknown as Sql,
};

const kills = { servers: 0, postgres: 0 };

/** Kills servers or restarts Postgres, one after another, until it's aborted. */
async function kill(dice: Dice, { signal }: AbortController): Promise<void> {
  while (!signal.aborted) {
    await pause(dice.int(0, 400));
    if (dice.percent(70)) {
      const instance = dice.int(0, INSTANCES - 1);
      await instances.kill(instance);
      await instances.revive(instance);
      kills.servers += 1;
    } else {
      await postgres.stop(dice.pick(Object.keys(ENDINGS) as Ending[]));
      await postgres.start();
      kills.postgres += 1;
    }
  }
}

/** A starting server asks about all purchases that are waiting. The one before it may have died after a claim. */
async function look(): Promise<void> {
  await instances.kill(0);
  await app.sql`update purchases set look_at = now() where look_at is not null`;
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
        send: (event: StripeEvent) => deliver(anyUrl(), event).catch(() => {}),
        look: async () => void (await app.sql`update purchases set look_at = now() where look_at is not null`),
      };
      const firstEvent = stripe.events.length;
      const buyers = await Promise.all(Array.from({ length: AT_ONCE }, () => homeowner(app, 'Rhea')));
      const over = new AbortController();
      const killing = kill(dice, over);
      await Promise.all(buyers.map((buyer, at) => playHistory(world, buyer, diceOf(SEED + first + at))));
      over.abort();
      await killing;

      const sendOnce = async (event: StripeEvent) => {
        expect((await deliver(anyUrl(), event)).status).toBe(200);
      };
      await sendTheRest({ ...world, send: sendOnce }, firstEvent, dice);
      // If the first lookup finds a checkout whose response was lost, the second one finds its payment.
      await look();
      await look();
      // A server that has claimed a purchase may still be asking about it.
      await vi.waitFor(() => expectAgreement(world, buyers), { timeout: 30_000, interval: 200 });
      expect(await checkDatabase(sql)).toEqual([]);
      const audited = await rest('GET', '/v1/tokens/audit', { token: world.ada.token });
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
    expect([...failures, ...postgres.panics()]).toEqual([]);
    expect([kills.servers > 0, kills.postgres > 0]).toEqual([true, true]);
  },
);
