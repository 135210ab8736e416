/** Reads from a real replica. While its replay is paused, it has old data, which shows which database was read. */
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { openPrimaryAndReplica, type PrimaryAndReplica } from '../setup/primary-and-replica.js';
import { openTestApp, type TestApp } from '../setup/app.js';
import { needs } from '../setup/needs.js';
import { mailTo } from '../market/mail/mailbox.js';
import { openReceiver } from '../market/webhooks/receiver.js';
import { until } from '../platform/security/until.js';
import { createRedisServer, type RedisServer } from '../platform/security/redis-server.js';
import { callRest } from '../story/calls.js';
import { contractor, type Person } from '../story/cast.js';
import { DRAFT, gather, type People } from '../story/journey.js';

/** How long a server waits for Redis and the replica before it reads the primary. A busy machine needs longer. */
vi.mock('../../src/platform/service-limits.js', async (original) => {
  const limits = await original<typeof import('../../src/platform/service-limits.js')>();
  return {
    ...limits,
    REDIS: { ...limits.REDIS, waitMs: 60_000 },
    REPLICA: { ...limits.REPLICA, answerWithinMs: 5_000, gapMsMax: 60_000 },
  };
});

let databases: PrimaryAndReplica;
beforeAll(async () => {
  databases = await openPrimaryAndReplica();
});
afterAll(() => databases.remove());

/** Long enough that a paused replica stays usable during a test, even on a busy machine. */
const LAG_MAX_SECONDS = '20';

function openApp(env: Record<string, string> = {}, redis?: RedisServer): Promise<TestApp> {
  const replica = {
    DATABASE_URL: databases.url,
    DATABASE_REPLICA_URL: databases.replicaUrl,
    DATABASE_REPLICA_LAG_MAX_SECONDS: LAG_MAX_SECONDS,
  };
  return openTestApp(
    { ...replica, WEBHOOKS_ALLOW_PRIVATE: 'on', ...env },
    { sameDatabaseAs: databases, ...(redis && { settings: { REDIS_URL: redis.socket } }) },
  );
}

const isUsable = async (app: TestApp) => (await app.metric('replica_usable')) === 1;
const readsWith = (app: TestApp, outcome: string) => app.metric(`replica_reads_total{outcome="${outcome}"}`);

async function publish(app: TestApp, { owner }: People): Promise<string> {
  const { body } = await callRest(app, 'create', { by: owner, body: DRAFT });
  expect((await callRest(app, 'publish', { by: owner, job: body.id })).status).toBe(200);
  return body.id;
}

const statusOf = async (app: TestApp, job: string, token: string) =>
  (await app.rest('GET', `/v1/jobs/${job}`, { token })).status;

/**
 * Publishes a job on one server that isn't on the replica that the other one reads. On a busy machine, the reader may
 * lose the replica for a moment. It then uses only a replica that has caught up, so this tries again.
 */
async function publishUnreplicated(writer: TestApp, reader: TestApp, people: People): Promise<string> {
  for (;;) {
    await databases.catchUp();
    await until(() => isUsable(reader));
    await databases.pauseReplay();
    const job = await publish(writer, people);
    if ((await statusOf(reader, job, people.stranger.token)) === 404) return job;
  }
}

