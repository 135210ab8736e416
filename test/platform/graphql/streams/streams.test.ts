/** Events over both channels: who receives which, from where, and until when. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openTestApp, type Json, type TestApp } from '../../../setup/app.js';
import { openConnection } from '../../../attacks/raw-connection.js';
import { callRest } from '../../../story/calls.js';
import { homeowner, programOf, type Person } from '../../../story/cast.js';
import { DRAFT, gather, givenJob, PEOPLE, type People } from '../../../story/journey.js';
import {
  CHANNELS,
  hearAsEvents,
  hearOverWebSocket,
  JOB_EVENTS,
  MY_EVENTS,
  refusalOf,
  stopAll,
  untilOpen,
} from './clients.js';
import { followPositions } from '../../live/positions.js';
import { until } from '../../security/until.js';

let app: TestApp;
let heardUpTo: () => bigint;
let people: People;
beforeAll(async () => {
  app = await openTestApp();
  heardUpTo = followPositions(app.services);
  people = await gather(app);
});
afterEach(async () => {
  stopAll();
  await untilOpen(app.services, 0);
});
afterAll(() => app.close());

async function draft(by: Person): Promise<string> {
  return (await app.rest('POST', '/v1/jobs', { token: by.token, body: DRAFT })).body.id;
}

/** The position of the job's last event, once it has one. A stream gets the events numbered after it opened. */
async function positionNow(by: Person, job: string): Promise<string> {
  const events = `query($id: ID!) { job(id: $id) { timeline(first: 100) { nodes { position } } } }`;
  for (;;) {
    const { data } = await app.graphql(events, { token: by.token, variables: { id: job } });
    const last = data.job.timeline.nodes.at(-1).position;
    if (last === null) continue;
    await until(() => heardUpTo() >= BigInt(last));
    return last;
  }
}

const ACCESS_TOKEN_MS = 15 * 60 * 1_000;

