/** From an event to its endpoints: real receivers, real events, and two instances on one database. */
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { JWT_SECRET, openTestApp, type Json, type TestApp } from '../../setup/app.js';
import { callRest } from '../../story/calls.js';
import { homeowner, type Person } from '../../story/cast.js';
import { DRAFT, gather, givenJob, type People } from '../../story/journey.js';
import { openReceiver, verify, type Answer, type Received, type Receiver } from './receiver.js';

/**
 * The tests decide when deliveries are retried. On a busy machine, the first retry could come too soon, and an attempt
 * could time out or outlive its lease.
 */
vi.mock('../../../src/market/rules/market-limits.js', async (original) => {
  const limits = await original<typeof import('../../../src/market/rules/market-limits.js')>();
  const { WEBHOOKS, TASKS } = limits;
  return {
    ...limits,
    WEBHOOKS: { ...WEBHOOKS, attemptMs: 200_000, retryAfterSeconds: WEBHOOKS.retryAfterSeconds.with(0, 300) },
    TASKS: { ...TASKS, webhook: { ...TASKS.webhook, leaseSeconds: 300 } },
  };
});

const ENV = { WEBHOOKS_ALLOW_PRIVATE: 'on' };

let app: TestApp;
/** A second instance on the same database. */
let twin: TestApp;
let people: People;
beforeAll(async () => {
  app = await openTestApp(ENV);
  twin = await openTestApp(ENV, { sameDatabaseAs: app });
  people = await gather(app);
});
afterAll(async () => {
  await twin.close();
  await app.close();
});

const opened: { receiver: Receiver; owner: Person; id: string }[] = [];
afterEach(async () => {
  for (const { receiver, owner, id } of opened.splice(0)) {
    await app.rest('DELETE', `/v1/webhooks/${id}`, { token: owner.token });
    await receiver.close();
  }
});

interface Hook {
  readonly receiver: Receiver;
  readonly id: string;
  readonly secret: string;
}

interface HookOptions {
  readonly types?: string[];
  readonly accountTypes?: string[];
  readonly answer?: Answer;
}

async function hookOf(owner: Person, { types, accountTypes, answer }: HookOptions = {}): Promise<Hook> {
  const receiver = await openReceiver(answer);
  const { status, body } = await app.rest('POST', '/v1/webhooks', {
    token: owner.token,
    body: { url: receiver.url, event_types: types ?? [], account_event_types: accountTypes ?? [] },
  });
  expect(status).toBe(201);
  opened.push({ receiver, owner, id: body.webhook.id });
  return { receiver, id: body.webhook.id, secret: body.secret };
}

const deliveriesTo = async (owner: Person, id: string, query = ''): Promise<Json[]> =>
  (await app.rest('GET', `/v1/webhooks/${id}/deliveries?per_page=100${query}`, { token: owner.token })).body.data;
const endpoint = async (owner: Person, id: string): Promise<Json> =>
  (await app.rest('GET', `/v1/webhooks/${id}`, { token: owner.token })).body;
const put = (owner: Person, id: string, body: object) =>
  app.rest('PUT', `/v1/webhooks/${id}`, { token: owner.token, body });

