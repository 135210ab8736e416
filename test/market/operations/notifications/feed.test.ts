/** A person's notifications: which events they're told of, in both APIs, and what happens when they lose access. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NOTIFICATIONS, type NotificationReader } from '../../../../src/market/rules/notifications.js';
import { JOB_STATES } from '../../../../src/market/rules/states.js';
import { openTestApp, type Json, type TestApp } from '../../../setup/app.js';
import { callRest } from '../../../story/calls.js';
import { contractor, homeowner, type Person } from '../../../story/cast.js';
import { gather, givenJob, propose, type People } from '../../../story/journey.js';
import { allNumbered } from '../../../platform/live/positions.js';

let app: TestApp;
let people: People;
beforeAll(async () => {
  app = await openTestApp();
  people = await gather(app);
  for (const state of JOB_STATES) await givenJob(app, state, people);
  const disputed = await givenJob(app, 'disputed', people);
  await propose(app, people, disputed);
  await allNumbered(app);
});
afterAll(() => app.close());

const FEED = `query ($first: Int, $after: String, $unread: Boolean) { viewer { unreadCount
  notifications(first: $first, after: $after, unread: $unread) {
    edges { cursor node { position title sentence jobId bidId isRead event { __typename
      ... on JobEvent { id position type jobId data actor { id } } ... on AccountEvent { id position type data } } } }
    pageInfo { hasNextPage endCursor } totalCount } } }`;

async function byRest(by: Person, perPage = 100, query = ''): Promise<Json[]> {
  const found: Json[] = [];
  for (let after = ''; ;) {
    const path = `/v1/notifications?per_page=${perPage}${query}${after && `&after=${after}`}`;
    const { status, body } = await app.rest('GET', path, { token: by.token });
    expect(status).toBe(200);
    found.push(...body.data);
    if (body.next_after === null) return found;
    expect(body.next_after).toBe(body.data.at(-1).position);
    after = body.next_after;
  }
}

async function byGraphql(by: Person, first: number): Promise<Json[]> {
  const found: Json[] = [];
  for (let after: string | null = null; ;) {
    const { data, errors } = await app.graphql(FEED, { token: by.token, variables: { first, after } });
    expect(errors).toBeUndefined();
    const { edges, pageInfo } = data.viewer.notifications;
    expect(edges.map(({ cursor }: Json) => cursor)).toEqual(edges.map(({ node }: Json) => node.position));
    found.push(...edges.map(({ node }: Json) => node));
    if (!pageInfo.hasNextPage) return found;
    after = pageInfo.endCursor;
  }
}

async function unreadOf(by: Person): Promise<number> {
  const [{ body }, { data }] = await Promise.all([
    app.rest('GET', '/v1/notifications?per_page=1', { token: by.token }),
    app.graphql('{ viewer { unreadCount } }', { token: by.token }),
  ]);
  expect(data.viewer.unreadCount).toBe(body.unread_count);
  return body.unread_count;
}

const titlesOf = async (by: Person) => (await byRest(by)).map(({ title }) => title);

/** Their own events that have an entry for one of these readers, and that somebody else caused. Newest first. */
async function expected(by: Person, readers: readonly NotificationReader[]): Promise<Json[]> {
  const { body } = await app.rest('GET', '/v1/events?per_page=100', { token: by.token });
  expect(body.data.length).toBeLessThan(100);
  const table: Record<string, object> = NOTIFICATIONS;
  return body.data
    .filter(({ type, actor_id: actor }: Json) => actor !== by.userId && readers.some((one) => one in table[type]!))
    .toReversed();
}

describe('the feed', () => {
  it.each([
    ['owner', ['owner']],
    ['awardee', ['awardee', 'bidder']],
    ['bidder', ['awardee', 'bidder']],
  ] as const)('shows the %s what others did with their jobs and bids, newest first', async (who, readers) => {
    const events = await expected(people[who], readers);
    expect(events.length).toBeGreaterThan(10);
    const feed = await byRest(people[who]);
    expect(feed.map(({ event }) => event)).toEqual(events);
    for (const { position, job_id, bid_id, event, title, sentence } of feed) {
      expect({ position, job_id, bid_id }).toEqual({
        position: event.position,
        job_id: event.job_id,
        bid_id: event.bid_id,
      });
      expect(Object.values((NOTIFICATIONS as Json)[event.type])).toContainEqual(
        expect.objectContaining({ title, sentence }),
      );
    }
  });

  it('shows admins only escalations and appeals', async () => {
    const types = (await byRest(people.admin)).map(({ event }) => event.type);
    expect(new Set(types)).toEqual(new Set(['job.escalated', 'job.appeal_filed']));
  });

  it.each(['owner', 'awardee', 'bidder', 'admin'] as const)(
    'is the same in pages of seven for the %s, in both APIs',
    async (who) => {
      const whole = (await byRest(people[who])).map(({ event }) => event.id);
      expect((await byRest(people[who], 7)).map(({ event }) => event.id)).toEqual(whole);
      expect((await byGraphql(people[who], 7)).map(({ event }) => event.id)).toEqual(whole);
    },
  );

  it('is empty for people without a job or a bid', async () => {
    expect(await byRest(people.stranger)).toEqual([]);
    expect(await unreadOf(people.stranger)).toBe(0);
  });

  it('tells each person only once of an award: the winner, and everyone who lost', async () => {
    const cast = { ...people, awardee: await contractor(app, 'Will'), bidder: await contractor(app, 'Lou') };
    await givenJob(app, 'awarded', cast);
    await allNumbered(app);
    const channelsOf = async (by: Person, reader: 'awardee' | 'bidder') =>
      (await byRest(by)).map(({ event, title }) => [title, (NOTIFICATIONS as Json)[event.type][reader].channel]);
    expect(await channelsOf(cast.awardee, 'awardee')).toEqual([
      ['Your bid was accepted', 'off'],
      ['You were awarded a job', 'now'],
    ]);
    expect(await channelsOf(cast.bidder, 'bidder')).toEqual([
      ['Your bid was rejected', 'now'],
      ['A job you bid on was awarded', 'off'],
    ]);
  });
});