describe.each(CHANNELS)('over %s', (channel, hear) => {
  it('events arrive in order, from when the stream is open', async () => {
    const hanna = await homeowner(app, 'Hanna');
    await positionNow(hanna, await draft(hanna));
    const heard = hear(app.url, hanna, MY_EVENTS);
    await untilOpen(app.services, 1);
    const jobs = [await draft(hanna), await draft(hanna), await draft(hanna)];
    await heard.count(3);
    expect(heard.events.map(({ jobId }) => jobId)).toEqual(jobs);
    expect(heard.events.map(({ type }) => type)).toEqual(['JOB_CREATED', 'JOB_CREATED', 'JOB_CREATED']);
  });

  it('with `after`, missed events come first, each once, and then new ones', async () => {
    const hanna = await homeowner(app, 'Hanna');
    const first = await draft(hanna);
    const after = await positionNow(hanna, first);
    const missed = [await draft(hanna), await draft(hanna)];
    const heard = hear(app.url, hanna, MY_EVENTS, { after });
    await heard.count(2);
    const later = await draft(hanna);
    await heard.count(3);
    expect(heard.events.map(({ jobId }) => jobId)).toEqual([...missed, later]);
  });

  it("no stream opens for a job that doesn't exist or that the viewer may not see", async () => {
    const job = await givenJob(app, 'draft', people);
    const refused = hear(app.url, people.stranger, JOB_EVENTS, { job: job.id });
    expect(await refusalOf(refused)).toEqual(['FORBIDDEN']);
    const unknown = hear(app.url, people.owner, JOB_EVENTS, { job: 'job_nothing' });
    expect(await refusalOf(unknown)).toEqual(['NOT_FOUND']);
  });

  it('an invalid position is refused', async () => {
    const refused = hear(app.url, people.owner, MY_EVENTS, { after: 'yesterday' });
    expect(await refusalOf(refused)).toEqual(['VALIDATION_FAILED']);
  });

  it('queries and mutations fail with a clear message and do nothing', async () => {
    const hanna = await homeowner(app, 'Hanna');
    const query = hear(app.url, hanna, '{ viewer { id } }');
    const create = 'mutation { createJob(input: { title: "A", description: "B" }) { job { id } } }';
    const mutation = hear(app.url, hanna, create);
    expect(await refusalOf(query)).toEqual(['VALIDATION_FAILED']);
    expect(await refusalOf(mutation)).toEqual(['VALIDATION_FAILED']);
    expect((await app.rest('GET', '/v1/jobs', { token: hanna.token })).body.data).toEqual([]);
  });

  it.each([
    ['two root fields', 'subscription { myEvents { id } other: myEvents { id } }', 'VALIDATION_FAILED'],
    ['a field that does not exist', 'subscription { myEvents { secret } }', 'VALIDATION_FAILED'],
    ['nothing but a condition', 'subscription { myEvents @skip(if: true) { id } }', 'VALIDATION_FAILED'],
    [
      'a condition in a fragment',
      'subscription { ...F } fragment F on Subscription { ... @include(if: false) { myEvents { id } } }',
      'VALIDATION_FAILED',
    ],
    ['no field of the schema', 'subscription { __typename }', 'VALIDATION_FAILED'],
    ['no GraphQL at all', 'subscription {', 'MALFORMED_REQUEST'],
    ['too many tokens', `subscription { myEvents { ${'id '.repeat(1_000)} } }`, 'MALFORMED_REQUEST'],
    ['too many aliases', `subscription { myEvents { ${aliases(20)} } }`, 'VALIDATION_FAILED'],
  ])('a document with %s is refused like a request', async (_what, query, code) => {
    const refused = hear(app.url, people.owner, query);
    expect(new Set(await refusalOf(refused))).toEqual(new Set([code]));
    expect(app.services.quotas.streams.inUse()).toBe(0);
  });

  it("one person's eleventh stream is refused, while the other ten and other people's continue", async () => {
    const [hanna, olga] = [await homeowner(app, 'Hanna'), await homeowner(app, 'Olga')];
    const ten = Array.from({ length: 10 }, () => hear(app.url, hanna, MY_EVENTS));
    await untilOpen(app.services, 10);
    const eleventh = hear(app.url, hanna, MY_EVENTS);
    expect(await refusalOf(eleventh)).toEqual(['RATE_LIMITED']);
    const others = hear(app.url, olga, MY_EVENTS);
    await untilOpen(app.services, 11);
    await Promise.all([draft(hanna), draft(olga)]);
    await Promise.all([...ten, others].map((one) => one.count(1)));
  });

  it('a program receives events with its API key until the key is revoked', async () => {
    const hanna = await homeowner(app, 'Hanna');
    const program = await programOf(app, hanna);
    const heard = hear(app.url, program, MY_EVENTS);
    await untilOpen(app.services, 1);
    await draft(hanna);
    await heard.count(1);
    const keys = await app.rest('GET', '/v1/api-keys', { token: hanna.token });
    await app.rest('DELETE', `/v1/api-keys/${keys.body.data[0].id}`, { token: hanna.token });
    await heard.ended;
    await untilOpen(app.services, 0);
    await draft(hanna);
    expect(heard.events).toHaveLength(1);
  });

  it("a logout immediately ends its session's streams on any instance, and no others", async () => {
    const twin = await openTestApp({}, { sameDatabaseAs: app });
    try {
      const hanna = await homeowner(app, 'Hanna');
      const again = await app.rest('POST', '/v1/auth/login', {
        body: { email: hanna.email, password: hanna.password },
      });
      const ending = hear(twin.url, hanna, MY_EVENTS);
      const going = hear(twin.url, again.body, MY_EVENTS);
      await untilOpen(twin.services, 2);
      await app.rest('POST', '/v1/auth/logout', { token: hanna.token });
      await ending.ended;
      await untilOpen(twin.services, 1);
      await draft({ ...hanna, token: again.body.token });
      await going.count(1);
      expect(ending.events).toEqual([]);
      going.stop();
    } finally {
      await twin.close();
    }
  });

  it('a stream ends some time after its access token has expired, and its client may reconnect', async () => {
    const hanna = await homeowner(app, 'Hanna');
    const { url, quotas } = await app.another({ afterExpiryMs: 500 - ACCESS_TOKEN_MS });
    const end = await hear(url, hanna, MY_EVENTS).ended;
    expect(end).toMatchObject(channel === 'a WebSocket' ? { code: 4403 } : { name: 'NetworkError' });
    await untilOpen({ quotas }, 0);
  });

  it("a bidder receives events of their own bid, the job's states, and an edit's public fields", async () => {
    const job = await givenJob(app, 'open', people);
    await positionNow(people.owner, job.id);
    const mine = hear(app.url, people.bidder, MY_EVENTS);
    const ofJob = hear(app.url, people.bidder, JOB_EVENTS, { job: job.id });
    const ofOwner = hear(app.url, people.owner, JOB_EVENTS, { job: job.id });
    const ofStranger = hear(app.url, people.stranger, JOB_EVENTS, { job: job.id });
    await untilOpen(app.services, 4);
    const edit = { requirements: 'Bring a ladder to the hidden lane.' };
    await callRest(app, 'update', { by: people.owner, job: job.id, body: edit });
    for (const [key, who] of [
      ['view', 'bidder'],
      ['shortlist', 'bidder'],
      ['view', 'awardee'],
    ] as const)
      await callRest(app, key, { by: people.owner, job: job.id, bid: job.bids[who]! });
    await callRest(app, 'award', { by: people.owner, job: job.id, body: { bid_id: job.bids.awardee } });
    await callRest(app, 'checkIn', { by: people.awardee, job: job.id, body: { notes: 'The key is under the mat.' } });
    await Promise.all([ofJob.count(6), ofOwner.count(8), mine.count(6)]);
    for (const heard of [ofJob, mine]) {
      expect(heard.events.map(({ type }: Json) => type)).toEqual([
        'JOB_UPDATED',
        'BID_VIEWED',
        'BID_SHORTLISTED',
        'JOB_AWARDED',
        'BID_REJECTED',
        'JOB_CHECKED_IN',
      ]);
      expect(JSON.stringify(heard.events)).not.toMatch(/under the mat|hidden lane/);
    }
    const { data } = await app.graphql(
      'query ($id: ID!) { job(id: $id) { timeline(first: 100) { nodes { type fields bidId } } } }',
      { token: people.bidder.token, variables: { id: job.id } },
    );
    const shown: Json[] = data.job.timeline.nodes;
    expect(shown.find(({ type }) => type === 'JOB_UPDATED').fields).toEqual(['requirements']);
    expect(shown.find(({ type }) => type === 'BID_REJECTED').bidId).toBe(job.bids.bidder);
    expect(ofStranger.events).toEqual([]);
    expect(JSON.stringify(ofOwner.events)).toContain('under the mat');
  });

  it('a contractor who withdraws their bid receives nothing more about the job among their own', async () => {
    const job = await givenJob(app, 'open', people);
    await positionNow(people.owner, job.id);
    const ben = people.bidder;
    const mine = hear(app.url, ben, MY_EVENTS);
    const ofOwner = hear(app.url, people.owner, JOB_EVENTS, { job: job.id });
    await untilOpen(app.services, 2);
    await callRest(app, 'withdraw', { by: ben, job: job.id, bid: job.bids.bidder! });
    await callRest(app, 'cancel', { by: people.owner, job: job.id });
    await ofOwner.count(3);
    const other = await givenJob(app, 'open', people);
    await callRest(app, 'cancel', { by: people.owner, job: other.id });
    while (!mine.events.some(({ jobId }) => jobId === other.id)) await mine.count(mine.events.length + 1);
    expect(mine.events.filter(({ jobId, type }) => jobId === job.id && type === 'JOB_CANCELLED')).toEqual([]);
  });
});

