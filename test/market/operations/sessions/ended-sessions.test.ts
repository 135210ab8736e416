/**
 * Calls with an ended session that the server knew as active. Every call fails for that reason only, and changes
 * nothing.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../../../src/market/store/new-id.js';
import { SESSIONS_CHANNEL } from '../../../../src/market/store/sessions/sessions.js';
import { APIS, outcomeOf } from '../../../story/calls.js';
import type { Person } from '../../../story/cast.js';
import { givenHappyJob, happyCall, OPERATION_KEYS } from '../../../story/happy-calls.js';
import { openTestApp, type TestApp } from '../../../setup/app.js';
import { gather, givenJob, PEOPLE, type GivenJob, type People } from '../../../story/journey.js';
import { until } from '../../../platform/security/until.js';
import { copiesOf } from '../../../story/scenes.js';

let app: TestApp;
let people: People;
beforeAll(async () => {
  app = await openTestApp({
    RATE_LIMITS: 'on',
    RATE_LIMIT_READ: '10000',
    RATE_LIMIT_WRITE: '10000',
    RATE_LIMIT_INVALID_TOKEN: '10000',
  });
  people = await gather(app);
});
afterAll(() => app.close());

const isKnown = async (who: Person) =>
  app.services.live.activeSessions.lastKnownViewer(await sessionOf(who.userId)) !== undefined;

/** How sessions end without a call to this server. */
const ENDINGS = {
  async 'was revoked by another instance'() {
    await app.sql`with ended as (update sessions set revoked_at = now() returning id)
      select pg_notify(${SESSIONS_CHANNEL}, id) from ended`;
    for (const who of PEOPLE) await until(async () => !(await isKnown(people[who])));
  },
  async 'is too old'() {
    await app.sql`update sessions set ends_at = now() - interval '1 second'`;
    app.services.live.activeSessions.forgetAll();
  },
} as const;

beforeEach(async () => {
  await app.sql`update sessions set revoked_at = null, ends_at = now() + interval '1 day'`;
  for (const who of PEOPLE) expect((await app.rest('GET', '/v1/me', { token: people[who].token })).status).toBe(200);
});

const REFUSED = { ok: false, status: 401, code: 'UNAUTHENTICATED', fields: [], blocked: [] };

/** Everything that a call could have changed. */
async function everything(): Promise<unknown> {
  return app.sql`select
    (select md5(string_agg(j::text, '' order by id)) from jobs j) as jobs, (select md5(string_agg(b::text, ''
      order by id)) from bids b) as bids,
    (select md5(string_agg(t::text, '' order by user_id)) from token_balances t) as balances, (select count(*)
      from token_transfers) as transfers,
    (select count(*) from holds) as holds, (select count(*) from events) as events, (select md5(string_agg(c::text, ''
      order by id)) from contractors c) as contractors`;
}

describe.each(Object.entries(ENDINGS))('with a session that %s', (_, end) => {
  it.each(OPERATION_KEYS)('%s is refused by both APIs, and changes nothing', async (key) => {
    const [job] = await copiesOf(app, await givenHappyJob(app, key, people), 1);
    await end();
    const before = await everything();
    for (const api of APIS)
      expect(await outcomeOf(app, api, key, happyCall(key, people, job as GivenJob)), api).toEqual(REFUSED);
    expect(await everything()).toEqual(before);
  });

  const READS: readonly [what: string, ask: (job: GivenJob) => string][] = [
    ['a list', () => '/v1/jobs'],
    ['an empty list', () => '/v1/jobs?search=nobody%20wrote%20this'],
    ['a job', ({ id }) => `/v1/jobs/${id}`],
    ['a job that does not exist', () => `/v1/jobs/${newId('job')}`],
    ['the bids on a job', ({ id }) => `/v1/jobs/${id}/bids`],
    ['what happened to a job', ({ id }) => `/v1/jobs/${id}/events`],
    ['a dispute that is not there', ({ id }) => `/v1/jobs/${id}/dispute`],
    ['the own account', () => '/v1/me'],
    ['a balance', () => '/v1/tokens'],
    ['the transfers', () => '/v1/tokens/transactions'],
    ['what no caller may list', () => '/v1/jobs?homeowner_id=nobody'],
  ];

  it.each(READS)('%s is refused by REST before anything else', async (_, ask) => {
    const job = await givenJob(app, 'open', people);
    await end();
    const { status, body, headers } = await app.rest('GET', ask(job), { token: people.stranger.token });
    expect([status, body.details.code]).toEqual([401, 'UNAUTHENTICATED']);
    // It doesn't count toward any rate limit of the session's user.
    expect(headers.get('ratelimit-policy') ?? '').not.toContain('read');
  });

  it('every field of a query is refused, and reveals nothing', async () => {
    const job = await givenJob(app, 'open', people);
    const query =
      `{ job(id: "${job.id}") { title bids { nodes { amount } } } none: ` +
      `job(id: "${newId('job')}") { title } jobs { nodes { title } totalCount } viewer { user { email } } }`;
    const { token } = people.owner;
    for (let times = 0; times < 3; times += 1) await app.graphql(query, { token });
    await end();
    const { data, errors } = await app.graphql(query, { token });
    expect(data).toEqual({ job: null, none: null, jobs: null, viewer: null });
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(
      Array.from({ length: 4 }, () => 'UNAUTHENTICATED'),
    );
  });
});

it("one person's token with another's session is refused, however well both are known", async () => {
  const { token: mixed } = app.services.accessTokens.sign({
    userId: people.owner.userId as 'usr_',
    sessionId: await sessionOf(people.other.userId),
    role: 'homeowner',
  });
  for (let times = 0; times < 3; times += 1)
    expect((await app.rest('GET', '/v1/me', { token: mixed })).status).toBe(401);
});

async function sessionOf(userId: string): Promise<'ses_'> {
  const [row] = await app.sql<{ id: 'ses_' }[]>`select id from sessions where user_id = ${userId} limit 1`;
  if (!row) throw new Error('There is no such session.');
  return row.id;
}
