/**
 * All ways to receive events, on two instances, while both are killed in turn and Postgres is restarted. Each
 * subscriber ends up with exactly its visible events, in order and once each, and each delivery arrives. LIVE=long is
 * the full test with 10,000 events.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { ADMIN, JWT_SECRET, type Json } from '../../setup/app.js';
import { clone, type Clone } from '../../app/clone.js';
import { liveThrough, openCaller, signUp, type Caller, type Market, type Person } from './live/market.js';
import { openReceiver, type Receiver } from './live/receiver.js';
import { subscribe, type Seen, type Subscriber } from './live/subscriber.js';
import { chanceFrom, seedFrom } from '../../setup/random/seed.js';
import { durablePostgres, type DurablePostgres } from '../../faults/durable-postgres.js';
import { openInstances, type Instances } from './storm/instances.js';
import { printFigures } from '../figures.js';

const isLong = process.env.LIVE === 'long';
const EVENTS = isLong ? 10_000 : 1_500;
const EVENTS_PER_JOB = 13;
const SUBSCRIBERS = isLong ? 200 : 60;
const ENDPOINTS = 20;
const LANES = 8;
const HOMEOWNERS = 10;
const CONTRACTORS = 20;
/** The share of requests that each endpoint fails. */
const FAILURE_RATE = 0.1;
const chance = chanceFrom(seedFrom(undefined));
/** The longest time that any event may take to arrive. */
const SETTLED_WITHIN_MS = 180_000;

let postgres: DurablePostgres;
let instances: Instances;
let project: Clone;
let subscribers: Subscriber[] = [];
let receivers: Receiver[] = [];

afterAll(async () => {
  await Promise.all(subscribers.map((subscriber) => subscriber.stop()));
  await Promise.all(receivers.map((receiver) => receiver.close()));
  await instances?.stop();
  await postgres?.remove();
  project?.remove();
});

it('everybody gets every event once and in order, whatever is killed', { timeout: 900_000 }, async () => {
  postgres = await durablePostgres();
  await postgres.start();
  project = clone();
  instances = await openInstances(project, 2, {
    DATABASE_URL: postgres.url,
    JWT_SECRET,
    RATE_LIMITS: 'off',
    WEBHOOKS_ALLOW_PRIVATE: 'on',
    ADMIN_EMAIL: ADMIN.email,
    ADMIN_PASSWORD: ADMIN.password,
  });
  const caller = openCaller(instances.urls);
  const market = await signUp(caller, HOMEOWNERS, CONTRACTORS);
  const everyone = [market.admin, ...market.homeowners, ...market.contractors];

  subscribers = Array.from({ length: SUBSCRIBERS }, (_, number) =>
    subscribe(instances.urls, everyone[number % everyone.length] ?? market.admin, number, '0'),
  );
  const endpoints = await openEndpoints(caller, everyone);
  receivers = endpoints.map(({ receiver }) => receiver);

  await Promise.all([trade(caller, market), bringFaults()]);

  const truth = await visibleTo(caller, everyone);
  const log = truth.get(market.admin) ?? [];
  expect(log.length).toBeGreaterThanOrEqual(EVENTS);
  const last = (person: Person) => truth.get(person)?.at(-1)?.id;
  await settled(() => subscribers.every(({ seen, person }) => seen.at(-1)?.id === last(person)));
  for (const { person, seen } of subscribers) {
    const ids = seen.map(({ id }) => id);
    const visible = truth.get(person) ?? [];
    if (person.kind === 'contractor') expect(ids).toEqual(between(ids, surelyVisible(person, log, visible), visible));
    else expect(ids).toEqual(visible.map(({ id }) => id));
  }
  expect(subscribers.some(({ returns }) => returns > 1)).toBe(true);

  const missing = () =>
    endpoints.flatMap(({ person, receiver }) =>
      (person.kind === 'contractor' ? surelyVisible(person, log, truth.get(person) ?? []) : (truth.get(person) ?? []))
        .filter(({ id }) => !receiver.received.has(id))
        .map(({ id }) => `${person.kind} ${id}`),
    );
  // After two failures, the next attempts come minutes, then hours later. They are moved forward.
  const sql = postgres.open('retries');
  await settled(async () => {
    await sql`update tasks set run_at = now() where leased_until is null and run_at > now()`;
    return missing().length === 0;
  });
  await sql.end();
  expect(missing()).toEqual([]);
  expect(receivers.flatMap(({ problems }) => problems)).toEqual([]);
  const doubled = receivers.reduce((sum, { received }) => sum + [...received.values()].filter((n) => n > 1).length, 0);
  printFigures(
    `${log.length} events, ${subscribers.length} subscribers who came again ` +
      `${subscribers.reduce((sum, { returns }) => sum + returns, 0)} times, ${endpoints.length} endpoints, ` +
      `${doubled} deliveries that came more than once`,
  );
  expect([...instances.complaints(), ...postgres.panics()]).toEqual([]);
});

