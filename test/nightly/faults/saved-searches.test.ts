/**
 * Jobs are published while servers are killed and Postgres is restarted in every way. Each match of a saved search
 * arrives once, in order, in the list of events, from webhooks, and by email.
 */
import type { Sql } from 'postgres';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { clone, type Clone } from '../../app/clone.js';
import { durablePostgres, type DurablePostgres } from '../../faults/durable-postgres.js';
import { openMailServer, type MailServer } from '../../market/mail/mail-server.js';
import { openReceiver, type Receiver } from '../../market/webhooks/receiver.js';
import { ADMIN, JWT_SECRET, type Json } from '../../setup/app.js';
import { diceOf } from '../../setup/random/dice.js';
import { seedFrom } from '../../setup/random/seed.js';
import { callRest } from '../../story/calls.js';
import { admin, contractor, homeowner, type Person } from '../../story/cast.js';
import { DRAFT } from '../../story/journey.js';
import { printFigures } from '../figures.js';
import { kill, patientApp, type Kills, type PatientApp } from './killing.js';
import { openInstances, type Instances } from './storm/instances.js';

const PUBLICATIONS = Number(process.env.PUBLICATIONS ?? 600);
const SEED = seedFrom(process.env.FC_SEED);
const INSTANCES = 2;
const TRADES = ['roofing', 'siding', 'plumbing'] as const;
const OWNERS = 4;

let project: Clone;
let postgres: DurablePostgres;
let instances: Instances;
let mailServer: MailServer;
let sql: Sql;
let app: PatientApp;
beforeAll(async () => {
  project = clone();
  postgres = await durablePostgres();
  await postgres.start();
  sql = postgres.open('searches');
  mailServer = await openMailServer();
  instances = await openInstances(project, INSTANCES, {
    DATABASE_URL: postgres.url,
    JWT_SECRET,
    RATE_LIMITS: 'off',
    WEBHOOKS_ALLOW_PRIVATE: 'on',
    SMTP_URL: mailServer.url,
    MAIL_FROM: 'market@example.test',
    PUBLIC_URL: 'https://jobs.test',
    APP_JOB_URL: 'https://app.test/{id}',
    ADMIN_EMAIL: ADMIN.email,
    ADMIN_PASSWORD: ADMIN.password,
  });
  app = patientApp(instances, sql);
});
afterAll(async () => {
  await instances.stop();
  await sql.end({ timeout: 1 });
  await postgres.remove();
  await mailServer.close();
  project.remove();
});

interface Searcher {
  readonly by: Person;
  readonly trades: readonly string[];
  readonly receiver: Receiver;
  /** The events of a program that polls for events after the last one it has seen. */
  readonly polled: Json[];
}

async function searcher(name: string, trades: readonly string[]): Promise<Searcher> {
  const by = await contractor(app, name);
  await app.sql`update users set email_verified = true where id = ${by.userId} returning id`;
  const receiver = await openReceiver();
  await app.rest('POST', '/v1/webhooks', { token: by.token, body: { url: receiver.url } });
  const body = { name: 'Leads', filter: { categories: trades }, alert: 'now' };
  expect((await app.rest('POST', '/v1/saved-searches', { token: by.token, body })).status).toBe(201);
  return { by, trades, receiver, polled: [] };
}

async function poll({ by, polled }: Searcher): Promise<void> {
  const after = polled.at(-1)?.position ?? '0';
  const { body } = await app.rest('GET', `/v1/events?after=${after}&per_page=100`, { token: by.token });
  polled.push(...body.data);
}

