import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { WEBHOOKS } from '../../../../src/market/rules/market-limits.js';
import { newId } from '../../../../src/market/store/new-id.js';
import { openTestApp, type Json, type TestApp } from '../../../setup/app.js';
import { callRest } from '../../../story/calls.js';
import { admin, contractor, homeowner, programOf, type Person } from '../../../story/cast.js';
import { DRAFT, gather, givenJob, type People } from '../../../story/journey.js';
import { byGraphql, byRest, invalid } from '../../../apis/refused.js';
import { openReceiver, verify, type Receiver } from '../../webhooks/receiver.js';

/** On a busy machine, an attempt that times out or outlives its lease would be sent again. */
vi.mock('../../../../src/market/rules/market-limits.js', async (original) => {
  const limits = await original<typeof import('../../../../src/market/rules/market-limits.js')>();
  const { WEBHOOKS, TASKS } = limits;
  return {
    ...limits,
    WEBHOOKS: { ...WEBHOOKS, attemptMs: 200_000 },
    TASKS: { ...TASKS, webhook: { ...TASKS.webhook, leaseSeconds: 300 } },
  };
});

let app: TestApp;
let people: People;
beforeAll(async () => {
  app = await openTestApp({ WEBHOOKS_ALLOW_PRIVATE: 'on' });
  people = await gather(app);
});
afterAll(() => app.close());

interface Hook {
  readonly owner: Person;
  readonly id: string;
  readonly secret: string;
  readonly receiver: Receiver;
}

async function hookOf(owner: Person, more: object = {}): Promise<Hook> {
  const receiver = await openReceiver();
  const body = { url: receiver.url, ...more };
  const made = await app.rest('POST', '/v1/webhooks', { token: owner.token, body });
  return { owner, receiver, id: made.body.webhook.id, secret: made.body.secret };
}

const replay = ({ id }: Pick<Hook, 'id'>, { token }: Person, body: object, headers = {}) =>
  app.rest('POST', `/v1/webhooks/${id}/replay`, { token, body, headers });
const last = async () => {
  const [row] = await app.sql`select greatest((select max(position) from events),
    (select max(position) from account_events), 0)::text as last`;
  return String(row!.last);
};
const deliveriesTo = async ({ id, owner }: Hook): Promise<Json[]> =>
  (await app.rest('GET', `/v1/webhooks/${id}/deliveries?per_page=100`, { token: owner.token })).body.data;
const draft = async (owner: Person): Promise<string> =>
  (await callRest(app, 'create', { by: owner, body: DRAFT })).body.id;