async function openEndpoints(caller: Caller, people: readonly Person[]) {
  return Promise.all(
    Array.from({ length: ENDPOINTS }, async (_, number) => {
      const person = people[number % people.length];
      if (!person) throw new Error('There is nobody.');
      const receiver = await openReceiver(() => chance() < FAILURE_RATE);
      const { secret } = await caller.send('POST', '/webhooks', person, { url: receiver.url, event_types: [] });
      receiver.useSecret(secret);
      return { person, receiver };
    }),
  );
}

let jobsDone = 0;
const JOBS = Math.ceil(EVENTS / EVENTS_PER_JOB);

async function trade(caller: Caller, { homeowners, contractors }: Market): Promise<void> {
  let next = 0;
  const lane = async () => {
    for (let job = next++; job < JOBS; job = next++) {
      const owner = homeowners[job % homeowners.length];
      const bidders = [0, 1, 2].map((at) => contractors[(job * 3 + at) % contractors.length]);
      if (!owner) throw new Error('There is nobody.');
      await liveThrough(caller, owner, bidders as Person[]);
      jobsDone += 1;
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

async function bringFaults(): Promise<void> {
  const reached = async (share: number) => {
    while (jobsDone < JOBS * share) await pause(20);
  };
  await reached(0.2);
  await instances.kill(0);
  await instances.revive(0);
  await reached(0.45);
  await postgres.stop('immediate');
  await postgres.start();
  await reached(0.7);
  await instances.kill(1);
  await instances.revive(1);
}

/** All events that each person can read, from the pages of the event log. */
async function visibleTo(caller: Caller, people: readonly Person[]): Promise<Map<Person, Seen[]>> {
  const truth = new Map<Person, Seen[]>();
  for (const person of people) {
    const events: Seen[] = [];
    let after: string | null = '0';
    while (after !== null) {
      const page: Json = await caller.send('GET', `/events?after=${after}&per_page=100`, person);
      events.push(...page.data.map((event: Json) => ({ ...event, jobId: event.job_id })));
      after = page.data.length === 100 ? page.next_after : null;
    }
    truth.set(person, events);
  }
  return truth;
}

/**
 * A contractor receives a job's events from their bid on, and their own bid's events from the award on. Events that
 * became visible only later were sent only to subscribers who reconnected afterward.
 */
function surelyVisible({ profileId, userId }: Person, log: readonly Seen[], visible: readonly Seen[]): Seen[] {
  const begins = new Map<string, bigint>();
  for (const event of log) {
    const { type, actor_id: actorId, jobId, position } = event as Seen & { actor_id: string };
    if (type === 'bid.submitted' && actorId === userId) begins.set(jobId, BigInt(position));
  }
  return visible.filter(
    ({ type, jobId, position }) =>
      (begins.get(jobId) ?? 0n) < BigInt(position) &&
      !(type.startsWith('bid.') && type !== 'bid.accepted') &&
      profileId,
  );
}

/** The received IDs if none is doubled, out of order, invisible, or missing. Otherwise, the expected IDs. */
function between(heard: readonly string[], least: readonly Seen[], most: readonly Seen[]): readonly string[] {
  const set = new Set(heard);
  const inOrder = most.map(({ id }) => id).filter((id) => set.has(id));
  return inOrder.length === heard.length && least.every(({ id }) => set.has(id)) ? inOrder : least.map(({ id }) => id);
}

async function settled(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const until = performance.now() + SETTLED_WITHIN_MS;
  while (!(await isSo()) && performance.now() < until) await pause(200);
}