it(`each match arrives once, in order, whatever is killed (FC_SEED=${SEED})`, async () => {
  const dice = diceOf(SEED);
  const kills: Kills = { servers: 0, postgres: 0 };
  const ada = await admin(app);
  const owners = await Promise.all(Array.from({ length: OWNERS }, () => homeowner(app, 'Olga')));
  for (const { userId } of owners)
    await app.rest('POST', '/v1/tokens/adjustments', {
      token: ada.token,
      body: { user_id: userId, amount: 10_000, reason: 'To publish.' },
    });
  const searchers = await Promise.all(
    [['roofing'], ['roofing', 'siding'], ['plumbing']].map((trades) => searcher('Rosa', trades)),
  );

  const published: { readonly job: string; readonly trade: string }[] = [];
  const over = new AbortController();
  const killing = kill({ instances, postgres }, dice, over, kills);
  const polling = Promise.all(
    searchers.map(async (one) => {
      while (!over.signal.aborted) await poll(one);
    }),
  );
  await Promise.all(
    owners.map(async (by) => {
      for (let at = 0; at < PUBLICATIONS / OWNERS; at += 1) {
        const trade = dice.pick(TRADES);
        const { body } = await callRest(app, 'create', { by, body: { ...DRAFT, category: trade } });
        expect((await callRest(app, 'publish', { by, job: body.id })).status).toBe(200);
        published.push({ job: body.id, trade });
      }
    }),
  );
  over.abort();
  await Promise.all([killing, polling]);

  for (const { by, trades, receiver, polled } of searchers) {
    const wanted = published.filter(({ trade }) => trades.includes(trade)).map(({ job }) => job);
    await vi.waitFor(
      async () => {
        await poll({ by, trades, receiver, polled });
        expect(polled.map(({ job_id: job }) => job).toSorted()).toEqual(wanted.toSorted());
      },
      { timeout: 60_000, interval: 500 },
    );
    const positions = polled.map(({ position }) => Number(position));
    expect(positions).toEqual(positions.toSorted((one, other) => one - other));

    // A webhook may be sent twice, but it's one delivery. A failed attempt waits for five minutes.
    await app.sql`update tasks set run_at = now() where leased_until is null returning id`;
    await receiver.until((received) => new Set(received.map(({ id }) => id)).size >= wanted.length);
    const bodies = new Map(receiver.received.map(({ id, body }) => [id, body]));
    expect([...bodies.keys()].toSorted()).toEqual(polled.map(({ id }) => id).toSorted());
    const chain = [...bodies.values()].toSorted((one, other) => one.data.position - other.data.position);
    expect(chain.map(({ previous_position: previous }) => previous)).toEqual([
      null,
      ...chain.slice(0, -1).map(({ data }) => data.position),
    ]);

    const rows = await app.sql`select job_id from mails where user_id = ${by.userId} and kind = 'notification'
        union all select n.job_id from notifications n where n.user_id = ${by.userId} and n.is_emailed_later`;
    expect(rows.map(({ job_id: job }) => job as string).toSorted()).toEqual(wanted.toSorted());
    await vi.waitFor(
      async () => {
        await app.sql`update tasks set run_at = now() where leased_until is null returning id`;
        const due = await app.sql`select from tasks where kind in ('mail', 'notice')`;
        expect(due).toHaveLength(0);
      },
      { timeout: 120_000, interval: 1_000 },
    );
    const mails = mailServer.inbox.filter(
      ({ to, headers }) => to.includes(by.email) && /A new job matches/.test(headers),
    );
    const sent = await app.sql`select from mails where user_id = ${by.userId} and kind = 'notification'`;
    expect(new Set(mails.map(({ messageId }) => messageId)).size).toBe(sent.length);
    await receiver.close();
  }
  printFigures(
    `${published.length} publications, ${searchers.reduce((sum, { polled }) => sum + polled.length, 0)} matches, ` +
      `${kills.servers} servers killed, Postgres restarted ${kills.postgres} times`,
  );
  expect(instances.complaints()).toEqual([]);
  expect([...app.failures, ...postgres.panics()]).toEqual([]);
  expect([kills.servers > 0, kills.postgres > 0]).toEqual([true, true]);
}, 1_200_000);
