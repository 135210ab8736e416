/** Saved searches: what they accept, what they match, and where a match arrives. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../../../../src/platform/db/database.js';
import { matchNext } from '../../../../src/market/store/searches/matches.js';
import { readSearchLag } from '../../../../src/market/store/figures.js';
import { openTestApp, type Json, type TestApp } from '../../../setup/app.js';
import { callRest } from '../../../story/calls.js';
import { contractor, homeowner, type Person } from '../../../story/cast.js';
import { DRAFT, gather, giveTokens, type People } from '../../../story/journey.js';
import { allNumbered } from '../../../platform/live/positions.js';
import { hearAsEvents, hearOverWebSocket, stopAll, untilOpen } from '../../../platform/graphql/streams/clients.js';
import { waitingCalls } from '../../../setup/database/waiting-calls.js';
import { until } from '../../../platform/security/until.js';

let app: TestApp;
let people: People;
beforeAll(async () => {
  app = await openTestApp();
  people = await gather(app);
  await giveTokens(app, people.admin, people.owner, 100_000);
});
afterEach(async () => {
  stopAll();
  await untilOpen(app.services, 0);
});
afterAll(() => app.close());

const ROOFING = { categories: ['roofing'] };

async function save(by: Person, filter: object, alert = 'off'): Promise<string> {
  const { status, body } = await app.rest('POST', '/v1/saved-searches', {
    token: by.token,
    body: { name: 'New jobs', filter, alert },
  });
  expect([status, body]).toEqual([201, expect.objectContaining({ name: 'New jobs', alert })]);
  return body.id;
}

async function publish(fields: object = {}, owner = people.owner): Promise<string> {
  const created = await callRest(app, 'create', { by: owner, body: { ...DRAFT, ...fields } });
  expect([created.status, created.body.details]).toEqual([201, undefined]);
  const { status } = await callRest(app, 'publish', { by: owner, job: created.body.id });
  expect(status).toBe(200);
  return created.body.id;
}

/** Waits until every event has been compared with the searches. */
async function allMatched(): Promise<void> {
  await allNumbered(app);
  await until(
    async () =>
      (await app.sql`select from search_cursor, notification_cursor where matched_up_to < stored_up_to`).length === 0,
  );
}

async function eventsOf(by: Person, query = ''): Promise<Json[]> {
  const { status, body } = await app.rest('GET', `/v1/events?per_page=100${query}`, { token: by.token });
  expect(status).toBe(200);
  return body.data;
}

const jobsIn = (events: readonly Json[]) => events.map((event) => event.job_id ?? event.jobId);

async function refusal(by: Person, body: object) {
  const answer = await app.rest('POST', '/v1/saved-searches', { token: by.token, body });
  return [answer.status, answer.body.details.fields ?? answer.body.error];
}

