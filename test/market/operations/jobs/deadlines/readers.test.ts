/** Who can read what the clock did and will do, in each API and over each channel. */
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { openEvents } from '../../../../../src/market/operations/events/live-events.js';
import type { JobId } from '../../../../../src/market/rules/ids.js';
import { checkDatabase } from '../../../../setup/database/checker.js';
import type { Json } from '../../../../setup/app.js';
import { must } from '../../../../story/awards.js';
import { daysAfter, openTimedApp, type TimedApp } from '../../../../story/deadlines.js';
import { givenJob, ROLES_OF, type GivenJob, type People } from '../../../../story/journey.js';
import { allNumbered } from '../../../../platform/live/positions.js';
import { takeUntil, viewerOf } from '../../../../platform/live/viewers.js';
import { openReceiver } from '../../../webhooks/receiver.js';

let app: TimedApp;
let people: People;
beforeAll(async () => {
  app = await openTimedApp({ WEBHOOKS_ALLOW_PRIVATE: 'on' });
  people = app.people;
});
afterAll(async () => {
  expect(await checkDatabase(app.sql)).toEqual([]);
  await app.close();
});

type Who = keyof People;

/**
 * Ava gets the job first and declines it. Ben gets it then, and everything goes wrong. Once Ava has declined, her
 * webhook no longer gets her reminder, so the story waits for it.
 */
async function longStory(job: GivenJob, avaIsReminded: () => Promise<unknown>): Promise<void> {
  const step = (key: Parameters<typeof must>[1], who: Who, body: object = {}) =>
    must(app, key, people[who], job, undefined, body);
  await app.days(1.1); // Olive is reminded of the stake.
  await step('award', 'owner', { bid_id: job.bids.awardee });
  await app.days(3.1); // Ava is reminded.
  await avaIsReminded();
  await step('declineAward', 'awardee');
  await step('award', 'owner', { bid_id: job.bids.bidder });
  await app.days(3.1); // Ben is reminded.
  await step('checkIn', 'bidder');
  await step('submitForReview', 'bidder');
  await app.days(5.1); // Olive is reminded.
  await step('requestChanges', 'owner', { reason: 'It still leaks.' });
  await app.days(7.1); // Ben is reminded.
  await step('submitForReview', 'bidder');
  await step('dispute', 'owner', { reason: 'It still leaks.' });
  await app.days(7.1); // Both are reminded.
  await step('escalate', 'bidder', { escalation_reason: 'Silence.' });
  await app.days(5.1); // Admins are reminded.
  await step('reachDecision', 'admin', { decision: 'Pay half.', ruling: 'Both are right.' });
  await app.days(10.1); // Ben is reminded.
  await step('fileAppeal', 'bidder', { appeal_reason: 'Too little.' });
  await app.days(5.1); // Admins are reminded.
  await step('finalizeAppeal', 'admin', { final_decision: 'Pay all.', ruling: 'It holds.' });
}

/** The states in which each person's reminders of this story were written. */
const READ: { readonly [Reader in Who]?: readonly string[] } = {
  owner: ['open', 'in_review', 'disputed'],
  awardee: ['awarded 1'],
  bidder: ['awarded 2', 'in_progress', 'disputed', 'decision_reached'],
  stranger: [],
  admin: [
    'open',
    'awarded 1',
    'awarded 2',
    'in_review',
    'in_progress',
    'disputed',
    'escalated',
    'decision_reached',
    'appealed',
  ],
};
const READERS = Object.keys(READ) as Who[];