/** Repeats until the condition holds. An instance records a delivery shortly after the receiver responds. */
async function eventually<T>(ask: () => Promise<T>, holds: (found: T) => boolean): Promise<T> {
  for (;;) {
    const found = await ask();
    if (holds(found)) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const settled = (owner: Person, id: string, count: number) =>
  eventually(
    () => deliveriesTo(owner, id),
    (found) => found.length === count && found.every(({ status }) => status !== 'waiting'),
  );

/** Makes it look as if the time until the next attempt has passed. */
const letTimePass = (id: string) => app.sql`update tasks set run_at = now() where key = ${id} and leased_until is null`;

const types = (received: readonly Received[]) => received.map(({ body }) => String(body.type)).toSorted();
const previousOf = (deliveries: readonly Json[], position: string) =>
  deliveries
    .map((one) => one.position)
    .filter((one) => BigInt(one) < BigInt(position))
    .toSorted((one, other) => Number(BigInt(other) - BigInt(one)))[0] ?? null;
const ofJob = (id: string) => (received: readonly Received[]) => received.filter(({ body }) => body.data.job_id === id);

describe('an event', () => {
  it('is sent to its owners with a signature, as each of them sees it on the timeline', async () => {
    const hooks = {
      owner: await hookOf(people.owner),
      awardee: await hookOf(people.awardee),
      bidder: await hookOf(people.bidder),
      stranger: await hookOf(people.stranger),
      other: await hookOf(people.other),
      admin: await hookOf(people.admin),
    };
    const job = await givenJob(app, 'in_progress', people);
    await callRest(app, 'submitForReview', { by: people.awardee, job: job.id, body: { completion_notes: 'Done.' } });
    for (const who of ['owner', 'awardee', 'bidder', 'admin'] as const) {
      const { receiver, secret, id } = hooks[who];
      await receiver.until((all) => all.some(({ body }) => body.type === 'job.submitted_for_review'));
      const timeline = await app.rest('GET', `/v1/jobs/${job.id}/events`, { token: people[who].token });
      await eventually(
        () => deliveriesTo(people[who], id, '&status=waiting'),
        (left) => left.length === 0,
      );
      const deliveries = await deliveriesTo(people[who], id);
      for (const one of ofJob(job.id)(receiver.received)) {
        expect(verify(secret, one)).toEqual(one.body);
        expect(one.id).toBe(one.body.data.id);
        const shown = timeline.body.data.find(({ id: event }: Json) => event === one.id);
        const { type, occurred_at: timestamp, position } = shown;
        expect(one.body).toEqual({ type, timestamp, data: shown, previous_position: previousOf(deliveries, position) });
      }
    }
    expect(ofJob(job.id)(hooks.stranger.receiver.received)).toEqual([]);
    expect(hooks.other.receiver.received).toEqual([]);
    const all = (await app.rest('GET', `/v1/jobs/${job.id}/events`, { token: people.owner.token })).body.data;
    for (const who of ['owner', 'admin'] as const)
      expect(types(ofJob(job.id)(hooks[who].receiver.received))).toEqual(all.map(({ type }: Json) => type).toSorted());
    // They read nothing about the other bids. They only get earlier events that were still unsent when they bid.
    const beforeTheirBid = ['job.created', 'job.published'];
    const ofBidder = types(ofJob(job.id)(hooks.bidder.receiver.received));
    expect(ofBidder.filter((type) => !beforeTheirBid.includes(type))).toEqual(
      ['bid.rejected', 'bid.submitted', 'job.awarded', 'job.checked_in', 'job.submitted_for_review'].toSorted(),
    );
  });

  it('is sent to endpoints with its type, if they already existed', async () => {
    await givenJob(app, 'open', people);
    const { receiver } = await hookOf(people.owner, { types: ['job.published'] });
    const first = await givenJob(app, 'open', people);
    const second = await givenJob(app, 'open', people);
    await receiver.until((all) => all.length >= 2);
    // Two requests to one endpoint run at the same time, so either may come first.
    expect(receiver.received.map(({ body }) => `${body.type} ${body.data.job_id}`).toSorted()).toEqual(
      [first, second].map(({ id }) => `job.published ${id}`).toSorted(),
    );
  });

  it('is sent as its owner can read it now, and skipped if they no longer can', async () => {
    const { receiver, id } = await hookOf(people.bidder, { answer: (_, response) => response.writeHead(500).end() });
    const job = await givenJob(app, 'open', people);
    await callRest(app, 'cancel', { by: people.owner, job: job.id });
    await receiver.until((all) => all.some(({ body }) => body.type === 'job.cancelled'));
    await eventually(
      () => deliveriesTo(people.bidder, id),
      (found) => found.every(({ attempts }) => attempts.length === 1),
    );
    // The same as when a bid is withdrawn between two attempts.
    await app.sql`update bids set status = 'withdrawn' where id = ${job.bids.bidder}`;
    await letTimePass(id);
    const found = await settled(people.bidder, id, receiver.received.length);
    expect(found.map(({ status, attempts }) => [status, attempts.length])).toEqual(found.map(() => ['skipped', 1]));
  });
});

describe('an account event', () => {
  const ALL = [
    'account.email_changed',
    'account.password_changed',
    'account.email_undo_pending',
    'webhook.failing',
    'webhook.paused',
  ];
  const ofType = (type: string) => (received: readonly Received[]) => received.filter(({ body }) => body.type === type);
  const broken: Answer = (_, response) => response.writeHead(500).end();

  it('is sent with a signature, and only to its user’s endpoints that list its type', async () => {
    const petra = await homeowner(app, 'Petra');
    const paul = await homeowner(app, 'Paul');
    const asks = await hookOf(petra, { types: ['job.created'], accountTypes: ['account.password_changed'] });
    const others = {
      asksForAnother: await hookOf(petra, { accountTypes: ['webhook.paused'] }),
      asksForNone: await hookOf(petra),
      ofAnotherPerson: await hookOf(paul, { accountTypes: ALL }),
      ofAdmin: await hookOf(people.admin, { accountTypes: ALL }),
    };
    const password = { current_password: petra.password, new_password: 'a better password' };
    const changed = await app.rest('POST', '/v1/me/password', { token: petra.token, body: password });
    expect(changed.status).toBe(200);
    await asks.receiver.until((all) => all.length > 0);
    const [one] = asks.receiver.received;
    const [row] = await app.sql`select id, position, occurred_at from account_events where user_id = ${petra.userId}`;
    const occurredAt = row!.occurred_at.toISOString();
    expect(verify(asks.secret, one!)).toEqual({
      type: 'account.password_changed',
      timestamp: occurredAt,
      data: {
        id: row!.id,
        position: String(row!.position),
        type: 'account.password_changed',
        user_id: petra.userId,
        occurred_at: occurredAt,
        data: { cause: 'change' },
      },
      previous_position: null,
    });
    expect(one!.id).toBe(row!.id);
    const [delivery] = await settled(petra, asks.id, 1);
    expect(delivery).toMatchObject({ event_id: row!.id, event_type: 'account.password_changed', status: 'delivered' });

    // Once a later event arrives, the fan-out is past the account event.
    const { body: draft } = await callRest(app, 'create', { by: petra, body: DRAFT });
    await asks.receiver.until((all) => all.some(({ body }) => body.data.job_id === draft.id));
    for (const { receiver } of Object.values(others))
      expect(ofType('account.password_changed')(receiver.received)).toEqual([]);
    const { data } = await app.graphql(
      `{ webhookEndpoint(id: "${asks.id}") { deliveries { nodes { eventId eventType } } } }`,
      { token: petra.token },
    );
    expect(data.webhookEndpoint.deliveries.nodes).toContainEqual({
      eventId: row!.id,
      eventType: 'ACCOUNT_PASSWORD_CHANGED',
    });
  });

  it('says once per series of failures that an endpoint failed for a day, and that it was paused', async () => {
    const { receiver: informed } = await hookOf(people.other, {
      types: ['job.deleted'],
      accountTypes: ['webhook.failing', 'webhook.paused'],
    });
    const { receiver, id } = await hookOf(people.other, { types: ['job.created'], answer: broken });
    const attempted = (count: number) =>
      eventually(
        () => deliveriesTo(people.other, id),
        (found) => found.flatMap(({ attempts }) => attempts).length >= count,
      );
    const failFor = async (hours: number) => {
      await app.sql`update webhook_endpoints set failing_since = now() - make_interval(hours => ${hours})
        where id = ${id}`;
      await letTimePass(id);
    };
    const failingSince = async () => (await endpoint(people.other, id)).failing_since;

    await callRest(app, 'create', { by: people.other, body: DRAFT });
    await attempted(1);
    await failFor(23);
    await attempted(2);
    await failFor(25);
    await attempted(3);
    const first = await informed.until((all) => all.length > 0);
    expect(first.map(({ body }) => [body.type, body.data.data])).toEqual([
      ['webhook.failing', { webhook_id: id, failing_since: await failingSince() }],
    ]);
    await letTimePass(id);
    await attempted(4);
    // The endpoint works again, and then fails for another day.
    receiver.answer = (_, response) => response.writeHead(204).end();
    await letTimePass(id);
    await settled(people.other, id, 1);
    receiver.answer = broken;
    await app.sql`update webhook_endpoints set failure_reported_at = failure_reported_at - interval '4 days'
      where id = ${id}`;
    await callRest(app, 'create', { by: people.other, body: DRAFT });
    await attempted(6);
    await failFor(25);
    await informed.until((all) => all.length > 1);
    await failFor(73);
    await informed.until((all) => all.length > 2);
    expect(informed.received.map(({ body }) => body.type)).toEqual([
      'webhook.failing',
      'webhook.failing',
      'webhook.paused',
    ]);
    expect(informed.received.at(-1)!.body.data.data).toEqual({ webhook_id: id, reason: 'failing' });
  });

  it('isn’t written if the owner pauses an endpoint', async () => {
    const { id } = await hookOf(people.owner, { accountTypes: ALL });
    const { status } = await put(people.owner, id, { status: 'paused' });
    expect(status).toBe(200);
    const rows = await app.sql`select from account_events where data->>'webhookId' = ${id}`;
    expect(rows).toHaveLength(0);
  });
});

describe('a receiver', () => {
  it('that fails three times in ten gets every event in the end, each with one ID', async () => {
    let calls = 0;
    const failing: Answer = (_, response) => {
      calls += 1;
      response.writeHead((calls * 7) % 10 < 3 ? 503 : 200).end();
    };
    const { id, receiver } = await hookOf(people.owner, { answer: failing });
    const jobs = await Promise.all(Array.from({ length: 5 }, () => givenJob(app, 'open', people)));
    const events = await app.sql`select id from events where job_id in ${app.sql(jobs.map((job) => job.id))}`;
    const isOver = (found: Json[]) =>
      found.length === events.length && found.every(({ status }) => status === 'delivered');
    const found = await eventually(async () => {
      await letTimePass(id);
      return deliveriesTo(people.owner, id);
    }, isOver);
    expect(new Set(found.map(({ event_id }) => event_id))).toEqual(new Set(events.map((event) => event.id)));
    expect(new Set(receiver.received.map((one) => one.id))).toEqual(new Set(events.map((event) => event.id)));
    for (const { attempts } of found) {
      expect(attempts.map(({ number }: Json) => number)).toEqual(attempts.map((_: Json, at: number) => at + 1));
      expect(attempts.at(-1)).toMatchObject({ response_status: 200, error: null });
      for (const failed of attempts.slice(0, -1))
        expect(failed).toMatchObject({ response_status: 503, error: expect.stringContaining('503') });
    }
    expect(await endpoint(people.owner, id)).toMatchObject({ status: 'active' });
  });

  it('that always fails gets eight attempts in about 28 hours, and the event can be redelivered', async () => {
    const { receiver, id, secret } = await hookOf(people.other, {
      answer: (_, response) => response.writeHead(500).end('out of order'),
    });
    const { body: sent } = await app.rest('POST', `/v1/webhooks/${id}/test`, { token: people.other.token });
    const waits: number[] = [];
    for (let attempt = 1; attempt <= 8; attempt += 1) {
      const [now] = await eventually(
        () => deliveriesTo(people.other, id),
        ([one]) => one?.attempts.length === attempt,
      );
      if (now!.next_attempt_at) {
        const { started_at, duration_ms } = now!.attempts.at(-1);
        waits.push(Date.parse(now!.next_attempt_at) - Date.parse(started_at) - duration_ms);
      }
      await letTimePass(id);
    }
    const hours = waits.reduce((sum, ms) => sum + ms, 0) / 3_600_000;
    expect(waits).toHaveLength(7);
    expect(hours).toBeGreaterThan(24);
    expect(hours).toBeLessThan(31);
    const [failed] = await settled(people.other, id, 1);
    expect(failed).toMatchObject({ status: 'failed', next_attempt_at: null });
    expect(failed!.attempts.at(-1)).toMatchObject({ number: 8, response_status: 500, response: 'out of order' });
    expect((await endpoint(people.other, id)).failing_since).not.toBeNull();

    receiver.answer = (_, response) => response.writeHead(200).end('thanks');
    await app.rest('POST', `/v1/webhooks/deliveries/${sent.id}/redeliver`, { token: people.other.token });
    const [again] = await eventually(
      () => deliveriesTo(people.other, id),
      ([one]) => one?.status === 'delivered',
    );
    expect(again!.attempts.at(-1)).toMatchObject({ number: 9, response_status: 200, response: 'thanks', error: null });
    expect(new Set(receiver.received.map((one) => one.id))).toEqual(new Set([sent.event_id]));
    expect((await endpoint(people.other, id)).failing_since).toBeNull();
    for (const one of receiver.received) verify(secret, one);
  });

  it('that has failed for three days is paused and logged, and gets its events once resumed', async () => {
    const { receiver, id } = await hookOf(people.owner, { answer: (_, response) => response.writeHead(500).end() });
    await givenJob(app, 'draft', people);
    await eventually(
      () => endpoint(people.owner, id),
      ({ failing_since }) => failing_since !== null,
    );
    await app.sql`update webhook_endpoints set failing_since = now() - interval '73 hours' where id = ${id}`;
    await letTimePass(id);
    const paused = await eventually(
      () => endpoint(people.owner, id),
      ({ status }) => status === 'paused',
    );
    expect(paused).toMatchObject({ status: 'paused', paused_reason: 'failing' });
    const rows = await app.sql`select type, user_id, data from account_events where data->>'webhookId' = ${id}`;
    expect([...rows]).toEqual([
      { type: 'webhook.paused', user_id: people.owner.userId, data: { webhookId: id, reason: 'failing' } },
    ]);
    const lines = [...app.logged, ...twin.logged].filter((line) => line.includes('webhook endpoint was paused'));
    expect(lines.filter((line) => line.includes(id))).toHaveLength(1);

    const sentBefore = receiver.received.length;
    receiver.answer = (_, response) => response.writeHead(204).end();
    await givenJob(app, 'draft', people);
    await eventually(
      () => deliveriesTo(people.owner, id),
      (found) => found.length === 2,
    );
    await letTimePass(id);
    // A later task has run, so an instance has claimed all due tasks that may run.
    const later = await hookOf(people.other);
    await app.rest('POST', `/v1/webhooks/${later.id}/test`, { token: people.other.token });
    await later.receiver.until((all) => all.length > 0);
    expect(await app.sql`select from tasks where key = ${id} and leased_until is null`).toHaveLength(2);
    expect(receiver.received).toHaveLength(sentBefore);
    await put(people.owner, id, { status: 'active' });
    const found = await settled(people.owner, id, 2);
    expect(found.map(({ status }) => status)).toEqual(['delivered', 'delivered']);
    expect(await endpoint(people.owner, id)).toMatchObject({ status: 'active', failing_since: null });
  });

  it('that returns 410 Gone is paused immediately', async () => {
    const { id } = await hookOf(people.other, { answer: (_, response) => response.writeHead(410).end() });
    await app.rest('POST', `/v1/webhooks/${id}/test`, { token: people.other.token });
    const paused = await eventually(
      () => endpoint(people.other, id),
      ({ status }) => status === 'paused',
    );
    expect(paused.paused_reason).toBe('gone');
  });

  it('that is slow doesn’t delay others', async () => {
    const held: (() => void)[] = [];
    let [atOnce, most] = [0, 0];
    const slow = await hookOf(people.owner, {
      answer: (_, response) => {
        most = Math.max(most, ++atOnce);
        response.once('close', () => (atOnce -= 1));
        held.push(() => response.writeHead(204).end());
      },
    });
    const quick = await hookOf(people.owner);
    const jobs = await Promise.all(Array.from({ length: 8 }, () => givenJob(app, 'open', people)));
    const [{ count } = { count: 0 }] =
      await app.sql`select count(*)::int from events where job_id in ${app.sql(jobs.map((job) => job.id))}`;
    await quick.receiver.until((all) => all.length >= count);
    // At most two at a time from each of the two instances, none of which got a response.
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(4);
    slow.receiver.answer = (_, response) => response.writeHead(204).end();
    for (const release of held) release();
    await slow.receiver.until((all) => new Set(all.map((one) => one.id)).size >= count);
  });

  it('gets each event once if nothing fails, whichever instance sends it', async () => {
    const { receiver, id } = await hookOf(people.owner);
    const jobs = await Promise.all(Array.from({ length: 10 }, () => givenJob(app, 'open', people)));
    const [{ count } = { count: 0 }] =
      await app.sql`select count(*)::int from events where job_id in ${app.sql(jobs.map((job) => job.id))}`;
    await settled(people.owner, id, count);
    expect(receiver.received.map((one) => one.id).toSorted()).toEqual(
      [...new Set(receiver.received.map((one) => one.id))].toSorted(),
    );
    expect(receiver.received).toHaveLength(count);
  });
});

describe('a secret', () => {
  it('is replaced, and every delivery verifies with either secret', async () => {
    const { receiver, id, secret: old } = await hookOf(people.owner);
    const { body } = await app.rest('POST', `/v1/webhooks/${id}/rotate-secret`, { token: people.owner.token });
    await givenJob(app, 'draft', people);
    const [one] = await receiver.until((all) => all.length > 0);
    for (const secret of [old, body.secret]) expect(verify(secret, one!)).toEqual(one!.body);
    expect(String(one!.headers['webhook-signature']).split(' ')).toHaveLength(2);
    await app.sql`update webhook_endpoints set secrets = (select jsonb_agg(case when one->>'endsAt' is null then one
      else jsonb_set(one, '{endsAt}', to_jsonb(extract(epoch from now()) * 1000 - 1)) end)
        from jsonb_array_elements(secrets) one) where id = ${id}`;
    await givenJob(app, 'draft', people);
    const [, second] = await receiver.until((all) => all.length > 1);
    expect(verify(body.secret, second!)).toEqual(second!.body);
    expect(() => verify(old, second!)).toThrow();
  });

  it('survives a change of JWT_SECRET while the previous one is set, and otherwise pauses the endpoint', async () => {
    const other = 'another secret of 32 bytes and more';
    const { receiver, id, secret } = await hookOf(people.other);
    await app.sql`update webhook_endpoints set status = 'paused', paused_reason = 'requested' where id = ${id}`;
    const before = { ...ENV, JWT_SECRET: other, JWT_PREVIOUS_SECRET: JWT_SECRET };
    const renewed = await openTestApp(before, { sameDatabaseAs: app });
    const [row] = await app.sql`select sealed_by from webhook_endpoints where id = ${id}`;
    expect(row!.sealed_by).toBe(renewed.services.encryptor.keyName);
    await renewed.close();
    // This test's instances have a different secret from the one that now encrypts the endpoint's secret.
    await put(people.other, id, { status: 'active' });
    await app.rest('POST', `/v1/webhooks/${id}/test`, { token: people.other.token });
    const paused = await eventually(
      () => endpoint(people.other, id),
      ({ status }) => status === 'paused',
    );
    expect(paused.paused_reason).toBe('secret_unreadable');
    expect(receiver.received).toEqual([]);
    const back = await openTestApp({ ...ENV, JWT_PREVIOUS_SECRET: other }, { sameDatabaseAs: app });
    await put(people.other, id, { status: 'active' });
    const [one] = await receiver.until((all) => all.length > 0);
    expect(verify(secret, one!)).toEqual(one!.body);
    await back.close();
  });
});