describe('a search', () => {
  it('is saved, read, changed, and deleted in both APIs', async () => {
    const rosa = await contractor(app, 'Rosa');
    const filter = {
      search: 'roof',
      categories: ['roofing'],
      budget_min: 10,
      near: { zip_code: '78701', within_miles: 5 },
    };
    const id = await save(rosa, filter);
    const read = await app.graphql(
      `query ($id: ID!) { node(id: $id) { ... on SavedSearch { id name alert
        filter { search categories urgency budgetMin budgetMax near { zipCode city state withinMiles } } } }
        viewer { savedSearches { totalCount nodes { id } } } }`,
      { token: rosa.token, variables: { id } },
    );
    expect(read.data).toEqual({
      node: {
        id,
        name: 'New jobs',
        alert: 'OFF',
        filter: {
          search: 'roof',
          categories: ['roofing'],
          urgency: null,
          budgetMin: 10,
          budgetMax: null,
          near: { zipCode: '78701', city: null, state: null, withinMiles: 5 },
        },
      },
      viewer: { savedSearches: { totalCount: 1, nodes: [{ id }] } },
    });

    const changed = await app.graphql(
      `mutation ($id: ID!) {
        updateSavedSearch(id: $id, input: { name: "Roofs", alert: DAILY, filter: { search: "tiles" } }) {
          savedSearch { name alert filter { search categories near { city } } } } }`,
      { token: rosa.token, variables: { id } },
    );
    expect(changed.data.updateSavedSearch.savedSearch).toEqual({
      name: 'Roofs',
      alert: 'DAILY',
      filter: { search: 'tiles', categories: [], near: null },
    });
    const own = await app.rest('GET', `/v1/saved-searches/${id}`, { token: rosa.token });
    const same = await app.rest('PUT', `/v1/saved-searches/${id}`, {
      token: rosa.token,
      body: { ...own.body, updated_at: undefined },
    });
    expect(same.body).toEqual({ ...own.body, updated_at: same.body.updated_at });

    const gone = await app.rest('DELETE', `/v1/saved-searches/${id}`, { token: rosa.token });
    expect(gone.status).toBe(200);
    expect((await app.rest('GET', `/v1/saved-searches/${id}`, { token: rosa.token })).status).toBe(404);
    expect((await app.rest('GET', '/v1/saved-searches', { token: rosa.token })).body.data).toEqual([]);
  });

  it('must be narrow, and rejects an unknown place', async () => {
    const rosa = await contractor(app, 'Rosa');
    const narrow = { filter: 'must have a category, a place, or search text of at least 3 characters' };
    for (const filter of [{}, { search: 'ab' }, { categories: [] }, { urgency: 'urgent' }, { budget_min: 1 }])
      expect(await refusal(rosa, { name: 'All', filter, alert: 'off' })).toEqual([400, narrow]);
    const near = (place: object) => ({ name: 'There', alert: 'off', filter: { near: { within_miles: 10, ...place } } });
    expect(await refusal(rosa, near({ zip_code: '00000' }))).toEqual([
      400,
      { 'filter.near.zip_code': 'isn’t a ZIP code we recognize' },
    ]);
    expect(await refusal(rosa, near({ city: 'Austinn', state: 'TX' }))).toEqual([
      400,
      { 'filter.near.city': 'isn’t a city we recognize in that state' },
    ]);
    expect(await refusal(rosa, near({ city: 'Austin' }))).toEqual([
      400,
      { 'filter.near.state': 'is required with a city' },
    ]);
    expect(
      await refusal(rosa, { name: 'Odd', alert: 'off', filter: { ...ROOFING, budget_min: 2, budget_max: 1 } }),
    ).toEqual([
      400,
      {
        'filter.budget_min': 'must not be greater than the maximum budget',
        'filter.budget_max': 'must not be less than the minimum budget',
      },
    ]);
  });

  it('can be saved only ten times, even by eleven calls at the same time', async () => {
    const rosa = await contractor(app, 'Rosa');
    const body = { name: 'New jobs', filter: ROOFING, alert: 'off' };
    const answers = await Promise.all(
      Array.from({ length: 11 }, () => app.rest('POST', '/v1/saved-searches', { token: rosa.token, body })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array.from({ length: 10 }, () => 201), 400]);
    expect(answers.find(({ status }) => status === 400)?.body.error).toBe(
      'You have 10 saved searches, which is the maximum. Delete one first.',
    );
  });

  it('is private, and only for contractors', async () => {
    const [rosa, otto] = [await contractor(app, 'Rosa'), await contractor(app, 'Otto')];
    const path = `/v1/saved-searches/${await save(rosa, ROOFING)}`;
    for (const method of ['GET', 'PUT', 'DELETE'])
      for (const [who, status] of [
        [otto, 403],
        [people.owner, 403],
        [people.admin, 403],
      ] as const)
        expect(
          (await app.rest(method, path, { token: who.token, ...(method === 'PUT' && { body: { name: 'Mine' } }) }))
            .status,
        ).toBe(status);
    const { data } = await app.graphql('{ viewer { savedSearches { nodes { id } } } }', { token: people.owner.token });
    expect(data.viewer.savedSearches).toBeNull();
  });
});