describe('a reminder', () => {
  it('can be read by the person reminded and by admins, and by nobody else, over every channel', async () => {
    const { rest, sql, services } = app;
    const offers = { bidder: { guaranteed_view: true } };
    const job = await givenJob(app, 'open', people, { offers });
    await must(app, 'submitBid', people.stranger, job, undefined, { amount: 600 });
    await allNumbered(app);
    const [{ last } = { last: '0' }] = await sql`select max(position)::text as last from events`;
    const viewer = (who: Who) => viewerOf(people[who], ROLES_OF[who]);
    const ofJob = { jobId: job.id as JobId };
    const streams = READERS.map((who) => ({
      who,
      ofJob: openEvents(services.live, viewer(who), ofJob, services.db),
      own: openEvents(services.live, viewer(who), {}, services.db),
    }));
    const hooks: { who: Who; id: string; receiver: Awaited<ReturnType<typeof openReceiver>> }[] = [];
    for (const who of READERS) {
      const receiver = await openReceiver();
      const body = { url: receiver.url, event_types: ['job.reminded', 'job.appeal_finalized'] };
      const made = await rest('POST', '/v1/webhooks', { token: people[who].token, body });
      hooks.push({ who, id: made.body.webhook.id, receiver });
    }
    const hookOfAva = hooks.find(({ who }) => who === 'awardee')?.receiver;
    await longStory(job, async () => hookOfAva?.until((all) => all.some(({ body }) => body.type === 'job.reminded')));
    await allNumbered(app);

    const rows = await sql<{ id: string; from_status: string }[]>`select id, from_status from events
      where job_id = ${job.id} and type = 'job.reminded' order by sequence`;
    let awards = 0;
    const names = new Map(
      rows.map(({ id, from_status: state }) => [id, state === 'awarded' ? `awarded ${(awards += 1)}` : state]),
    );
    const ordered = (who: Who) => [...names.values()].filter((name) => READ[who]?.includes(name));
    expect([...names.values()].toSorted()).toEqual([...READ.admin!].toSorted());
    const named = (events: { type: string; id: string }[]) =>
      events.filter(({ type }) => type === 'job.reminded').map(({ id }) => names.get(id));

    for (const who of READERS) {
      const { token } = people[who];
      const timeline = (await rest('GET', `/v1/jobs/${job.id}/events?per_page=100`, { token })).body;
      expect([who, named(timeline.data)]).toEqual([who, ordered(who)]);
      const query = `query($id: ID!) { job(id: $id) { timeline(first: 100) { totalCount nodes { id type } } } }`;
      const { data } = await app.graphql(query, { token, variables: { id: job.id } });
      const { totalCount, nodes } = data?.job.timeline ?? {};
      expect(nodes.map(({ id }: Json) => id)).toEqual(timeline.data.map(({ id }: Json) => id));
      expect([who, totalCount]).toEqual([who, nodes.length]);
      for (const [id, name] of names) {
        const { data } = await app.graphql('query($id: ID!) { node(id: $id) { id } }', { token, variables: { id } });
        expect([who, name, data?.node?.id]).toEqual([who, name, ordered(who).includes(name) ? id : undefined]);
      }

      const mine = (await rest('GET', `/v1/events?after=${last}&per_page=100`, { token })).body.data;
      // Ava's bid is withdrawn, so the job is no longer hers.
      const own = who === 'awardee' ? [] : ordered(who);
      expect([who, named(mine.filter(({ job_id }: Json) => job_id === job.id))]).toEqual([who, own]);
      const past = openEvents(services.live, viewer(who), { ...ofJob, after: last }, services.db);
      expect([who, named(await takeUntil(past, ({ type }) => type === 'job.appeal_finalized'))]).toEqual([
        who,
        ordered(who),
      ]);
      past.close();
    }

    for (const { who, ofJob, own } of streams) {
      const isLast = ({ type, jobId }: { type: string; jobId: string }) =>
        jobId === job.id && type === 'job.appeal_finalized';
      expect([who, named(await takeUntil(ofJob, isLast))]).toEqual([who, ordered(who)]);
      // Whoever lost the job doesn't get its last event.
      if (who !== 'awardee') expect([who, named(await takeUntil(own, isLast))]).toEqual([who, ordered(who)]);
      ofJob.close();
      own.close();
    }

    for (const { who, id, receiver } of hooks) {
      if (who !== 'awardee')
        await receiver.until((all) => all.some(({ body }) => body.type === 'job.appeal_finalized'));
      const { token } = people[who];
      const { body } = await rest('GET', `/v1/webhooks/${id}/deliveries?per_page=100`, { token });
      const reminders = body.data.filter(({ event_type }: Json) => event_type === 'job.reminded');
      expect([who, reminders.map(({ event_id }: Json) => names.get(event_id)).toSorted()]).toEqual([
        who,
        ordered(who).toSorted(),
      ]);
      await rest('DELETE', `/v1/webhooks/${id}`, { token });
      await receiver.close();
    }
  });
});

