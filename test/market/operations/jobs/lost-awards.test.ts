/**
 * Why an award fell through is for Olive, Ada, and the contractor who lost it. Neither the next awardee nor another
 * bidder reads it, or which bid was awarded, over REST, GraphQL, streams, or webhooks.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type Json, type TestApp } from '../../../setup/app.js';
import { award, must } from '../../../story/awards.js';
import { contractor, type Person } from '../../../story/cast.js';
import { gather, givenJob, type GivenJob, type People } from '../../../story/journey.js';
import { allNumbered } from '../../../platform/live/positions.js';
import { connectAs, stopAll } from '../../../platform/graphql/streams/clients.js';
import { openReceiver, type Receiver } from '../../webhooks/receiver.js';

const SECRET = 'Her prices are a joke, and her dog bites.';
const EVENTS_WITH_ACTORS = `subscription($job: ID!, $after: String) {
  jobEvents(jobId: $job, after: $after) { type bidId data actorId actor { id firstName } } }`;

let app: TestApp;
let people: People;
beforeAll(async () => {
  app = await openTestApp({ WEBHOOKS_ALLOW_PRIVATE: 'on' });
  people = await gather(app);
});
afterEach(stopAll);
afterAll(() => app.close());

const MOVES = [
  ['declineAward', 'job.award_declined', 'awardee'],
  ['reopen', 'job.reopened', 'owner'],
] as const;

/** Ben is awarded the job that Ava lost. Stella has bid, too. */
async function lost(key: (typeof MOVES)[number][0], by: (typeof MOVES)[number][2]): Promise<GivenJob> {
  const job = await givenJob(app, 'open', people);
  await must(app, 'submitBid', people.stranger, job, undefined, { amount: 5 });
  await award(app, people, job, job.bids.awardee!);
  await must(app, key, people[by], job, undefined, { reason: SECRET });
  await award(app, people, job, job.bids.bidder!);
  return job;
}

async function lastPosition(): Promise<string> {
  await allNumbered(app);
  const [row] = await app.sql`select coalesce(max(position), 0) as last from events`;
  return String(row?.last);
}

const KNOW = ['owner', 'awardee', 'admin'] as const;
const DO_NOT_KNOW = ['bidder', 'stranger'] as const;

/** True if the text names Ava or her bid in any way. A random ID can contain "Ava", but never as a word. */
const namesAva = (text: string, { bids }: GivenJob) =>
  [people.awardee.userId, people.awardee.profileId, bids.awardee!].some((id) => text.includes(id)) ||
  /\bAva\b/.test(text);

describe.each(MOVES)('after %s, the reason', (key, type, by) => {
  test('is in the timelines of those who know, and of nobody else', async () => {
    const job = await lost(key, by);
    const query = `query($id: ID!) { job(id: $id) { timeline(first: 50) { nodes { id type bidId data actorId
      actor { id firstName lastName contractor { id companyName } } } } } }`;
    for (const who of [...KNOW, ...DO_NOT_KNOW]) {
      const { token } = people[who];
      const rest = await app.rest('GET', `/v1/jobs/${job.id}/events?per_page=50`, { token });
      const graphql = await app.graphql(query, { token, variables: { id: job.id } });
      const knows = KNOW.some((one) => one === who);
      for (const text of [JSON.stringify(rest.body), JSON.stringify(graphql.data)])
        expect([who, text.includes(SECRET), namesAva(text, job)]).toEqual([who, knows, knows]);
      const shown = rest.body.data.find((event: Json) => event.type === type);
      const whole = { reason: SECRET, contractor_id: people.awardee.profileId };
      expect([who, shown.data]).toEqual([who, knows ? whole : {}]);
      const actor = knows || by === 'owner' ? people[by].userId : null;
      expect([who, shown.actor_id, shown.actor?.id ?? null]).toEqual([who, actor, actor]);
      const one = await app.graphql(
        'query($id: ID!) { node(id: $id) { ... on JobEvent { type actorId actor { id } } } myEvents(first: 100) ' +
          '{ nodes { bidId data actorId actor { id firstName } } } }',
        { token, variables: { id: shown.id } },
      );
      expect([who, one.data.node.actorId, one.data.node.actor?.id ?? null]).toEqual([who, actor, actor]);
      const own = await app.rest('GET', '/v1/events?per_page=100', { token });
      for (const text of [JSON.stringify(own.body), JSON.stringify(one.data)])
        if (!knows) expect([who, text.includes(SECRET), namesAva(text, job)]).toEqual([who, false, false]);
    }
  });

  test('is never shown to Ben when he is the awardee and works on the job', async () => {
    const job = await lost(key, by);
    await must(app, 'checkIn', people.bidder, job);
    const { body } = await app.rest('GET', `/v1/jobs/${job.id}/events?per_page=50`, { token: people.bidder.token });
    expect(JSON.stringify(body)).not.toContain(SECRET);
    expect(body.data.map((event: Json) => event.type)).toContain(type);
  });

  test('is streamed to those who know, and to nobody else', async () => {
    const after = await lastPosition();
    const job = await lost(key, by);
    for (const who of [...KNOW, ...DO_NOT_KNOW]) {
      const { subscribe, client } = connectAs(app.url, people[who]);
      const heard = subscribe(EVENTS_WITH_ACTORS, { job: job.id, after });
      const types = () => heard.events.map((event) => event.type);
      while (types().filter((one) => one === 'JOB_AWARDED').length < 2) await heard.count(heard.events.length + 1);
      const knows = KNOW.some((one) => one === who);
      const text = JSON.stringify(heard.events);
      expect([who, text.includes(SECRET), namesAva(text, job)]).toEqual([who, knows, knows]);
      heard.stop();
      await client.dispose();
    }
  });
});