describe('a match', () => {
  it.each([
    ['a category', { categories: ['roofing', 'siding'] }, {}, { category: 'plumbing' }],
    ['text in the title, ignoring case', { search: 'MEND the' }, {}, { title: 'Fix the roof' }],
    ['text in the description', { search: 'rain in' }, {}, { description: 'It leaks.' }],
    [
      'characters with a special meaning in patterns',
      { search: '100% _new' },
      { title: 'A 100% _new roof' },
      { title: 'A 100x new roof' },
    ],
    ['an urgency', { ...ROOFING, urgency: 'priority' }, { urgency: 'priority' }, { urgency: 'standard' }],
    [
      'a budget that overlaps',
      { ...ROOFING, budget_min: 300, budget_max: 500 },
      { budget_min: 500, budget_max: 900 },
      { budget_min: 501 },
    ],
    ['an open budget', { ...ROOFING, budget_min: 300 }, { budget_min: 100 }, {}],
    ['a ZIP code', { near: { zip_code: '78704', within_miles: 10 } }, {}, { city: 'Dallas', zip_code: '75201' }],
    ['a city', { near: { city: 'Dallas', state: 'TX', within_miles: 10 } }, { city: 'Dallas', zip_code: '75201' }, {}],
  ])('needs %s', async (_what, filter, matching, other) => {
    const rosa = await contractor(app, 'Rosa');
    await save(rosa, filter);
    const [, match] = [await publish(other), await publish(matching)];
    await allMatched();
    const events = await eventsOf(rosa);
    expect(jobsIn(events)).toEqual([match]);
    const found = await app.rest('GET', `/v1/jobs/${match}`, { token: rosa.token });
    expect(found.status).toBe(200);
  });

  it('is one event and one notification, even if several of a person’s searches match', async () => {
    const rosa = await contractor(app, 'Rosa');
    await save(rosa, ROOFING);
    await save(rosa, { search: 'roof' });
    const job = await publish();
    await allMatched();
    expect(await eventsOf(rosa)).toEqual([
      expect.objectContaining({
        type: 'job.published',
        job_id: job,
        from_status: 'draft',
        to_status: 'open',
        data: {},
      }),
    ]);
    const { data } = await app.graphql(
      `{ viewer { unreadCount notifications { totalCount nodes { type title jobId } } } myEvents { totalCount } }`,
      { token: rosa.token },
    );
    expect(data.viewer).toMatchObject({
      unreadCount: 1,
      notifications: {
        totalCount: 1,
        nodes: [{ type: 'JOB_PUBLISHED', title: 'A new job matches your search', jobId: job }],
      },
    });
    expect(data.myEvents.totalCount).toBe(1);
  });

  it('stays when the search changes or is deleted, and a changed filter matches only later jobs', async () => {
    const rosa = await contractor(app, 'Rosa');
    const id = await save(rosa, { categories: ['siding'] });
    const [siding] = [await publish({ category: 'siding' }), await publish()];
    await allMatched();
    await app.rest('PUT', `/v1/saved-searches/${id}`, { token: rosa.token, body: { filter: ROOFING } });
    const roofing = await publish();
    await allMatched();
    expect(jobsIn(await eventsOf(rosa))).toEqual([siding, roofing]);
    await app.rest('DELETE', `/v1/saved-searches/${id}`, { token: rosa.token });
    await publish();
    await allMatched();
    expect(jobsIn(await eventsOf(rosa))).toEqual([siding, roofing]);
  });

  it('disappears with the job, and comes back with it', async () => {
    const [rosa, owner] = [await contractor(app, 'Rosa'), await homeowner(app, 'Olga')];
    await giveTokens(app, people.admin, owner, 1_000);
    await save(rosa, ROOFING);
    const job = await publish({}, owner);
    await allMatched();
    const suspend = (path: string) =>
      app.rest('POST', `/v1/users/${owner.userId}/${path}`, { token: people.admin.token, body: { reason: 'Spam.' } });
    await suspend('suspend');
    expect(await eventsOf(rosa)).toEqual([]);
    expect((await app.rest('GET', '/v1/notifications', { token: rosa.token })).body).toMatchObject({
      data: [],
      unread_count: 0,
    });
    await suspend('restore');
    expect(jobsIn(await eventsOf(rosa))).toEqual([job]);
  });

  it('is deleted once the job has ended, except for people who bid on it', async () => {
    const [rosa, otto] = [await contractor(app, 'Rosa'), await contractor(app, 'Otto')];
    for (const by of [rosa, otto]) await save(by, ROOFING);
    const job = await publish();
    await allMatched();
    await callRest(app, 'submitBid', { by: otto, job, body: { amount: 500 } });
    expect((await callRest(app, 'cancel', { by: people.owner, job })).status).toBe(200);
    await allMatched();
    expect(await eventsOf(rosa)).toEqual([]);
    expect(await app.sql`select user_id from notifications where job_id = ${job} and match_alert is not null`).toEqual([
      { user_id: otto.userId },
    ]);
  });

  it('isn’t stored if nobody can find the job anymore when it’s compared', async () => {
    const [rosa, owner] = [await contractor(app, 'Rosa'), await homeowner(app, 'Olga')];
    await giveTokens(app, people.admin, owner, 1_000);
    await save(rosa, ROOFING);
    const job = await app.sql.begin(async (tx) => {
      await tx`select from search_cursor for update`;
      const id = await publish({}, owner);
      await app.rest('POST', `/v1/users/${owner.userId}/suspend`, {
        token: people.admin.token,
        body: { reason: 'Spam.' },
      });
      return id;
    });
    await allMatched();
    await app.rest('POST', `/v1/users/${owner.userId}/restore`, {
      token: people.admin.token,
      body: { reason: 'Sorry.' },
    });
    expect(await eventsOf(rosa)).toEqual([]);
    expect((await app.rest('GET', `/v1/jobs/${job}`, { token: rosa.token })).status).toBe(200);
  });

  it('and a bid on the same job bring the event only once, and a withdrawal keeps it', async () => {
    const rosa = await contractor(app, 'Rosa');
    await save(rosa, ROOFING);
    const job = await publish();
    await allMatched();
    const { body: bid } = await callRest(app, 'submitBid', { by: rosa, job, body: { amount: 500 } });
    await allMatched();
    expect((await eventsOf(rosa)).map(({ type }) => type)).toEqual(['job.created', 'job.published', 'bid.submitted']);
    expect((await callRest(app, 'withdraw', { by: rosa, job, bid: bid.id })).status).toBe(200);
    await allMatched();
    expect((await eventsOf(rosa)).map(({ type }) => type)).toEqual(['job.published']);
    const feed = await app.rest('GET', '/v1/notifications', { token: rosa.token });
    expect(feed.body.data.map(({ type }: Json) => type)).toEqual(['job.published']);
  });

  it('is found on every page of a long log, forward and backward', async () => {
    const rosa = await contractor(app, 'Rosa');
    await save(rosa, { search: 'every fifth' });
    const wanted: string[] = [];
    for (let at = 0; at < 12; at += 1) {
      const job = await publish(at % 5 === 0 ? { title: 'Every fifth roof' } : {});
      if (at % 5 === 0) wanted.push(job);
      if (at % 4 === 1) {
        await callRest(app, 'submitBid', { by: rosa, job, body: { amount: 500 } });
        wanted.push(job);
      }
    }
    await allMatched();
    const all = await eventsOf(rosa);
    expect(new Set(jobsIn(all))).toEqual(new Set(wanted));
    const seen: Json[] = [];
    for (let after = '0'; ;) {
      const { body } = await app.rest('GET', `/v1/events?per_page=2&after=${after}`, { token: rosa.token });
      if (body.data.length === 0) break;
      seen.push(...body.data);
      after = body.next_after;
    }
    expect(seen).toEqual(all);
    const backward = await app.graphql('{ myEvents(last: 3) { totalCount nodes { position } } }', {
      token: rosa.token,
    });
    expect(backward.data.myEvents).toEqual({
      totalCount: all.length,
      nodes: all.slice(-3).map(({ position }) => ({ position })),
    });
  });
});

