/** The stream of a person's notifications: every tab gets each one once, and misses none after a disconnect. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { AccountEventType } from '../../../../src/market/rules/account-events.js';
import { newId } from '../../../../src/market/store/new-id.js';
import { openTestApp, type Json, type TestApp } from '../../../setup/app.js';
import { must } from '../../../story/awards.js';
import { callRest } from '../../../story/calls.js';
import { contractor, homeowner, type Person } from '../../../story/cast.js';
import { gather, giveTokens, givenJob, type GivenJob, type People } from '../../../story/journey.js';
import { until } from '../../../platform/security/until.js';
import { followEvents } from '../../../platform/live/positions.js';
import {
  CHANNELS,
  hearAsEvents,
  hearOverWebSocket,
  refusalOf,
  stopAll,
  untilOpen,
} from '../../../platform/graphql/streams/clients.js';

let app: TestApp;
let other: TestApp;
let people: People;
let allHeard: () => Promise<void>;
beforeAll(async () => {
  app = await openTestApp();
  other = await openTestApp({}, { sameDatabaseAs: app });
  allHeard = followEvents(app, other);
  people = await gather(app);
});
afterEach(async () => {
  stopAll();
  await untilOpen(app.services, 0);
  await untilOpen(other.services, 0);
});
afterAll(async () => {
  await other.close();
  await app.close();
});

const STREAM = `subscription ($after: String) { myNotifications(after: $after) {
  position type title jobId bidId isRead event { ... on JobEvent { id } ... on AccountEvent { id } } } }`;

async function newOwner(name: string): Promise<Person> {
  const owner = await homeowner(app, name);
  await giveTokens(app, people.admin, owner, 1_000);
  return owner;
}

async function bid(job: GivenJob): Promise<string> {
  const by = await contractor(app, 'Ned');
  const { status, body } = await callRest(app, 'submitBid', { by, job: job.id, body: { amount: 500 } });
  expect(status).toBe(201);
  return body.id;
}

async function accountEvent(type: AccountEventType, of: Person): Promise<void> {
  await app.sql`insert into account_events (id, user_id, type, occurred_at)
    values (${newId('accountEvent')}, ${of.userId}, ${type}, now())`;
  app.services.live.wake();
}

const feedOf = async (by: Person): Promise<Json[]> =>
  (await app.rest('GET', '/v1/notifications?per_page=100', { token: by.token })).body.data;

const idsIn = (events: readonly Json[]) => events.map(({ event }) => event.id);

it('a new bid raises the counter of its owner’s two tabs, even on two servers', async () => {
  const owner = await newOwner('Tabea');
  const job = await givenJob(app, 'open', { ...people, owner });
  await allHeard();
  const tabs = [hearOverWebSocket(app.url, owner, STREAM), hearOverWebSocket(other.url, owner, STREAM)];
  await untilOpen(app.services, 1);
  await untilOpen(other.services, 1);
  const bidId = await bid(job);
  for (const tab of tabs) {
    await tab.count(1);
    expect(tab.events).toEqual([
      expect.objectContaining({
        type: 'BID_SUBMITTED',
        title: 'You have a new bid',
        jobId: job.id,
        bidId,
        isRead: false,
      }),
    ]);
  }
  const { data } = await app.graphql('{ viewer { unreadCount } }', { token: owner.token });
  expect(data.viewer.unreadCount).toBe(3);
});

it.each(CHANNELS)('over %s, a user who reconnects gets exactly the feed’s notifications', async (_name, hear) => {
  const owner = await newOwner('Renee');
  const job = await givenJob(app, 'open', { ...people, owner });
  await allHeard();
  const first = hear(app.url, owner, STREAM, { after: '0' });
  await first.count(2);
  first.stop();
  await untilOpen(app.services, 0);
  await bid(job);
  await accountEvent('webhook.paused', owner);
  const second = hear(app.url, owner, STREAM, { after: first.events.at(-1)!.position });
  await second.count(2);
  await bid(job);
  await second.count(3);
  expect(idsIn([...first.events, ...second.events])).toEqual(idsIn(await feedOf(owner)).toReversed());
  expect(second.events[1]).toMatchObject({ type: 'WEBHOOK_PAUSED', jobId: null, bidId: null });
});

describe('nobody gets a notification', () => {
  it('of their own actions, or of events that concern others', async () => {
    const owner = await newOwner('Nora');
    const stranger = await newOwner('Nils');
    const job = await givenJob(app, 'open', { ...people, owner });
    await allHeard();
    const [own, ownerEvents, foreign] = [
      hearAsEvents(app.url, people.bidder, STREAM),
      hearAsEvents(app.url, owner, STREAM),
      hearAsEvents(app.url, stranger, STREAM),
    ];
    await untilOpen(app.services, 3);
    await callRest(app, 'revise', { by: people.bidder, job: job.id, bid: job.bids.bidder!, body: { amount: 750 } });
    await callRest(app, 'update', { by: owner, job: job.id, body: { title: 'Mend the whole roof' } });
    await own.count(1);
    await accountEvent('webhook.failing', stranger);
    await foreign.count(1);
    await bid(job);
    await ownerEvents.count(2);
    expect(own.events.map(({ type }) => type)).toEqual(['JOB_UPDATED']);
    expect(foreign.events.map(({ type }) => type)).toEqual(['WEBHOOK_FAILING']);
    expect(ownerEvents.events.map(({ type }) => type)).toEqual(['BID_REVISED', 'BID_SUBMITTED']);
  });

  it('of another person’s account, except that admins are notified of pending undos', async () => {
    const owner = await newOwner('Urs');
    const admin = hearAsEvents(app.url, people.admin, STREAM);
    await untilOpen(app.services, 1);
    await accountEvent('account.password_changed', owner);
    // Without this, both may occur in the same millisecond.
    await allHeard();
    await accountEvent('account.email_undo_pending', owner);
    await admin.count(1);
    expect(admin.events.map(({ type }) => type)).toEqual(['ACCOUNT_EMAIL_UNDO_PENDING']);
    expect((await feedOf(owner)).map(({ type }) => type)).toEqual([
      'account.email_undo_pending',
      'account.password_changed',
    ]);
    const [first, second] = await feedOf(owner);
    const read = async (by: Person, id: string) => {
      const { data, errors } = await app.graphql(`{ node(id: "${id}") { id __typename } }`, { token: by.token });
      return errors ? errors[0]!.extensions?.['code'] : data.node.__typename;
    };
    expect([await read(owner, first!.event.id), await read(owner, second!.event.id)]).toEqual([
      'AccountEvent',
      'AccountEvent',
    ]);
    expect([await read(people.admin, first!.event.id), await read(people.admin, second!.event.id)]).toEqual([
      'AccountEvent',
      'FORBIDDEN',
    ]);
    expect(await read(people.bidder, first!.event.id)).toBe('FORBIDDEN');
  });

  it('after a withdrawal, even if the stream was already open', async () => {
    const owner = await newOwner('Wanda');
    const [bidder, awardee] = [await contractor(app, 'Wim'), await contractor(app, 'Wes')];
    const job = await givenJob(app, 'open', { ...people, owner, bidder, awardee });
    await allHeard();
    const heard = hearAsEvents(app.url, bidder, STREAM);
    await untilOpen(app.services, 1);
    await callRest(app, 'view', { by: owner, job: job.id, bid: job.bids.bidder! });
    await heard.count(1);
    await callRest(app, 'withdraw', { by: bidder, job: job.id, bid: job.bids.bidder! });
    await callRest(app, 'update', { by: owner, job: job.id, body: { title: 'Mend the whole roof' } });
    await accountEvent('webhook.paused', bidder);
    await heard.count(2);
    expect(heard.events.map(({ type }) => type)).toEqual(['BID_VIEWED', 'WEBHOOK_PAUSED']);
    expect((await feedOf(bidder)).map(({ type }) => type)).toEqual(['webhook.paused']);
    const late = hearAsEvents(app.url, bidder, STREAM, { after: '0' });
    await late.count(1);
    expect(late.events.map(({ type }) => type)).toEqual(['WEBHOOK_PAUSED']);
  });
});

describe('while servers of two releases run', () => {
  it('an open stream gets events that the previous release numbers, before later ones', async () => {
    const owner = await newOwner('Udo');
    await allHeard();
    const stream = hearAsEvents(app.url, owner, STREAM);
    await untilOpen(app.services, 1);
    await app.sql.begin(async (tx) => {
      await tx`insert into account_events (id, user_id, type, occurred_at)
        values (${newId('accountEvent')}, ${owner.userId}, 'webhook.paused', now())`;
      await tx`select number_events(1000)`;
    });
    await accountEvent('webhook.failing', owner);
    await stream.count(2);
    expect(stream.events.map(({ type }) => type)).toEqual(['WEBHOOK_PAUSED', 'WEBHOOK_FAILING']);
  });

  it('people are notified of events that the previous release numbers', async () => {
    const owner = await newOwner('Petra');
    await allHeard();
    await app.sql.begin(async (tx) => {
      await tx`insert into account_events (id, user_id, type, occurred_at)
        values (${newId('accountEvent')}, ${owner.userId}, 'webhook.paused', now())`;
      await tx`select number_events(1000)`;
    });
    await until(async () => (await feedOf(owner)).some(({ type }) => type === 'webhook.paused'));
  });

  it('an event type that only the next release knows doesn’t keep anyone from getting other events', async () => {
    const [owner, stranger] = [await newOwner('Nele'), await newOwner('Ned')];
    await allHeard();
    const [ownerEvents, foreign] = [hearAsEvents(app.url, owner, STREAM), hearAsEvents(app.url, stranger, STREAM)];
    await untilOpen(app.services, 2);
    await app.sql.begin(async (tx) => {
      const ids = [newId('accountEvent'), newId('event'), newId('accountEvent')] as const;
      await tx`insert into account_events (id, user_id, type, occurred_at)
        values (${ids[0]}, ${owner.userId}, 'account.renamed', now())`;
      await tx`insert into events (id, job_id, sequence, type, homeowner_id, occurred_at)
        values (${ids[1]}, ${newId('job')}, 1, 'job.renamed', ${owner.profileId}, now() + interval '1 second')`;
      await tx`insert into account_events (id, user_id, type, occurred_at)
        values (${ids[2]}, ${stranger.userId}, 'webhook.paused', now() + interval '2 seconds')`;
      await tx`select number_events(1000)`;
      await tx`insert into notifications (user_id, position)
        select user_id, position from account_events where id in (${ids[0]}, ${ids[2]})
        union all select ${owner.userId}, position from events where id = ${ids[1]}`;
    });
    await foreign.count(1);
    expect(foreign.events.map(({ type }) => type)).toEqual(['WEBHOOK_PAUSED']);
    await accountEvent('webhook.failing', owner);
    await ownerEvents.count(1);
    expect(ownerEvents.events.map(({ type }) => type)).toEqual(['WEBHOOK_FAILING']);
  });
});

it('a position after the last one is rejected', async () => {
  const [{ last }] = (await app.sql`select greatest((select max(position) from events),
    (select max(position) from account_events))::text as last`) as [{ last: string }];
  const heard = hearAsEvents(app.url, people.owner, STREAM, { after: String(BigInt(last) + 1n) });
  expect(await refusalOf(heard)).toEqual(['VALIDATION_FAILED']);
});

it('a stream gets each notification of a batch whose notifications are stored in several steps', async () => {
  const owner = await newOwner('Vera');
  const jobs = [await givenJob(app, 'open', { ...people, owner }), await givenJob(app, 'open', { ...people, owner })];
  // Each edit could notify more than half as many bidders as one step stores.
  await app.sql`update jobs set bids_ever = 6000 where id in ${app.sql(jobs.map(({ id }) => id))}`;
  await allHeard();
  const stream = hearAsEvents(app.url, people.bidder, STREAM);
  await untilOpen(app.services, 1);
  await app.sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(7203119)`;
    for (const job of jobs) await must(app, 'update', owner, job, undefined, { title: 'Mend the whole roof' });
  });
  await stream.count(2);
  expect(new Set(stream.events.map(({ jobId }) => jobId))).toEqual(new Set(jobs.map(({ id }) => id)));
});