describe('a server that stops', () => {
  it('answers a later WebSocket request with Retry-After', async () => {
    const stopping = await openTestApp({}, { sameDatabaseAs: app });
    const connection = await openConnection(stopping.url);
    const [begun, rest] = ['GET /graphql HTTP/1.1\r\nHost: a\r\n', 'Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n'];
    connection.send(begun);
    const heard = hearOverWebSocket(stopping.url, people.owner, MY_EVENTS);
    await untilOpen(stopping.services, 1);
    const stopped = stopping.close();
    await heard.ended;
    connection.send(rest);
    const { status, headers } = await connection.answer();
    expect([status, headers.get('retry-after')]).toEqual([503, '1']);
    await stopped;
  });
});

describe('everybody', () => {
  it('receives over both channels what the timeline shows them, and nothing else', async () => {
    const job = await givenJob(app, 'open', people);
    const event =
      'id sequence type actorId actor { firstName } job { title } bid { amount } fromStatus toStatus bidId rating ' +
      'review fields tokensCharged ' +
      'tokensRefunded data';
    const query = `subscription($job: ID!) { jobEvents(jobId: $job) { ${event} position } }`;
    const channels = [hearOverWebSocket, hearAsEvents];
    const before = BigInt(await positionNow(people.owner, job.id));
    const listeners = PEOPLE.filter((who) => who !== 'other').flatMap((who) =>
      channels.map((hear) => ({ who, heard: hear(app.url, people[who], query, { job: job.id }) })),
    );
    await untilOpen(app.services, listeners.length);
    const steps: [Parameters<typeof callRest>[1], object][] = [
      ['award', { by: people.owner, body: { bid_id: job.bids.awardee } }],
      ['checkIn', { by: people.awardee, body: { notes: 'Came in by the garden.' } }],
      ['submitForReview', { by: people.awardee, body: { completion_notes: 'All tight.' } }],
      ['dispute', { by: people.owner, body: { reason: 'It still leaks.', details: 'By the chimney.' } }],
      ['escalate', { by: people.awardee, body: { escalation_reason: 'It does not.' } }],
      ['reachDecision', { by: people.admin, body: { decision: 'Mend it.', ruling: 'For the owner.' } }],
    ];
    for (const [key, asked] of steps) {
      const { status, body } = await callRest(app, key, { job: job.id, ...asked });
      expect([key, status, body?.error]).toEqual([key, 200, undefined]);
    }
    const timeline = `query($id: ID!) { job(id: $id) { timeline(first: 100) { nodes { ${event} position } } } }`;
    await positionNow(people.owner, job.id);
    for (const { who, heard } of listeners) {
      const { data } = await app.graphql(timeline, { token: people[who].token, variables: { id: job.id } });
      if (!data.job) {
        // A viewer who no longer sees the job gets no events from the award on.
        expect([who, heard.events]).toEqual(['stranger', []]);
        continue;
      }
      const shown = data.job.timeline.nodes.filter(({ position }: Json) => BigInt(position) > before);
      await heard.count(shown.length);
      expect({ who, events: heard.events }).toEqual({ who, events: shown });
    }
  });
});

function aliases(count: number): string {
  return Array.from({ length: count }, (_, at) => `a${at}: id`).join(' ');
}