describe('the comparison', () => {
  it('treats every character of a long text as text', async () => {
    const [rosa, tom] = [await contractor(app, 'Rosa'), await contractor(app, 'Tom')];
    const text = 'C++ (roof) [a-z]* $5.00 \\d|x^ {2}? ***= Ünder 😀😀😀😀😀';
    await save(rosa, { search: text.toUpperCase() });
    await save(tom, { search: text.replace('5.00', '5900') });
    const job = await publish({ title: `We need ${text}.` });
    await allMatched();
    expect([jobsIn(await eventsOf(rosa)), await eventsOf(tom)]).toEqual([[job], []]);
  });

  it('continues with single publications if a batch takes too long', async () => {
    const own = await openTestApp({}, { isMatching: false });
    // The time limit of the queue's connections, but short.
    const db = connect(own.database.connection, { poolSize: 1, statementTimeoutMs: 5_000 });
    try {
      const { owner, admin, stranger } = await gather(own);
      await giveTokens(own, admin, owner, 1_000);
      const body = { name: 'New jobs', filter: ROOFING, alert: 'off' };
      await own.rest('POST', '/v1/saved-searches', { token: stranger.token, body });
      const jobs: string[] = [];
      for (let count = 0; count < 3; count += 1) {
        const { body: job } = await callRest(own, 'create', { by: owner, body: DRAFT });
        expect((await callRest(own, 'publish', { by: owner, job: job.id })).status).toBe(200);
        jobs.push(job.id);
      }
      await allNumbered(own);
      await until(
        async () =>
          (
            await own.sql`select from notification_cursor
            where stored_up_to >= (select max(position) from events)`
          ).length > 0,
      );
      await own.sql`create function slow_for_test() returns trigger language plpgsql as $$ begin
        if (select count(*) from stored) > 1 then perform pg_sleep(3600); end if; return null; end $$`;
      await own.sql`create trigger slow_for_test after insert on notifications referencing new table as stored
        for each statement execute function slow_for_test()`;
      const matched = async () =>
        (await own.sql`select job_id from notifications where match_alert is not null order by position`).map(
          ({ job_id }) => job_id,
        );
      // While the emails about matches lock the cursor, there is nothing to do, as on another instance.
      await until(async () => {
        while (await matchNext(db));
        return (await matched()).length >= jobs.length;
      });
      expect(await matched()).toEqual(jobs);
    } finally {
      await db.close();
      await own.close();
    }
  });
});

