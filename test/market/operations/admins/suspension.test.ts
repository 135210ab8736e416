/**
 * When support suspends a user, they are locked out everywhere immediately. Their open jobs and bids disappear, and
 * jobs in progress continue.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ensureAdmin } from '../../../../src/market/operations/admins/admins.js';
import { newId } from '../../../../src/market/store/new-id.js';
import { openTestApp, type Json, type TestApp } from '../../../setup/app.js';
import { waitingCalls } from '../../../setup/database/waiting-calls.js';
import { contractor, homeowner, programOf, type Person } from '../../../story/cast.js';
import { gather, givenJob, type People } from '../../../story/journey.js';
import { mailTo } from '../../mail/mailbox.js';
import { until } from '../../../platform/security/until.js';
import { CHANNELS, MY_EVENTS, stopAll } from '../../../platform/graphql/streams/clients.js';
import { byGraphql, byRest, invalid } from '../../../apis/refused.js';

let app: TestApp;
let twin: TestApp;
let people: People;
let ada: Person;
beforeAll(async () => {
  app = await openTestApp({ WEBHOOKS_ALLOW_PRIVATE: 'on' });
  twin = await openTestApp({}, { sameDatabaseAs: app });
  people = await gather(app);
  ada = people.admin;
});
afterAll(async () => {
  stopAll();
  await twin.close();
  await app.close();
});

const FORBIDDEN = { status: 403, code: 'FORBIDDEN', fields: [] };
const post = (person: Pick<Person, 'token'>, path: string, body: object = {}, at = app) =>
  at.rest('POST', `/v1${path}`, { token: person.token, body });
const suspend = (id: string, body: object = { reason: 'Asks for money.' }, by = ada) =>
  post(by, `/users/${id}/suspend`, body);
const restore = (id: string, by = ada) => post(by, `/users/${id}/restore`);
const logIn = ({ email, password }: Pick<Person, 'email' | 'password'>) =>
  app.rest('POST', '/v1/auth/login', { body: { email, password } });
const rowOf = async (id: string) =>
  (await app.sql`select suspended_at as at, suspended_until as until from users where id = ${id}`)[0];
const tasks = (id: string) => app.sql`select run_at from tasks where kind = 'restore' and id = ${id}`;
const acts = async (id: string) =>
  (await app.sql`select action, reason from admin_actions where user_id = ${id} order by created_at, id`).map(
    ({ action, reason }) => [action, reason],
  );
const actionOf = async (person: Person, job: string, name: string) => {
  const { body } = await app.rest('GET', `/v1/jobs/${job}/actions`, { token: person.token });
  return body.data.find(({ action }: Json) => action.toUpperCase() === name);
};

describe('a suspended person', () => {
  it('is locked out on every instance: sessions, keys, and webhooks end, and the right password says why', async () => {
    const hanna = await homeowner(app, 'Hanna');
    const program = await programOf(app, hanna);
    const { body: made } = await post(hanna, '/webhooks', { url: 'http://127.0.0.1:9/' });
    const answer = await suspend(hanna.userId);
    expect([answer.status, answer.body.id, answer.body.suspended_until]).toEqual([200, hanna.userId, null]);
    expect(Math.abs(Date.parse(answer.body.suspended_at) - Date.now())).toBeLessThan(60_000);
    for (const token of [hanna.token, program.token]) {
      const refused = await app.rest('GET', '/v1/me', { token });
      expect([refused.status, refused.body.details.reason]).toEqual([401, 'session_ended']);
      await vi.waitFor(async () => expect((await twin.rest('GET', '/v1/me', { token })).status).toBe(401), 25_000);
    }
    const refresh = await app.rest('POST', '/v1/auth/refresh', { body: { refresh_token: hanna.refreshToken } });
    expect([refresh.status, refresh.body.details.reason]).toEqual([401, 'session_ended']);
    const right = await logIn(hanna);
    expect([byRest(right), right.body.details.reason]).toEqual([
      { status: 401, code: 'INVALID_CREDENTIALS', fields: [] },
      'suspended',
    ]);
    expect([right.body.details.until, right.body.error]).toEqual([
      null,
      'This account is suspended. Contact support if you think this is a mistake.',
    ]);
    await suspend(hanna.userId, { reason: 'For a while.', until: '2999-12-01T00:00:00Z' });
    const LOG_IN = 'mutation ($input: LogInInput!) { logIn(input: $input) { token } }';
    const input = { email: hanna.email, password: hanna.password };
    const { errors } = await app.graphql(LOG_IN, { variables: { input } });
    expect([errors?.[0]?.message, errors?.[0]?.extensions.until]).toEqual([
      'This account is suspended until December 1, 2999. Contact support if you think this is a mistake.',
      '2999-12-01T00:00:00.000Z',
    ]);
    expect(JSON.stringify(errors)).not.toContain('For a while.');
    await suspend(hanna.userId, { reason: 'For an hour.', until: new Date(Date.now() + 3_600_000).toISOString() });
    expect((await logIn(hanna)).body.error).toMatch(
      /^This account is suspended until \w+ \d+, \d{4} at \d+:\d\d\s[AP]M UTC\. Contact support/u,
    );
    const wrong = await logIn({ ...hanna, password: 'not her password' });
    expect([wrong.status, wrong.body.details.reason]).toEqual([401, 'wrong_credentials']);
    const [endpoint] = await app.sql`select status, paused_reason from webhook_endpoints where id = ${made.webhook.id}`;
    expect(endpoint).toEqual({ status: 'paused', paused_reason: 'suspended' });

    const again = await restore(hanna.userId);
    expect([again.status, again.body.suspended_at]).toEqual([200, null]);
    expect((await logIn(hanna)).status).toBe(200);
    expect((await app.rest('GET', '/v1/me', { token: program.token })).status).toBe(401);
    expect(await acts(hanna.userId)).toEqual([
      ['suspendUser', 'Asks for money.'],
      ['suspendUser', 'For a while.'],
      ['suspendUser', 'For an hour.'],
      ['restoreUser', null],
    ]);
  });

  it('is shown as suspended only to admins, in both APIs', async () => {
    const { userId } = await homeowner(app, 'Sam');
    await suspend(userId, { reason: 'x', until: '2999-01-01T00:00:00Z' });
    const READ = 'query ($id: ID!) { node(id: $id) { ... on User { suspendedAt suspendedUntil } } }';
    for (const [person, isAdmin] of [
      [ada, true],
      [people.owner, false],
    ] as const) {
      const { body } = await app.rest('GET', `/v1/users/${userId}`, { token: person.token });
      const { data } = await app.graphql(READ, { token: person.token, variables: { id: userId } });
      expect([body.suspended_until, data.node.suspendedUntil]).toEqual(
        isAdmin ? ['2999-01-01T00:00:00.000Z', '2999-01-01T00:00:00.000Z'] : [null, null],
      );
      expect([body.suspended_at !== null, data.node.suspendedAt !== null]).toEqual([isAdmin, isAdmin]);
    }
  });

  it("gets no new address from an earlier request, and none of their jobs' events are shown", async () => {
    const hugo = await homeowner(app, 'Hugo');
    await post(hugo, '/me/email', { email: 'hugo.elsewhere@example.test', current_password: hugo.password });
    const { token } = await mailTo(app, 'hugo.elsewhere@example.test', 'Confirm your new email address');
    const { id } = await givenJob(app, 'open', { ...people, owner: hugo });
    const [event] = await app.sql`select id from events where job_id = ${id} and type = 'job.published'`;
    const read = async () => {
      const query = 'query ($id: ID!) { node(id: $id) { id } }';
      const { data, errors } = await app.graphql(query, { token: people.stranger.token, variables: { id: event?.id } });
      return data?.node?.id ?? errors?.[0]?.extensions.code;
    };
    expect(await read()).toBe(event?.id);
    await suspend(hugo.userId);
    expect(await read()).not.toBe(event?.id);
    const verified = await app.rest('POST', '/v1/auth/verify-email', { body: { token } });
    expect([verified.body.details.code, verified.body.details.reason]).toEqual(['INVALID_LINK', 'expired']);
  });

  it.each(CHANNELS)('receives nothing more over %s, on any instance', async (channel, hear) => {
    const hanna = await homeowner(app, 'Hanna');
    const heard = [app, twin].map(({ url }) => hear(url, hanna, MY_EVENTS, { after: '0' }));
    await post(hanna, '/jobs', { title: 'A gate', description: 'It squeaks.' });
    await Promise.all(heard.map((stream) => stream.count(1)));
    await suspend(hanna.userId);
    for (const { ended, answers } of heard) {
      const end = (await ended) as Json;
      if (channel === 'a WebSocket') expect(end.code).toBe(4401);
      else expect(answers.at(-1).errors[0].extensions.reason).toBe('session_ended');
    }
    const again = hear(app.url, hanna, MY_EVENTS, { after: '0' });
    const { code, response } = (await again.ended) as Json;
    expect(code ?? response.status).toBe(channel === 'a WebSocket' ? 4401 : 401);
    expect([...heard, again].map(({ events }) => events.length)).toEqual([1, 1, 0]);
  });

  it('has open jobs that nobody finds or bids on until they are restored', async () => {
    const { owner, awardee, bidder, stranger } = people;
    const { id, bids } = await givenJob(app, 'open', people);
    await post(bidder, `/jobs/${id}/bids/${bids.bidder}/withdraw`);
    await app.sql`update jobs set title = ${id} where id = ${id}`;
    const near = 'near_zip=78701&within_miles=100';
    const queries = ['', 'status=open', 'category=roofing', `search=${id}`, `search=${id}&status=open`, near];
    queries.push(`${near}&order_by=nearest`, `${near}&order_by=nearest&status=open`, 'statuses=open,awarded');
    queries.push('order_by=oldest', 'order_by=highest_budget', `order_by=oldest&search=${id}`);
    const finds = async (person: Person, query: string) => {
      const { body } = await app.rest('GET', `/v1/jobs?per_page=100&${query}`, { token: person.token });
      return [body.data.some((job: Json) => job.id === id), body.pagination.total];
    };
    const lists = (person: Person) => Promise.all(queries.map((query) => finds(person, query)));
    const countOf = async ({ token }: Person) =>
      (await app.rest('GET', '/v1/me/job-counts', { token })).body.data.find((one: Json) => one.status === 'open')
        .count;
    const [before, beforeAdmin, countBefore] = [await lists(stranger), await lists(ada), await countOf(stranger)];
    expect(before.map(([has]) => has)).toEqual(queries.map(() => true));
    await suspend(owner.userId);
    const hidden = countBefore - (await countOf(stranger));
    expect(hidden).toBeGreaterThan(0);
    for (const [at, [has, total]] of (await lists(stranger)).entries())
      expect([queries[at], has, total < before[at]![1]]).toEqual([queries[at], false, true]);
    // Admins still find them.
    expect(await lists(ada)).toEqual(beforeAdmin);
    expect(byRest(await app.rest('GET', `/v1/jobs/${id}`, { token: stranger.token }))).toEqual(FORBIDDEN);
    expect(byRest(await post(stranger, `/jobs/${id}/bids`, { amount: 5 }))).toEqual(FORBIDDEN);
    // Contractors who have bid don't find it either. They can still see it, and are told that it takes no more bids,
    // but not why.
    for (const query of queries) expect([query, (await finds(awardee, query))[0]]).toEqual([query, false]);
    expect((await app.rest('GET', `/v1/jobs/${id}`, { token: awardee.token })).status).toBe(200);
    expect(await actionOf(bidder, id, 'SUBMIT_BID')).toMatchObject({ allowed: false, reason: 'FORBIDDEN' });
    const refused = await post(bidder, `/jobs/${id}/bids`, { amount: 5 });
    expect([byRest(refused), refused.body.error]).toEqual([FORBIDDEN, 'This job isn’t accepting bids at the moment.']);
    await restore(owner.userId);
    expect(await lists(stranger)).toEqual(before);
    expect(await finds(awardee, 'status=open')).toEqual([true, expect.any(Number)]);
    people = { ...people, owner: { ...owner, token: (await logIn(owner)).body.token } };
    expect((await post(bidder, `/jobs/${id}/bids`, { amount: 5 })).status).toBe(201);
  });

  it("has bids that can't be awarded, which availableActions shows, and jobs in progress that continue", async () => {
    const job = await givenJob(app, 'open', people);
    const underWay = await givenJob(app, 'in_review', people);
    const award = () => post(people.owner, `/jobs/${job.id}/award`, { bid_id: job.bids.awardee });
    await suspend(people.awardee.userId);
    expect(byRest(await award())).toEqual({ status: 400, code: 'UNKNOWN_BID', fields: ['bid_id'] });
    expect(await actionOf(people.owner, job.id, 'AWARD')).toMatchObject({ allowed: true });
    await suspend(people.bidder.userId);
    expect(await actionOf(people.owner, job.id, 'AWARD')).toMatchObject({ allowed: false, reason: 'UNKNOWN_BID' });
    expect((await post(people.owner, `/jobs/${underWay.id}/approve`, { rating: 5 })).status).toBe(200);
    for (const who of ['awardee', 'bidder'] as const) {
      await restore(people[who].userId);
      people = { ...people, [who]: { ...people[who], token: (await logIn(people[who])).body.token } };
    }
    expect(await actionOf(people.owner, job.id, 'AWARD')).toMatchObject({ allowed: true });
    expect((await award()).status).toBe(200);
  });
});

describe('a suspended contractor', () => {
  it('is missing from all contractor lists, even by location, except for admins, until restored', async () => {
    const { stranger, owner, awardee } = people;
    const body = {
      contractor: { service_areas: ['78704'], specialties: ['moving pianos'], bio: 'Only grand pianos.' },
    };
    expect((await app.rest('PUT', '/v1/me', { token: stranger.token, body })).status).toBe(200);
    const queries = ['', 'order_by=best_rated', 'order_by=most_completed', 'search=grand', 'specialty=moving pianos'];
    queries.push('service_area=78704', 'verified=false', 'near_zip=78704&within_miles=25');
    queries.push('near_zip=78704&within_miles=25&order_by=nearest&search=grand');
    const lists = (by: Person) =>
      Promise.all(
        queries.map(async (query) => {
          const { body: found } = await app.rest('GET', `/v1/contractors?per_page=100&${query}`, { token: by.token });
          return [found.data.some(({ id }: Json) => id === stranger.profileId), found.pagination.total];
        }),
      );
    const before = await lists(owner);
    expect(before.map(([has]) => has)).toEqual(queries.map(() => true));
    await suspend(stranger.userId);
    for (const by of [owner, awardee]) expect(await lists(by)).toEqual(before.map(([, total]) => [false, total - 1]));
    expect(await lists(ada)).toEqual(before);
    await restore(stranger.userId);
    expect(await lists(owner)).toEqual(before);
    people = { ...people, stranger: { ...stranger, token: (await logIn(stranger)).body.token } };
  });

  it('is shown as suspended, as are their bids, to admins and to homeowners on whose jobs they have bid', async () => {
    const { owner, awardee, bidder } = people;
    const other = await homeowner(app, 'Otto');
    const { id, bids } = await givenJob(app, 'open', people);
    const shown = async (by: Person) => {
      const { body } = await app.rest('GET', `/v1/contractors/${awardee.profileId}`, { token: by.token });
      const query = 'query ($id: ID!) { contractor(id: $id) { suspended } }';
      const { data } = await app.graphql(query, { token: by.token, variables: { id: awardee.profileId } });
      expect(data.contractor.suspended).toBe(body.suspended);
      return body.suspended;
    };
    const shownOnBids = async (by: Person) => {
      const { body } = await app.rest('GET', `/v1/jobs/${id}/bids`, { token: by.token });
      const query = 'query ($id: ID!) { job(id: $id) { bids { nodes { id suspended contractor { suspended } } } } }';
      const { data } = await app.graphql(query, { token: by.token, variables: { id } });
      for (const { suspended, contractor: profile } of data.job.bids.nodes) expect(profile.suspended).toBe(suspended);
      expect(data.job.bids.nodes.map((bid: Json) => [bid.id, bid.suspended])).toEqual(
        body.data.map((bid: Json) => [bid.id, bid.suspended]),
      );
      return Object.fromEntries(body.data.map((bid: Json) => [bid.id, bid.suspended]));
    };
    const awardees = bids.awardee ?? '';
    expect([await shown(owner), await shown(other), await shown(bidder)]).toEqual([false, null, null]);
    await suspend(awardee.userId);
    expect([await shown(owner), await shown(ada), await shown(other), await shown(bidder)]).toEqual([
      true,
      true,
      null,
      null,
    ]);
    for (const by of [owner, ada])
      expect(await shownOnBids(by)).toEqual({ [awardees]: true, [bids.bidder ?? '']: false });
    const one = await app.rest('GET', `/v1/bids/${bids.awardee}`, { token: owner.token });
    expect(one.body.suspended).toBe(true);
    await restore(awardee.userId);
    people = { ...people, awardee: { ...awardee, token: (await logIn(awardee)).body.token } };
    expect([await shown(owner), (await shownOnBids(owner))[awardees]]).toEqual([false, false]);
  });

  it("has bids that don't block lowering the urgency, and a referral code that is treated as unknown", async () => {
    const carl = await contractor(app, 'Carl');
    const owner = await homeowner(app, 'Helga');
    const draft = await givenJob(app, 'draft', { ...people, owner }, { fields: { urgency: 'urgent' } });
    await app.sql`update token_balances set balance = 100 where user_id = ${owner.userId}`;
    expect((await post(owner, `/jobs/${draft.id}/publish`)).status).toBe(200);
    expect((await post(carl, `/jobs/${draft.id}/bids`, { amount: 5 })).status).toBe(201);
    const lower = () => app.rest('PUT', `/v1/jobs/${draft.id}`, { token: owner.token, body: { urgency: 'standard' } });
    const LOCKED = { status: 400, code: 'URGENCY_LOCKED', fields: ['urgency'] };
    expect(byRest(await lower())).toEqual(LOCKED);
    const join = (email: string) =>
      app.rest('POST', '/v1/auth/signup/homeowner', {
        body: { email, password: 'a good long one', first_name: 'R', last_name: 'R', referral_code: carl.referralCode },
      });
    expect((await join('referred.before@example.test')).status).toBe(201);
    await suspend(carl.userId);
    const refused = await join('referred.meanwhile@example.test');
    expect(byRest(refused)).toEqual({ status: 400, code: 'UNKNOWN_REFERRAL_CODE', fields: ['referral_code'] });
    expect((await lower()).body.urgency).toBe('standard');
    const { body: raised } = await app.rest('PUT', `/v1/jobs/${draft.id}`, {
      token: owner.token,
      body: { urgency: 'urgent' },
    });
    expect(raised.urgency).toBe('urgent');
    const { body: listed } = await app.rest('GET', `/v1/jobs/${draft.id}/bids`, { token: owner.token });
    expect(listed.data).toHaveLength(1);
    await restore(carl.userId);
    expect(byRest(await lower())).toEqual(LOCKED);
    expect((await join('referred.after@example.test')).status).toBe(201);
  });

  it('gets credit only if an admin completes a job in review and asks for it', async () => {
    const recordOf = async () =>
      (
        await app.sql`select completed_jobs as jobs, rating_count as ratings from contractors
        where id = ${people.awardee.profileId}`
      )[0];
    const complete = (id: string, more: object = { credit_contractor: true }) =>
      post(ada, `/jobs/${id}/complete`, { reason: 'The homeowner is suspended.', ...more });
    const before = await recordOf();
    const NOTHING_TO_CREDIT = { status: 400, code: 'VALIDATION_FAILED', fields: ['credit_contractor'] };
    for (const state of ['draft', 'open', 'in_progress', 'disputed'] as const) {
      const { id } = await givenJob(app, state, people);
      const done = await recordOf();
      expect(byRest(await complete(id)), state).toEqual(NOTHING_TO_CREDIT);
      const [job] = await app.sql`select status from jobs where id = ${id}`;
      expect([job?.status, await recordOf()]).toEqual([state, done]);
    }
    const cancelled = await givenJob(app, 'cancelled', people);
    expect(byRest(await complete(cancelled.id))).toEqual({ status: 400, code: 'INVALID_TRANSITION', fields: [] });
    const now = await recordOf();
    for (const [more, credit] of [
      [{}, 0],
      [{ credit_contractor: false }, 0],
      [{ credit_contractor: true }, 1],
    ] as const) {
      const start = await recordOf();
      const { id } = await givenJob(app, 'in_review', people);
      expect((await complete(id, more)).body.status).toBe('completed');
      expect(await recordOf()).toEqual({ jobs: start?.jobs + credit, ratings: start?.ratings });
      const [event] = await app.sql`select data from events where job_id = ${id} and type = 'job.completed'`;
      expect(event?.data.creditContractor).toBe(credit === 1 ? true : undefined);
      // Repeating the call changes nothing. Credit that wasn't given can't be added later.
      const repeated = await complete(id);
      if (credit === 1) expect([repeated.status, repeated.body.status]).toEqual([200, 'completed']);
      else {
        expect(byRest(repeated)).toEqual(NOTHING_TO_CREDIT);
        expect(repeated.body.error).toBe('This job was already completed without credit. Credit can’t be added later.');
      }
      expect(await recordOf()).toEqual({ jobs: start?.jobs + credit, ratings: start?.ratings });
    }
    const approved = await givenJob(app, 'completed', people);
    const credited = await recordOf();
    expect((await complete(approved.id)).body.status).toBe('completed');
    expect(await recordOf()).toEqual(credited);
    expect(now?.ratings).toBeGreaterThanOrEqual(before?.ratings);
    const { id } = await givenJob(app, 'in_review', people);
    const COMPLETE =
      'mutation ($id: ID!, $input: CompleteJobInput!) { completeJob(id: $id, input: $input) { job { status } } }';
    const variables = { id, input: { reason: 'They asked.', creditContractor: true } };
    const { data } = await app.graphql(COMPLETE, { token: ada.token, variables });
    expect([data.completeJob.job.status, (await recordOf())?.jobs]).toEqual(['COMPLETED', now?.jobs + 3]);
  });
});

describe('support', () => {
  it('ends all of a user’s sessions, but not their API keys or other users’ sessions', async () => {
    const hanna = await homeowner(app, 'Hanna');
    const program = await programOf(app, hanna);
    const { body: second } = await logIn(hanna);
    const statusOf = async (token: string, at = app) => (await at.rest('GET', '/v1/me', { token })).status;
    const END = `mutation ($id: ID!, $input: EndUserSessionsInput!) {
      endUserSessions(userId: $id, input: $input) { endedCount } }`;
    const variables = { id: hanna.userId, input: { reason: 'A stolen phone.' } };
    for (const by of [people.owner, people.awardee])
      expect(byGraphql(await app.graphql(END, { token: by.token, variables }))).toEqual(FORBIDDEN);
    expect(byRest(await post(ada, `/users/${hanna.userId}/end-sessions`))).toEqual(invalid('reason'));
    expect((await post(ada, `/users/${newId('user')}/end-sessions`, { reason: 'x' })).status).toBe(404);
    expect(await statusOf(hanna.token)).toBe(200);
    const { data } = await app.graphql(END, { token: ada.token, variables });
    expect(data.endUserSessions.endedCount).toBe(2);
    for (const token of [hanna.token, second.token]) {
      expect(await statusOf(token)).toBe(401);
      await vi.waitFor(async () => expect(await statusOf(token, twin)).toBe(401), 25_000);
    }
    expect([await statusOf(program.token), await statusOf(people.owner.token)]).toEqual([200, 200]);
    expect((await logIn(hanna)).status).toBe(200);
    expect((await post(ada, `/users/${hanna.userId}/end-sessions`, { reason: 'Again.' })).status).toBe(200);
    expect(await acts(hanna.userId)).toEqual([
      ['endUserSessions', 'A stolen phone.'],
      ['endUserSessions', 'Again.'],
    ]);
  });

  it('resends the confirmation link, which confirms the address, but not once it is confirmed', async () => {
    const hanna = await homeowner(app, 'Hanna');
    const mails = async () => (await app.sql`select id from mails where user_id = ${hanna.userId}`).length;
    const before = await mails();
    const resend = () => post(ada, `/users/${hanna.userId}/email/verification`);
    expect(byRest(await post(people.owner, `/users/${hanna.userId}/email/verification`))).toEqual(FORBIDDEN);
    expect((await resend()).status).toBe(200);
    expect(await mails()).toBe(before + 1);
    const { token } = await mailTo(app, hanna.email, 'Confirm your email address', before + 1);
    expect((await app.rest('POST', '/v1/auth/verify-email', { body: { token } })).status).toBe(200);
    const RESEND = 'mutation ($id: ID!) { resendEmailVerification(userId: $id) { requested } }';
    const { data } = await app.graphql(RESEND, { token: ada.token, variables: { id: hanna.userId } });
    expect([data.resendEmailVerification.requested, await mails()]).toEqual([false, before + 1]);
    const message = `No email was sent, because ${hanna.email} is already confirmed.`;
    expect([(await resend()).body, await mails()]).toEqual([
      { status: 200, message, data: {}, requested: false },
      before + 1,
    ]);
    expect((await post(ada, `/users/${newId('user')}/email/verification`)).status).toBe(404);
    expect(await acts(hanna.userId)).toEqual([['resendEmailVerification', null]]);
  });

  it('lists suspended, unconfirmed, or undeliverable accounts, combined with the other filters', async () => {
    const hanna = await homeowner(app, 'Uma');
    const carl = await contractor(app, 'Uwe');
    // Once the signup email has arrived, it can't change anything anymore.
    await mailTo(app, carl.email, 'Confirm your email address');
    await app.sql`update users set email_verified = true, email_undeliverable = true where id = ${carl.userId}`;
    await suspend(hanna.userId);
    const listed = async (query: string, filter: string) => {
      const { body } = await app.rest('GET', `/v1/users?per_page=100&${query}`, { token: ada.token });
      const LIST = `{ users(first: 100, filter: { ${filter} }) { totalCount nodes { id } } }`;
      const { data } = await app.graphql(LIST, { token: ada.token });
      const ids = body.data.map(({ id }: Json) => id);
      expect([data.users.nodes.map(({ id }: Json) => id), data.users.totalCount]).toEqual([ids, body.pagination.total]);
      return [hanna, carl].map(({ userId }) => ids.includes(userId));
    };
    expect(await listed('suspended=true', 'suspended: true')).toEqual([true, false]);
    expect(await listed('suspended=false', 'suspended: false')).toEqual([false, true]);
    expect(await listed('email_verified=true', 'emailVerified: true')).toEqual([false, true]);
    expect(await listed('email_verified=false', 'emailVerified: false')).toEqual([true, false]);
    expect(await listed('email_undeliverable=true', 'emailUndeliverable: true')).toEqual([false, true]);
    expect(await listed('email_undeliverable=false', 'emailUndeliverable: false')).toEqual([true, false]);
    const both = [
      'suspended=true&user_type=homeowner&search=uma',
      'suspended: true, userType: HOMEOWNER, search: "uma"',
    ];
    expect(await listed(both[0]!, both[1]!)).toEqual([true, false]);
    expect(await listed('suspended=true&verified=false', 'suspended: true, verified: false')).toEqual([false, false]);
    await suspend(carl.userId);
    expect(await listed('suspended=true&verified=false', 'suspended: true, verified: false')).toEqual([false, true]);
    expect(byRest(await app.rest('GET', '/v1/users?suspended=maybe', { token: ada.token }))).toEqual(
      invalid('suspended'),
    );
    expect(byRest(await app.rest('GET', '/v1/users?suspended=true', { token: people.owner.token }))).toEqual(FORBIDDEN);
  });

  it('finds a transfer by its external reference', async () => {
    const { stranger } = people;
    const body = { user_id: stranger.userId, amount: 3, reason: 'Paid.', external_reference: 'invoice-77' };
    const { body: made } = await post(ada, '/tokens/adjustments', body);
    const find = (reference: string, by = ada) =>
      app.rest('GET', `/v1/tokens/transfers?external_reference=${reference}`, { token: by.token });
    const { body: found } = await find('invoice-77');
    expect([found.data, found.pagination.total]).toEqual([[made], 1]);
    expect((await find('invoice-78')).body.data).toEqual([]);
    for (const by of [stranger, people.owner]) expect(byRest(await find('invoice-77', by))).toEqual(FORBIDDEN);
    const missing = await app.rest('GET', '/v1/tokens/transfers', { token: ada.token });
    expect(byRest(missing)).toEqual(invalid('external_reference'));
    const FIND = '{ tokenTransfers(filter: { externalReference: "invoice-77" }) { totalCount nodes { id amount } } }';
    const { data } = await app.graphql(FIND, { token: ada.token });
    expect(data.tokenTransfers).toEqual({ totalCount: 1, nodes: [{ id: made.id, amount: 3 }] });
    expect(byGraphql(await app.graphql(FIND, { token: stranger.token }))).toEqual(FORBIDDEN);
  });
});

describe('a suspension with an end', () => {
  const in10Years = new Date(Date.now() + 3_650 * 86_400_000).toISOString();

  it('ends automatically, through a queued task', async () => {
    const { userId } = await contractor(app, 'Tina');
    await suspend(userId, { reason: 'A week off.', until: in10Years });
    expect(await tasks(userId)).toEqual([{ run_at: new Date(in10Years) }]);
    await app.sql`update users set suspended_until = now() - interval '1 ms' where id = ${userId}`;
    await app.sql`update tasks set run_at = now() - interval '1 ms' where id = ${userId}`;
    await vi.waitFor(async () => expect(await rowOf(userId)).toEqual({ at: null, until: null }), 200_000);
    await vi.waitFor(async () => expect(await tasks(userId)).toEqual([]), 200_000);
  });

  it('is changed by another suspension and by a restoration, and an earlier end no longer counts', async () => {
    const { userId } = await contractor(app, 'Theo');
    await suspend(userId, { reason: 'One.', until: in10Years });
    const first = await rowOf(userId);
    // The same call again changes nothing.
    await suspend(userId, { reason: 'One.', until: in10Years });
    await suspend(userId, { reason: 'For good.' });
    expect([await rowOf(userId), await tasks(userId)]).toEqual([{ at: first?.at, until: null }, []]);
    // Even a leftover task doesn't restore anybody.
    await app.sql`insert into tasks (id, kind, key) values (${userId}, 'restore', 'restore')`;
    await vi.waitFor(async () => expect(await tasks(userId)).toEqual([]), 200_000);
    expect((await rowOf(userId))?.at).toEqual(first?.at);
    await suspend(userId, { reason: 'Once more.', until: in10Years });
    await restore(userId);
    expect([await rowOf(userId), await tasks(userId)]).toEqual([{ at: null, until: null }, []]);
    await restore(userId);
    expect((await acts(userId)).map(([action]) => action)).toEqual([
      'suspendUser',
      'suspendUser',
      'suspendUser',
      'restoreUser',
    ]);
  });
});

describe('a suspension is refused', () => {
  const SUSPEND =
    'mutation ($id: ID!, $input: SuspendUserInput!) { suspendUser(id: $id, input: $input) { user { id } } }';

  it('from anyone but an admin, for an unknown user, without a reason, and with an end in the past', async () => {
    const { userId } = people.stranger;
    for (const by of [people.owner, people.awardee]) {
      expect(byRest(await suspend(userId, undefined, by))).toEqual(FORBIDDEN);
      expect(byRest(await restore(userId, by))).toEqual(FORBIDDEN);
      const variables = { id: userId, input: { reason: 'A rival.' } };
      expect(byGraphql(await app.graphql(SUSPEND, { token: by.token, variables }))).toEqual(FORBIDDEN);
    }
    for (const id of [newId('user'), 'x'])
      for (const answer of [await suspend(id), await restore(id)]) expect(answer.status).toBe(404);
    expect(byRest(await suspend(userId, { reason: ' ' }))).toEqual(invalid('reason'));
    for (const until of ['2020-01-01T00:00:00Z', 'tomorrow'])
      expect(byRest(await suspend(userId, { reason: 'x', until }))).toEqual(invalid('until'));
    expect((await rowOf(userId))?.at).toBe(null);
  });

  it('from an admin who is suspended while the call waits', async () => {
    const email = 'third.admin@example.test';
    await ensureAdmin(app.services, email, 'a third good password');
    const { body } = await logIn({ email, password: 'a third good password' });
    const { userId } = people.stranger;
    const calls = await app.sql.begin(async (tx) => {
      await tx`select from users where id = ${userId} for update`;
      const waiting = [
        suspend(userId, undefined, { token: body.token } as Person),
        restore(userId, { token: body.token } as Person),
      ];
      await until(async () => (await waitingCalls(app.sql)) === waiting.length);
      await tx`update users set suspended_at = now() where id = ${body.user.id}`;
      return waiting;
    });
    for (const answer of await Promise.all(calls)) expect(answer.body.details.reason).toBe('session_ended');
    expect((await rowOf(userId))?.at).toBe(null);
  });

  it('of yourself, and of one of two admins who suspend each other at the same time', async () => {
    expect(byRest(await suspend(ada.userId))).toEqual(FORBIDDEN);
    const email = 'second.admin@example.test';
    await ensureAdmin(app.services, email, 'a second good password');
    const { body } = await logIn({ email, password: 'a second good password' });
    const grace = { token: body.token, userId: body.user.id } as Person;
    const answers = await Promise.all([suspend(ada.userId, undefined, grace), suspend(grace.userId)]);
    const left = await app.sql`select id from users where user_type = 'admin' and suspended_at is null`;
    expect(left).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.find(({ status }) => status !== 200)?.status).toBe(401);
  });
});