async function settled(hook: Hook, count: number): Promise<Json[]> {
  for (;;) {
    const found = await deliveriesTo(hook);
    if (found.length === count && found.every(({ status }) => status !== 'waiting')) return found.toReversed();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The positions of the drafts' events. */
async function positionsOf(jobs: readonly string[]): Promise<string[]> {
  const rows = await app.sql`select position::text from events where job_id in ${app.sql(jobs)} order by position`;
  return rows.map(({ position }) => position);
}

async function drafts(owner: Person, count: number): Promise<string[]> {
  const jobs: string[] = [];
  for (let at = 0; at < count; at += 1) jobs.push(await draft(owner));
  for (;;) {
    const [row] = await app.sql`select count(*)::int from events where position is null`;
    if (row!.count === 0) return jobs;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe('a replay', () => {
  it('sends delivered events again, under the same IDs and with the same previous position', async () => {
    const hook = await hookOf(await homeowner(app, 'Hanna'));
    const jobs = await drafts(hook.owner, 3);
    const before = await settled(hook, 3);
    const [first, second, third] = await positionsOf(jobs);
    const { status, body } = await replay(hook, hook.owner, { after: first, until: third });
    expect([status, body]).toMatchObject([200, { webhook: { id: hook.id }, replayed_count: 2, next_after: null }]);
    const received = await hook.receiver.until((all) => all.length === 5);
    expect(received.slice(3).map(({ body: { previous_position } }) => previous_position)).toEqual(
      expect.arrayContaining([first, second]),
    );
    for (const one of received) verify(hook.secret, one);
    const after = await settled(hook, 3);
    const idsOf = (found: Json[]) =>
      found.map(({ id, event_id, previous_position }) => [id, event_id, previous_position]);
    expect(idsOf(after)).toEqual(idsOf(before));
    expect(after.map(({ attempts }) => attempts.length).toSorted()).toEqual([1, 2, 2]);
  });

  it('sends events without a delivery, even from before the endpoint, with their previous positions', async () => {
    const owner = await homeowner(app, 'Olga');
    const old = await drafts(owner, 2);
    const hook = await hookOf(owner);
    const own = await drafts(owner, 2);
    await settled(hook, 2);
    const all = await positionsOf([...old, ...own]);
    await app.sql`delete from webhook_deliveries where endpoint_id = ${hook.id} and position = ${all[2]!}`;
    const { body } = await replay(hook, owner, { after: '0' });
    expect(body).toMatchObject({ replayed_count: 4, next_after: null });
    const after = await settled(hook, 4);
    const chain = after
      .map(({ position, previous_position }) => [previous_position, position])
      .toSorted(([, one], [, other]) => one - other);
    expect(chain).toEqual([
      [null, all[0]],
      [all[0], all[1]],
      [all[1], all[2]],
      // This one was sent before, so it doesn't change.
      [all[2], all[3]],
    ]);
  });

  it('skips events that its owner can no longer see, and other types', async () => {
    const { owner, bidder } = people;
    const hook = await hookOf(bidder, { event_types: ['job.cancelled', 'bid.submitted'] });
    const job = await givenJob(app, 'open', people);
    await callRest(app, 'cancel', { by: owner, job: job.id });
    await hook.receiver.until((all) => all.some(({ body }) => body.type === 'job.cancelled'));
    const after = String(BigInt((await positionsOf([job.id]))[0]!) - 1n);
    expect((await replay(hook, bidder, { after })).body.replayed_count).toBe(2);
    await app.sql`update bids set status = 'withdrawn' where id = ${job.bids.bidder}`;
    expect((await replay(hook, bidder, { after })).body.replayed_count).toBe(0);
  });

  it('includes account events of the endpoint’s types, in order', async () => {
    const hook = await hookOf(await homeowner(app, 'Petra'), { account_event_types: ['account.password_changed'] });
    const { token, password } = hook.owner;
    await drafts(hook.owner, 1);
    const body = { current_password: password, new_password: 'a better password' };
    await app.rest('POST', '/v1/me/password', { token, body });
    await drafts(hook.owner, 1);
    const before = await settled(hook, 3);
    await app.sql`delete from webhook_deliveries where endpoint_id = ${hook.id}`;
    expect((await replay(hook, hook.owner, { after: '0' })).body.replayed_count).toBe(3);
    const chainOf = (found: Json[]) =>
      found
        .map(({ event_type, position, previous_position }) => [position, previous_position, event_type])
        .toSorted(([one], [other]) => one - other);
    expect(chainOf(await settled(hook, 3))).toEqual(chainOf(before));
  });

  it('doesn’t interrupt a delivery that is being sent', async () => {
    const hook = await hookOf(await homeowner(app, 'Pia'));
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    hook.receiver.answer = (_, response) => void held.then(() => response.writeHead(204).end());
    const [job] = await drafts(hook.owner, 1);
    await hook.receiver.until((all) => all.length === 1);
    expect((await replay(hook, hook.owner, { after: '0' })).body.replayed_count).toBe(1);
    release();
    const [delivery] = await settled(hook, 1);
    expect([delivery!.position, delivery!.attempts.length]).toEqual([(await positionsOf([job!]))[0], 1]);
  });

  it('covers a limited number of events, and says where to continue', async () => {
    const hook = await hookOf(await homeowner(app, 'Mia'));
    const after = await last();
    const count = 1_001;
    await app.sql`insert into events (id, job_id, sequence, type, homeowner_id, occurred_at)
      select 'evt_' || lpad(n::text, 27, '0'), ${newId('job')}, n, 'job.updated', ${hook.owner.profileId}, '2026-01-01'
      from generate_series(1, ${count}::int) n`;
    await app.sql`select from number_events(1000000)`;
    const { replayEventsMax } = WEBHOOKS;
    try {
      Object.assign(WEBHOOKS, { replayEventsMax: count - 1 });
      const { body } = await replay(hook, hook.owner, { after });
      const nextAfter = String(BigInt(after) + BigInt(count) - 1n);
      expect(body).toMatchObject({ replayed_count: count - 1, next_after: nextAfter });
      const chain = await app.sql`select count(*)::int, count(*) filter (where previous = position - 1)::int as whole
        from (select position, previous_position as previous from webhook_deliveries where endpoint_id = ${hook.id}) d`;
      expect(chain[0]).toEqual({ count: count - 1, whole: count - 2 });
      const rest = await replay(hook, hook.owner, { after: nextAfter });
      expect(rest.body).toMatchObject({ replayed_count: 1, next_after: null });
    } finally {
      Object.assign(WEBHOOKS, { replayEventsMax });
    }
    expect(replayEventsMax).toBe(10_000);
    await app.rest('DELETE', `/v1/webhooks/${hook.id}`, { token: hook.owner.token });
  });

  it('replays nothing for an empty range', async () => {
    const hook = await hookOf(await homeowner(app, 'Ina'));
    const after = await last();
    expect((await replay(hook, hook.owner, { after, until: after })).body).toMatchObject({
      replayed_count: 0,
      next_after: null,
    });
  });

  const MUTATION = `mutation ($id: ID!, $after: String!, $until: String) {
    replayEvents(endpointId: $id, after: $after, until: $until) {
      webhookEndpoint { id } replayedCount nextAfter viewer { user { id } } } }`;
  const graphql = (hook: Pick<Hook, 'id'>, { token }: Person, variables: object) =>
    app.graphql(MUTATION, { token, variables: { id: hook.id, ...variables } });

  it('works the same in GraphQL', async () => {
    const hook = await hookOf(await homeowner(app, 'Greta'));
    await drafts(hook.owner, 2);
    await settled(hook, 2);
    const { data } = await graphql(hook, hook.owner, { after: '0' });
    expect(data.replayEvents).toEqual({
      webhookEndpoint: { id: hook.id },
      replayedCount: 2,
      nextAfter: null,
      viewer: { user: { id: hook.owner.userId } },
    });
    await hook.receiver.until((all) => all.length === 4);
  });

  it('is for the owner and their API keys with full access', async () => {
    const hook = await hookOf(await homeowner(app, 'Otto'));
    const FORBIDDEN = { status: 403, code: 'FORBIDDEN', fields: [] };
    for (const other of [await contractor(app, 'Carl'), await admin(app)]) {
      expect(byRest(await replay(hook, other, { after: '0' }))).toEqual(FORBIDDEN);
      expect(byGraphql(await graphql(hook, other, { after: '0' }))).toEqual(FORBIDDEN);
    }
    const missing = { id: newId('webhookEndpoint') };
    expect(byRest(await replay(missing, hook.owner, { after: '0' })).code).toBe('NOT_FOUND');
    const program = await programOf(app, hook.owner);
    expect((await replay(hook, program, { after: '0' })).status).toBe(200);
  });

  it('is rejected for a paused endpoint, and for positions that don’t exist or are out of order', async () => {
    const hook = await hookOf(await homeowner(app, 'Ute'));
    await drafts(hook.owner, 1);
    const end = await last();
    const beyond = String(BigInt(end) + 1_000_000n);
    for (const [body, field] of [
      [{ after: beyond }, 'after'],
      [{ after: '0', until: beyond }, 'until'],
      [{ after: end, until: '1' }, 'until'],
      [{}, 'after'],
      [{ after: '-1' }, 'after'],
      [{ after: '99999999999999999999' }, 'after'],
      [{ after: 5 }, 'after'],
    ] as const)
      expect(byRest(await replay(hook, hook.owner, body)), JSON.stringify(body)).toEqual(invalid(field));
    expect(byGraphql(await graphql(hook, hook.owner, { after: end, until: '1' }))).toEqual(invalid('until'));
    await app.rest('PUT', `/v1/webhooks/${hook.id}`, { token: hook.owner.token, body: { status: 'paused' } });
    expect(byRest(await replay(hook, hook.owner, { after: '0' }))).toEqual(invalid());
  });

  it('sends nothing in a dry run, and sends once for a repeated key', async () => {
    const hook = await hookOf(await homeowner(app, 'Dora'));
    await drafts(hook.owner, 2);
    await settled(hook, 2);
    const dry = await replay(hook, hook.owner, { after: '0' }, { 'dry-run': 'true' });
    expect(dry.body).toMatchObject({ replayed_count: 2 });
    expect((await deliveriesTo(hook)).map(({ status }) => status)).toEqual(['delivered', 'delivered']);
    const keyed = () => replay(hook, hook.owner, { after: '0' }, { 'idempotency-key': 'once' });
    const first = await keyed();
    await hook.receiver.until((all) => all.length === 4);
    await settled(hook, 2);
    const second = await keyed();
    expect([second.body, second.headers.get('idempotency-replayed')]).toEqual([first.body, 'true']);
    expect((await settled(hook, 2)).map(({ attempts }) => attempts.length)).toEqual([2, 2]);
  });
});

it('a person can replay events 30 times an hour, and rejected calls don’t count', async () => {
  const limited = await openTestApp({ RATE_LIMITS: 'on' });
  const { token } = await homeowner(limited, 'Rosa');
  const made = await limited.rest('POST', '/v1/webhooks', { token, body: { url: 'https://hooks.example.com/' } });
  const call = (body: object) => limited.rest('POST', `/v1/webhooks/${made.body.webhook.id}/replay`, { token, body });
  expect((await call({ after: '999999' })).status).toBe(400);
  for (let at = 0; at < 30; at += 1) expect((await call({ after: '0' })).status).toBe(200);
  const { status, body } = await call({ after: '0' });
  expect([status, body.details]).toMatchObject([429, { code: 'RATE_LIMITED', limit: 'replay' }]);
  expect(body.error).toMatch(/^Too many replays\. Try again in \d+ minutes\.$/);
  await limited.close();
});