describe('what the clock will do, and until when people can act', () => {
  test.each([
    ['in_review', 'approve'],
    ['disputed', 'escalate'],
    ['decision_reached', 'stand_decision'],
  ] as const)('%s: only the parties and admins read it', async (state, action) => {
    const job = await givenJob(app, state, people);
    const [one] = await app.upcoming(people.owner, job);
    expect(one).toMatchObject({ action, at: expect.any(String), unless: expect.stringMatching(/\w{3}/) });
    for (const who of ['awardee', 'admin'] as const) expect(await app.upcoming(people[who], job)).toEqual([one]);
    for (const who of ['bidder', 'stranger', 'other'] as const)
      expect(await app.upcoming(people[who], job)).toEqual([]);
  });

  it('an open job’s deadline can be read by everyone who can see the job', async () => {
    const job = await givenJob(app, 'open', people);
    const expected = await app.upcoming(people.owner, job);
    expect(expected).toMatchObject([{ action: 'expire' }]);
    for (const who of ['awardee', 'bidder', 'stranger', 'admin'] as const)
      expect(await app.upcoming(people[who], job)).toEqual(expected);
    expect(await app.upcoming(people.other, job)).toEqual([]);
  });

  const allUntil = (at: string, ...actions: string[]) => Object.fromEntries(actions.map((action) => [action, at]));

  it('each action that the end forbids has the time of the end, and no other action has a time', async () => {
    const open = await givenJob(app, 'open', people);
    const [{ at: expiry }] = (await app.upcoming(people.owner, open)) as [Json];
    const ofOwner = ['award', 'update', 'extend_deadline', 'cancel'];
    expect(await app.untils(people.owner, open)).toEqual(allUntil(expiry, ...ofOwner));
    expect(await app.untils(people.stranger, open)).toEqual(allUntil(expiry, 'submit_bid'));
    const review = await givenJob(app, 'in_review', people);
    const [{ at: approval }] = (await app.upcoming(people.owner, review)) as [Json];
    const inReview = ['approve', 'request_changes', 'dispute', 'extend_deadline'];
    expect(await app.untils(people.owner, review)).toEqual(allUntil(approval, ...inReview));
    expect(await app.untils(people.bidder, review)).toEqual({});
    // An admin can still complete it after that.
    expect(await app.untils(people.admin, review)).toEqual({});
    const disputed = await givenJob(app, 'disputed', people);
    const [{ at: escalation }] = (await app.upcoming(people.owner, disputed)) as [Json];
    const both = ['escalate', 'resolve_dispute'];
    for (const who of ['owner', 'awardee'] as const)
      expect(await app.untils(people[who], disputed)).toEqual(allUntil(escalation, ...both));
    const decided = await givenJob(app, 'decision_reached', people);
    const [{ at: standing }] = (await app.upcoming(people.owner, decided)) as [Json];
    expect(await app.untils(people.awardee, decided)).toEqual(allUntil(standing, 'accept_decision', 'file_appeal'));
    expect(await app.untils(people.owner, decided)).toEqual({});
    expect(await app.untils(people.admin, decided)).toEqual(allUntil(standing, 'extend_deadline'));
  });

  it('a late reminder moves the end to 48 hours after it', async () => {
    const job = await givenJob(app, 'in_review', people);
    const now = await app.days(50);
    const [{ at }] = (await app.upcoming(people.owner, job)) as [Json];
    expect(Date.parse(at) - Date.parse(daysAfter(now, 2))).toBeGreaterThanOrEqual(-1);
    expect(Date.parse(at) - Date.parse(daysAfter(now, 2))).toBeLessThan(60_000);
    expect(await app.untils(people.owner, job)).toMatchObject({ dispute: at });
  });
});