describe('webhooks', () => {
  const receivers: Receiver[] = [];
  afterEach(async () => {
    for (const receiver of receivers.splice(0)) await receiver.close();
  });

  async function hookOf({ token }: Person): Promise<Receiver> {
    const receiver = await openReceiver();
    receivers.push(receiver);
    const body = { url: receiver.url, event_types: [] };
    expect((await app.rest('POST', '/v1/webhooks', { token, body })).status).toBe(201);
    return receiver;
  }

  test('tell Olive and Ava why Olive reopened the job, and tell Ben only that she did', async () => {
    const ava = await contractor(app, 'Ava');
    const ben = await contractor(app, 'Ben');
    const cast = { ...people, awardee: ava, bidder: ben };
    const hooks = { owner: await hookOf(people.owner), ava: await hookOf(ava), ben: await hookOf(ben) };
    const job = await givenJob(app, 'awarded', cast);
    await must(app, 'reopen', people.owner, job, undefined, { reason: SECRET });
    await award(app, cast, job, job.bids.bidder!);
    const told = async (receiver: Receiver) => {
      const isReopening = ({ body }: { body: Json }) => body.type === 'job.reopened' && body.data.job_id === job.id;
      const all = await receiver.until((received) => received.some(isReopening));
      return all.find(isReopening)!.body.data.data;
    };
    const whole = { reason: SECRET, contractor_id: ava.profileId };
    expect(await told(hooks.owner)).toEqual(whole);
    expect(await told(hooks.ava)).toEqual(whole);
    expect(await told(hooks.ben)).toEqual({});
    expect(JSON.stringify(hooks.ben.received)).not.toContain(SECRET);
    expect(JSON.stringify(hooks.ben.received)).not.toContain(job.bids.awardee);
  });

  test('tell Olive who declined, and tell Ben only that his bid is back', async () => {
    const ava = await contractor(app, 'Ava');
    const ben = await contractor(app, 'Ben');
    const cast = { ...people, awardee: ava, bidder: ben };
    const hooks = { owner: await hookOf(people.owner), ben: await hookOf(ben) };
    const job = await givenJob(app, 'awarded', cast);
    await must(app, 'declineAward', ava, job, undefined, { reason: SECRET });
    const told = async (receiver: Receiver, type: string) => {
      const isIt = ({ body }: { body: Json }) => body.type === type && body.data.job_id === job.id;
      const all = await receiver.until((received) => received.some(isIt));
      const { actor_id: id, actor } = all.find(isIt)!.body.data;
      return [id, actor?.name];
    };
    for (const type of ['job.award_declined', 'bid.restored']) {
      expect((await told(hooks.owner, type))[0]).toBe(ava.userId);
      expect(await told(hooks.ben, type)).toEqual([null, undefined]);
    }
    expect(JSON.stringify(hooks.ben.received)).not.toContain(ava.userId);
  });
});

test('no losing contractor can see whose bid was awarded, from the award to the end of the dispute', async () => {
  const job = await givenJob(app, 'completed', people, { through: 'appealed' });
  const read = async ({ token }: Person) =>
    (await app.rest('GET', `/v1/jobs/${job.id}/events?per_page=50`, { token })).body.data;
  const shown = await read(people.bidder);
  const types = ['job.checked_in', 'job.submitted_for_review', 'job.appeal_filed'];
  expect(shown.map(({ type }: Json) => type)).toEqual(expect.arrayContaining(types));
  expect(namesAva(JSON.stringify(shown), job)).toBe(false);
  for (const who of KNOW) {
    const actors = (await read(people[who])).flatMap((event: Json) => (types.includes(event.type) ? event.actor : []));
    expect([who, ...actors.map(({ id }: Json) => id)]).toEqual([who, ...types.map(() => people.awardee.userId)]);
  }
});

test('what Olive wants changed is never shown to Ben, who lost', async () => {
  const job = await givenJob(app, 'in_review', people);
  await must(app, 'requestChanges', people.owner, job, undefined, { reason: SECRET, items: [SECRET] });
  const read = async ({ token }: Person) =>
    JSON.stringify((await app.rest('GET', `/v1/jobs/${job.id}/events?per_page=50`, { token })).body);
  for (const who of KNOW) expect(await read(people[who])).toContain(SECRET);
  expect(await read(people.bidder)).not.toContain(SECRET);
});