describe('while events wait to be compared', () => {
  it('only people with searches wait for them, and every position comes once', async () => {
    const [rosa, otto] = [await contractor(app, 'Rosa'), await contractor(app, 'Otto')];
    await save(rosa, ROOFING);
    const job = await publish({ category: 'siding' });
    await allMatched();
    let later = '';
    await app.sql.begin(async (tx) => {
      await tx`select from search_cursor for update`;
      later = await publish();
      for (const by of [rosa, otto]) await callRest(app, 'submitBid', { by, job, body: { amount: 500 } });
      await allNumbered(app);
      expect((await eventsOf(otto)).map(({ type }) => type)).toEqual(['job.created', 'job.published', 'bid.submitted']);
      expect((await eventsOf(rosa)).map(({ type }) => type)).toEqual(['job.created', 'job.published']);
      const { data } = await app.graphql('{ viewer { unreadCount } myEvents { totalCount } }', { token: rosa.token });
      expect(data).toEqual({ viewer: { unreadCount: 0 }, myEvents: { totalCount: 2 } });
    });
    await allMatched();
    const events = await eventsOf(rosa);
    expect(events.map((event) => [event.type, event.job_id])).toEqual([
      ['job.created', job],
      ['job.published', job],
      ['job.published', later],
      ['bid.submitted', job],
    ]);
  });

  it('a new search doesn’t match positions that its owner has already read', async () => {
    const rosa = await contractor(app, 'Rosa');
    const early = await publish();
    await allMatched();
    await app.sql.begin(async (tx) => {
      await tx`select from search_cursor for update`;
      await publish();
      await allNumbered(app);
      await save(rosa, ROOFING);
    });
    const later = await publish();
    await allMatched();
    expect(jobsIn(await eventsOf(rosa))).toEqual([later]);
    expect(early).not.toBe(later);
  });
});

