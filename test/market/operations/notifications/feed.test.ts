/** A person's notifications: which events they're told of, in both APIs, and what happens when they lose access. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NOTIFICATIONS, type NotificationReader } from '../../../../src/market/rules/notifications.js';
import { JOB_STATES } from '../../../../src/market/rules/states.js';
import { openTestApp, type Json, type TestApp } from '../../../setup/app.js';
import { award, bidOf, must } from '../../../story/awards.js';
import { callRest } from '../../../story/calls.js';
import { contractor, homeowner, type Person } from '../../../story/cast.js';
import { gather, giveTokens, givenJob, propose, type People } from '../../../story/journey.js';
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
    edges { cursor node { position type title sentence jobId bidId isRead event { __typename
      ... on JobEvent { id position jobId data actor { id } } ... on AccountEvent { id position data } } } }
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

/** Holds the lock for numbering, so all events of this work are numbered and stored together. */
async function whileNumberingWaits(work: () => Promise<void>): Promise<void> {
  await app.sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(7203119)`;
    await work();
  });
}

const titlesOf = async (by: Person) => (await byRest(by)).map(({ title }) => title);

/** The person's events that have an entry for one of these readers, and that someone else caused. Newest first. */
async function expected(by: Person, readers: readonly NotificationReader[]): Promise<Json[]> {
  const events: Json[] = [];
  for (let after = '0'; ;) {
    const { body } = await app.rest('GET', `/v1/events?per_page=100&after=${after}`, { token: by.token });
    events.push(...body.data);
    if (body.data.length < 100) break;
    after = body.next_after;
  }
  const table: Record<string, object> = NOTIFICATIONS;
  return events
    .filter(({ type, actor_id: actor }: Json) => actor !== by.userId && readers.some((one) => one in table[type]!))
    .toReversed();
}

describe('the feed', () => {
  it.each([
    ['owner', ['owner']],
    ['awardee', ['awardee', 'bidder']],
    ['bidder', ['bidder']],
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

  it('has one notification to email about an award for the winner, and one for each contractor who lost', async () => {
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

describe('a person who loses access', () => {
  it('by withdrawing a bid no longer sees its notifications, in the feed or in the counter', async () => {
    const cast = { ...people, owner: await homeowner(app, 'Opal'), bidder: await contractor(app, 'Walt') };
    await giveTokens(app, people.admin, cast.owner, 1_000);
    const [kept, left] = [await givenJob(app, 'open', cast), await givenJob(app, 'open', cast)];
    for (const { id, bids } of [kept, left])
      for (const key of ['view', 'shortlist'] as const)
        await callRest(app, key, { by: cast.owner, job: id, bid: bids.bidder! });
    await allNumbered(app);
    const jobsInFeed = async () => (await byRest(cast.bidder)).map(({ job_id: job }) => job);
    expect(await jobsInFeed()).toEqual([left.id, left.id, kept.id, kept.id]);
    await callRest(app, 'withdraw', { by: cast.bidder, job: left.id, bid: left.bids.bidder! });
    expect([await jobsInFeed(), await unreadOf(cast.bidder)]).toEqual([[kept.id, kept.id], 2]);
    await allNumbered(app);
    const [stored] = await app.sql`select count(*)::int from notifications where user_id = ${cast.bidder.userId}`;
    expect(stored).toEqual({ count: 2 });
    expect(await titlesOf(cast.owner)).toContain('A bid was withdrawn');
  });

  it('by withdrawing a bid doesn’t get its notifications back with another bid, even if it’s quick', async () => {
    const cora = await contractor(app, 'Cora');
    const job = await givenJob(app, 'open', people);
    const bid = await bidOf(app, cora, job);
    await must(app, 'view', people.owner, job, bid);
    await allNumbered(app);
    await must(app, 'update', people.owner, job, undefined, { title: 'Mend the whole roof' });
    await allNumbered(app);
    expect(await titlesOf(cora)).toEqual(['A job you bid on was edited', 'Your bid was viewed']);
    await whileNumberingWaits(async () => {
      await must(app, 'shortlist', people.owner, job, bid);
      await must(app, 'withdraw', cora, job, bid);
      await bidOf(app, cora, job);
    });
    await allNumbered(app);
    expect(await titlesOf(cora)).toEqual([]);
    expect(await unreadOf(cora)).toBe(0);
    expect(await app.sql`select from notifications where user_id = ${cora.userId}`).toHaveLength(0);
  });

  it('because the award was taken back keeps the notifications that bidders can read, with their text', async () => {
    const cast = { ...people, awardee: await contractor(app, 'Ruth'), bidder: await contractor(app, 'Rob') };
    const job = await givenJob(app, 'awarded', cast);
    await allNumbered(app);
    expect(await titlesOf(cast.awardee)).toEqual(['Your bid was accepted', 'You were awarded a job']);
    await callRest(app, 'reopen', { by: cast.owner, job: job.id, body: { reason: 'Too expensive.' } });
    await allNumbered(app);
    expect(await titlesOf(cast.awardee)).toEqual([
      'Your bid was rejected',
      'A job you bid on is open again',
      'Your bid was accepted',
      'A job you bid on was awarded',
    ]);
    expect((await titlesOf(cast.bidder))[0]).toBe('Your bid is active again');
    await award(app, cast, job, job.bids.bidder!);
    await allNumbered(app);
    const awards = (feed: readonly Json[]) => feed.filter(({ title }) => title.includes('award'));
    expect(awards(await byRest(cast.bidder)).map(({ title, bid_id: bid }) => [title, bid])).toEqual([
      ['You were awarded a job', job.bids.bidder],
      ['A job you bid on was awarded', null],
    ]);
    expect(awards(await byGraphql(cast.bidder, 50)).map(({ title, bidId }) => [title, bidId])).toEqual([
      ['You were awarded a job', job.bids.bidder],
      ['A job you bid on was awarded', null],
    ]);
  });
});

describe('the read position', () => {
  async function withThree(): Promise<{ owner: Person; positions: string[] }> {
    const owner = await homeowner(app, 'Rita');
    await giveTokens(app, people.admin, owner, 1_000);
    const { id } = await givenJob(app, 'open', { ...people, owner });
    await callRest(app, 'submitBid', { by: people.stranger, job: id, body: { amount: 500 } });
    await allNumbered(app);
    return { owner, positions: (await byRest(owner)).map(({ position }) => position) };
  }

  const markRead = {
    rest: async (by: Person, upTo: string) => {
      const { status, body } = await app.rest('POST', '/v1/notifications/read', {
        token: by.token,
        body: { up_to: upTo },
      });
      return status === 200 ? [body.read_up_to, body.unread_count] : body.details.fields;
    },
    graphql: async (by: Person, upTo: string) => {
      const mutation = `mutation ($upTo: String!) { markNotificationsRead(upTo: $upTo) {
        readUpTo unreadCount viewer { unreadCount } } }`;
      const { data, errors } = await app.graphql(mutation, { token: by.token, variables: { upTo } });
      if (errors) return (errors[0]!.extensions as Json).fields;
      const { readUpTo, unreadCount, viewer } = data.markNotificationsRead;
      expect(viewer.unreadCount).toBe(unreadCount);
      return [readUpTo, unreadCount];
    },
  };

  it.each(['rest', 'graphql'] as const)('decides what counts as unread, and never goes back (%s)', async (api) => {
    const { owner, positions } = await withThree();
    const [newest, middle, oldest] = positions as [string, string, string];
    expect([positions.length, await unreadOf(owner)]).toEqual([3, 3]);
    expect(await markRead[api](owner, middle)).toEqual([middle, 1]);
    expect((await byRest(owner)).map(({ is_read: isRead }) => isRead)).toEqual([false, true, true]);
    expect((await byRest(owner, 100, '&unread=true')).map(({ position }) => position)).toEqual([newest]);
    expect(await markRead[api](owner, oldest)).toEqual([middle, 1]);
    expect(await unreadOf(owner)).toBe(1);
    const { data } = await app.graphql(FEED, { token: owner.token, variables: { unread: true } });
    expect(data.viewer.notifications.edges).toHaveLength(1);
  });

  it('is the newest position if several tabs send theirs at the same time', async () => {
    const { owner, positions } = await withThree();
    const tabs = Array.from({ length: 20 }, (_, at) => positions[at % 3]!);
    await Promise.all(tabs.map((position) => markRead.rest(owner, position)));
    expect(await unreadOf(owner)).toBe(0);
    const [row] = await app.sql`select notifications_read_up_to::text as up_to from users where id = ${owner.userId}`;
    expect(row).toEqual({ up_to: positions[0] });
  });

  it.each(['rest', 'graphql'] as const)('can’t be after the last position (%s)', async (api) => {
    const { owner } = await withThree();
    await allNumbered(app);
    const [{ last }] = (await app.sql`select max(position)::text as last from events`) as [{ last: string }];
    const name = api === 'rest' ? 'up_to' : 'upTo';
    const refused = { [name]: `is after the last position, which is ${last}` };
    expect(await markRead[api](owner, String(BigInt(last) + 1n))).toEqual(refused);
    for (const upTo of ['x', '-1', '', '99999999999999999999'])
      expect(await markRead[api](owner, upTo)).toHaveProperty(name);
    expect(await unreadOf(owner)).toBe(3);
  });
});

it('an edit within an hour of the previous one notifies only those who bid since then', async () => {
  const [cleo, dana] = [await contractor(app, 'Cleo'), await contractor(app, 'Dana')];
  const job = await givenJob(app, 'draft', people);
  const edit = async (title: string) => {
    await must(app, 'update', people.owner, job, undefined, { title });
    await allNumbered(app);
  };
  const editsSeenBy = async (by: Person) =>
    (await titlesOf(by)).filter((title) => title === 'A job you bid on was edited').length;
  await edit('Mend the roof today');
  await must(app, 'publish', people.owner, job);
  await bidOf(app, cleo, job);
  await edit('Mend the roof tomorrow');
  expect(await editsSeenBy(cleo)).toBe(1);
  await bidOf(app, dana, job);
  await edit('Mend the roof on Monday');
  expect([await editsSeenBy(cleo), await editsSeenBy(dana)]).toEqual([1, 1]);
  await edit('Mend the roof on Tuesday');
  expect([await editsSeenBy(cleo), await editsSeenBy(dana)]).toEqual([1, 1]);
});

it('edits that follow each other within an hour notify the bidders once', async () => {
  const cleo = await contractor(app, 'Cleo');
  const job = await givenJob(app, 'open', people);
  await bidOf(app, cleo, job);
  const edit = async (title: string) => {
    await must(app, 'update', people.owner, job, undefined, { title });
    await allNumbered(app);
  };
  const editsSeen = async () =>
    (await titlesOf(cleo)).filter((title) => title === 'A job you bid on was edited').length;
  await edit('Mend the roof today');
  await edit('Mend the roof tomorrow');
  expect(await editsSeen()).toBe(1);
  await app.sql.unsafe(`set session_replication_role = replica;
    update events set occurred_at = occurred_at - interval '61 minutes' where job_id = '${job.id}';
    reset session_replication_role`);
  await edit('Mend the roof on Monday');
  expect(await editsSeen()).toBe(2);
});