describe('One server with a replica', () => {
  let app: TestApp;
  let people: People;
  beforeAll(async () => {
    app = await openApp();
    people = await gather(app);
    await until(() => isUsable(app));
  });
  beforeEach(() => databases.catchUp());
  afterAll(() => app.close());

  it('shows other people’s changes once they are on the replica', async () => {
    const job = await publishUnreplicated(app, app, people);
    await databases.catchUp();
    await until(async () => (await statusOf(app, job, people.stranger.token)) === 200);
    const before = await readsWith(app, 'replica');
    const { data } = await app.graphql(`{ job(id: "${job}") { title bids { totalCount } } jobs { totalCount } }`, {
      token: people.stranger.token,
    });
    expect(data?.job.title).toBe(DRAFT.title);
    expect(await readsWith(app, 'replica')).toBeGreaterThan(before);
  });

  it('shows users their own writes in both APIs, from a transaction or a single statement', async () => {
    const job = await publishUnreplicated(app, app, people);
    const { token } = people.owner;
    expect(await statusOf(app, job, token)).toBe(200);
    const { data } = await app.graphql('{ jobs(first: 1) { nodes { id status } } }', { token });
    expect(data?.jobs.nodes).toEqual([{ id: job, status: 'OPEN' }]);
    expect(await readsWith(app, 'behind')).toBeGreaterThan(0);

    const { stranger } = people;
    const edit = { contractor: { specialties: ['replicas'] } };
    expect((await app.rest('PUT', '/v1/me', { token: stranger.token, body: edit })).status).toBe(200);
    const shown = await app.rest('GET', `/v1/contractors/${stranger.profileId}`, { token: stranger.token });
    expect(shown.body.specialties).toEqual(['replicas']);
  });

  it('reads a mutation’s result from the primary', async () => {
    const job = await publish(app, people);
    await databases.pauseReplay();
    const { data } = await app.graphql(
      `mutation { updateJob(id: "${job}", input: { title: "Mend the replica" }) {
        job { title timeline { nodes { type } } } } }`,
      { token: people.owner.token },
    );
    expect(data?.updateJob.job.title).toBe('Mend the replica');
    expect(data?.updateJob.job.timeline.nodes.at(-1).type).toBe('JOB_UPDATED');
  });

  it('shows a new account its own profile', async () => {
    await databases.pauseReplay();
    const { token, profileId } = await contractor(app, 'Nora');
    expect((await app.rest('GET', `/v1/contractors/${profileId}`, { token })).status).toBe(200);
  });

  /** The contractor gets an event for each published job. */
  async function followJobs({ token }: Person): Promise<void> {
    const filter = { categories: [DRAFT.category] };
    await app.rest('POST', '/v1/saved-searches', { token, body: { name: 'All', filter, alert: 'off' } });
    await databases.catchUp();
  }

  it('shows a user the job of an event that a webhook has sent', async () => {
    const { token } = people.awardee;
    const receiver = await openReceiver();
    await app.rest('POST', '/v1/webhooks', { token, body: { url: receiver.url, event_types: ['job.published'] } });
    await followJobs(people.awardee);
    const job = await publishUnreplicated(app, app, people);
    await receiver.until((received) => received.some(({ body }) => JSON.stringify(body).includes(job)));
    expect(await statusOf(app, job, token)).toBe(200);
    await receiver.close();
  });

  it('shows a user the job of an event that a stream has sent', async () => {
    const { token } = people.bidder;
    await followJobs(people.bidder);
    const stream = await fetch(`${app.url}/graphql/stream`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query: 'subscription { myEvents { jobId } }' }),
    });
    const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
    await databases.pauseReplay();
    const job = await publish(app, people);
    for (let text = ''; !text.includes(job); text += (await reader.read()).value ?? '');
    expect(await statusOf(app, job, token)).toBe(200);
    await reader.cancel();
  });

  it('lists notifications from the same database as their jobs', async () => {
    const { token } = people.bidder;
    await followJobs(people.bidder);
    await databases.pauseReplay();
    const job = await publish(app, people);
    const read = async () => {
      const query =
        '{ viewer { notifications(first: 1) { nodes { event { ... on JobEvent { jobId job { id } } } } } } }';
      const { data } = await app.graphql(query, { token });
      return data?.viewer.notifications.nodes[0]?.event;
    };
    await until(async () => (await app.sql`select 1 from notifications where job_id = ${job}`).length > 0);
    expect(await read()).not.toEqual({ jobId: job, job: null });
    await databases.catchUp();
    await until(async () => (await read())?.job?.id === job);
  });

  it('shows a person the address that they confirmed with an email’s link', async () => {
    const { token, profileId, email } = await contractor(app, 'Vera');
    const mail = await mailTo(app, email, 'Confirm your email address');
    await databases.catchUp();
    await databases.pauseReplay();
    const confirmed = await app.rest('POST', '/v1/auth/verify-email', { body: { token: mail.token } });
    expect(confirmed.status).toBe(200);
    const { data } = await app.graphql(`{ contractor(id: "${profileId}") { user { emailVerified } } }`, { token });
    expect(data?.contractor.user.emailVerified).toBe(true);
  });

  it('reads balances, and what a write depends on, from the primary', async () => {
    await databases.pauseReplay();
    const job = await publish(app, people);
    // Another person's write: the replica doesn't have the job yet, but bidding works.
    const bid = { amount: 100 };
    expect((await app.rest('POST', `/v1/jobs/${job}/bids`, { token: people.bidder.token, body: bid })).status).toBe(
      201,
    );
    const { body } = await app.rest('GET', '/v1/tokens', { token: people.owner.token });
    const [row] =
      await app.sql`select balance - held as available from token_balances where user_id = ${people.owner.userId}`;
    expect(body.available).toBe(row?.available);
  });

  it('reads the primary while the replica is away, and the replica when it’s back', async () => {
    const job = await publish(app, people);
    await databases.killReplica();
    expect(await statusOf(app, job, people.stranger.token)).toBe(200);
    await until(async () => !(await isUsable(app)));
    await databases.startReplica();
    await databases.catchUp();
    await until(() => isUsable(app));
    const before = await readsWith(app, 'replica');
    expect(await statusOf(app, job, people.stranger.token)).toBe(200);
    expect(await readsWith(app, 'replica')).toBe(before + 1);
    expect(app.logged.filter((line) => line.includes('the replica is not used'))).not.toEqual([]);
  });

  it('reads the primary while the replica doesn’t respond', async () => {
    const job = await publish(app, people);
    await databases.catchUp();
    await until(() => isUsable(app));
    const before = await readsWith(app, 'failed');
    databases.freezeReplica();
    try {
      expect(await statusOf(app, job, people.stranger.token)).toBe(200);
      expect(await readsWith(app, 'failed')).toBe(before + 1);
      expect(await isUsable(app)).toBe(false);
    } finally {
      databases.thawReplica();
    }
    await until(() => isUsable(app));
  });
});