describe('a change of a search', () => {
  it('that sends the same filter back keeps what waits to be matched', async () => {
    const rosa = await contractor(app, 'Rosa');
    const id = await save(rosa, ROOFING);
    const { body } = await app.rest('GET', `/v1/saved-searches/${id}`, { token: rosa.token });
    let job = '';
    await app.sql.begin(async (tx) => {
      await tx`select from search_cursor for update`;
      job = await publish();
      await allNumbered(app);
      await app.rest('PUT', `/v1/saved-searches/${id}`, { token: rosa.token, body: { ...body, name: 'Renamed' } });
    });
    await allMatched();
    expect(jobsIn(await eventsOf(rosa))).toEqual([job]);
  });

  it('holds up nobody in a dry run, or if the filter stays', async () => {
    const rosa = await contractor(app, 'Rosa');
    const id = await save(rosa, ROOFING);
    const path = `/v1/saved-searches/${id}`;
    const headers = { 'dry-run': 'true' };
    app.statements();
    const body = { name: 'Roofs', filter: { search: 'tiles' }, alert: 'off' };
    await app.rest('POST', '/v1/saved-searches', { token: rosa.token, headers, body });
    await app.rest('PUT', path, { token: rosa.token, headers, body });
    await app.rest('PUT', path, { token: rosa.token, body: { name: 'Renamed' } });
    await app.rest('DELETE', path, { token: rosa.token, headers });
    const held = () => app.statements().filter((text) => /holdPositions|waitForMatches/.test(text));
    expect(held()).toEqual([]);
    await app.rest('PUT', path, { token: rosa.token, body });
    expect(held()).toHaveLength(1);
    await app.rest('DELETE', path, { token: rosa.token });
    expect(held()).toHaveLength(1);
  });

  it.each([
    ['POST', 201, { name: 'More', filter: ROOFING, alert: 'daily' }],
    ['PUT', 200, { filter: { search: 'tiles' }, alert: 'now' }],
    ['DELETE', 200, undefined],
  ] as const)('that waits for another of the caller’s calls holds up nobody else: %s', async (method, status, body) => {
    const rosa = await contractor(app, 'Rosa');
    const id = await save(rosa, ROOFING);
    await app.sql`insert into notification_settings (user_id, type, channel)
      values (${rosa.userId}, 'job.published', 'off')`;
    const calls = await app.sql.begin(async (tx) => {
      if (method === 'DELETE') await tx`select from saved_searches where id = ${id} for update`;
      else await tx`select from notification_settings where user_id = ${rosa.userId} for update`;
      const path = method === 'POST' ? '/v1/saved-searches' : `/v1/saved-searches/${id}`;
      const call = app.rest(method, path, { token: rosa.token, ...(body && { body }) });
      await until(async () => (await waitingCalls(app.sql)) === 1);
      await publish();
      await allMatched();
      return [call];
    });
    expect((await Promise.all(calls)).map((answer) => answer.status)).toEqual([status]);
  });

  it('that deletes the last one waits for a match that isn’t committed yet', async () => {
    const rosa = await contractor(app, 'Rosa');
    const id = await save(rosa, ROOFING);
    await app.sql`create function wait_for_test() returns trigger language plpgsql as $$ begin
      perform set_config('lock_timeout', '0', true); perform pg_advisory_xact_lock(77); return new; end $$`;
    await app.sql`create trigger wait_for_test before insert on notifications for each row
      when (new.match_alert is not null) execute function wait_for_test()`;
    const waiting = async (key: number) =>
      (
        await app.sql`select from pg_locks where locktype = 'advisory' and objid = ${key} and not granted
          and database = (select oid from pg_database where datname = current_database())`
      ).length > 0;
    let job = '';
    let deleted: Promise<unknown> = Promise.resolve();
    await app.sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(77)`;
      job = await publish();
      await until(() => waiting(77));
      deleted = app.rest('DELETE', `/v1/saved-searches/${id}`, { token: rosa.token });
      await until(() => waiting(7203123));
      expect(await eventsOf(rosa)).toEqual([]);
    });
    await deleted;
    expect(jobsIn(await eventsOf(rosa))).toEqual([job]);
    await app.sql`drop trigger wait_for_test on notifications`;
  });
});

describe('streams', () => {
  const EVENTS = 'subscription ($after: String) { myEvents(after: $after) { position type jobId } }';
  const NOTIFICATIONS = 'subscription { myNotifications { position type jobId } }';

  it('that were open before the first search get its matches, in order', async () => {
    const rosa = await contractor(app, 'Rosa');
    const [events, notifications] = [
      hearOverWebSocket(app.url, rosa, EVENTS),
      hearAsEvents(app.url, rosa, NOTIFICATIONS),
    ];
    await untilOpen(app.services, 2);
    await save(rosa, ROOFING);
    const first = await publish();
    const { body: bid } = await callRest(app, 'submitBid', {
      by: rosa,
      job: await publish({ category: 'siding' }),
      body: { amount: 500 },
    });
    const second = await publish();
    await notifications.count(2);
    const heard = () => events.events.filter(({ jobId }) => jobId !== bid.job_id);
    await until(() => heard().length === 2);
    expect(heard().map(({ type, jobId }) => [type, jobId])).toEqual([
      ['JOB_PUBLISHED', first],
      ['JOB_PUBLISHED', second],
    ]);
    expect(events.events.find(({ type }) => type === 'BID_SUBMITTED')).toMatchObject({ jobId: bid.job_id });
    const positions = events.events.map(({ position }) => Number(position));
    expect(positions).toEqual(positions.toSorted((one, other) => one - other));
    expect(jobsIn(notifications.events)).toEqual([first, second]);
  });

  it('that continue after a position get each later match once', async () => {
    const rosa = await contractor(app, 'Rosa');
    await save(rosa, ROOFING);
    const jobs = [await publish(), await publish(), await publish()];
    await allMatched();
    const [first] = await eventsOf(rosa);
    const stream = hearOverWebSocket(app.url, rosa, EVENTS, { after: first!.position });
    await stream.count(2);
    const last = await publish();
    await stream.count(3);
    expect(jobsIn(stream.events)).toEqual([...jobs.slice(1), last]);
  });
});

it('operators see how long events have waited to be compared', async () => {
  const { db } = app.services;
  await allMatched();
  expect(await readSearchLag(db)).toBe(0);
  await app.sql.begin(async (tx) => {
    await tx`select from search_cursor for update`;
    await publish();
    await allNumbered(app);
    expect(await readSearchLag(db)).toBeGreaterThan(0);
  });
});