it('A replica that is further behind than allowed gets no reads', async () => {
  const app = await openApp({ DATABASE_REPLICA_LAG_MAX_SECONDS: '1' });
  try {
    const people = await gather(app);
    await until(() => isUsable(app));
    await databases.pauseReplay();
    const job = await publish(app, people);
    // The next check after the limit, at the latest, makes everyone read the primary.
    await until(async () => (await statusOf(app, job, people.stranger.token)) === 200);
    await until(async () => !(await isUsable(app)));
    await until(async () => (await app.metric('replica_lag_seconds')) > 0);
  } finally {
    await databases.catchUp();
    await app.close();
  }
});

it('A server starts without its replica', async () => {
  await databases.killReplica();
  const app = await openApp();
  try {
    const people = await gather(app);
    expect(await statusOf(app, await publish(app, people), people.stranger.token)).toBe(200);
    expect(await readsWith(app, 'unusable')).toBeGreaterThan(0);
  } finally {
    await app.close();
    await databases.startReplica();
  }
});

it('Two servers without Redis don’t use a replica', async () => {
  const one = await openApp();
  try {
    await until(() => isUsable(one));
    const two = await openApp();
    try {
      // The second server sent a heartbeat before it accepted requests.
      await until(async () => !(await isUsable(one)));
      expect(await isUsable(two)).toBe(false);
    } finally {
      await two.close();
    }
    await until(() => isUsable(one));
  } finally {
    await one.close();
  }
});

/** The answers of a few seconds, in which the server notices what changed, and could start to use the replica. */
async function statusesOf(app: TestApp, job: string, { token }: Person): Promise<number[]> {
  const untilMs = performance.now() + 6_000;
  const statuses = new Set<number>();
  while (performance.now() < untilMs) statuses.add(await statusOf(app, job, token));
  return [...statuses];
}

it('A server without Redis shows what users wrote on another one that has stopped', async () => {
  const one = await openApp();
  const two = await openApp();
  try {
    const people = await gather(two);
    await databases.pauseReplay();
    const job = await publish(two, people);
    await two.close();
    expect(await statusesOf(one, job, people.owner)).toEqual([200]);
  } finally {
    await databases.catchUp();
    await one.close();
  }
});

needs('redis-server').describe('Two servers with Redis', () => {
  let redis: RedisServer;
  let one: TestApp;
  let two: TestApp;
  let people: People;
  beforeAll(async () => {
    redis = createRedisServer();
    await redis.start();
    one = await openApp({}, redis);
    two = await openApp({}, redis);
    people = await gather(one);
    await until(async () => (await isUsable(one)) && isUsable(two));
  });
  beforeEach(() => databases.catchUp());
  afterAll(async () => {
    await two.close();
    await one.close();
    await redis.remove();
  });

  it('one shows a user what they wrote through the other', async () => {
    const job = await publishUnreplicated(one, two, people);
    expect(await statusOf(two, job, people.owner.token)).toBe(200);
  });

  it('one shows a user what they wrote through the other before Redis lost its data', async () => {
    await databases.pauseReplay();
    const job = await publish(one, people);
    await redis.kill();
    await redis.start();
    expect(await statusesOf(two, job, people.owner)).toEqual([200]);
  });

  it('while Redis is down, writes wait for the replica, and all reads use the primary', async () => {
    await redis.kill();
    try {
      await databases.pauseReplay();
      const draftsOf = () =>
        one.sql`select from jobs where homeowner_id = ${people.owner.profileId} and status = 'draft'`;
      const before = (await draftsOf()).length;
      let isAnswered = false;
      const created = callRest(one, 'create', { by: people.owner, body: DRAFT }).finally(() => (isAnswered = true));
      await until(async () => (await draftsOf()).length > before);
      // This call arrives after the commit, and gets a response before the write does.
      await one.rest('GET', '/v1/me', { token: people.stranger.token });
      expect(isAnswered).toBe(false);
      await databases.catchUp();
      const job = (await created).body.id;
      for (const app of [one, two]) expect(await statusOf(app, job, people.owner.token)).toBe(200);
      const unusable = await readsWith(one, 'unusable');
      await statusOf(one, job, people.stranger.token);
      expect(await readsWith(one, 'unusable')).toBe(unusable + 1);
      await until(async () => !(await isUsable(one)));
    } finally {
      await redis.start();
    }
    await until(() => isUsable(one));
  });
});
